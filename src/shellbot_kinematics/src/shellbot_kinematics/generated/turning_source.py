# SPDX-License-Identifier: MIT
"""Source of sines and cosines that are carried from step to step: turned by what an angle has changed.

    sin(a + d) = sin a cos d + cos a sin d,    cos(a + d) = cos a cos d - sin a sin d

The change d is bounded, so short polynomials of it do, without the reduction of the range that an angle would need:
that reduction is a third of the way from a step to the pose it leads to. The errors of the steps add up: 40 turns by
the greatest change leave less than SHORT_ENOUGH, small ones nothing but rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Sequence, Tuple

from shellbot_kinematics.generated.expressions import Value, Writer, negative, snap

GREATEST = 1.2  # rad, to which a change is bounded
# sin x = x + x^3 S(x^2), cos x = 1 - x^2/2 + x^4 C(x^2) up to GREATEST, least greatest error: 2.4e-10 and 1.6e-11
TURN_SINE = (-0.16666665535431419, 0.008333269414161596, -0.0001982928567518898, 2.663848237109487e-06)
TURN_COSINE = (0.04166666538188395, -0.0013888824354167308, 2.4790442556023178e-05, -2.6753566073732763e-07)
SHORT_ENOUGH = 1e-6  # tolerance, relative to the chain's size, from which on these do


@dataclass(frozen=True)
class Angle:
    """An angle whose sine and cosine a chain needs: the sum of ratio * coordinate, and a constant in rad."""

    terms: Tuple[Tuple[str, float], ...]
    offset: float

    def products(self, names: Dict[str, Value]) -> List[Tuple[Value, Value]]:
        """Return the sum's products with other variables in the coordinates' places, without the constant."""
        return [(ratio, names[coordinate]) for coordinate, ratio in self.terms]


class KeptWriter(Writer):
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
        kept = tuple((name, snap(ratio)) for name, ratio in sorted(sums.items()) if snap(ratio) != 0.0)
        if not kept:
            return self.sincos(offset)
        flipped = kept[0][1] < 0.0
        if flipped:
            kept, offset = tuple((name, -ratio) for name, ratio in kept), -offset
        angle = Angle(kept, snap(offset))
        if angle not in self.angles:
            self.angles.append(angle)
        sine, cosine = (f"{name}{self.angles.index(angle)}" for name in self._names)
        return (negative(sine) if flipped else sine), cosine


def write_turned(w: Writer, sine: Value, cosine: Value, change: Value) -> Tuple[Value, Value]:
    """Write sine and cosine of an angle that has changed by at most GREATEST, from those before.

    What is added to them is computed beside the polynomials, so that after these two operations are left.
    """
    z = w.dot([(change, change)])
    z2 = w.dot([(z, z)])
    s, c = (w.name(f"({p[0]!r} + {p[1]!r}*{z}) + {z2}*({p[2]!r} + {p[3]!r}*{z})") for p in (TURN_SINE, TURN_COSINE))
    half, cube = w.name(f"0.5*{z}"), w.name(f"{change}*{z}")
    made = []
    for old, across in ((sine, cosine), (cosine, negative(sine))):
        first = w.dot([(1.0, old), (across, change), (negative(old), half)])
        slow, fast = w.dot([(across, cube)]), w.dot([(old, z2)])
        made.append(w.dot([(1.0, first), (fast, c), (slow, s)]))
    return made[0], made[1]
