# SPDX-License-Identifier: MIT
"""Settings of the physics, read from one YAML file and checked before anything is built."""

from __future__ import annotations

import dataclasses
import importlib.util
import math
from pathlib import Path
from typing import Optional, Tuple, Union

from shellbot_common import TICK, Settings, check_number, choice, number, package_file
from shellbot_common.yaml_file import read_yaml

from .errors import ConfigError, ModelError

ENGINES = ("mujoco", "bullet")

Box = Tuple[float, float, float, float, float]
"""On the floor: centre x, y, length along x, width along y, height, m."""


def check_engine(name: str) -> None:
    """Refuse an engine that is not installed; nothing is imported.

    Parameters
    ----------
    name : str
        One of ENGINES.

    Raises
    ------
    ModelError
        The text says what to do.
    """
    if name == "bullet" and importlib.util.find_spec("pybullet") is None:
        raise ModelError(
            "the engine bullet needs pybullet, which is not installed: run scripts/setup --dev (for Python 3.8 to "
            "3.11), or choose the engine mujoco"
        )


@dataclasses.dataclass(frozen=True)
class SimulatorConfig(Settings, error=ConfigError):
    """Validated settings; the meaning and unit of each is in `config/simulator.yaml`."""

    engine: str = choice(ENGINES, default="mujoco")
    timestep: float = number(0.0002, TICK, "s", default=0.002)
    integrator: str = choice(("implicitfast", "implicit", "Euler"), default="implicitfast")
    solver: str = choice(("Newton", "CG", "PGS"), default="Newton")
    cone: str = choice(("elliptic", "pyramidal"), default="elliptic")
    iterations: int = number(1, 1000, default=20)
    ls_iterations: int = number(1, 1000, default=50)
    jacobian: str = choice(("dense", "sparse"), default="dense")
    root: str = choice(("base", "middle"), default="base")
    friction_stiffness_ratio: float = number(1.0, 100.0, default=10.0)
    contact_solref: Tuple[float, float] = (0.006, 1.0)
    contact_solimp: Tuple[float, float, float] = (0.95, 0.99, 0.001)
    friction: float = number(0.01, 5.0, default=0.8)
    torsional_friction: float = number(0.0, 1.0, "m", default=0.005)
    rolling_friction: float = number(0.0, 1.0, "m", default=0.0001)
    self_collision: bool = True
    gravity: float = number(0.0, 30.0, "m/s^2", default=9.81)
    slope_deg: float = number(0.0, 45.0, "deg", default=0.0)
    slope_azimuth_deg: float = number(-360.0, 360.0, "deg", default=0.0)
    boxes: Tuple[Box, ...] = ()
    mass_scale: float = number(0.2, 5.0, default=1.0)
    coupling_solref: Tuple[float, float] = (0.004, 1.0)
    servo_margin_deg: float = number(0.0, 10.0, "deg", default=0.0)
    servo_punch: float = number(0.0, 0.5, default=0.0)
    servo_resolution_deg: float = number(0.0, 5.0, "deg", default=0.0)
    servo_backlash_deg: float = number(0.0, 5.0, "deg", default=0.0)
    nominal_voltage: float = number(1.0, 60.0, "V", default=12.0)
    supply_voltage: float = number(1.0, 60.0, "V", default=12.0)
    supply_resistance: float = number(0.0, 5.0, "Ohm", default=0.0)
    servo_stall_current: float = number(0.0, 20.0, "A", default=1.5)
    winding_heating: float = number(0.0, 50.0, "K/s", default=0.0)
    winding_cooling_time: float = number(1.0, 1e5, "s", default=300.0)
    servo_temperature_limit: float = number(61.0, 1e4, "degrees Celsius", default=70.0)
    ambient_temperature: float = number(-40.0, 60.0, "degrees Celsius", default=25.0)
    yaw_noise_deg: float = number(0.0, 180.0, "deg", default=1.0)
    joint_noise_deg: float = number(0.0, 5.0, "deg", default=0.2)
    accelerometer_std: float = number(0.0, 10.0, default=0.03)
    gyroscope_std: float = number(0.0, 10.0, default=0.003)
    orientation_std_deg: float = number(0.0, 10.0, default=0.1)
    accelerometer_bias_std: float = number(0.0, 10.0, "m/s^2", default=0.0)
    gyroscope_bias_std: float = number(0.0, 1.0, "rad/s", default=0.0)
    imu_latency: int = number(0, 20, "ticks", default=0)
    imu_orientation: bool = True
    imu_yaw: bool = True
    load_cell_std: float = number(0.0, 100.0, "N", default=0.2)
    range_std: float = number(0.0, 10.0, "m", default=0.005)

    def conflict(self) -> str:
        """Return that the time step does not divide the tick, if so; check the tuples, each number in its own range."""
        if abs(TICK / self.timestep - round(TICK / self.timestep)) > 1e-9:
            return f"timestep is {self.timestep} s and does not divide the tick of {TICK} s; use 0.001, 0.002 or 0.005"
        for name in ("contact_solref", "coupling_solref"):
            time, damping = getattr(self, name)
            check_number(f"{name}[0]", time, 2 * self.timestep, 1.0, "s", "at least two time steps")
            check_number(f"{name}[1]", damping, 0.1, 10.0)
        for index, value in enumerate(self.contact_solimp[:2]):
            check_number(f"contact_solimp[{index}]", value, 0.0001, 0.9999)
        check_number("contact_solimp[2]", self.contact_solimp[2], 1e-6, 0.1, "m")
        for index, box in enumerate(self.boxes):
            for name, size in zip(("length", "width", "height"), box[2:]):
                check_number(f"{name} of boxes[{index}]", size, 0.001, 100.0, "m")
        return ""

    @property
    def up(self) -> Tuple[float, float, float]:
        """Direction against gravity, in the world's axes, of which z is at a right angle to the floor."""
        slope, azimuth = math.radians(self.slope_deg), math.radians(self.slope_azimuth_deg)
        return math.sin(slope) * math.cos(azimuth), math.sin(slope) * math.sin(azimuth), math.cos(slope)

    @property
    def steps_per_tick(self) -> int:
        """Physics steps in one tick."""
        return int(round(TICK / self.timestep))


def load_config(path: Optional[Union[str, Path]] = None, changes: Optional[Union[str, Path]] = None) -> SimulatorConfig:
    """Read a settings file.

    Parameters
    ----------
    path : str or pathlib.Path, optional
        A YAML file; the package's own `config/simulator.yaml` if not given.
    changes : str or pathlib.Path, optional
        A second one, of which each key takes precedence: the robot's own settings remain in force.

    Raises
    ------
    ConfigError
        If a file cannot be read or a setting is wrong; the text names the file.
    """
    config = SimulatorConfig.load(path or package_file("shellbot_simulator", "config/simulator.yaml"))
    if not changes:
        return config
    return SimulatorConfig.from_mapping({**config.to_mapping(), **read_yaml(changes, ConfigError)}, f"{changes}: ")
