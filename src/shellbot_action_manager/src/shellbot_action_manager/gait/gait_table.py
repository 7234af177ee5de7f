# SPDX-License-Identifier: MIT
"""Gaits as data: rows of a table read from YAML, each checked when it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Tuple, Union

from shellbot_action_manager.errors import ConfigError, UnknownGaitError
from shellbot_action_manager.settings import check_number, check_numbers, read_yaml, require_keys

_SCALARS = {
    "duty_factor": (0.4, 0.95, ""),
    "period_slow": (0.2, 5.0, "s"),
    "period_fast": (0.2, 5.0, "s"),
    "lift_height": (0.005, 0.10, "m"),
    "lift_peak": (0.3, 0.6, ""),
    "dwell": (0.0, 0.3, ""),
    "ramp": (0.05, 0.5, ""),
    "rest_radius": (0.20, 0.36, "m"),
    "stance_radius": (0.20, 0.36, "m"),
    "stance_height": (0.10, 0.22, "m"),
    "stride_limit": (0.01, 0.20, "m"),
}
_AXES = ("forward", "sideways", "turn")


@dataclass(frozen=True)
class Gait:
    """One row of the gait table.

    Attributes
    ----------
    name : str
        Key of the block in the YAML file.
    phase_offset : tuple of 6 float
        Fraction of the cycle by which each lower leg runs ahead of the clock, 0..1.
    duty_factor : float
        Fraction of the cycle in which a foot stands.
    period_slow, period_fast : float
        Cycle time at creeping and at top speed, s.
    lift_height : float
        Top of the swing above the ground, m.
    lift_peak : float
        Fraction of the swing at which the foot is highest.
    dwell : float
        Fraction of the swing at each end in which the foot moves only vertically over the ground.
    ramp : float
        Fraction of the remainder at each end in which it speeds up and slows down.
    rest_radius, stance_radius, stance_height : float
        Circle on which the feet stand at rest and while walking, and height of the body's centre, m.
    stride_limit : float
        Longest path of a foot relative to the body in one stance, m.
    slip_scale : tuple of 3 float
        Factor from the commanded to the feet's twist: forward, sideways, turn.
    """

    name: str
    phase_offset: Tuple[float, ...]
    duty_factor: float
    period_slow: float
    period_fast: float
    lift_height: float
    lift_peak: float
    dwell: float
    ramp: float
    rest_radius: float
    stance_radius: float
    stance_height: float
    stride_limit: float
    slip_scale: Tuple[float, float, float]

    def period(self, usage: float) -> float:
        """Return the cycle time (s) at a fraction 0..1 of the top speed."""
        return self.period_slow + (self.period_fast - self.period_slow) * min(max(usage, 0.0), 1.0)


def parse_gait(name: str, block: Mapping[str, Any]) -> Gait:
    """Return one checked row.

    Raises
    ------
    ConfigError
        Naming the gait, the key, the value and the range.
    """
    if not isinstance(block, Mapping):
        raise ConfigError(f"gait '{name}' is {block!r}; expected a block of keys")
    require_keys(f"gait '{name}'", block, [*_SCALARS, "phase_offset", "slip_scale"])
    values: Dict[str, Any] = {
        key: check_number(f"gait '{name}': {key}", block[key], *limits) for key, limits in _SCALARS.items()
    }
    values["phase_offset"] = check_numbers(f"gait '{name}': phase_offset", block["phase_offset"], 6, 0.0, 1.0)
    slip = block["slip_scale"]
    if not isinstance(slip, Mapping):
        raise ConfigError(f"gait '{name}': slip_scale is {slip!r}; expected the keys {', '.join(_AXES)}")
    require_keys(f"gait '{name}': slip_scale", slip, _AXES)
    values["slip_scale"] = tuple(
        check_number(f"gait '{name}': slip_scale.{axis}", slip[axis], 0.5, 2.0) for axis in _AXES
    )
    if values["period_fast"] > values["period_slow"]:
        raise ConfigError(
            f"gait '{name}': period_fast {values['period_fast']:g} s is longer than period_slow "
            f"{values['period_slow']:g} s; swap them"
        )
    if values["period_slow"] > 2.0 * values["period_fast"]:
        # The stride, speed times period, is to grow with the speed all the way; speed limits are found at the top.
        raise ConfigError(
            f"gait '{name}': period_slow {values['period_slow']:g} s is more than twice period_fast "
            f"{values['period_fast']:g} s, the steps would be longest at half speed; bring them together"
        )
    _check_support(name, values["phase_offset"], values["duty_factor"])
    return Gait(name=name, **values)


def _check_support(name: str, offsets: Tuple[float, ...], duty: float) -> None:
    """Refuse a gait in which fewer than three feet stand at some phase."""
    samples = 240
    for i in range(samples):
        # Half a sample off the grid: a tripod with duty 0.5 exchanges its feet exactly at a phase of the grid.
        phase = (i + 0.5) / samples
        standing = sum((phase + offset) % 1.0 < duty for offset in offsets)
        if standing < 3:
            raise ConfigError(
                f"gait '{name}' has only {standing} feet on the ground at phase {phase:.2f}; "
                f"raise duty_factor (now {duty:g}) or spread phase_offset"
            )


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
    from shellbot_action_manager.package_files import config_file

    data = read_yaml(config_file("gaits.yaml") if path is None else path)
    return {str(name): parse_gait(str(name), block) for name, block in data.items()}


def find_gait(gaits: Mapping[str, Gait], name: str) -> Gait:
    """Return a gait by name; raise UnknownGaitError, listing the names, when there is none."""
    try:
        return gaits[name]
    except KeyError:
        raise UnknownGaitError(f"there is no gait '{name}'; the gaits are {', '.join(sorted(gaits))}") from None
