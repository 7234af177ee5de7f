# SPDX-License-Identifier: MIT
"""Gaits as data: rows of a table read from YAML, each checked when it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Tuple, Union

import numpy as np

from shellbot_action_manager.errors import ConfigError, UnknownGaitError
from shellbot_common import Settings, number, package_file, read_yaml, required

Phases = Tuple[float, float, float, float, float, float]
_LEAST_LIFT = 0.005  # m
_JUST_AFTER = 1e-6  # of a cycle; offsets in the file are rounded


@dataclass(frozen=True)
class SlipScale(Settings, error=ConfigError):
    """Factor from the commanded to the feet's twist."""

    forward: float = number(0.5, 2.0)
    sideways: float = number(0.5, 2.0)
    turn: float = number(0.5, 2.0)

    @cached_property
    def array(self) -> np.ndarray:
        """Forward, sideways, turn, (3,)."""
        return np.array([self.forward, self.sideways, self.turn])


@dataclass(frozen=True)
class Gait(Settings, error=ConfigError):
    """One row of the gait table."""

    name: str  #: Key of the block in the YAML file
    phase_offset: Phases = number(0.0, 1.0)  #: Fraction of the cycle by which each lower leg is ahead of the clock
    duty_factor: float = number(0.4, 0.95)  #: Fraction of the cycle in which a foot stands
    #: period_slow, period_fast: Cycle time at creeping and at top speed, s
    period_slow: float = number(0.2, 5.0, "s")
    period_fast: float = number(0.2, 5.0, "s")
    lift_height: float = number(_LEAST_LIFT, 0.10, "m")  #: Top of the swing above the ground at creeping speed, m
    lift_peak: float = number(0.3, 0.6)  #: Fraction of the swing at which the foot is highest
    #: lift_dwell, landing_dwell: Fraction of the swing at its start and, creeping, at its end in which the foot moves
    #: only vertically over the ground
    lift_dwell: float = number(0.0, 0.3)
    landing_dwell: float = number(0.0, 0.3)
    landing_dwell_fast: float = number(0.0, 0.3)  #: landing_dwell at top speed
    ramp: float = number(0.05, 0.5)  #: Fraction of the remainder at each end in which it speeds up and slows down
    #: rest_radius, stance_radius, stance_height: Circle on which the feet stand at rest and while walking, and height
    #: of the body's centre, m
    rest_radius: float = number(0.20, 0.36, "m")
    stance_radius: float = number(0.20, 0.36, "m")
    stance_height: float = number(0.10, 0.22, "m")
    stride_limit: float = number(0.01, 0.20, "m")  #: Longest path of a foot relative to the body in one stance, m
    slip_scale: SlipScale = required()  #: Factor from the commanded to the feet's twist
    #: How deep below the mean of the standing feet a foot searches for the ground, m; 0: the floor is taken as flat
    search_depth: float = number(0.0, 0.06, "m", default=0.0)
    lift_height_fast: float = number(0.0, 0.10, "m", default=0.0)  #: lift_height at top speed, m; 0: the same
    #: Greatest forward, sideways, turning speed where the legs allow more, m/s, m/s, rad/s
    speed_cap: Tuple[float, float, float] = number(0.0, 5.0, "m/s, rad/s", default=(0.40, 0.30, 1.0))

    def conflict(self) -> str:
        """Return what is wrong with the lift or the periods, or the phase at which fewer than three feet stand."""
        lift = self.lift_height_fast
        if 0.0 < lift < _LEAST_LIFT:
            return f"lift_height_fast is {lift:g} m; give {_LEAST_LIFT:g} to 0.1 m, or 0 for lift_height at all speeds"
        slow, fast = f"period_slow {self.period_slow:g} s", f"period_fast {self.period_fast:g} s"
        if self.period_fast > self.period_slow:
            return f"{fast} is longer than {slow}; swap them"
        if self.period_slow > 2.0 * self.period_fast:
            # The stride, speed times period, is to grow with the speed up to the top; speed limits are found there.
            return f"{slow} is more than twice {fast}, the steps would be longest at half speed; bring them together"
        return _poor_support(self.phase_offset, self.duty_factor)

    def period(self, usage: float) -> float:
        """Return the cycle time (s) at a fraction 0..1 of the top speed."""
        return _at_usage(self.period_slow, self.period_fast, usage)

    def lift(self, usage: float) -> float:
        """Return the top of the swing above the ground (m) at a fraction 0..1 of the top speed."""
        return _at_usage(self.lift_height, self.lift_height_fast or self.lift_height, usage)

    def dwell(self, usage: float) -> float:
        """Return the fraction of the swing without travel before the landing at a fraction 0..1 of the top speed."""
        return _at_usage(self.landing_dwell, self.landing_dwell_fast, usage)


def _at_usage(slow: float, fast: float, usage: float) -> float:
    return slow + (fast - slow) * min(max(usage, 0.0), 1.0)


def _poor_support(offsets: Phases, duty: float) -> str:
    """Return at which phase fewer than three feet stand; empty if there is none."""
    for lifted in offsets:
        # The fewest feet stand just after one has lifted; not at that phase itself, where a tripod exchanges its feet.
        phase = (duty - lifted + _JUST_AFTER) % 1.0
        standing = sum((phase + offset) % 1.0 < duty for offset in offsets)
        if standing < 3:
            return (
                f"duty_factor {duty:g} leaves only {standing} feet on the ground at phase {phase:.2f}; "
                "raise it or spread phase_offset"
            )
    return ""


def parse_gait(name: str, block: Any) -> Gait:
    """Return one checked row.

    Raises
    ------
    ConfigError
        Naming the gait, the key, the value and the range.
    """
    if not isinstance(block, Mapping):
        raise ConfigError(f"gait '{name}' is {block!r}; give a mapping of keys to values, as for the gait tripod")
    return Gait.from_mapping({**block, "name": name}, f"gait '{name}': ")


def load_gaits(path: Optional[Union[str, Path]] = None) -> Dict[str, Gait]:
    """Return the gait table by name.

    Parameters
    ----------
    path : path-like, optional
        YAML file; the package's own `config/gaits.yaml` by default.

    Raises
    ------
    ConfigError
        If the file cannot be read or a row is not valid.
    """
    data = read_yaml(path or package_file("shellbot_action_manager", "config/gaits.yaml"), ConfigError)
    return {str(name): parse_gait(str(name), block) for name, block in data.items()}


def find_gait(gaits: Mapping[str, Gait], name: str) -> Gait:
    """Return a gait by name; raise UnknownGaitError, listing the names, when there is none."""
    try:
        return gaits[name]
    except KeyError:
        raise UnknownGaitError(f"there is no gait '{name}'; the gaits are {', '.join(sorted(gaits))}") from None
