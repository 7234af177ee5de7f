# SPDX-License-Identifier: MIT
"""Source of what gives lanes their targets and starts, and takes their results; see lane_source.

It costs as much as the steps if it is not kept short: a target that is reached in its first attempt, which nearly all
are, has its lane's result written and the lane loaded with the next target without a branch that is hard to predict.
"""

from __future__ import annotations

import math
from typing import Dict, List, Sequence

from robot_mechanics.codegen.chain_source import write_pose
from robot_mechanics.codegen.expressions import Value, Writer, code
from robot_mechanics.codegen.inverse_source import SPREAD, Source, golden_of
from robot_mechanics.codegen.lane_rows import Rows
from robot_mechanics.codegen.options import DAMPING, DAMPING_LIMITED, MARGIN, KernelOptions, enough_of
from robot_mechanics.codegen.turning_source import Angle, ConstantWriter, clamped
from robot_mechanics.models.parameters import ChainParameters

ROUND = 6755399441055744.0  # 1.5 * 2^52: added and subtracted, it leaves the nearest whole number
REFINED = 1e-14  # in the place of enough_of(p) in the last attempt


class FeedWriter:
    """Writes the functions around the step.

    Parameters
    ----------
    angles : list of Angle
        Whose sines u<k> and cosines v<k> a lane keeps.
    """

    def __init__(
        self,
        p: ChainParameters,
        angles: List[Angle],
        turns: Sequence[bool],
        limited: bool,
        o: KernelOptions,
        rows: Rows,
    ) -> None:
        self._p, self._angles, self._turns, self._limited, self._o, self._rows = p, angles, turns, limited, o, rows
        self._n = n = p.n
        # images: coordinates, sines and cosines, position
        self._size = n + 2 * len(angles) + 3
        self._common, self._own = rows.place("common", self._size), rows.place("own", self._size)
        self._reached = f"{(MARGIN * o.tolerance) ** 2!r}"

    def text(self) -> str:
        """Return the functions' source."""
        return "\n\n".join([self._image(), self._load(), self._start(), self._look(), self._inverse()])

    def _read(self, name: str) -> str:
        return self._rows.read(name, "l")

    def _write(self, name: str, value: str) -> str:
        return self._rows.write(name, value, "l")

    def _each(self, letter: str) -> List[str]:
        return [f"{letter}{j}" for j in range(self._n)]

    def _image(self) -> str:
        n, p = self._n, self._p
        source = Source("@lane_kernel\ndef image(w, a):", "Write sines, cosines and position of the n floats at w[a].")
        names = self._each("c")
        source.add(*(f"{name} = get(w, a, {j})" for j, name in enumerate(names)))
        given: Dict[str, Value] = {name: name for name in names}
        for k, angle in enumerate(self._angles):
            w = Writer("", sincos="sincos_flat")
            sine, cosine = w.sincos(w.dot([*angle.products(given), (angle.offset, 1.0)]))
            source.add(*w.lines, f"u{k} = {code(sine)}", f"v{k} = {code(cosine)}")
            source.add(f"put(w, a, {n + 2 * k}, u{k})", f"put(w, a, {n + 2 * k + 1}, v{k})")
        writer = ConstantWriter("u", "v")
        pose = write_pose(writer, p, names, rotation=False)
        source.add(*writer.lines)
        source.add(*(f"put(w, a, {self._size - 3 + k}, {code(pose.p[k])})" for k in range(3)))
        return source.text()

    def _load(self) -> str:
        head = "@lane_kernel\ndef load(w, l, a):"
        source = Source(head, "Let a lane begin at the image at w[a]; return the square of its distance there.")
        source.add(*(self._write(f"s{j}", f"get(w, a, {j})") for j in range(self._n)))
        for k in range(len(self._angles)):
            at = self._n + 2 * k
            source.add(self._write(f"u{k}", f"get(w, a, {at})"), self._write(f"v{k}", f"get(w, a, {at + 1})"))
        for k in range(3):
            source.add(f"p{k} = {self._read(f'p{k}')}")
            source.add(f"e{k} = p{k} - get(w, a, {self._size - 3 + k}) if p{k} == p{k} else 0.0")
        source.add("error = e0*e0 + e1*e1 + e2*e2", self._write("error", "error"))
        source.add(
            self._write("mu", repr(DAMPING_LIMITED if self._limited else DAMPING)),
            self._write("count", "0.0"),
            "return error",
        )
        return source.text()

    def _start(self) -> str:
        n, p, row = self._n, self._p, self._read
        source = Source("@lane_kernel\ndef start(w, l, attempt):", "Let a lane begin anew at a point around its seed.")
        golden = golden_of(n)
        source.add(f"radius = min({math.pi!r}, {SPREAD!r} * attempt)")
        for j in range(n):
            low, high = float(p.lower[j]), float(p.upper[j])
            source.add(f"x{j} = attempt * {golden ** -(j + 1) % 1.0!r} + 0.5", f"x{j} -= math.floor(x{j})")
            if self._limited and math.isfinite(high - low):
                source.add(
                    f"lo = max({low!r}, {row(f'i{j}')} - radius)", f"hi = min({high!r}, {row(f'i{j}')} + radius)"
                )
                source.add(f"x{j} = lo * (1.0 - x{j}) + hi * x{j}")
            else:
                source.add(f"x{j} = {row(f'i{j}')} + radius * (2.0 * x{j} - 1.0)")
            source.add(*self._bounded(f"x{j}", j))
        source.enter(f"if attempt == {float(self._o.attempts)!r}:")  # the best point once more, to be refined
        source.add(*(f"x{j} = {row(f'b{j}')}" for j in range(n)), self._write("enough", repr(REFINED))).leave()
        source.add(*self._make_image(self._own), f"load(w, l, {self._own})")
        return source.text()

    def _look(self) -> str:
        head = "@lane_kernel\ndef look(w, l):"
        source = Source(head, "At the end of an attempt: return 1 if the target is reached, -1 to give up, else 0.")
        source.add(self._write("total", f"{self._read('total')} + {self._read('count')}"))
        source.add(f"attempt = {self._read('attempt')} + 1.0")
        source.enter(f"if attempt == 1.0 or {self._read('error')} < {self._read('best')}:")
        source.add(self._write("best", self._read("error")))
        source.add(*(self._write(f"b{j}", self._read(f"s{j}")) for j in range(self._n))).leave()
        source.enter(f"if {self._read('event')} == 1.0:").add("return 1").leave()
        source.enter(f"if attempt > {float(self._o.attempts)!r}:").add("return -1").leave()
        source.add(self._write("attempt", "attempt"), "start(w, l, attempt)", "return 0")
        return source.text()

    def _inverse(self) -> str:
        n = self._n
        arguments = "targets, seeds, common, q, steps, residual, points, first, last, w, lanes"
        source = Source(f"@lane_kernel\ndef inverse_lanes({arguments}):", "See lanes_source.")
        source.add("coming = first", "active = lanes", "alone = points == 1")
        source.enter("if common:")
        self._seed(source, "0", self._common)
        source.enter("for l in range(lanes):").add(*(self._write(f"i{j}", f"x{j}") for j in range(n))).leave(2)
        source.enter("for l in range(lanes):")
        source.add(self._write("slot", "-1.0"), self._write("event", "1.0"), *self._first_attempt()).leave()
        source.enter("while active > 0:")
        source.add(f"mask = nonzero(w, {self._rows.place('event')})")
        source.enter("while mask != 0:")
        source.add("l = lowest(mask)", "mask = without_lowest(mask)", f"slot = int({self._read('slot')})")
        source.add(f"ahead, a = 0.0, {self._common}")
        source.enter("if slot >= 0:")
        self._finish(source)
        source.leave()
        self._begin(source)
        source.leave()
        source.enter("if active > 0:").add("step(w, lanes)")
        return source.text()

    def _finish(self, source: Source) -> None:
        """Take a lane's result, if it has one."""
        n, p, row = self._n, self._p, self._read
        source.add("state = 1", f"total = {row('count')}", f"error = {row('error')}")
        source.add(*(f"x{j} = {row(f's{j}')}" for j in range(n)))
        source.enter(f"if {row('event')} != 1.0 or {row('attempt')} != 0.0:")
        source.add("state = look(w, l)").enter("if state == 0:").add("continue").leave()
        source.add(f"total = {row('total')}", f"error = {row('best')}", *(f"x{j} = {row(f'b{j}')}" for j in range(n)))
        source.add(*self._first_attempt()).leave()
        for j in range(n):
            if self._turns[j]:  # without the whole turns that it is away from the seed
                source.add(f"turns = ((x{j} - {row(f'i{j}')}) * {0.5 / math.pi!r} + {ROUND!r}) - {ROUND!r}")
                source.add(f"near = x{j} - {2.0 * math.pi!r} * turns")
                low, high = (float(p.lower[j]), float(p.upper[j])) if self._limited else (-math.inf, math.inf)
                tests = [f"(near >= {low!r})"] if math.isfinite(low) else []
                tests += [f"(near <= {high!r})"] if math.isfinite(high) else []
                source.add(f"x{j} = near" + (f" if {' & '.join(tests)} else x{j}" if tests else ""))
            source.add(f"put(q, {n} * slot, {j}, x{j})")
        source.add("count = int(total)", "steps[slot] = count if state > 0 else -max(count, 1)")
        source.add("residual[slot] = math.sqrt(error)")
        source.enter("if not alone:").add(f"ahead, a = {row('ahead')}, {self._own}")
        source.add(*self._make_image(self._own)).leave()

    def _begin(self, source: Source) -> None:
        """Give a lane the next target that is not where it starts from."""
        n = self._n
        source.enter("while True:")
        source.enter("if ahead == 0.0:")
        source.enter("if coming == last:")  # nothing left: a distance of NaN never becomes an event
        source.add(*(self._write(*idle) for idle in (("error", "math.nan"), ("mu", "0.0"), ("count", "-1e300"))))
        source.add(self._write("event", "0.0"), "active -= 1", "break").leave()
        source.enter("if common:").add(f"a = {self._common}").leave().enter("else:")
        self._seed(source, f"{n} * coming", self._own)
        source.add(f"a = {self._own}").leave()
        source.add("slot = coming * points", "coming += 1", "ahead = float(points)").leave()
        source.enter("else:").add("slot += 1").leave()
        source.add(*(self._write(f"p{k}", f"get(targets, 3 * slot, {k})") for k in range(3)))
        source.add("ahead -= 1.0", "error = load(w, l, a)")
        source.enter(f"if error > {self._reached}:").add(self._write("slot", "float(slot)"))
        source.enter("if not (alone and common):").add(self._write("ahead", "ahead"))
        source.add(*(self._write(f"i{j}", f"get(w, a, {j})") for j in range(n))).leave()
        source.add("break").leave()
        source.add(*(f"put(q, {n} * slot, {j}, get(w, a, {j}))" for j in range(n)))
        source.add("steps[slot] = 0", "residual[slot] = math.sqrt(error)").leave()

    def _seed(self, source: Source, at: str, place: int) -> None:
        """Write the image of a seed."""
        for j in range(self._n):
            source.add(f"x{j} = get(seeds, {at}, {j})", *self._bounded(f"x{j}", j))
        source.add(*self._make_image(place))

    def _make_image(self, place: int) -> List[str]:
        return [*(f"put(w, {place}, {j}, x{j})" for j in range(self._n)), f"image(w, {place})"]

    def _first_attempt(self) -> List[str]:
        values = (("attempt", "0.0"), ("total", "0.0"), ("enough", repr(enough_of(self._p))))
        return [self._write(name, value) for name, value in values]

    def _bounded(self, name: str, j: int) -> List[str]:
        return [f"{name} = {clamped(self._p, j, name)}"] if self._limited else []
