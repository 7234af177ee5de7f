# SPDX-License-Identifier: MIT
"""A vector that goes to its target at bounded rates and stays within bounds: body pose and upper shells."""

from __future__ import annotations

import math
from typing import Sequence, Tuple


class SlewedVector:
    """Value and target of a bounded vector; time steps are passed in.

    Parameters
    ----------
    rates : sequence of n float
        Greatest change of each axis, unit/s.
    lower, upper : sequence of n float
        Bounds of each axis.
    start : sequence of n float
        First value; it is brought within the bounds.

    Attributes
    ----------
    lower, upper : tuple of n float
        The bounds; to be read only.
    """

    def __init__(
        self, rates: Sequence[float], lower: Sequence[float], upper: Sequence[float], start: Sequence[float]
    ) -> None:
        self._rates = tuple(rates)
        self.lower, self.upper = tuple(lower), tuple(upper)
        self._value = list(self._clamped(start))
        self._target = list(self._value)

    @property
    def value(self) -> Tuple[float, ...]:
        """Where the vector is."""
        return tuple(self._value)

    @property
    def target(self) -> Tuple[float, ...]:
        """Where it goes."""
        return tuple(self._target)

    @property
    def at_rest(self) -> bool:
        """True when the value is the target."""
        return self._value == self._target

    def _clamped(self, values: Sequence[float]) -> Tuple[float, ...]:
        return tuple(min(max(value, low), high) for value, low, high in zip(values, self.lower, self.upper))

    def set_bounds(self, lower: Sequence[float], upper: Sequence[float]) -> None:
        """Change the bounds; a vector at rest stays, because limits must not start a motion that was not commanded."""
        self.lower, self.upper = tuple(lower), tuple(upper)
        if not self.at_rest:
            self._target = list(self._clamped(self._target))

    def set_target(self, axis: int, value: float) -> None:
        """Set one axis' target; a value that is not finite is ignored."""
        if math.isfinite(value):
            self._target[axis] = min(max(value, self.lower[axis]), self.upper[axis])

    def jump(self, values: Sequence[float]) -> None:
        """Take over a value that another source commanded; ignored unless it is finite."""
        if len(values) == len(self._value) and all(math.isfinite(value) for value in values):
            self._value = list(values)
            self._target = list(values)

    def freeze(self) -> None:
        """Stop where it is."""
        self._target = list(self._value)

    def push(self, axis: int, sign: float, dt: float) -> bool:
        """Move an axis for `dt` seconds at its rate times `sign`; return False when its bound did not let it move."""
        before = self._value[axis]
        moved = before + sign * self._rates[axis] * dt
        self._target[axis] = min(max(moved, self.lower[axis]), self.upper[axis])
        self._value[axis] = self._target[axis]
        return self._value[axis] != before

    def step(self, dt: float) -> bool:
        """Go towards the target for `dt` seconds; return True when the value changed."""
        before = list(self._value)
        for axis, (value, target, rate) in enumerate(zip(before, self._target, self._rates)):
            gap = target - value
            self._value[axis] = target if abs(gap) <= rate * dt else value + math.copysign(rate * dt, gap)
        return self._value != before
