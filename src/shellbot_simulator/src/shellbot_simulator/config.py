# SPDX-License-Identifier: MIT
"""Settings of the physics, read from one YAML file and checked before anything is built."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, Dict, Optional, Tuple, Union

import yaml

from shellbot_common import TICK

from .errors import ConfigError
from .paths import config_path

INTEGRATORS = ("implicitfast", "implicit", "Euler")
SOLVERS = ("Newton", "CG", "PGS")
CONES = ("elliptic", "pyramidal")


@dataclasses.dataclass(frozen=True)
class SimulatorConfig:
    """Validated settings; the meaning and unit of each is in `config/simulator.yaml`."""

    timestep: float = 0.002
    integrator: str = "implicitfast"
    solver: str = "Newton"
    cone: str = "elliptic"
    iterations: int = 20
    ls_iterations: int = 50
    friction_stiffness_ratio: float = 10.0
    contact_solref: Tuple[float, float] = (0.006, 1.0)
    contact_solimp: Tuple[float, float, float] = (0.95, 0.99, 0.001)
    friction: float = 0.8
    torsional_friction: float = 0.005
    rolling_friction: float = 0.0001
    self_collision: bool = True
    gravity: float = 9.81
    coupling_solref: Tuple[float, float] = (0.004, 1.0)
    foot_radius: float = 0.025
    yaw_noise_deg: float = 1.0
    joint_noise_deg: float = 0.2
    accelerometer_std: float = 0.03
    gyroscope_std: float = 0.003
    orientation_std_deg: float = 0.1

    def __post_init__(self) -> None:
        """Check every value; raises ConfigError."""
        _in_range("timestep", self.timestep, 0.0002, TICK, "s")
        if abs(TICK / self.timestep - round(TICK / self.timestep)) > 1e-9:
            raise ConfigError(f"timestep = {self.timestep} s does not divide the tick of {TICK} s; use 0.001 or 0.002")
        _one_of("integrator", self.integrator, INTEGRATORS)
        _one_of("solver", self.solver, SOLVERS)
        _one_of("cone", self.cone, CONES)
        _in_range("iterations", self.iterations, 1, 1000)
        _in_range("ls_iterations", self.ls_iterations, 1, 1000)
        _in_range("friction_stiffness_ratio", self.friction_stiffness_ratio, 1.0, 100.0)
        _in_range("contact_solref[0]", self.contact_solref[0], 2 * self.timestep, 1.0, "s (at least two time steps)")
        _in_range("contact_solref[1]", self.contact_solref[1], 0.1, 10.0)
        for index, value in enumerate(self.contact_solimp[:2]):
            _in_range(f"contact_solimp[{index}]", value, 0.0001, 0.9999)
        _in_range("contact_solimp[2]", self.contact_solimp[2], 1e-6, 0.1, "m")
        _in_range("friction", self.friction, 0.01, 5.0)
        _in_range("torsional_friction", self.torsional_friction, 0.0, 1.0, "m")
        _in_range("rolling_friction", self.rolling_friction, 0.0, 1.0, "m")
        _in_range("gravity", self.gravity, 0.0, 30.0, "m/s^2")
        _in_range("coupling_solref[0]", self.coupling_solref[0], 2 * self.timestep, 1.0, "s (at least two time steps)")
        _in_range("coupling_solref[1]", self.coupling_solref[1], 0.1, 10.0)
        _in_range("foot_radius", self.foot_radius, 0.001, 0.2, "m")
        _in_range("yaw_noise_deg", self.yaw_noise_deg, 0.0, 180.0, "deg")
        _in_range("joint_noise_deg", self.joint_noise_deg, 0.0, 5.0, "deg")
        for name in ("accelerometer_std", "gyroscope_std", "orientation_std_deg"):
            _in_range(name, getattr(self, name), 0.0, 10.0)

    @property
    def steps_per_tick(self) -> int:
        """Physics steps in one tick."""
        return int(round(TICK / self.timestep))

    def replace(self, **changes: Any) -> SimulatorConfig:
        """Return a copy with some settings changed (checked again)."""
        return from_mapping({**dataclasses.asdict(self), **changes})


def from_mapping(values: Dict[str, Any]) -> SimulatorConfig:
    """Build a configuration from plain values, refusing unknown keys and wrong types.

    Parameters
    ----------
    values : dict
        Setting name to value; missing settings keep their default.

    Raises
    ------
    ConfigError
        For an unknown key, a wrong type or a value out of range.
    """
    fields = {field.name: field for field in dataclasses.fields(SimulatorConfig)}
    unknown = sorted(set(values) - set(fields))
    if unknown:
        raise ConfigError(f"unknown setting {unknown[0]!r}; the settings are: {', '.join(fields)}")
    return SimulatorConfig(**{name: _convert(name, value, fields[name].default) for name, value in values.items()})


def load_config(path: Optional[Union[str, Path]] = None) -> SimulatorConfig:
    """Read a settings file.

    Parameters
    ----------
    path : str or pathlib.Path, optional
        A YAML file; the package's own `config/simulator.yaml` if not given.

    Raises
    ------
    ConfigError
        If the file cannot be read or a setting is wrong; the text names the file.
    """
    file = Path(path) if path else config_path()
    try:
        values = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot read the simulator settings {file}: {error}") from error
    if not isinstance(values, dict):
        raise ConfigError(f"{file}: expected 'name: value' lines, got {type(values).__name__}")
    try:
        return from_mapping(values)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from error


def _convert(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ConfigError(f"{name} = {value!r} must be true or false")
        return value
    if isinstance(default, str):
        return str(value)
    if isinstance(default, tuple):
        if not isinstance(value, (list, tuple)) or len(value) != len(default):
            raise ConfigError(f"{name} = {value!r} must be a list of {len(default)} numbers")
        return tuple(_convert(f"{name}[{i}]", entry, default[i]) for i, entry in enumerate(value))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConfigError(f"{name} = {value!r} must be a number")
    if isinstance(default, int):
        if value != int(value):
            raise ConfigError(f"{name} = {value!r} must be a whole number")
        return int(value)
    return float(value)


def _in_range(name: str, value: float, low: float, high: float, unit: str = "") -> None:
    if not (math.isfinite(value) and low <= value <= high):
        raise ConfigError(f"{name} = {value} is outside [{low}, {high}] {unit}".rstrip() + "; correct the setting")


def _one_of(name: str, value: str, choices: Tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{name} = {value!r} is unknown; choose one of {', '.join(choices)}")
