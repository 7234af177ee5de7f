# SPDX-License-Identifier: MIT
"""Parameters of the solver, checked once."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Dict, Mapping, Tuple

from shellbot_kinematics.errors import InvalidConfigError, UnknownNameError

SOLVERS: Tuple[str, ...] = ("closed_form", "clik")


@dataclass(frozen=True)
class SolverConfig:
    """How references become joint targets.

    Attributes
    ----------
    solver : str
        "closed_form": exact positions, velocities by the inverse Jacobian. "clik": one step of the closed loop from
        the measured joints, q_target = q + dt J^-1 (v + gain (p_reference - p(q))), for the lower legs; upper legs
        stay closed form.
    clik_gain : float
        1/s. A joint that follows its targets within a tick makes the error shrink by (1 - gain tick) each tick: stable
        for 0 < gain < 2 / tick, without overshoot up to 1 / tick. A joint that covers the share a < 1 of the way only
        makes it (1 - a gain tick): slower, still stable.
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
    clik_gain: float = 50.0
    tick: float = 0.01
    blend_time: float = 0.2

    @classmethod
    def from_mapping(cls, given: Mapping[str, object]) -> SolverConfig:
        """Return the configuration for parameters as a node gets them; unknown names are refused, so that a misspelt
        one is seen.

        Raises
        ------
        UnknownNameError, InvalidConfigError
            On a name that does not exist or a value of the wrong kind or range.
        """
        known = {item.name: item.type for item in fields(cls)}
        values: Dict[str, Any] = {}
        for name, value in given.items():
            if name not in known:
                raise UnknownNameError(f"parameter '{name}' does not exist; there are {', '.join(known)}")
            numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
            if numeric == (known[name] == "str"):
                raise InvalidConfigError(
                    f"{name} is {value!r}; allowed is a {'text' if known[name] == 'str' else 'number'}"
                )
            values[name] = value
        return cls(**values)

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.solver not in SOLVERS:
            raise UnknownNameError(f"solver is '{self.solver}'; use one of {', '.join(SOLVERS)}")
        if not (math.isfinite(self.tick) and 0.0 < self.tick <= 0.1):
            raise InvalidConfigError(f"tick is {self.tick} s; allowed 0 .. 0.1, the period of the references")
        if not 0.0 < self.clik_gain < 2.0 / self.tick:
            raise InvalidConfigError(
                f"clik_gain is {self.clik_gain} 1/s; the loop is stable for 0 .. {2.0 / self.tick:g} "
                "(2 / tick): lower the gain"
            )
        if not 0.0 <= self.blend_time <= 10.0:
            raise InvalidConfigError(f"blend_time is {self.blend_time} s; allowed 0 .. 10")
