# SPDX-License-Identifier: MIT
"""Parameters of the motor driver: frozen, checked, read from ``config/driver.yaml``, where the reasons stand."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Dict, Mapping, Optional

import yaml

from shellbot_motor_driver.errors import DriverConfigError
from shellbot_motor_driver.map.servo_map import config_folder


def _value(default: Any, low: float, high: float) -> Any:
    """Return a field with its allowed range."""
    return field(default=default, metadata={"range": (low, high)})


_SECTIONS = {"BusDown": "bus", "ComplianceStart": "compliance"}  # where a section's name is not its class's


class _Section:
    """Checks the ranges of its fields."""

    def __post_init__(self) -> None:
        """Refuse what is out of range."""
        for item in fields(self):  # type: ignore[arg-type]
            given = getattr(self, item.name)
            section = _SECTIONS.get(type(self).__name__, type(self).__name__.lower())
            where = f"driver parameter {section}.{item.name}"
            if isinstance(item.default, bool):
                if not isinstance(given, bool):
                    raise DriverConfigError(f"{where} is {given!r}; give true or false")
                continue
            low, high = item.metadata["range"]
            is_whole = isinstance(item.default, int)
            good = isinstance(given, int) if is_whole else isinstance(given, (int, float))
            if isinstance(given, bool) or not good or not math.isfinite(given) or not low <= given <= high:
                kind = "a whole number" if is_whole else "a number"
                raise DriverConfigError(f"{where} is {given!r}; give {kind} from {low:g} to {high:g}")


@dataclass(frozen=True)
class Tick(_Section):
    """The beat and what of it the bus may use."""

    period: float = _value(0.01, 0.002, 0.1)
    booked_share: float = _value(0.7, 0.1, 0.9)
    deadline_share: float = _value(0.95, 0.2, 1.0)
    retries: int = _value(1, 0, 3)
    check_interval: float = _value(0.3, 0.05, 10.0)
    speed_interval: float = _value(0.5, 0.0, 10.0)


@dataclass(frozen=True)
class Start(_Section):
    """What is checked before anything moves, and how torque comes on."""

    ping_tries: int = _value(4, 1, 20)
    wiring_rounds: int = _value(5, 1, 100)
    torque: bool = True
    torque_ramp: float = _value(1.0, 0.1, 10.0)
    lock_eeprom: bool = True
    allow_write_only: bool = False
    latency_timer_ms: int = _value(1, 1, 255)
    name_strangers: bool = True
    retry_missing: bool = False


@dataclass(frozen=True)
class Setpoint(_Section):
    """Targets: their age, jumps, speeds."""

    hold_after: float = _value(0.1, 0.02, 1.0)
    sit_after: float = _value(2.0, 0.1, 60.0)
    off_after: float = _value(10.0, 1.0, 3600.0)
    decelerate: float = _value(0.1, 0.01, 1.0)
    jump: float = _value(0.35, 0.05, 6.0)
    steady: float = _value(0.1, 0.02, 1.0)
    far: float = _value(0.5, 0.0, 6.0)
    catch_up_threshold: float = _value(0.1, 0.01, 1.0)
    catch_up_speed: float = _value(1.0, 0.05, 10.0)
    catch_up_time: float = _value(0.5, 0.05, 10.0)
    sit_speed: float = _value(0.6, 0.05, 5.0)
    speed_headroom: float = _value(1.1, 1.0, 3.0)


@dataclass(frozen=True)
class Servo(_Section):
    """When a servo is suspect, lost, asked again."""

    stale_after: float = _value(0.1, 0.01, 2.0)
    suspect_misses: int = _value(3, 1, 20)
    suspect_interval: float = _value(0.03, 0.005, 0.5)
    lost_misses: int = _value(10, 2, 100)
    lost_after: float = _value(0.5, 0.05, 5.0)
    goals_until: float = _value(0.2, 0.05, 5.0)
    old_after: float = _value(0.5, 0.05, 5.0)
    lost_interval: float = _value(0.5, 0.05, 10.0)
    rearm_after_lost: bool = True


@dataclass(frozen=True)
class BusDown(_Section):
    """When the bus as a whole is down, and how it is opened again."""

    down_share: float = _value(0.3333, 0.05, 1.0)
    reopen_first: float = _value(0.1, 0.01, 2.0)
    reopen_longest: float = _value(1.0, 0.1, 10.0)


@dataclass(frozen=True)
class Heat(_Section):
    """Overheating."""

    margin: float = _value(5.0, 1.0, 30.0)
    torque_share: float = _value(0.5, 0.1, 1.0)
    cool_down: float = _value(1200.0, 0.0, 7200.0)


@dataclass(frozen=True)
class Overload(_Section):
    """Overload shutdown of a servo."""

    recover_after: float = _value(2.0, 0.1, 60.0)
    torque_share: float = _value(0.5, 0.1, 1.0)
    window: float = _value(60.0, 1.0, 3600.0)


@dataclass(frozen=True)
class Voltage(_Section):
    """The battery's ladder."""

    window: float = _value(2.0, 0.1, 30.0)
    warn: float = _value(10.5, 6.0, 14.0)
    derate: float = _value(9.9, 6.0, 14.0)
    derate_share: float = _value(0.7, 0.1, 1.0)
    sit: float = _value(9.6, 6.0, 14.0)
    cut: float = _value(9.0, 6.0, 14.0)

    def __post_init__(self) -> None:
        """Check the order, too."""
        super().__post_init__()
        if not self.warn > self.derate > self.sit > self.cut:
            raise DriverConfigError(
                f"driver parameters voltage.warn, derate, sit, cut are {self.warn}, {self.derate}, {self.sit}, "
                f"{self.cut} V; give falling voltages"
            )


@dataclass(frozen=True)
class Plausibility(_Section):
    """What a servo can say."""

    extra_steps: float = _value(10.0, 0.0, 200.0)
    speed_factor: float = _value(1.2, 1.0, 5.0)
    voltage_low: float = _value(6.0, 0.0, 12.0)
    voltage_high: float = _value(14.0, 12.0, 25.0)
    temperature_low: float = _value(0.0, -40.0, 20.0)
    temperature_high: float = _value(100.0, 80.0, 150.0)
    temperature_rate: float = _value(2.0, 0.5, 50.0)
    believe_after: int = _value(3, 2, 20)


@dataclass(frozen=True)
class Alarms(_Section):
    """Persistence of error bits."""

    needed: int = _value(2, 1, 10)
    window: int = _value(3, 1, 10)
    say_after: float = _value(10.0, 0.5, 600.0)

    def __post_init__(self) -> None:
        """Check that it can be met."""
        super().__post_init__()
        if self.needed > self.window:
            raise DriverConfigError(
                f"driver parameter alarms.needed is {self.needed}; give at most alarms.window ({self.window})"
            )


@dataclass(frozen=True)
class Fan(_Section):
    """The fan's servo in wheel mode."""

    lease: float = _value(0.5, 0.05, 5.0)
    stop_burst: int = _value(3, 1, 10)


@dataclass(frozen=True)
class ComplianceStart(_Section):
    """Compliance at start, registers."""

    slope: int = _value(16, 2, 128)
    margin: int = _value(1, 0, 255)
    punch: int = _value(32, 0, 1023)


@dataclass(frozen=True)
class DriverConfig:
    """All parameters of `MotorDriver`; ``config/driver.yaml`` explains each.

    Parameters
    ----------
    tick, start, setpoint, servo, bus, heat, overload, voltage, plausibility, alarms, fan, compliance
        One section each.
    """

    tick: Tick = Tick()
    start: Start = Start()
    setpoint: Setpoint = Setpoint()
    servo: Servo = Servo()
    bus: BusDown = BusDown()
    heat: Heat = Heat()
    overload: Overload = Overload()
    voltage: Voltage = Voltage()
    plausibility: Plausibility = Plausibility()
    alarms: Alarms = Alarms()
    fan: Fan = Fan()
    compliance: ComplianceStart = ComplianceStart()

    @classmethod
    def load(cls, path: Optional[Path] = None) -> DriverConfig:
        """Read a file; by default the package's.

        Raises
        ------
        DriverConfigError
            If it cannot be read or a value is unknown or out of range.
        """
        path = Path(path) if path is not None else config_folder() / "driver.yaml"
        try:
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise DriverConfigError(f"driver parameters {path} cannot be read: {error}") from error
        try:
            return cls.from_mapping({} if content is None else content)
        except DriverConfigError as error:
            raise DriverConfigError(f"{path}: {error}") from error

    @classmethod
    def from_mapping(cls, content: Any) -> DriverConfig:
        """Make it from nested mappings (a YAML file, or the node's private parameters).

        Raises
        ------
        DriverConfigError
            As in `load`.
        """
        sections: Dict[str, Any] = {item.name: item.default for item in fields(cls)}
        given = _mapping(content, "driver parameters", sections)
        made: Dict[str, Any] = {}
        for name, part in given.items():
            kind = type(sections[name])
            known = [item.name for item in fields(kind)]
            made[name] = kind(**_mapping(part, f"driver parameters, section {name}", known))
        return cls(**made)

    def to_mapping(self) -> Dict[str, Dict[str, Any]]:
        """Return nested mappings that `from_mapping` takes."""
        sections: Dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: {item.name: getattr(part, item.name) for item in fields(part)} for name, part in sections.items()}


def _mapping(content: Any, what: str, known: Any) -> Mapping[str, Any]:
    if not isinstance(content, dict):
        raise DriverConfigError(f"{what} are {content!r}; give a mapping of {', '.join(known)}")
    unknown = sorted(str(name) for name in content if name not in known)
    if unknown:
        raise DriverConfigError(f"{what} have no {', '.join(unknown)}; choose from {', '.join(known)}")
    return content
