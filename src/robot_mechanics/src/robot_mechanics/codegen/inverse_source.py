# SPDX-License-Identifier: MIT
"""Source of the Levenberg-Marquardt inverse of one chain: position or pose, with or without joint limits.

Each step is d1 = J' (J J' + lam I)^-1 e with lam = mu |e|^2: damping by the residual (Sugihara,
"Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27(5), 2011; by
its size times a constant: Chan and Lawrence, ICRA 1988), with mu following success as in Marquardt's method: a better
point is taken and mu becomes mu/4, a worse one is not and mu becomes 8 mu. To it comes the geodesic acceleration
d2 = -J' (J J' + lam I)^-1 f''[d1, d1]/2 (Transtrum and Sethna, "Improvements to the Levenberg-Marquardt algorithm for
nonlinear least-squares minimization", arXiv:1201.5885, 2012), for which the same factors serve. Limits: a projected
step with an active set; columns of joints that stand at a limit and would be pushed beyond it do not take part.

Sines and cosines are turned by the step instead of computed anew (turning_source), but for tolerances so small that the
errors of that would show.
"""

from __future__ import annotations

import math
import re
from typing import List, Sequence, Tuple

from robot_mechanics.codegen.chain_source import jacobian_of, write_motions, write_pose
from robot_mechanics.codegen.chain_tables import unit_length
from robot_mechanics.codegen.expressions import Vector, Writer, bracket, code
from robot_mechanics.codegen.linear_source import (
    COFACTORS,
    normal_from_scalars,
    write_factors,
    write_free,
    write_normal,
    write_product,
    write_step,
)
from robot_mechanics.codegen.options import DAMPING, DAMPING_LIMITED, FAILURE, MARGIN, SUCCESS, KernelOptions, enough_of
from robot_mechanics.codegen.second_order_source import (
    Combination,
    SecondOrder,
    prepare_second_order,
    write_second_order,
)
from robot_mechanics.codegen.turning_source import (
    Changes,
    ConstantWriter,
    clamped,
    may_turn,
    plan_changes,
    sum_of,
    write_changes,
    write_turned,
)
from robot_mechanics.models.parameters import ChainParameters

FLOOR = 1e-16  # of the damping, relative to lengths of the chain's size: rounding of A, whatever |e|
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
    size = 1.0 if pose else unit_length(p)
    iteration = _Iteration(
        p, rows, limited, min(o.tolerance / scale, o.angle_tolerance) if pose else o.tolerance / size, o.steps
    )
    source = Source(f"def {name}(target, q):", "See CompiledChain.")
    source.add("stay_scalar()")
    _check(source, n, pose)
    _read(source, pose, scale)
    source.add(*write_free(rows, FLOOR * size * size))
    every = range(n)
    for i in every:
        source.add(f"i{i} = q[{i}]")
    source.enter(f"if not math.isfinite({' + '.join(f'i{i}' for i in every)}):")
    source.add('raise ShapeError("q holds NaN or infinity; expected finite numbers")').leave()
    if limited:
        source.add(*(f"i{i} = {clamped(p, i, f'i{i}')}" for i in every))
    for i in every:  # the sines are written for angles of a useful size
        small = f"i{i} if abs(i{i}) < 1e6 else i{i} % {2.0 * math.pi!r}"
        source.add(f"h{i} = {small if turns[i] and not limited else f'i{i}'}")
    source.add(*(f"b{i} = 0.0" for i in every), "best = math.inf", "reached = False", "total = 0")
    source.enter(f"for attempt in range({attempts + 1}):")
    _start(source, p, attempts, limited)
    residual = _residual(iteration, pose, scale, o)
    mu = DAMPING_LIMITED if limited else DAMPING
    source.add(*iteration.begin, "error = math.inf", "done = False", "count = 0")
    source.add(f"enough = {enough_of(p)!r} if attempt < {attempts} else 1e-14")
    better = ["gain = error - square", "error = square", "done = close", *(f"s{i} = c{i}" for i in every)]
    better += [f"e{r} = f{r}" for r in range(rows)]
    best = [*iteration.keep, *_normal(p, iteration.jacobian, limited), *iteration.columns]
    trial = ["count += 1", "lam = mu * error", *iteration.advance]
    if pose:  # compiles in less time
        source.add(f"mu = {mu / SUCCESS!r}").enter("while True:")
        source.add(*iteration.forward, *residual)
        source.enter("if square < error:").add(*better)
        source.enter("if close or gain <= enough * error:").add("break").leave()
        source.add(f"mu *= {SUCCESS!r}", *best).leave()
        source.enter("elif count == 0:").add("break").leave()
        source.enter("else:").add(f"mu *= {FAILURE!r}").leave()
        source.enter(f"if count >= {o.steps} or not mu < 1e9:").add("break").leave()
        source.add(*trial).leave()
    else:  # runs in less time: what belongs to the best point stays as it is until there is a better one
        source.add(f"mu = {mu!r}", *iteration.forward, *residual)
        source.enter("while square < error:").add(*better)
        source.enter("if close or gain <= enough * error:").add("break").leave()
        source.add(*best).enter(f"while count < {o.steps} and mu < 1e9:")
        source.add(*trial, *iteration.forward, *residual)
        source.enter("if square < error:").add(f"mu *= {SUCCESS!r}", "break").leave()
        source.add(f"mu *= {FAILURE!r}").leave(2)
    source.add("total += count")
    source.enter("if error < best:")
    source.add("best = error", "reached = done", *(f"b{i} = s{i}" for i in every))
    source.enter("if reached:").add("break").leave(3)
    _finish(source, p, turns, limited)
    return source.text()


class _Iteration:
    """The statements of one step, in blocks.

    Attributes
    ----------
    begin : list of str
        At the start c of an attempt: its sines and cosines.
    forward : list of str
        The pose `at` of c and for three rows the error, in the variables `errors`.
    keep, columns : list of str
        At a point that is better than those before: what its steps need besides J and A; and behind these.
    advance : list of str
        From the best point, lam and A to the next trial c.
    """

    def __init__(self, p: ChainParameters, rows: int, limited: bool, tolerance: float, steps: int) -> None:
        n = p.n
        turning, coordinates = may_turn(tolerance, steps), [f"c{i}" for i in range(n)]
        w = ConstantWriter() if turning else Writer("", sincos="sincos" if rows == 6 else "sincos_flat")  # type: Writer
        self.at = write_pose(w, p, coordinates, rotation=rows == 6)
        self.errors: List[str] = []
        if rows == 3:  # not by way of the position, for which the sums would have to wait
            distances = [[(-1.0, link.p[k]) for link in self.at.links] for k in range(3)]
            self.errors = [code(w.tree([(1.0, f"p{k}"), *distances[k]])) for k in range(3)]
        self.forward, w.lines = w.lines, []
        motions = write_motions(w, self.at)
        parts = prepare_second_order(w, motions, rows)
        self.jacobian = jacobian_of(w, motions, n, rows)
        self.keep, w.lines = w.lines, []

        angles = w.angles if isinstance(w, ConstantWriter) else []
        plan = plan_changes(angles, p, limited)
        sums = list(dict.fromkeys([*parts.combinations, *plan.combinations]))
        solve = _three_rows if rows == 3 else _six_rows
        self.columns, late = solve(w, self.jacobian, sums, parts, plan, p, limited)
        self.begin: List[str] = []
        after: List[str] = []
        if turning:
            # no branches to be predicted wrongly; for six rows calls, which compile in less time
            turned, start = Writer("", "v"), Writer("", "u", "sincos" if rows == 6 else "sincos_flat")
            for k, angle in enumerate(angles):
                sine, cosine = start.turned([*angle.products({c: c for c in coordinates}), (angle.offset, 1.0)])
                start.lines += [f"sin{k} = {code(sine)}", f"cos{k} = {code(cosine)}"]
                sine, cosine = write_turned(turned, f"sin{k}", f"cos{k}", f"turn{k}")
                after += [f"sin{k} = {code(sine)}", f"cos{k} = {code(cosine)}"]
            late += turned.lines
            self.begin = start.lines
        # what the step takes from the trial's variables must be the best point's: those are kept
        changing = {line.split(" = ")[0] for line in [*self.begin, *self.forward, *self.keep]}
        names = re.findall(r"\b[a-z]+\d+\b", "\n".join([*self.columns, *late]))
        used = list(dict.fromkeys(name for name in names if name in changing))
        self.keep += [f"best_{name} = {name}" for name in used]
        pattern = re.compile(rf"\b({'|'.join([*used, 'no_name'])})\b")
        self.columns = [pattern.sub(r"best_\1", line) for line in self.columns]
        self.advance = [*(pattern.sub(r"best_\1", line) for line in late), *after]


def _three_rows(
    w: Writer, J: List[Vector], sums: List[Combination], parts: SecondOrder, plan: Changes, p: ChainParameters,
    limited: bool,
) -> Tuple[List[str], List[str]]:  # fmt: skip
    """Return statements behind J and A, and those of the step, for three rows.

    For each sum of steps c that is needed, J c, and with the cofactors M its row of J' M: so the way from the damping
    to each part of the step is one product, and the division is done beside it.
    """
    name = {c: f"x{k}" for k, c in enumerate(sums)}
    columns, late = [], write_factors(3)
    for c, x in name.items():
        terms = [[(ratio, f"j{r}_{i}") for i, ratio in c if J[r][i] != 0.0] for r in range(3)]
        columns += [f"{x}_{r} = {sum_of(terms[r])}" for r in range(3) if terms[r]]
        if not any(terms):
            late.append(f"{x} = full_{x} = 0.0")
            continue
        for r in range(3):
            late.append(f"{x}m{r} = " + " + ".join(f"{x}_{k}*{COFACTORS[k][r]}" for k in range(3) if terms[k]))
        late.append(f"{x} = ({x}m2*e2 + {x}m1*e1) + {x}m0*e0")
    w.lines = []
    off = write_second_order(w, parts, lambda c: name[c], 3)
    # the first part still lacks det, the second, quadratic in the first, its cube
    late += [*w.lines, "cube = det*det*-det"]
    for x in name.values():
        if f"{x} = full_{x} = 0.0" not in late:
            second = " + ".join(f"{x}m{r}*{bracket(code(off[r]))}" for r in range(3) if off[r] != 0.0)
            late.append(f"full_{x} = {x}*det" + (f" + cube*({second})" if second else ""))
    return columns, late + write_changes(plan, p, limited, lambda c: "full_" + name[c])


def _six_rows(
    w: Writer, J: List[Vector], _sums: List[Combination], parts: SecondOrder, plan: Changes, p: ChainParameters,
    limited: bool,
) -> Tuple[List[str], List[str]]:  # fmt: skip
    """Return statements behind J and A, and those of the step, for six rows."""
    used = [[r for r in range(6) if J[r][i] != 0.0] for i in range(p.n)]
    late = [*write_factors(6), *write_product("e", "y", 6)]
    late += [f"x{i} = {write_step(i, used[i], False)}" for i in range(p.n)]
    w.lines = []
    off = write_second_order(w, parts, [f"x{i}" for i in range(p.n)], 6)
    late += [*w.lines, *(f"o{r} = {code(off[r])}" for r in range(6)), *write_product("o", "k", 6)]
    for i in range(p.n):
        second = f"({write_step(i, used[i], False, 'k')})" if used[i] else "0.0"
        late.append(f"full_x{i} = x{i} - {second}")
    return [], late + write_changes(plan, p, limited, _sum_of_steps)


def _sum_of_steps(c: Combination) -> str:
    return sum_of([(ratio, f"full_x{i}") for i, ratio in c])


def _check(source: Source, n: int, pose: bool) -> None:
    """Raise on wrong shapes."""
    shape = "target.shape[0] != 4 or target.shape[1] != 4" if pose else "target.shape[0] != 3"
    source.enter(f"if {shape} or q.shape[0] != {n}:")
    source.add(f'raise ShapeError("expected target {(4, 4) if pose else (3,)} and q ({n},)")').leave()


def _read(source: Source, pose: bool, scale: float) -> None:
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
    golden = golden_of(n)
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
                source.add(f"c{i} = {clamped(p, i, f'c{i}')}")
    source.leave().enter("else:").add(*(f"c{i} = b{i}" for i in range(n))).leave()


def golden_of(n: int) -> float:
    """Return the root of x^(n+1) = x + 1, whose powers spread points evenly in n dimensions (Roberts 2018)."""
    root = 1.5
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (n + 1))
    return root


def _residual(iteration: _Iteration, pose: bool, scale: float, o: KernelOptions) -> List[str]:
    """Write f (rows), its square, and whether the target is reached."""
    limit = (MARGIN * o.tolerance / scale) ** 2
    if not pose:
        lines = [f"f{k} = {x}" for k, x in enumerate(iteration.errors)]
        return [*lines, "square = (w2*f2*f2 + w1*f1*f1) + w0*f0*f0", f"close = square <= {limit!r}"]
    at = iteration.at
    lines = [f"f{k} = w{k}*(p{k} - {bracket(code(at.p[k]))})" for k in range(3)]
    current: List[Vector] = at.columns
    for k in range(3):  # half the sum over the columns of current x target: axis times sine
        a, b = (k + 1) % 3, (k + 2) % 3
        parts = [f"{bracket(code(x[a]))}*r{b}{c} - {bracket(code(x[b]))}*r{a}{c}" for c, x in enumerate(current)]
        lines.append(f"f{k + 3} = 0.5*w3*({' + '.join(parts)})")
    trace = " + ".join(f"{bracket(code(current[c][r]))}*r{r}{c}" for c in range(3) for r in range(3))
    lines += [
        f"angle, factor = turn(f3*f3 + f4*f4 + f5*f5, 0.5*w3*({trace} - 1.0) + (1.0 - w3))",
        *(f"f{k} *= factor" for k in (3, 4, 5)),
        "near = f0*f0 + f1*f1 + f2*f2",
        "square = near + angle*angle",
        f"close = near <= {limit!r} and angle <= {MARGIN * o.angle_tolerance!r}",
    ]
    return lines


def _normal(p: ChainParameters, jacobian: List[Vector], limited: bool) -> List[str]:
    """Return statements for J and A, with limits without the columns of joints that the step would push beyond them."""
    rows, n = len(jacobian), p.n
    if not limited:
        return write_normal(rows, n, jacobian)
    entries = [[i for i in range(n) if jacobian[r][i] != 0.0] for r in range(rows)]
    lines = [] if rows == 6 else [f"j{r}_{i} = {code(jacobian[r][i])}" for r in range(rows) for i in entries[r]]
    for i in range(n):
        mine = [r for r in range(rows) if i in entries[r]]
        low, high = float(p.lower[i]), float(p.upper[i])
        there = [f"s{i} <= {low!r}"] * math.isfinite(low) + [f"s{i} >= {high!r}"] * math.isfinite(high)
        outwards = ["pull{i} < 0.0"] * math.isfinite(low) + ["pull{i} > 0.0"] * math.isfinite(high)
        both = [f"({a}) & ({b.format(i=i)})" for a, b in zip(there, outwards)]
        pull = f"pull{i} = " + " + ".join(f"{bracket(code(jacobian[r][i]))}*e{r}" for r in mine)
        if rows == 6:  # compiles in less time than with branches
            stopped = bool(mine and there)
            lines += [pull, f"free{i} = 1.0 - 1.0*({' | '.join(f'({test})' for test in both)})"] if stopped else []
            lines += [f"j{r}_{i} = " + bracket(code(jacobian[r][i])) + f"*free{i}" * stopped for r in mine]
        elif mine and there:
            lines += [f"if {' or '.join(there)}:", f"    {pull}", f"    if {' or '.join(f'({x})' for x in both)}:"]
            lines += [f"        j{r}_{i} = 0.0" for r in mine]
    return [*lines, *normal_from_scalars(rows, entries)]


def _finish(source: Source, p: ChainParameters, turns: Sequence[bool], limited: bool) -> None:
    """Turn back whole turns that are not needed, write q, return the count of steps."""
    for i in range(p.n):
        if turns[i]:
            wrapped = f"b{i} - {2.0 * math.pi!r} * math.floor((b{i} - i{i}) * {0.5 / math.pi!r} + 0.5)"
            source.enter(f"if abs(b{i} - i{i}) > {math.pi!r}:")
            if limited and (math.isfinite(p.lower[i]) or math.isfinite(p.upper[i])):
                source.add(f"near_{i} = {wrapped}")
                source.enter(f"if near_{i} == {clamped(p, i, f'near_{i}')}:").add(f"b{i} = near_{i}").leave()
            else:
                source.add(f"b{i} = {wrapped}")
            source.leave()
        source.add(f"q[{i}] = b{i}")
    source.add("return total if reached else -max(total, 1)")
