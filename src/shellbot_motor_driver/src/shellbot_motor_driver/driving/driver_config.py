# SPDX-License-Identifier: MIT
"""Parameters of the motor driver: frozen, checked, read from ``config/driver.yaml``, where the reasons stand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Union

from shellbot_common import Settings, number, package_file
from shellbot_control import CommandFilterParameters
from shellbot_motor_driver.errors import DriverConfigError

_CATCH_UP = CommandFilterParameters()  # after a start, a hold or a stop: alike for connector and driver


@dataclass(frozen=True)
class Tick(Settings, error=DriverConfigError):
    """The beat and what of it the bus may use."""

    period: float = number(0.002, 0.1, default=0.01)
    booked_fraction: float = number(0.1, 0.9, default=0.7)
    deadline_fraction: float = number(0.2, 1.0, default=0.95)
    retries: int = number(0, 3, default=1)
    check_interval: float = number(0.05, 10.0, default=0.3)
    speed_interval: float = number(0.0, 10.0, default=0.5)


@dataclass(frozen=True)
class Start(Settings, error=DriverConfigError):
    """What is checked before anything moves, and how torque comes on."""

    ping_tries: int = number(1, 20, default=4)
    wiring_rounds: int = number(1, 100, default=5)
    torque: bool = True
    torque_ramp: float = number(0.1, 10.0, default=1.0)
    lock_eeprom: bool = True
    allow_write_only: bool = False
    latency_timer_ms: int = number(1, 255, default=1)
    report_unmapped: bool = True
    retry_missing: bool = False


@dataclass(frozen=True)
class Setpoint(Settings, error=DriverConfigError):
    """Targets: their age, jumps, speeds."""

    hold_after: float = number(0.02, 1.0, default=0.1)
    sit_after: float = number(0.1, 60.0, default=2.0)
    off_after: float = number(1.0, 3600.0, default=10.0)
    decelerate: float = number(0.01, 1.0, default=0.1)
    jump: float = number(0.05, 6.0, default=0.35)
    steady: float = number(0.02, 1.0, default=0.1)
    far: float = number(0.0, 6.0, default=0.5)
    catch_up_threshold: float = number(0.01, 1.0, default=_CATCH_UP.catch_up_threshold)
    catch_up_speed: float = number(0.05, 10.0, default=_CATCH_UP.catch_up_velocity)
    catch_up_time: float = number(0.05, 10.0, default=_CATCH_UP.catch_up_time)
    sit_speed: float = number(0.05, 5.0, default=0.6)
    speed_headroom: float = number(1.0, 3.0, default=1.1)


@dataclass(frozen=True)
class Servo(Settings, error=DriverConfigError):
    """When a servo is suspect, lost, queried again."""

    stale_after: float = number(0.01, 2.0, default=0.1)
    suspect_misses: int = number(1, 20, default=3)
    suspect_interval: float = number(0.005, 0.5, default=0.03)
    lost_misses: int = number(2, 100, default=10)
    lost_after: float = number(0.05, 5.0, default=0.5)
    goals_until: float = number(0.05, 5.0, default=0.2)
    old_after: float = number(0.05, 5.0, default=0.5)
    least_rate: float = number(0.0, 50.0, default=5.0)
    lost_interval: float = number(0.05, 10.0, default=0.5)
    rearm_after_lost: bool = True
    rearm_without: int = number(0, 6, default=3)


@dataclass(frozen=True)
class BusDown(Settings, error=DriverConfigError):
    """When the bus as a whole is down, and how it is opened again."""

    down_fraction: float = number(0.05, 1.0, default=0.3333)
    reopen_first: float = number(0.01, 2.0, default=0.1)
    reopen_longest: float = number(0.1, 10.0, default=1.0)


@dataclass(frozen=True)
class Heat(Settings, error=DriverConfigError):
    """Overheating."""

    margin: float = number(1.0, 30.0, default=5.0)
    torque_fraction: float = number(0.1, 1.0, default=0.5)
    cool_down: float = number(0.0, 7200.0, default=1200.0)


@dataclass(frozen=True)
class Overload(Settings, error=DriverConfigError):
    """Overload shutdown of a servo."""

    recover_after: float = number(0.1, 60.0, default=2.0)
    torque_fraction: float = number(0.1, 1.0, default=0.5)
    window: float = number(1.0, 3600.0, default=60.0)


@dataclass(frozen=True)
class Voltage(Settings, error=DriverConfigError):
    """The battery's ladder."""

    window: float = number(0.1, 30.0, default=2.0)
    warn: float = number(6.0, 14.0, default=10.5)
    derate: float = number(6.0, 14.0, default=9.9)
    derate_fraction: float = number(0.1, 1.0, default=0.7)
    sit: float = number(6.0, 14.0, default=9.6)
    cut: float = number(6.0, 14.0, default=9.0)

    def conflict(self) -> str:
        """Return that the steps are out of order, if they are."""
        if self.warn > self.derate > self.sit > self.cut:
            return ""
        steps = f"{self.warn}, {self.derate}, {self.sit}, {self.cut} V"
        return f"warn, derate, sit, cut are {steps}; give falling voltages"


@dataclass(frozen=True)
class Plausibility(Settings, error=DriverConfigError):
    """What a servo can say."""

    extra_steps: float = number(0.0, 200.0, default=10.0)
    speed_factor: float = number(1.0, 5.0, default=1.2)
    voltage_low: float = number(0.0, 12.0, default=6.0)
    voltage_high: float = number(12.0, 25.0, default=14.0)
    temperature_low: float = number(-40.0, 20.0, default=0.0)
    temperature_high: float = number(80.0, 150.0, default=100.0)
    temperature_rate: float = number(0.5, 50.0, default=2.0)
    accept_after: int = number(2, 20, default=3)


@dataclass(frozen=True)
class Alarms(Settings, error=DriverConfigError):
    """Persistence of error bits."""

    needed: int = number(1, 10, default=2)
    window: int = number(1, 10, default=3)
    report_after: float = number(0.5, 600.0, default=10.0)

    def conflict(self) -> str:
        """Return that it can never be met, if so."""
        return f"needed is {self.needed}; give at most window ({self.window})" if self.needed > self.window else ""


@dataclass(frozen=True)
class Fan(Settings, error=DriverConfigError):
    """The fan's servo in wheel mode."""

    lease: float = number(0.05, 5.0, default=0.5)
    stop_burst: int = number(1, 10, default=3)


@dataclass(frozen=True)
class ComplianceStart(Settings, error=DriverConfigError):
    """Compliance at start, registers."""

    slope: int = number(2, 128, default=16)
    margin: int = number(0, 255, default=1)
    punch: int = number(0, 1023, default=32)


@dataclass(frozen=True)
class DriverConfig(Settings, error=DriverConfigError):
    """All parameters of `MotorDriver`; ``config/driver.yaml`` explains each."""

    #: tick, start, setpoint, servo, bus, heat, overload, voltage, plausibility, alarms, fan, compliance: One section
    #: each
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
    def load(cls, path: Union[str, Path, None] = None) -> DriverConfig:
        """Read a file; by default the package's.

        Raises
        ------
        DriverConfigError
            If it cannot be read or a value is unknown or out of range.
        """
        return super().load(package_file("shellbot_motor_driver", "config/driver.yaml") if path is None else path)
