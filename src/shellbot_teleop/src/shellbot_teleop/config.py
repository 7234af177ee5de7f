# SPDX-License-Identifier: MIT
"""Settings of window and terminal: one frozen, checked dataclass."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Dict, Mapping, Tuple, Union

import yaml

from shellbot_teleop.errors import ConfigError
from shellbot_teleop.limits import Limits, Vector3

# name: (lowest, greatest) of the single numbers
_RANGES: Dict[str, Tuple[float, float]] = {
    "publish_rate": (5.0, 100.0),  # the robot's command time-out is 0.5 s
    "speed_scale": (0.1, 1.0),
    "speed_step": (0.01, 0.5),
    "tilt_rate": (0.01, 3.0),
    "shift_rate": (0.001, 0.5),
    "shell_height_rate": (0.001, 0.5),
    "shell_angle_rate": (0.01, 3.0),
    "release_grace": (0.0, 0.05),
    "first_hold": (0.1, 1.0),
    "repeat_hold": (0.05, 0.5),
    "service_timeout": (0.1, 30.0),
    "stale_after": (0.1, 10.0),
}


@dataclass(frozen=True)
class TeleopConfig:
    """Settings; meaning, unit and default of each are in ``config/teleop.yaml``."""

    publish_rate: float
    speed_scale: float
    speed_step: float
    tilt_rate: float
    shift_rate: float
    shell_height_rate: float
    shell_angle_rate: float
    fallback_velocity: Vector3
    fallback_shift: Vector3
    fallback_tilt: Vector3
    shell_height_range: Tuple[float, float]
    shell_angle_range: Tuple[float, float]
    gaits: Tuple[str, ...]
    release_grace: float
    first_hold: float
    repeat_hold: float
    service_timeout: float
    stale_after: float
    gains_server: str

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not math.isfinite(value) or not low <= value <= high:
                raise ConfigError(f"{name} = {value} is out of range {low} .. {high}: correct it in the settings file.")
        for name in ("shell_height_range", "shell_angle_range"):
            low, high = getattr(self, name)
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise ConfigError(f"{name} = [{low}, {high}]: the first must be the lower one.")
        if not self.gaits or not self.gains_server:
            raise ConfigError("gaits must name at least one gait and gains_server a dynamic_reconfigure server.")

    @property
    def period(self) -> float:
        """Seconds between two publications while a key is held."""
        return 1.0 / self.publish_rate

    @property
    def fallback_limits(self) -> Limits:
        """Limits until the walkspace is known."""
        return Limits(
            self.fallback_velocity,
            tuple(-value for value in self.fallback_shift),  # type: ignore[arg-type]
            self.fallback_shift,
            self.fallback_tilt,
        )


def load_config(path: Union[str, Path]) -> TeleopConfig:
    """Read and check the settings.

    Parameters
    ----------
    path : str or Path
        YAML file like ``config/teleop.yaml``; every setting must be there.

    Returns
    -------
    TeleopConfig
        The checked settings.

    Raises
    ------
    ConfigError
        The file cannot be read, or a setting is missing, unknown, of a wrong kind or out of range.
    """
    try:
        document = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(
            f"cannot read the settings {path}: {error}. Correct the file, or start without --config."
        ) from error
    if not isinstance(document, Mapping):
        raise ConfigError(f"{path}: a mapping of settings is expected, got {type(document).__name__}.")
    return parse_config(document)


def parse_config(document: Mapping[str, Any]) -> TeleopConfig:
    """Check the content of a settings file; see `load_config`."""
    known = {field.name for field in fields(TeleopConfig)}
    missing, unknown = sorted(known - set(document)), sorted(set(document) - known)
    if missing or unknown:
        raise ConfigError(f"settings: missing {missing}, unknown {unknown}.")
    lengths = {
        "fallback_velocity": 3,
        "fallback_shift": 3,
        "fallback_tilt": 3,
        "shell_height_range": 2,
        "shell_angle_range": 2,
    }
    values: Dict[str, Any] = {}
    for name, value in document.items():
        try:
            if name == "gains_server":
                values[name] = str(value)
            elif name == "gaits":
                values[name] = tuple(str(gait) for gait in value)
            elif name in lengths:
                values[name] = tuple(float(item) for item in value)
                if len(values[name]) != lengths[name]:
                    raise ValueError(f"{lengths[name]} numbers are needed")
            else:
                values[name] = float(value)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"{name} = {value!r}: {error}.") from error
    config = TeleopConfig(**values)
    config.fallback_limits  # noqa: B018  raises LimitsError for useless fallback limits
    return config
