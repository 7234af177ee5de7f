# SPDX-License-Identifier: MIT
"""Parameters of the solver, checked once; also as a page of single values that can be changed while it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Tuple

from robot_mechanics.errors import InvalidConfigError
from shellbot_common import Settings, SettingsError, choice, number

SOLVERS: Tuple[str, ...] = ("closed_form", "clik", "lm")
"""Names of the solvers of a tick; docs/kinematics.md derives what each does."""

GAIN_COORDINATES: Tuple[str, ...] = ("x", "y", "z", "yaw", "pitch")
PAGE_GAINS: Tuple[str, ...] = tuple(f"clik_gain_{name}" for name in GAIN_COORDINATES)


class SolverConfigError(InvalidConfigError, SettingsError):
    """A parameter of the solver is unknown, of the wrong kind or out of range."""


@dataclass(frozen=True)
class SolverConfig(Settings, error=SolverConfigError):
    """How references become joint targets.

    Raises
    ------
    SolverConfigError
        Naming the parameter, its value and what is allowed.
    """

    #: "closed_form": exact positions, velocities by the inverse Jacobian. "clik": one step of the closed loop from the
    #: measured joints, q_target = q + dt J^-1 (v + K (reference - x(q))): the foot by its 3x3 Jacobian, the lower
    #: sphere centre by 3x3 or, led by x, y, yaw and pitch, by 4x4, the upper limbs by 2x2. "lm": Levenberg-Marquardt
    #: from the last targets; out of reach it ends at a point of least distance.
    solver: str = choice(SOLVERS, default="closed_form")
    #: 1/s, for all coordinates or for x, y, z (base_link), yaw, pitch. A joint that follows its targets within a tick
    #: makes the error of a coordinate shrink by (1 - gain tick) each tick: stable for 0 < gain < 2 / tick, without
    #: overshoot up to 1 / tick. A joint that covers only the fraction a < 1 of the distance makes it (1 - a gain tick):
    #: slower, still stable.
    clik_gain: Tuple[float, float, float, float, float] = number(1e-3, math.inf, "1/s", default=(50.0,) * 5)
    #: s, the tick the gain is meant for; a CLIK step never integrates over more, so that a late message cannot leave
    #: the stable range
    tick: float = number(1e-6, 0.1, "s", default=0.01, hint="the period of the references")
    #: s, in which a difference is taken away when the source of a limb's targets changes (first tick, frame, solver,
    #: end of a hold); 0 switches at once
    blend_time: float = number(0.0, 10.0, "s", default=0.2)

    def __post_init__(self) -> None:
        """Take one gain for all coordinates, and check."""
        if isinstance(self.clik_gain, (int, float)) and not isinstance(self.clik_gain, bool):
            object.__setattr__(self, "clik_gain", (self.clik_gain,) * len(GAIN_COORDINATES))
        super().__post_init__()

    def conflict(self) -> str:
        """Return that a gain makes the loop unstable with this tick, if so."""
        limit = 2.0 / self.tick
        is_stable = max(self.clik_gain) < limit
        return "" if is_stable else f"clik_gain is {self.clik_gain} 1/s; stable is less than {limit:g} (2 / tick)"

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], prefix: str = "") -> SolverConfig:
        """Return the configuration for parameters as a node gets them.

        `clik_gain_x` .. `clik_gain_pitch` (the page, see `to_page`) go before `clik_gain`.

        Parameters
        ----------
        values : mapping of str
            By name; names that are missing have their defaults.
        prefix : str
            In front of each name in messages.

        Raises
        ------
        SolverConfigError
            On a name that does not exist or a value of the wrong kind or range.
        """
        page = {name: value for name, value in values.items() if name in PAGE_GAINS}
        config = super().from_mapping({name: value for name, value in values.items() if name not in page}, prefix)
        if not page:
            return config
        return config.replace(clik_gain=tuple(page.get(name, gain) for name, gain in zip(PAGE_GAINS, config.clik_gain)))

    def to_page(self) -> Dict[str, object]:
        """Return what can be changed while the solver runs, one value each: solver, the five gains, blend_time."""
        return {"solver": self.solver, "blend_time": self.blend_time, **dict(zip(PAGE_GAINS, self.clik_gain))}

    def with_page(self, page: Mapping[str, object]) -> SolverConfig:
        """Return this configuration with the values of a page, see `to_page`; other names are passed over.

        Parameters
        ----------
        page : mapping of str
            By name, in the units of the fields.

        Raises
        ------
        SolverConfigError
            On a value of the wrong kind or range.
        """
        known = self.to_page()
        return self.from_mapping({"tick": self.tick, **known, **{n: v for n, v in page.items() if n in known}})
