# SPDX-License-Identifier: MIT
"""The private parameters of the node `emulated_robot`, checked once at start."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, List, Mapping, Optional, Tuple

from ax_emulator import Fault, load_faults
from ax_emulator.errors import EmulationError
from ax_emulator.faults import faults_from
from robot_evaluation.errors import DefinitionError
from shellbot_common import Settings, choice, number
from shellbot_simulator.core.config import load_config

from .emulated_robot import EmulatedBody, EmulatedRobotConfig
from .emulated_robot_server import ServerSettings


@dataclasses.dataclass(frozen=True)
class EmulatedRobotParams(Settings, error=DefinitionError):
    """How the node runs the emulated robot."""

    port: str = ""  #: Symbolic link to make to the servos' pty; empty: none, the log names the pty
    #: walker or full of Shellbot; empty: any robot, from `robot_description`, `robot_profile` and `robot_servos`
    variant: str = "walker"
    #: Of small deviations, sensor noise and the faults' chances; -1 for none
    seed: int = number(-1, 2**31 - 1, default=0, hint="-1 is none")
    #: Sliding friction; 0 for the simulator's settings
    friction: float = number(0.0, 5.0, default=0.0, hint="0 takes the simulator's")
    viewer: str = choice(("auto", "true", "false"), default="auto")  #: auto (where there is a display), true or false
    faults: str = ""  #: YAML file with a schedule of faults; empty for none
    charge: float = number(0.0, 1.0, default=0.78)  #: Of the battery, 0 to 1
    return_delay: int = number(0, 254, "units of 2 us", default=0)  #: Return delay of the servos, units of 2 us
    precise: bool = False  #: Spin before each reply: exact to 10 us, for most of a core
    pose: str = ""  #: Named pose at the start; empty: that of the profile
    #: Pictures per second while there is a subscriber
    camera_rate: float = number(0.1, 100.0, "pictures per second", default=10.0)
    camera_width: int = number(16, 2048, "pixels", default=640)  #: Pixels
    camera_height: int = number(16, 2048, "pixels", default=480)  #: Pixels

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], prefix: str = "~") -> EmulatedRobotParams:
        """Build the parameters from a parameter server's private names; `fault` is left to the service.

        Raises
        ------
        DefinitionError
            For an unknown name, a wrong type or a value out of range.
        """
        return super().from_mapping({name: value for name, value in values.items() if name != "fault"}, prefix)

    def settings(self, body: Optional[EmulatedBody] = None) -> ServerSettings:
        """Return what the robot's process needs.

        Parameters
        ----------
        body : EmulatedBody, optional
            Which robot; the variant of Shellbot if not given.

        Raises
        ------
        DefinitionError
            If a value is refused further down, or the fault file cannot be read.
        """
        try:
            faults = faults_of_file(self.faults) if self.faults else ()
        except DefinitionError as error:
            raise DefinitionError(f"~faults: {error}") from error
        robot = EmulatedRobotConfig(
            variant=self.variant or EmulatedRobotConfig.variant,
            seed=None if self.seed < 0 else self.seed,
            friction=self.friction or load_config().friction,
            return_delay=self.return_delay,
            charge=self.charge,
            pose=self.pose,
        )
        return ServerSettings(robot, self.port, faults, body, self.precise)


def faults_of_file(path: str) -> Tuple[Fault, ...]:
    """Return the faults of a file; scripts/onboard checks its argument so.

    Raises
    ------
    DefinitionError
        If it cannot be read, or has no list of faults.
    """
    try:
        return tuple(load_faults(Path(path)))
    except EmulationError as error:
        raise DefinitionError(str(error)) from error


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
