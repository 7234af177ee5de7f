# SPDX-License-Identifier: MIT
"""Source of the Levenberg-Marquardt inverse of one chain for many position targets at once.

The same iteration as in inverse_source, written for LANES targets side by side: one loop without branches over rows of
work memory, which LLVM turns into SIMD code. A lane whose target is reached takes the next one.
"""

from __future__ import annotations

import math
from typing import Callable, List, Sequence, Tuple

from shellbot_kinematics.chain_tables import unit_length
from shellbot_kinematics.generated.chain_source import write_jacobian, write_pose
from shellbot_kinematics.generated.expressions import code
from shellbot_kinematics.generated.inverse_source import DAMPING, SPREAD, Source
from shellbot_kinematics.generated.linear_source import normal_from_scalars, write_free, write_solve3, write_step
from shellbot_kinematics.generated.options import KernelOptions
from shellbot_kinematics.generated.trig_source import MARGIN, InlineWriter
from shellbot_kinematics.parameters import ChainParameters

LANES = 64  # eight SIMD registers of eight; the rows of a chain of four joints take 23 kB
HEAD = """# Written by shellbot_kinematics.generated for one chain; changes are overwritten.
import math

import numpy as np

from shellbot_kinematics._jit import lane_kernel
from shellbot_kinematics._lanes import get, put

"""


class Rows:
    """Names of rows of the work memory; each is LANES long."""

    def __init__(self) -> None:
        self.names: List[str] = []

    def at(self, name: str, lane: str) -> str:
        """Return one lane of a row."""
        return f"w[{self._first(name)} + {lane}]"

    def read(self, name: str) -> str:
        """Return lane i of a row, for the loop over lanes."""
        return f"get(w, {self._first(name)}, i)"

    def write(self, name: str, value: str) -> str:
        """Return the statement that writes lane i of a row."""
        return f"put(w, {self._first(name)}, i, {value})"

    def _first(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name) * LANES


def lanes_source(p: ChainParameters, turns: Sequence[bool], limited: bool, o: KernelOptions) -> Tuple[str, int]:
    """Return the source of a module with `inverse_lanes`, and the floats of work memory that it needs.

    inverse_lanes(targets (T, M, 3), seeds (T, n), q (T, M, n), steps (T, M), residual (T, M), first, last, w, lanes):
    solve the trajectories first .. last point by point, each from the solution of the one before; NaN leaves a row
    free. steps: of the iteration, negative where the target is not reached; residual: m. lanes: LANES, also for fewer
    targets, or rounding would depend on how many there are.
    """
    rows = Rows()
    step = _step(p, limited, o, rows)
    management = _management(p, turns, limited, o, rows)
    return HEAD + "\n" + step + "\n\n" + management, len(rows.names) * LANES


def _step(p: ChainParameters, limited: bool, o: KernelOptions, rows: Rows) -> str:
    """One iteration of every lane: evaluate the trial c, take it if it is better, make the next trial."""
    n, at, put = p.n, rows.read, rows.write
    source = Source("@lane_kernel\ndef step(w, n):", "Do one iteration of n lanes.")
    source.enter("for i in range(n):")
    source.add(*(f"c{j} = {at(f'c{j}')}" for j in range(n)), *(f"w{k} = {at(f'w{k}')}" for k in range(3)))
    w = InlineWriter(o.tolerance / unit_length(p))
    pose = write_pose(w, p, [f"c{j}" for j in range(n)], rotation=False)
    jacobian = write_jacobian(w, pose, n, 3)
    kept = [[j for j in range(n) if jacobian[r][j] != 0.0] for r in range(3)]
    source.add(*w.lines)
    source.add(*(f"f{k} = w{k}*({at(f'p{k}')} - {_bracket(code(pose.p[k]))})" for k in range(3)))
    source.add("square = f0*f0 + f1*f1 + f2*f2", f"error = {at('error')}", "take = square < error")
    source.add("gain = error - square if take else 1e300")
    source.add("error = square if take else error", put("error", "error"))
    source.add(f"mu = {at('mu')}", "mu = 0.25*mu if take else 8.0*mu", put("mu", "mu"), "lam = mu*error")
    # events: 1 the target is reached, 2 this attempt leads no further
    source.add(f"count = {at('count')} + 1.0", put("count", "count"), put("total", f"{at('total')} + 1.0"))
    source.add(f"event = 2.0 if gain <= {at('enough')} * error else 0.0")
    source.add("event = 2.0 if mu > 1e9 else event", f"event = 2.0 if count >= {float(o.steps)!r} else event")
    source.add(put("event", f"1.0 if error <= {(MARGIN * o.tolerance) ** 2!r} else event"))
    for j in range(n):
        source.add(f"s{j} = c{j} if take else {at(f's{j}')}", put(f"s{j}", f"s{j}"))
    for r in range(3):
        source.add(f"e{r} = f{r} if take else {at(f'e{r}')}", put(f"e{r}", f"e{r}"))
        for j in kept[r]:
            name = f"j{r}_{j}"
            source.add(f"{name} = {_bracket(code(jacobian[r][j]))} if take else {at(name)}")
            source.add(put(name, name))
    if limited:
        for j in range(n):
            low, high, mine = float(p.lower[j]), float(p.upper[j]), [r for r in range(3) if j in kept[r]]
            if not mine or not (math.isfinite(low) or math.isfinite(high)):
                continue
            # a joint that stands at a limit and is pushed beyond it does not take part
            source.add(f"pull{j} = " + " + ".join(f"j{r}_{j}*e{r}" for r in mine))
            tests = [f"((s{j} <= {low!r}) & (pull{j} < 0.0))"] if math.isfinite(low) else []
            tests += [f"((s{j} >= {high!r}) & (pull{j} > 0.0))"] if math.isfinite(high) else []
            source.add(f"stuck{j} = {' | '.join(tests)}", *(f"j{r}_{j} = 0.0 if stuck{j} else j{r}_{j}" for r in mine))
    source.add(*write_free(3), *normal_from_scalars(3, kept), *write_solve3())
    for j in range(n):
        source.add(f"x{j} = s{j} + {write_step(j, [r for r in range(3) if j in kept[r]], True)}")
        if limited:
            source.add(*_bounded(p, j, f"x{j}"))
        source.add(put(f"c{j}", f"x{j}"))
    return source.text()


def _management(p: ChainParameters, turns: Sequence[bool], limited: bool, o: KernelOptions, rows: Rows) -> str:
    """Give lanes their targets and starts, and take their results."""
    n, at = p.n, rows.at
    lane = "l"

    def row(name: str) -> str:
        return at(name, lane)

    head = "@lane_kernel\ndef start(w, l, attempt):"
    source = Source(head, "Put the start of an attempt around the seed into a lane.")
    golden = 1.5
    for _ in range(60):  # root of x^(n+1) = x + 1: evenly spread points in n dimensions (Roberts 2018)
        golden = (1.0 + golden) ** (1.0 / (n + 1))
    source.add(f"radius = min({math.pi!r}, {SPREAD!r} * attempt)")
    for j in range(n):
        low, high = float(p.lower[j]), float(p.upper[j])
        source.add(f"x{j} = attempt * {golden ** -(j + 1) % 1.0!r} + 0.5", f"x{j} -= math.floor(x{j})")
        if limited and math.isfinite(high - low):
            source.add(f"lo = max({low!r}, {row(f'i{j}')} - radius)", f"hi = min({high!r}, {row(f'i{j}')} + radius)")
            source.add(f"x{j} = lo * (1.0 - x{j}) + hi * x{j}")
        else:
            source.add(f"x{j} = {row(f'i{j}')} + radius * (2.0 * x{j} - 1.0)")
        if limited:
            source.add(*_bounded(p, j, f"x{j}"))
        source.add(f"{row(f'c{j}')} = x{j}")
    source.add(
        f"{row('error')} = 1e300",
        f"{row('mu')} = {4.0 * DAMPING!r}",
        f"{row('count')} = 0.0",
        f"{row('enough')} = 1e-6",
    )
    text = source.text() + "\n\n"

    source = Source("@lane_kernel\ndef rest(w, l):", "Let a lane without a target stand still at s.")
    source.add(f"{row('mu')} = {row('error')} = 0.0", *(f"{row(f'e{r}')} = 0.0" for r in range(3)))
    source.add(*(f"{row(f'c{j}')} = {row(f's{j}')}" for j in range(n)))
    text += source.text() + "\n\n"

    source = Source("@lane_kernel\ndef begin(w, l, targets, t, m):", "Give a lane the target m of trajectory t.")
    for k in range(3):
        source.add(f"free = math.isnan(targets[t, m, {k}])", f"{row(f'w{k}')} = 0.0 if free else 1.0")
        source.add(f"{row(f'p{k}')} = 0.0 if free else targets[t, m, {k}]")
    source.add(f"{row('attempt')} = 0.0", f"{row('total')} = 0.0", f"{row('best')} = 1e301")
    source.add("start(w, l, 0.0)")
    source.add(*(f"{row(f'c{j}')} = {row(f'i{j}')}" for j in range(n)))
    text += source.text() + "\n\n"

    source = Source(
        "@lane_kernel\ndef look(w, l):", "After an event: return 1 if the target is reached, -1 to give up, else 0."
    )
    source.enter(f"if {row('event')} == 1.0:").add(*_remember(n, row), "return 1").leave()
    source.enter(f"if {row('error')} < {row('best')}:").add(*_remember(n, row)).leave()
    source.add(f"attempt = {row('attempt')} + 1.0").enter(f"if attempt > {float(o.attempts)!r}:").add(
        "return -1"
    ).leave()
    source.add(f"{row('attempt')} = attempt", "start(w, l, attempt)")
    source.enter(f"if attempt == {float(o.attempts)!r}:")  # the best point once more, to be refined
    source.add(*(f"{row(f'c{j}')} = {row(f'b{j}')}" for j in range(n)), f"{row('enough')} = 1e-14").leave()
    source.add("return 0")
    text += source.text() + "\n\n"

    source = Source("@lane_kernel\ndef finish(w, l, state, q, steps, residual, t, m):", "Take a lane's result.")
    for j in range(n):
        source.add(f"x{j} = {row(f'b{j}')}", f"seed = {row(f'i{j}')}")
        if turns[j]:
            source.enter(f"if abs(x{j} - seed) > {math.pi!r}:")
            source.add(f"near = x{j} - {2.0 * math.pi!r} * math.floor((x{j} - seed) * {0.5 / math.pi!r} + 0.5)")
            if limited and (math.isfinite(p.lower[j]) or math.isfinite(p.upper[j])):
                tests = [f"near >= {float(p.lower[j])!r}"] if math.isfinite(p.lower[j]) else []
                tests += [f"near <= {float(p.upper[j])!r}"] if math.isfinite(p.upper[j]) else []
                source.enter(f"if {' and '.join(tests)}:").add(f"x{j} = near").leave()
            else:
                source.add(f"x{j} = near")
            source.leave()
        source.add(f"q[t, m, {j}] = x{j}", f"{row(f'i{j}')} = x{j}")
    # the first evaluation is of the start itself
    source.add(f"total = int({row('total')}) - 1")
    source.add("steps[t, m] = total if state > 0 else -max(total, 1)", f"residual[t, m] = math.sqrt({row('best')})")
    text += source.text() + "\n\n"

    source = Source(
        "@lane_kernel\ndef inverse_lanes(targets, seeds, q, steps, residual, first, last, w, lanes):",
        "See lanes_source.",
    )
    source.add("points = targets.shape[1]", "coming = first", "active = 0")
    source.enter("for l in range(lanes):")
    source.add(f"{row('t')} = -1.0", *(f"{row(f's{j}')} = 0.0" for j in range(n)), "rest(w, l)").leave()
    source.enter("while True:")
    source.enter("for l in range(lanes):")
    source.enter(f"if {row('t')} < 0.0 and coming < last:")
    source.add(f"{row('t')} = float(coming)", f"{row('m')} = 0.0")
    for j in range(n):
        source.add(f"x{j} = seeds[coming, {j}]")
        if limited:
            source.add(*_bounded(p, j, f"x{j}"))
        source.add(f"{row(f'i{j}')} = x{j}")
    source.add("begin(w, l, targets, coming, 0)", "coming += 1", "active += 1").leave(2)
    source.enter("if active == 0:").add("return").leave()
    source.add("step(w, lanes)")
    source.enter("for l in range(lanes):")
    source.enter(f"if {row('event')} != 0.0 and {row('t')} >= 0.0:").add("state = look(w, l)")
    source.enter("if state != 0:")
    source.add(f"t, m = int({row('t')}), int({row('m')})", "finish(w, l, state, q, steps, residual, t, m)")
    source.enter("if m + 1 < points:").add(f"{row('m')} = m + 1.0", "begin(w, l, targets, t, m + 1)").leave()
    source.enter("else:").add(f"{row('t')} = -1.0", "active -= 1", "rest(w, l)")
    source.leave(5)
    return text + source.text()


def _remember(n: int, row: Callable[[str], str]) -> List[str]:
    """Return statements that keep a lane's point and its error as the best so far."""
    return [f"{row('best')} = {row('error')}", *(f"{row(f'b{j}')} = {row(f's{j}')}" for j in range(n))]


def _bounded(p: ChainParameters, j: int, name: str) -> List[str]:
    """Return statements that keep a coordinate within its limits."""
    low, high = float(p.lower[j]), float(p.upper[j])
    lines = [f"{name} = {low!r} if {name} < {low!r} else {name}"] if math.isfinite(low) else []
    return lines + ([f"{name} = {high!r} if {name} > {high!r} else {name}"] if math.isfinite(high) else [])


def _bracket(text: str) -> str:
    return f"({text})" if text.startswith("-") else text
