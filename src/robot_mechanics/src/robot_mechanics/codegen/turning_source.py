# SPDX-License-Identifier: MIT
"""Source of sines and cosines that are carried from step to step: turned by what an angle has changed.

    sin(a + d) = sin a cos d + cos a sin d,    cos(a + d) = cos a cos d - sin a sin d

The change d is bounded, so short polynomials of it do, without the reduction of the range that an angle would need:
that reduction is a third of the way from a step to the pose it leads to. The errors of the steps add up: TURNS turns by
the greatest change leave less than SHORT_ENOUGH, small ones nothing but rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Dict, List, Sequence, Tuple

from robot_mechanics.codegen.expressions import Value, Writer, code, negative, snap
from robot_mechanics.codegen.second_order_source import Combination
from robot_mechanics.models.parameters import ChainParameters

GREATEST = 1.2  # rad, to which a change is bounded
# sin x = x + x^3 S(x^2), cos x = 1 - x^2/2 + x^4 C(x^2) up to GREATEST, least greatest error: 2.4e-10 and 1.6e-11
TURN_SINE = (-0.16666665535431419, 0.008333269414161596, -0.0001982928567518898, 2.663848237109487e-06)
TURN_COSINE = (0.04166666538188395, -0.0013888824354167308, 2.4790442556023178e-05, -2.6753566073732763e-07)
TURNS = 40
SHORT_ENOUGH = 1e-6  # tolerance, relative to the chain's size, from which on these do for TURNS steps


def may_turn(tolerance: float, steps: int) -> bool:
    """Return whether turned sines are good enough for attempts of `steps` steps; tolerance relative to chain's size."""
    return tolerance >= SHORT_ENOUGH * max(1.0, steps / TURNS)


@dataclass(frozen=True)
class Angle:
    """An angle whose sine and cosine a chain needs: the sum of ratio * coordinate, and a constant in rad."""

    terms: Tuple[Tuple[str, float], ...]
    offset: float

    def products(self, names: Dict[str, Value]) -> List[Tuple[Value, Value]]:
        """Return the sum's products with other variables in the coordinates' places, without the constant."""
        return [(ratio, names[coordinate]) for coordinate, ratio in self.terms]


class ConstantWriter(Writer):
    """Writes no sines and cosines but takes those of angle k from the variables <sine>k and <cosine>k.

    Attributes
    ----------
    angles : list of Angle
        The angles met so far.
    """

    def __init__(self, sine: str = "sin", cosine: str = "cos", prefix: str = "t") -> None:
        super().__init__("", prefix)
        self.angles: List[Angle] = []
        self._names = sine, cosine

    def turned(self, terms: Sequence[Tuple[Value, Value]]) -> Tuple[Value, Value]:
        """Return the variables that hold sine and cosine of an angle, a sum of ratio * coordinate and constants."""
        sums: Dict[str, float] = {}
        offset = 0.0
        for a, b in terms:
            number, name = (a, b) if isinstance(b, str) else (b, a)
            if isinstance(name, str):
                assert isinstance(number, float), "an angle is a sum of constant ratios times coordinates"
                sums[name] = sums.get(name, 0.0) + number
            else:
                offset += number * name  # type: ignore[operator]
        ordered = tuple((name, snap(ratio)) for name, ratio in sorted(sums.items()) if snap(ratio) != 0.0)
        if not ordered:
            return self.sincos(offset)
        flipped = ordered[0][1] < 0.0
        if flipped:
            ordered, offset = tuple((name, -ratio) for name, ratio in ordered), -offset
        angle = Angle(ordered, snap(offset))
        if angle not in self.angles:
            self.angles.append(angle)
        sine, cosine = (f"{name}{self.angles.index(angle)}" for name in self._names)
        return (negative(sine) if flipped else sine), cosine


def write_turned(w: Writer, sine: Value, cosine: Value, change: Value) -> Tuple[Value, Value]:
    """Write sine and cosine of an angle that has changed by at most GREATEST, from those before."""
    z = w.dot([(change, change)])
    z2 = w.dot([(z, z)])
    s, c = (w.name(f"({p[0]!r} + {p[1]!r}*{z}) + {z2}*({p[2]!r} + {p[3]!r}*{z})") for p in (TURN_SINE, TURN_COSINE))
    s, c = w.name(f"{change} + ({change}*{z})*{s}"), w.name(f"(1.0 - 0.5*{z}) + {z2}*{c}")
    return w.dot([(sine, c), (cosine, s)]), w.dot([(cosine, c), (negative(sine), s)])


@dataclass(frozen=True)
class Changes:
    """How a step becomes changes of angles and coordinates; see `plan_changes`."""

    angles: Sequence[Angle]
    keepers: List[str]  # of each angle, the coordinate that takes up what the angle may not change; empty: bounded each
    combinations: List[Combination]  #: The sums of steps that it needs
    sums: List[Combination]  # of each angle, if it is bounded as a sum of steps as they were


def plan_changes(angles: Sequence[Angle], p: ChainParameters, limited: bool) -> Changes:
    """Return the plan of `write_changes`.

    Where each angle is the first to hold a coordinate, that one takes up what the angle may not change, so the others
    can still take their whole way; otherwise each coordinate is bounded. With limits that happens one after the other,
    else to the sums as they are: then no bound waits for another.
    """
    keepers, seen = [], []  # type: List[str], List[str]
    for angle in angles:
        new = [name for name, _ in angle.terms if name not in seen]
        seen += new
        keepers.append(new[-1] if new else "")
    keepers = keepers if all(keepers) else []
    sums: List[Combination] = []
    if keepers and not limited:
        sums = [tuple((int(name[1:]), ratio) for name, ratio in angle.terms) for angle in angles]
    own: List[Combination] = [((i, 1.0),) for i in range(p.n) if limited or f"c{i}" not in keepers]
    return Changes(angles, keepers, [*sums, *own], sums)


def write_changes(plan: Changes, p: ChainParameters, limited: bool, of: Callable[[Combination], Value]) -> List[str]:
    """Return statements for c<i>, the trial behind a step from s<i>, and turn<k>, by how much angle k changes.

    No angle changes by more than GREATEST. `of` returns the variables of plan.combinations.
    """
    names: Dict[str, Value] = {f"c{i}": f"move{i}" for i in range(p.n)}
    lines: List[str] = []

    def go(i: int, turn_code: str) -> None:
        """Move coordinate i."""
        if not limited or not (math.isfinite(p.lower[i]) or math.isfinite(p.upper[i])):
            lines.extend([f"move{i} = {turn_code}", f"c{i} = s{i} + move{i}"])
        else:
            lines.extend([f"c{i} = {clamped(p, i, f's{i} + ({turn_code})')}", f"move{i} = c{i} - s{i}"])

    for i in range(p.n):
        if f"c{i}" not in plan.keepers:
            mine = [sum(abs(r) for _, r in a.terms) for a in plan.angles if f"c{i}" in dict(a.terms)]
            step = code(of(((i, 1.0),)))
            go(i, _bounded(step, GREATEST / max(mine)) if mine else step)
    for k, angle in enumerate(plan.angles):
        now = sum_of(angle.products(names))
        if plan.keepers:
            keeper = plan.keepers[k]
            i, ratio = int(keeper[1:]), dict(angle.terms)[keeper]
            step = (
                code(of(plan.sums[k]))
                if plan.sums
                else sum_of(angle.products({**names, keeper: code(of(((i, 1.0),)))}))
            )
            # a name of its own for each value: numba sorts out names with several in proportion to the source's length
            bounded = f"ask{k}" if limited else f"turn{k}"
            lines.append(f"{bounded} = {_bounded(step, GREATEST)}")
            others = sum_of([(r, names[name]) for name, r in angle.terms if name != keeper])
            turn_code = f"{bounded} - ({others})" if others else bounded
            go(i, turn_code if ratio == 1.0 else f"({turn_code})*{1.0 / ratio!r}")
        if limited or not plan.keepers:
            lines.append(f"turn{k} = {now}")
    return lines


def _bounded(text: str, bound: float) -> str:
    return f"min(max({text}, {-bound!r}), {bound!r})"


def sum_of(products: Sequence[Tuple[Value, Value]]) -> str:
    """Return a sum of ratio * variable as source text."""
    return " + ".join(str(b) if a == 1.0 else f"{a!r}*{b}" for a, b in products)


def clamped(p: ChainParameters, i: int, text: str) -> str:
    """Return an expression kept within the limits of coordinate i."""
    low, high = float(p.lower[i]), float(p.upper[i])
    if math.isfinite(low):
        text = f"max({text}, {low!r})"
    return f"min({text}, {high!r})" if math.isfinite(high) else text
