# SPDX-License-Identifier: MIT
"""What the node motor_driver reads from its private parameters."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Dict, Mapping

from ax_bus.direction import DIRECTIONS, is_usb
from shellbot_common import Settings, SettingsError, check_names, choice, number
from shellbot_motor_driver.driving.driver_config import DriverConfig
from shellbot_motor_driver.errors import DriverConfigError
from shellbot_motor_driver.map.driven_robot import DrivenRobot
from shellbot_motor_driver.map.shellbot import VARIANTS
from shellbot_motor_driver.process.bus_process import BusSettings


@dataclass(frozen=True)
class NodeParameters(Settings, error=DriverConfigError):
    """Parameters of the node; the README's table explains each.

    Raises
    ------
    DriverConfigError
        If a value cannot be used.
    """

    #: port, variant, baud, direction, gpio, latency_ms, servo_map, priority, cpu: As the arguments of
    #: ``motor_driver.launch``
    port: str = "/dev/shellbot-servos"
    #: Build of Shellbot; empty: any robot, from `robot_description`, `robot_profile` and `robot_servos`
    variant: str = choice((*VARIANTS, ""), default="walker")
    baud: int = number(7000, 1_000_000, default=1_000_000, hint="1000000 is the servos' own")
    direction: str = choice(tuple(DIRECTIONS), default="auto")
    gpio: str = ""
    latency_ms: float = number(0.0, 100.0, default=2.0, hint="2 for an FTDI adapter with latency_timer 1")
    servo_map: str = ""
    priority: int = number(0, 99, default=0, hint="0 is without")
    cpu: int = number(-1, 1023, default=-1, hint="-1 is any core")
    config: DriverConfig = DriverConfig()  #: The file ``~config`` with the sections among the private parameters on top
    #: s; joint_targets with an older stamp are not followed
    target_timeout: float = number(0.02, 10.0, "s", default=0.5)
    arrival_tolerance: float = number(0.001, 3.0, "rad", default=0.1)  #: rad; within it a joint has arrived
    battery_cells: int = number(1, 8, default=3, hint="3 for a 3S battery")  #: Cells in series
    #: What happens when the node is to end: ``sit`` (then torque off), ``hold``, ``off``
    at_end: str = choice(("sit", "hold", "off"), default="sit")

    def conflict(self) -> str:
        """Return what is wrong with the port or its GPIO line."""
        if not self.port:
            return "port is empty; give a path such as /dev/shellbot-servos"
        chip, _, line = self.gpio.rpartition(":")
        if self.direction == "gpio" and not (chip and line.isdigit()):
            return f"gpio is {self.gpio!r}; direction gpio needs CHIP:LINE, for example /dev/gpiochip0:149"
        return ""

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], prefix: str = "~") -> NodeParameters:
        """Make them from the node's private parameters.

        Parameters
        ----------
        values : mapping
            Names as above; ``config`` is a file (empty: the package's), and sections of it, such as
            ``setpoint: {hold_after: 0.2}``, replace single values.
        prefix : str
            Before the names in messages.

        Raises
        ------
        DriverConfigError
            For an unknown name or a value that cannot be used.
        """
        own, sections = ([item.name for item in fields(kind)] for kind in (cls, DriverConfig))
        try:
            check_names(values, own + sections, ())
        except SettingsError as error:
            raise DriverConfigError(f"{prefix}{error}") from error
        config = DriverConfig.load(str(values.get("config", "")) or None).to_mapping()
        for name, section in values.items():
            if name in sections:
                config[name] = {**config[name], **section} if isinstance(section, dict) else section
        given = {name: value for name, value in values.items() if name in own}
        return super().from_mapping({**given, "config": DriverConfig.from_mapping(config, prefix)}, prefix)

    def direction_options(self) -> Dict[str, Any]:
        """Return the parameters of the direction control."""
        if self.direction != "gpio":
            return {}
        chip, _, line = self.gpio.rpartition(":")
        return {"chip": chip, "line": int(line), "is_usb": is_usb(self.port)}

    def bus_settings(self, robot: DrivenRobot) -> BusSettings:
        """Return what the bus process of a robot needs."""
        return BusSettings(
            port=self.port,
            robot=robot,
            baud=self.baud,
            direction=self.direction,
            direction_options=self.direction_options(),
            link_latency=self.latency_ms * 1e-3,
            servo_map=self.servo_map,
            config=self.config,
            priority=self.priority,
            cpu=self.cpu,
        )
