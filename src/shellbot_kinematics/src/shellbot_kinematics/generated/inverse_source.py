# SPDX-License-Identifier: MIT
"""Source of the Levenberg-Marquardt inverse of one chain: position or pose, with or without joint limits.

Each step is dq = J' (J J' + lam I)^-1 e with lam = mu |e|^2: damping by the residual (Sugihara,
"Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27(5), 2011; by
its size times a constant: Chan and Lawrence, ICRA 1988), with mu following success as in Marquardt's method: a better
point is taken and mu becomes mu/4, a worse one is not and mu becomes 8 mu. Limits: a projected step with an active set;
columns of joints that stand at a limit and would be pushed beyond it do not take part.
"""

from __future__ import annotations

import math
from typing import List, Sequence

from shellbot_kinematics.chain_tables import unit_length
from shellbot_kinematics.generated.chain_source import Pose, write_jacobian, write_pose
from shellbot_kinematics.generated.expressions import Vector, code
from shellbot_kinematics.generated.linear_source import (
    normal_from_scalars,
    write_free,
    write_normal,
    write_solve,
    write_step,
)
from shellbot_kinematics.generated.options import DAMPING, FAILURE, SUCCESS, KernelOptions
from shellbot_kinematics.generated.trig_source import MARGIN, InlineWriter
from shellbot_kinematics.parameters import ChainParameters

SPREAD = 0.7  # rad by which the region of starts grows from attempt to attempt, up to half a turn


class Source:
    """Indented lines of one function."""

    def __init__(self, head: str, document: str) -> None:
        self.lines = [head, f'    """{document}"""']
        self.depth = 1

    def add(self, *lines: str) -> Source:
        """Add lines at the present depth."""
        self.lines += ["    " * self.depth + line for line in lines]
        return self

    def enter(self, line: str) -> Source:
        """Add the head of a block and go into it."""
        self.add(line)
        self.depth += 1
        return self

    def leave(self, levels: int = 1) -> Source:
        """End blocks."""
        self.depth -= levels
        return self

    def text(self) -> str:
        """Return the function's source."""
        return "\n".join(self.lines) + "\n"


def inverse_source(
    name: str, p: ChainParameters, turns: Sequence[bool], pose: bool, limited: bool, scale: float, o: KernelOptions
) -> str:
    """Return the source of `name(target, q) -> int`.

    Parameters
    ----------
    p : ChainParameters
        Lengths already divided by `scale`, which makes them comparable with angles.
    turns : sequence of bool
        Whether a whole turn of a coordinate leaves the pose as it is.
    pose : bool
        Six rows, target (4, 4); else three, target (3,).
    limited : bool
        Keep within p.lower .. p.upper.
    """
    n, rows, attempts = p.n, 6 if pose else 3, o.pose_attempts if pose else o.attempts
    source = Source(f"def {name}(target, q):", "See CompiledChain.")
    _check(source, n, pose)
    _read(source, n, pose, scale)
    source.add(*write_free(rows))
    every = range(n)
    for i in every:
        source.add(f"i{i} = q[{i}]")
    source.enter(f"if not math.isfinite({' + '.join(f'i{i}' for i in every)}):")
    source.add('raise ShapeError("q holds NaN or infinity; expected finite numbers")').leave()
    if limited:
        source.add(*(f"i{i} = {_clamped(p, i, f'i{i}')}" for i in every))
    for i in every:  # the sines are written for angles of a useful size
        small = f"i{i} if abs(i{i}) < 1e6 else i{i} % {2.0 * math.pi!r}"
        source.add(f"h{i} = {small if turns[i] and not limited else f'i{i}'}")
    w = InlineWriter(min(o.tolerance / scale, o.angle_tolerance) if pose else o.tolerance / unit_length(p))
    at = write_pose(w, p, [f"c{i}" for i in every], rotation=pose)
    forward, w.lines = w.lines, []
    jacobian = write_jacobian(w, at, n, rows)
    scalars = [
        *(f"{v}{i}" for v in "bcs" for i in every),
        *(f"j{r}_{i}" for r in range(rows) for i in every if jacobian[r][i] != 0.0),
        *(f"a{r}_{c}" for r in range(rows) for c in range(r + 1)),
        *(f"e{r}" for r in range(rows)),
    ]
    source.add(*(f"{scalar} = 0.0" for scalar in scalars))
    source.add("best = math.inf", "reached = False", "total = 0")
    source.enter(f"for attempt in range({attempts + 1}):")
    _start(source, p, attempts, limited)
    source.add("error = math.inf", "done = False", f"mu = {DAMPING / SUCCESS!r}")
    source.add(f"enough = 1e-3 if attempt < {attempts} else 1e-14")
    source.enter(f"for step in range({o.steps}):")
    source.add(*forward)
    source.add(*_residual(at, pose, scale, o))
    source.enter("if square < error:")
    source.add("gain = error - square", "error = square", f"mu *= {SUCCESS!r}")
    source.add(*(f"s{i} = c{i}" for i in every)).add(*(f"e{r} = f{r}" for r in range(rows)))
    source.add("done = close").enter("if close:").add("break").leave()
    source.enter("if gain <= enough * error:").add("break").leave()
    source.add(*w.lines)
    if limited:
        _write_active(source, p, jacobian)
    else:
        source.add(*write_normal(rows, n, jacobian))
    source.leave().enter("else:").add(f"mu *= {FAILURE!r}")
    source.enter("if not mu < 1e9:").add("break").leave(2)
    source.add("total += 1", "lam = mu * error")
    source.add(*write_solve(rows))
    for i in every:
        moved = f"s{i} + {write_step(i, [r for r in range(rows) if jacobian[r][i] != 0.0], rows == 3)}"
        source.add(f"c{i} = {_clamped(p, i, moved) if limited else moved}")
    source.leave()
    source.enter("if error < best:").add("best = error", "reached = done", *(f"b{i} = s{i}" for i in every))
    source.enter("if reached:").add("break").leave(3)
    _finish(source, p, turns, limited)
    return source.text()


def _check(source: Source, n: int, pose: bool) -> None:
    """Raise on wrong shapes."""
    shape = "target.shape[0] != 4 or target.shape[1] != 4" if pose else "target.shape[0] != 3"
    source.enter(f"if {shape} or q.shape[0] != {n}:")
    source.add(f'raise ShapeError("expected target {(4, 4) if pose else (3,)} and q ({n},)")').leave()


def _read(source: Source, n: int, pose: bool, scale: float) -> None:
    """Read the target into scalars; NaN makes a row free."""
    for k in range(3):
        at = f"target[{k}, 3]" if pose else f"target[{k}]"
        source.add(f"w{k} = 0.0 if math.isnan({at}) else 1.0")
        source.add(f"p{k} = 0.0 if w{k} == 0.0 else {at}" + (f"*{1.0 / scale!r}" if scale != 1.0 else ""))
    source.enter("if not math.isfinite(p0 + p1 + p2):")
    source.add('raise ShapeError("the target\'s position is infinite; expected metres, or NaN for a free row")').leave()
    if not pose:
        return
    source.add("w3 = w4 = w5 = 0.0 if math.isnan(target[0, 0]) else 1.0")
    for r in range(3):
        source.add(*(f"r{r}{c} = target[{r}, {c}]" for c in range(3)))
    source.enter("if w3 == 0.0:")
    source.add("r00 = r11 = r22 = 1.0", "r01 = r02 = r10 = r12 = r20 = r21 = 0.0").leave()
    lengths = [" + ".join(f"r{r}{c}*r{r}{c}" for r in range(3)) for c in range(3)]
    off = [" + ".join(f"r{r}{a}*r{r}{b}" for r in range(3)) for a, b in ((0, 1), (1, 2), (2, 0))]
    bad = " + ".join([*(f"abs({x} - 1.0)" for x in lengths), *(f"abs({x})" for x in off)])
    source.enter(f"if not {bad} < 1e-5:")
    source.add('raise ShapeError("the target\'s rotation is no rotation matrix; NaN makes it free")').leave()


def _start(source: Source, p: ChainParameters, attempts: int, limited: bool) -> None:
    """Choose the start c of an attempt: the seed, then points around it, at last the best point, to be refined."""
    n = p.n
    golden = 1.5
    for _ in range(60):  # root of x^(n+1) = x + 1: evenly spread points in n dimensions (Roberts 2018)
        golden = (1.0 + golden) ** (1.0 / (n + 1))
    source.enter("if attempt == 0:").add(*(f"c{i} = h{i}" for i in range(n))).leave()
    source.enter(f"elif attempt < {attempts}:")
    source.add(f"radius = min({math.pi!r}, {SPREAD!r} * attempt)")
    for i in range(n):
        source.add(f"c{i} = attempt * {golden ** -(i + 1) % 1.0!r} + 0.5", f"c{i} -= math.floor(c{i})")
        low, high = float(p.lower[i]), float(p.upper[i])
        if limited and math.isfinite(high - low):
            source.add(f"c{i} = max({low!r}, h{i} - radius) * (1.0 - c{i}) + min({high!r}, h{i} + radius) * c{i}")
        else:
            source.add(f"c{i} = h{i} + radius * (2.0 * c{i} - 1.0)")
            if limited:
                source.add(f"c{i} = {_clamped(p, i, f'c{i}')}")
    source.leave().enter("else:").add(*(f"c{i} = b{i}" for i in range(n))).leave()


def _residual(at: Pose, pose: bool, scale: float, o: KernelOptions) -> List[str]:
    """Write f (rows), its square, and whether the target is reached."""
    lines = [f"f{k} = w{k}*(p{k} - {_bracket(code(at.p[k]))})" for k in range(3)]
    limit = (MARGIN * o.tolerance / scale) ** 2
    if not pose:
        return [*lines, "square = f0*f0 + f1*f1 + f2*f2", f"close = square <= {limit!r}"]
    current: List[Vector] = at.columns
    for k in range(3):  # half the sum over the columns of current x target: axis times sine
        a, b = (k + 1) % 3, (k + 2) % 3
        parts = [f"{_bracket(code(x[a]))}*r{b}{c} - {_bracket(code(x[b]))}*r{a}{c}" for c, x in enumerate(current)]
        lines.append(f"f{k + 3} = 0.5*w3*({' + '.join(parts)})")
    trace = " + ".join(f"{_bracket(code(current[c][r]))}*r{r}{c}" for c in range(3) for r in range(3))
    lines += [
        f"angle, factor = turn(f3*f3 + f4*f4 + f5*f5, 0.5*w3*({trace} - 1.0) + (1.0 - w3))",
        *(f"f{k} *= factor" for k in (3, 4, 5)),
        "near = f0*f0 + f1*f1 + f2*f2",
        "square = near + angle*angle",
        f"close = near <= {limit!r} and angle <= {MARGIN * o.angle_tolerance!r}",
    ]
    return lines


def _write_active(source: Source, p: ChainParameters, jacobian: List[Vector]) -> None:
    """Write J and A without the columns of joints that the step would push out of their limits."""
    rows, n = len(jacobian), p.n
    kept = [[i for i in range(n) if jacobian[r][i] != 0.0] for r in range(rows)]
    for r in range(rows):
        source.add(*(f"j{r}_{i} = {code(jacobian[r][i])}" for i in kept[r]))
    for i in range(n):
        mine = [r for r in range(rows) if i in kept[r]]
        tests = []
        if math.isfinite(p.lower[i]):
            tests.append(f"(s{i} <= {float(p.lower[i])!r} and pull < 0.0)")
        if math.isfinite(p.upper[i]):
            tests.append(f"(s{i} >= {float(p.upper[i])!r} and pull > 0.0)")
        if mine and tests:
            source.add("pull = " + " + ".join(f"j{r}_{i}*e{r}" for r in mine))
            source.enter(f"if {' or '.join(tests)}:").add(*(f"j{r}_{i} = 0.0" for r in mine)).leave()
    source.add(*normal_from_scalars(rows, kept))


def _finish(source: Source, p: ChainParameters, turns: Sequence[bool], limited: bool) -> None:
    """Turn back whole turns that are not needed, write q, return the count of steps."""
    for i in range(p.n):
        if turns[i]:
            wrapped = f"b{i} - {2.0 * math.pi!r} * math.floor((b{i} - i{i}) * {0.5 / math.pi!r} + 0.5)"
            source.enter(f"if abs(b{i} - i{i}) > {math.pi!r}:")
            if limited and (math.isfinite(p.lower[i]) or math.isfinite(p.upper[i])):
                source.add(f"near_{i} = {wrapped}")
                source.enter(f"if near_{i} == {_clamped(p, i, f'near_{i}')}:").add(f"b{i} = near_{i}").leave()
            else:
                source.add(f"b{i} = {wrapped}")
            source.leave()
        source.add(f"q[{i}] = b{i}")
    source.add("return total if reached else -max(total, 1)")


def _clamped(p: ChainParameters, i: int, text: str) -> str:
    low, high = float(p.lower[i]), float(p.upper[i])
    if math.isfinite(low):
        text = f"max({text}, {low!r})"
    return f"min({text}, {high!r})" if math.isfinite(high) else text


def _bracket(text: str) -> str:
    return f"({text})" if text.startswith("-") else text
