# SPDX-License-Identifier: MIT
"""Source of the Levenberg-Marquardt inverse of one chain for many position targets at once.

The same iteration as in inverse_source, written for LANES targets side by side: one loop without branches over rows of
work memory, which LLVM turns into SIMD code. A row holds what a target's best point needs so that the step from it can
be computed: coordinates, sines and cosines of the angles, the error, mu. All else (Jacobian, difference, factors) is
computed again in every pass, which is cheaper than to keep it; so a pass is a whole step, from that point to the trial
and the choice between the two. A lane whose target is reached takes the next one (lane_feed_source).
"""

from __future__ import annotations

import math
from typing import List, Sequence, Tuple

from robot_mechanics.codegen.chain_source import jacobian_of, write_motions, write_pose
from robot_mechanics.codegen.chain_tables import unit_length
from robot_mechanics.codegen.expressions import Value, Writer, bracket, code
from robot_mechanics.codegen.inverse_source import FLOOR, Source
from robot_mechanics.codegen.lane_feed_source import FeedWriter
from robot_mechanics.codegen.lane_rows import Rows
from robot_mechanics.codegen.linear_source import (
    normal_from_scalars,
    write_factors,
    write_free,
    write_product,
    write_step,
)
from robot_mechanics.codegen.options import FAILURE, MARGIN, SUCCESS, KernelOptions
from robot_mechanics.codegen.second_order_source import Combination, prepare_second_order, write_second_order
from robot_mechanics.codegen.turning_source import (
    Angle,
    ConstantWriter,
    may_turn,
    plan_changes,
    sum_of,
    write_changes,
    write_turned,
)
from robot_mechanics.models.parameters import ChainParameters

HEAD = """# Written by robot_mechanics.codegen for one chain; changes are overwritten.
import math

from robot_mechanics.native.jit import lane_kernel
from robot_mechanics.native.lanes import get, put, sincos_flat
from robot_mechanics.native.lane_mask import lowest, nonzero, without_lowest

"""


def lanes_source(p: ChainParameters, turns: Sequence[bool], limited: bool, o: KernelOptions) -> Tuple[str, int]:
    """Return the source of a module with `inverse_lanes`, and the floats of work memory that it needs.

    inverse_lanes(targets (T * M * 3,), seeds (T * n,) or (n,), common, q (T * M * n,), steps (T * M,),
    residual (T * M,), points, first, last, w, lanes): solve the trajectories first .. last of `points` = M points each,
    point by point, each from the solution of the one before, the first from its seed, or from the one seed if `common`;
    NaN leaves a row free. steps: of the iteration, negative where the target is not reached; residual: m. lanes:
    LANES, also for fewer targets, or rounding would depend on how many there are.
    """
    rows = Rows()
    step, angles = _step(p, limited, o, rows)
    return HEAD + "\n" + step + "\n\n" + FeedWriter(p, angles, turns, limited, o, rows).text(), rows.size


def _step(p: ChainParameters, limited: bool, o: KernelOptions, rows: Rows) -> Tuple[str, List[Angle]]:
    """One step of every lane: from the point s (sines u, cosines v) to the trial c (sin, cos), taken if better."""
    n, coordinates = p.n, [f"c{j}" for j in range(p.n)]

    def at(name: str) -> str:
        return rows.read(name, "i")

    def put(name: str, value: str) -> str:
        return rows.write(name, value, "i")

    source = Source("@lane_kernel\ndef step(w, n):", "Do one step of n lanes.")
    source.enter("for i in range(n):")
    w = ConstantWriter("u", "v")
    pose = write_pose(w, p, coordinates, rotation=False)
    motions = write_motions(w, pose)
    jacobian = jacobian_of(w, motions, n, 3)
    parts = prepare_second_order(w, motions, 3)
    angles = w.angles
    source.add(*(f"s{j} = c{j} = {at(f's{j}')}" for j in range(n)))
    for k in range(len(angles)):
        source.add(f"u{k} = {at(f'u{k}')}", f"v{k} = {at(f'v{k}')}")
    source.add(*w.lines)
    for k in range(3):
        source.add(f"p{k} = {at(f'p{k}')}", f"w{k} = 1.0 if p{k} == p{k} else 0.0", f"e{k} = {_off(k, pose.p[k])}")
    source.add(f"error = {at('error')}", f"mu = {at('mu')}", "lam = mu*error")

    columns = [[r for r in range(3) if jacobian[r][j] != 0.0] for j in range(n)]
    source.add(*(f"j{r}_{j} = {code(jacobian[r][j])}" for j in range(n) for r in columns[j]))
    if limited:
        _write_active(source, p, columns)
    source.add(*write_free(3, FLOOR * unit_length(p) ** 2))
    source.add(*normal_from_scalars(3, [[j for j in range(n) if r in columns[j]] for r in range(3)]))
    source.add(*write_factors(3), *write_product("e", "y"))
    source.add(*(f"x{j} = {write_step(j, columns[j], True)}" for j in range(n)))
    w.lines = []
    off = write_second_order(w, parts, [f"x{j}" if columns[j] else 0.0 for j in range(n)], 3)
    source.add(*w.lines, *(f"o{r} = {code(off[r])}" for r in range(3)), *write_product("o", "k"))
    source.add(*(f"x{j} = x{j} - {write_step(j, columns[j], True, 'k')}" for j in range(n)))

    changes = write_changes(plan_changes(angles, p, limited), p, limited, _sum_of_steps)
    source.add(*changes, *_sines(angles, o.tolerance / unit_length(p), o.steps))
    w = ConstantWriter()
    pose = write_pose(w, p, coordinates, rotation=False)
    source.add(*w.lines, *(f"f{k} = {_off(k, pose.p[k])}" for k in range(3)))
    source.add("square = f0*f0 + f1*f1 + f2*f2", "take = square < error", "gain = error - square if take else 1e300")
    source.add("error = square if take else error", put("error", "error"))
    source.add(f"mu = {SUCCESS!r}*mu if take else {FAILURE!r}*mu", put("mu", "mu"))
    source.add(f"count = {at('count')} + 1.0", put("count", "count"))
    # events: 1 the target is reached, 2 this attempt leads no further
    source.add(f"event = 2.0 if gain <= {at('enough')} * error else 0.0")
    source.add("event = 2.0 if mu > 1e9 else event", f"event = 2.0 if count >= {float(o.steps)!r} else event")
    source.add(put("event", f"1.0 if error <= {(MARGIN * o.tolerance) ** 2!r} else event"))
    source.add(*(put(f"s{j}", f"c{j} if take else s{j}") for j in range(n)))
    for k in range(len(angles)):
        source.add(put(f"u{k}", f"sin{k} if take else u{k}"), put(f"v{k}", f"cos{k} if take else v{k}"))
    return source.text(), angles


def _sum_of_steps(c: Combination) -> str:
    return sum_of([(ratio, f"x{j}") for j, ratio in c])


def _off(k: int, x: Value) -> str:
    """Return how far the target's coordinate k is from x; nothing if it is free (NaN)."""
    return f"p{k} - {bracket(code(x))} if p{k} == p{k} else 0.0"


def _write_active(source: Source, p: ChainParameters, columns: List[List[int]]) -> None:
    """Set to zero the columns of joints that stand at a limit and are pushed beyond it: they do not take part."""
    for j in range(p.n):
        low, high, mine = float(p.lower[j]), float(p.upper[j]), columns[j]
        if not mine or not (math.isfinite(low) or math.isfinite(high)):
            continue
        source.add(f"pull{j} = " + " + ".join(f"j{r}_{j}*e{r}" for r in mine))
        tests = [f"((s{j} <= {low!r}) & (pull{j} < 0.0))"] if math.isfinite(low) else []
        tests += [f"((s{j} >= {high!r}) & (pull{j} > 0.0))"] if math.isfinite(high) else []
        source.add(f"stuck{j} = {' | '.join(tests)}", *(f"j{r}_{j} = 0.0 if stuck{j} else j{r}_{j}" for r in mine))


def _sines(angles: List[Angle], tolerance: float, steps: int) -> List[str]:
    """Return statements for sin<k> and cos<k> of the trial, turned from u<k> and v<k> if the errors allow it."""
    lines: List[str] = []
    for k, angle in enumerate(angles):
        if may_turn(tolerance, steps):
            w = Writer("")
            sine, cosine = write_turned(w, f"u{k}", f"v{k}", f"turn{k}")
        else:
            w = Writer("", sincos="sincos_flat")
            sine, cosine = w.turned([*angle.products({name: name for name, _ in angle.terms}), (angle.offset, 1.0)])
        lines += [*w.lines, f"sin{k} = {code(sine)}", f"cos{k} = {code(cosine)}"]
    return lines
