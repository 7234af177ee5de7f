# SPDX-License-Identifier: MIT
"""The private parameters of the node `emulated_robot`, checked once at start."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, List, Mapping

from ax_emulator import Fault, load_faults
from ax_emulator.errors import EmulationError
from ax_emulator.faults import faults_from
from shellbot_simulator.config import load_config

from .emulated_robot import EmulatedRobotConfig
from .emulated_robot_server import ServerSettings
from .errors import DefinitionError

VIEWERS = ("auto", "true", "false")


@dataclasses.dataclass(frozen=True)
class EmulatedRobotParams:
    """How the node runs the emulated robot.

    Parameters
    ----------
    port : str
        Link to make to the servos' pty; empty: only the pty itself, told in the log.
    variant : str
        walker or full.
    seed : int
        Of small deviations, sensor noise and the faults' chances; -1 for none.
    friction : float
        Sliding friction; 0 for the simulator's settings.
    viewer : str
        auto (where there is a display), true or false.
    faults : str
        YAML file with a schedule of faults; empty for none.
    charge : float
        Of the battery, 0 to 1.
    return_delay : int
        Return delay of the servos, units of 2 us.
    precise : bool
        Spin before each reply: exact to 10 us, for most of a core.
    pose : str
        Named pose at the start.
    camera_rate : float
        Pictures per second while somebody listens.
    camera_width, camera_height : int
        Pixels.
    """

    port: str = ""
    variant: str = "walker"
    seed: int = 0
    friction: float = 0.0
    viewer: str = "auto"
    faults: str = ""
    charge: float = 0.78
    return_delay: int = 0
    precise: bool = False
    pose: str = "spawn"
    camera_rate: float = 10.0
    camera_width: int = 640
    camera_height: int = 480

    def __post_init__(self) -> None:
        if self.viewer not in VIEWERS:
            raise DefinitionError(f"~viewer is {self.viewer!r}; choose one of {', '.join(VIEWERS)}")
        for name, low, high in (
            ("seed", -1, 2**31 - 1),
            ("friction", 0.0, 5.0),
            ("charge", 0.0, 1.0),
            ("return_delay", 0, 254),
            ("camera_rate", 0.1, 100.0),
            ("camera_width", 16, 2048),
            ("camera_height", 16, 2048),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise DefinitionError(f"~{name} is {value}; give {low:g} to {high:g}")

    def settings(self) -> ServerSettings:
        """Return what the robot's process needs.

        Raises
        ------
        DefinitionError
            If a value is refused further down, or the fault file cannot be read.
        """
        try:
            faults = tuple(load_faults(Path(self.faults))) if self.faults else ()
        except EmulationError as error:
            raise DefinitionError(f"~faults: {error}") from error
        robot = EmulatedRobotConfig(
            variant=self.variant,
            seed=None if self.seed < 0 else self.seed,
            friction=self.friction or load_config().friction,
            return_delay=self.return_delay,
            charge=self.charge,
            pose=self.pose,
        )
        return ServerSettings(robot, self.port, faults, self.precise)


def from_mapping(values: Mapping[str, Any]) -> EmulatedRobotParams:
    """Build the parameters from a parameter server's private names; `fault` is left to the service.

    Raises
    ------
    DefinitionError
        For an unknown name, a wrong type or a value out of range.
    """
    known = {item.name: item for item in dataclasses.fields(EmulatedRobotParams)}
    values = {name: value for name, value in values.items() if name != "fault"}
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise DefinitionError(f"unknown parameter ~{unknown[0]}; the parameters are {', '.join(known)}")
    return EmulatedRobotParams(**{name: _convert(name, value, known[name].default) for name, value in values.items()})


def faults_of(value: Any) -> List[Fault]:
    """Return the faults of the parameter ``~fault``: one mapping, or a list of them.

    Raises
    ------
    DefinitionError
        If it is no fault; lists what one has.
    """
    try:
        return faults_from([value] if isinstance(value, dict) else value, "~fault")
    except EmulationError as error:
        raise DefinitionError(str(error)) from error


def _convert(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, str):
        return str(value).lower() if name == "viewer" else str(value)
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise DefinitionError(f"~{name} is {value!r}; give true or false")
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise DefinitionError(f"~{name} is {value!r}; give a finite number")
    if isinstance(default, int):
        if value != int(value):
            raise DefinitionError(f"~{name} is {value!r}; give a whole number")
        return int(value)
    return float(value)
