# SPDX-License-Identifier: MIT
"""What the node motor_driver reads from its private parameters."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Dict, Mapping, Tuple

import yaml

from ax_bus.direction import DIRECTIONS
from shellbot_motor_driver.driving.driver_config import DriverConfig
from shellbot_motor_driver.errors import DriverConfigError
from shellbot_motor_driver.process.bus_process import BusSettings

ENDINGS = ("sit", "hold", "off")
_USB = ("ttyUSB", "ttyACM")
# parameter: least, most, what to do
_RANGES: Mapping[str, Tuple[float, float, str]] = {
    "baud": (7000, 1_000_000, "1000000 is the servos' own"),
    "latency_ms": (0.0, 1000.0, "2 for an FTDI adapter with latency_timer 1"),
    "priority": (0, 99, "0 is without"),
    "cpu": (-1, 1023, "-1 is any core"),
    "target_timeout": (0.02, 10.0, "s"),
    "arrival_tolerance": (0.001, 3.0, "rad"),
    "battery_cells": (1, 8, "3 for a 3S battery"),
}
_WHOLE = ("baud", "priority", "cpu", "battery_cells")


@dataclass(frozen=True)
class NodeParameters:
    """Parameters of the node; the README's table explains each.

    Parameters
    ----------
    port, variant, baud, direction, gpio, latency_ms, servo_map, priority, cpu
        As the arguments of ``motor_driver.launch``.
    config : DriverConfig
        The file ``~config`` with the sections among the private parameters on top.
    target_timeout : float
        s; joint_targets with an older stamp are not followed.
    arrival_tolerance : float
        rad; within it a joint has arrived.
    battery_cells : int
        Cells in series.
    at_end : str
        What happens when the node is told to end: ``sit`` (then torque off), ``hold``, ``off``.

    Raises
    ------
    DriverConfigError
        If a value cannot be used.
    """

    port: str = "/dev/shellbot-servos"
    variant: str = "walker"
    baud: int = 1_000_000
    direction: str = "auto"
    gpio: str = ""
    latency_ms: float = 2.0
    servo_map: str = ""
    priority: int = 0
    cpu: int = -1
    config: DriverConfig = field(default_factory=DriverConfig)
    target_timeout: float = 0.5
    arrival_tolerance: float = 0.1
    battery_cells: int = 3
    at_end: str = "sit"

    def __post_init__(self) -> None:
        """Check."""
        for name, (low, high, hint) in _RANGES.items():
            given = getattr(self, name)
            is_number = isinstance(given, (int, float)) and not isinstance(given, bool) and math.isfinite(given)
            if not is_number or not low <= given <= high or (name in _WHOLE and given != int(given)):
                raise DriverConfigError(f"parameter ~{name} is {given!r}; give {low:g} to {high:g} ({hint})")
            if name in _WHOLE:
                object.__setattr__(self, name, int(given))
        for name, choices in (
            ("variant", ("walker", "full")),
            ("direction", tuple(DIRECTIONS)),
            ("at_end", ENDINGS),
        ):
            if getattr(self, name) not in choices:
                raise DriverConfigError(
                    f"parameter ~{name} is {getattr(self, name)!r}; choose from {', '.join(choices)}"
                )
        if not isinstance(self.port, str) or not self.port:
            raise DriverConfigError(f"parameter ~port is {self.port!r}; give a path such as /dev/shellbot-servos")
        self.direction_options()

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> NodeParameters:
        """Make them from the node's private parameters.

        Parameters
        ----------
        values : mapping
            Names as above; ``config`` is a file (empty: the package's), and sections of it, such as
            ``setpoint: {hold_after: 0.2}``, replace single values.

        Raises
        ------
        DriverConfigError
            For an unknown name or a value that cannot be used.
        """
        sections = {item.name for item in fields(DriverConfig)}
        known = [item.name for item in fields(cls)]
        unknown = sorted(set(values) - set(known) - sections)
        if unknown:
            raise DriverConfigError(
                f"unknown parameter ~{unknown[0]}; there are {', '.join(known)} and the sections "
                f"{', '.join(sorted(sections))}"
            )
        own = {name: value for name, value in values.items() if name in known and name != "config"}
        return cls(
            config=_config(str(values.get("config", "")), {k: v for k, v in values.items() if k in sections}), **own
        )

    def direction_options(self) -> Dict[str, Any]:
        """Return the parameters of the direction control.

        Raises
        ------
        DriverConfigError
            If ``gpio`` is not CHIP:LINE.
        """
        if self.direction != "gpio":
            return {}
        chip, _, line = str(self.gpio).rpartition(":")
        if not chip or not line.isdigit():
            raise DriverConfigError(
                f"parameter ~gpio is {self.gpio!r}; direction gpio needs CHIP:LINE, for example /dev/gpiochip0:149"
            )
        device = os.path.basename(os.path.realpath(self.port))
        return {"chip": chip, "line": int(line), "is_usb": device.startswith(_USB) or "usb" in self.port}

    def bus_settings(self) -> BusSettings:
        """Return what the bus process needs."""
        return BusSettings(
            port=self.port,
            variant=self.variant,
            baud=self.baud,
            direction=self.direction,
            direction_options=self.direction_options(),
            link_latency=self.latency_ms * 1e-3,
            servo_map=self.servo_map,
            config=self.config,
            priority=self.priority,
            cpu=self.cpu,
        )


def _config(path: str, sections: Mapping[str, Any]) -> DriverConfig:
    """Return the file's configuration with single values replaced."""
    mapping = DriverConfig.load(Path(path) if path else None).to_mapping()
    for name, section in sections.items():
        if not isinstance(section, dict):
            raise DriverConfigError(
                f"parameter ~{name} is {section!r}; give a mapping, {yaml.safe_dump(mapping[name])}"
            )
        mapping[name].update(section)
    return DriverConfig.from_mapping(mapping)
