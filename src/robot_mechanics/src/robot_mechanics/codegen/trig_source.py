# SPDX-License-Identifier: MIT
"""Sine and cosine written into the source of a kernel, without branches: a call would cost as much as they do.

The angle is reduced to -pi/2 .. pi/2 by subtracting a multiple of pi in two parts (Cody and Waite); an odd multiple
turns both signs. So no choice between the two polynomials is needed, and no branch to be predicted wrongly.
"""

from __future__ import annotations

import math
from typing import Sequence, Tuple

from robot_mechanics.codegen.expressions import Value, Writer, negative, snap

# pi in two parts, the first of 33 bits: its product with a whole number below 2^20 is exact. Beyond 2e6 rad the error
# grows no faster than the spacing of such angles.
PI_1 = 2.0 * float.fromhex("0x1.921fb54400000p+0")
PI_2 = 2.0 * float.fromhex("0x1.0b4611a626331p-34")
ROUND = 6755399441055744.0  # 1.5 * 2^52: added and subtracted, it leaves the nearest whole number
# sin x = x + x^3 S(x^2), cos x = 1 - x^2/2 + x^4 C(x^2): Taylor series, error 3e-16
SINE = tuple((-1.0) ** k / math.factorial(2 * k + 1) for k in range(1, 11))
COSINE = tuple((-1.0) ** k / math.factorial(2 * k) for k in range(2, 12))
# the same, least greatest error: 1.8e-11 and 1.2e-12
SHORT_SINE = (
    -0.16666666606347358, 0.008333330491169078, -0.00019840803486397197, 2.7522591514364566e-06, -2.384622292167684e-08,
)  # fmt: skip
SHORT_COSINE = (
    0.04166666660234264, -0.0013888886236311684, 2.4801191286844348e-05, -2.7529849383495656e-07, 1.997460450756132e-09,
)  # fmt: skip
SHORT_ENOUGH = 2e-7  # tolerance, relative to the chain's size, from which on the short ones do
MARGIN = 0.99  # met more closely than asked for: 40 turns of sines may be off by 0.8 % of the tolerance


class InlineWriter(Writer):
    """Writes sine and cosine as polynomials.

    Parameters
    ----------
    tolerance : float
        Of the pose that is computed from them: rad, and lengths relative to the chain's size.
    """

    def __init__(self, tolerance: float, prefix: str = "t") -> None:
        super().__init__("", prefix)
        short = tolerance >= SHORT_ENOUGH
        self._series = (SHORT_SINE, SHORT_COSINE) if short else (SINE, COSINE)

    def sincos(self, angle: Value) -> Tuple[Value, Value]:
        """Return sine and cosine of an angle in rad."""
        if not isinstance(angle, str):
            return snap(math.sin(angle)), snap(math.cos(angle))
        if angle.startswith("-"):
            s, c = self.sincos(angle[1:])
            return negative(s), c
        k = self.name(f"({angle}*{1.0 / math.pi!r} + {ROUND!r}) - {ROUND!r}")
        x = self.name(f"({angle} - {k}*{PI_1!r}) - {k}*{PI_2!r}")
        half = self.name(f"0.5*{k}")
        sign = self.name(f"1.0 - 4.0*abs({half} - (({half} + {ROUND!r}) - {ROUND!r}))")
        z = self.name(f"{x}*{x}")
        powers = [z, self.name(f"{z}*{z}")]
        powers.append(self.name(f"{powers[1]}*{powers[1]}"))
        signed = self.name(f"{sign}*{x}")
        sine = self.name(f"{signed} + ({signed}*{z})*({_estrin(self._series[0], powers)})")
        first = self.name(f"{sign} - (0.5*{sign})*{z}")
        return sine, self.name(f"{first} + ({sign}*{powers[1]})*({_estrin(self._series[1], powers)})")


def _estrin(numbers: Sequence[float], powers: Sequence[str]) -> str:
    """Return a polynomial in z by pairs and fours of terms: less latency than one term after the other."""
    z, z2, z4 = powers
    pairs = [" + ".join([repr(numbers[i]), *(f"{n!r}*{z}" for n in numbers[i + 1 : i + 2])])
             for i in range(0, len(numbers), 2)]  # fmt: skip
    fours = [" + ".join([f"({pairs[i]})", *(f"{z2}*({pair})" for pair in pairs[i + 1 : i + 2])])
             for i in range(0, len(pairs), 2)]  # fmt: skip
    text = fours[-1]
    for four in reversed(fours[:-1]):
        text = f"({four}) + {z4}*({text})"
    return text
