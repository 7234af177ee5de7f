# SPDX-License-Identifier: MIT
"""Parameters of the solver, checked once; also as a page of single values that can be changed while it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Dict, Mapping, Sequence, Tuple, Union

from shellbot_kinematics.errors import InvalidConfigError, UnknownNameError

SOLVERS: Tuple[str, ...] = ("closed_form", "clik", "lm")
"""Names of the solvers of a tick; what each does is told in the derivations."""

GAIN_COORDINATES: Tuple[str, ...] = ("x", "y", "z", "yaw", "pitch")
PAGE_GAINS: Tuple[str, ...] = tuple(f"clik_gain_{name}" for name in GAIN_COORDINATES)


@dataclass(frozen=True)
class SolverConfig:
    """How references become joint targets.

    Attributes
    ----------
    solver : str
        "closed_form": exact positions, velocities by the inverse Jacobian. "clik": one step of the closed loop from
        the measured joints, q_target = q + dt J^-1 (v + K (reference - x(q))): the foot by its 3x3 Jacobian, the lower
        sphere centre by 3x3 or, led by x, y, yaw and pitch, by 4x4, the upper limbs by 2x2. "lm": Levenberg-Marquardt
        from the last targets; out of reach it ends at a point of least distance.
    clik_gain : float or sequence of 5
        1/s, for all coordinates or for x, y, z (base_link), yaw, pitch. A joint that follows its targets within a tick
        makes the error of a coordinate shrink by (1 - gain tick) each tick: stable for 0 < gain < 2 / tick, without
        overshoot up to 1 / tick. A joint that covers the share a < 1 of the way only makes it (1 - a gain tick):
        slower, still stable.
    tick : float
        s, the tick the gain is meant for; a CLIK step never integrates over more, so that a late message cannot leave
        the stable range.
    blend_time : float
        s, in which a difference is taken away when the source of a limb's targets changes (first tick, frame, solver,
        end of a hold); 0 switches at once.

    Raises
    ------
    UnknownNameError, InvalidConfigError
        Naming the parameter, its value and what is allowed.
    """

    solver: str = "closed_form"
    clik_gain: Union[float, Sequence[float]] = 50.0
    tick: float = 0.01
    blend_time: float = 0.2

    @classmethod
    def from_mapping(cls, given: Mapping[str, object]) -> SolverConfig:
        """Return the configuration for parameters as a node gets them; unknown names are refused, so that a misspelt
        one is seen.

        `clik_gain_x` .. `clik_gain_pitch` (the page, see `to_page`) go before `clik_gain`.

        Raises
        ------
        UnknownNameError, InvalidConfigError
            On a name that does not exist or a value of the wrong kind or range.
        """
        known = [item.name for item in fields(cls)]
        values: Dict[str, Any] = {}
        page: Dict[str, float] = {}
        for name, value in given.items():
            if name not in known and name not in PAGE_GAINS:
                raise UnknownNameError(f"parameter '{name}' does not exist; there are {', '.join(known)}")
            if name == "solver":
                if not isinstance(value, str):
                    raise InvalidConfigError(f"solver is {value!r}; allowed is a text, one of {', '.join(SOLVERS)}")
                values[name] = value
            elif name == "clik_gain" and isinstance(value, (list, tuple)):
                values[name] = tuple(_number(name, entry) for entry in value)
            elif name in PAGE_GAINS:
                page[name] = _number(name, value)
            else:
                values[name] = _number(name, value)
        config = cls(**values)
        if not page:
            return config
        gains = tuple(page.get(name, gain) for name, gain in zip(PAGE_GAINS, config.gains))
        return cls(**{**values, "clik_gain": gains})

    @property
    def gains(self) -> Tuple[float, ...]:
        """The gain (1/s) of each of x, y, z, yaw, pitch."""
        if isinstance(self.clik_gain, (int, float)):
            return (float(self.clik_gain),) * len(GAIN_COORDINATES)
        return tuple(float(gain) for gain in self.clik_gain)

    def to_page(self) -> Dict[str, object]:
        """Return what can be changed while the solver runs, one value each: solver, the five gains, blend_time."""
        page: Dict[str, object] = {"solver": self.solver, "blend_time": self.blend_time}
        page.update(zip(PAGE_GAINS, self.gains))
        return page

    def with_page(self, page: Mapping[str, object]) -> SolverConfig:
        """Return this configuration with the values of a page, see `to_page`; other names are passed over.

        Raises
        ------
        UnknownNameError, InvalidConfigError
            On a value of the wrong kind or range.
        """
        values: Dict[str, object] = {"tick": self.tick, **self.to_page()}
        values.update((name, page[name]) for name in self.to_page() if name in page)
        return self.from_mapping(values)

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.solver not in SOLVERS:
            raise UnknownNameError(f"solver is '{self.solver}'; use one of {', '.join(SOLVERS)}")
        if not (math.isfinite(self.tick) and 0.0 < self.tick <= 0.1):
            raise InvalidConfigError(f"tick is {self.tick} s; allowed 0 .. 0.1, the period of the references")
        if not isinstance(self.clik_gain, (int, float)):
            object.__setattr__(self, "clik_gain", tuple(self.clik_gain))
            if len(self.gains) != len(GAIN_COORDINATES):
                raise InvalidConfigError(
                    f"clik_gain has {len(self.gains)} values; allowed is one, or five for {', '.join(GAIN_COORDINATES)}"
                )
        for gain in self.gains:
            if not 0.0 < gain < 2.0 / self.tick:
                raise InvalidConfigError(
                    f"clik_gain is {self.clik_gain} 1/s; the loop is stable for 0 .. {2.0 / self.tick:g} "
                    "(2 / tick): lower the gain"
                )
        if not 0.0 <= self.blend_time <= 10.0:
            raise InvalidConfigError(f"blend_time is {self.blend_time} s; allowed 0 .. 10")


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidConfigError(f"{name} is {value!r}; allowed is a number")
    return float(value)
