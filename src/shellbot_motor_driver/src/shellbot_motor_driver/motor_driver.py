# SPDX-License-Identifier: MIT
"""The motor driver: joint targets in, servo goals out, feedback and a safety ladder; no threads, no sleeps."""

from __future__ import annotations

from typing import Mapping, Optional, Tuple

import numpy as np

from shellbot_control import JointLimits, Notice
from shellbot_motor_driver.bus import Bus
from shellbot_motor_driver.compliance import Compliance
from shellbot_motor_driver.driver_config import DriverConfig
from shellbot_motor_driver.driver_state import Answer, DriverState, StartReport
from shellbot_motor_driver.servo_map import ServoMap

Array = np.ndarray


class MotorDriver:
    """Drive the servos of a map. One owner, one thread; the time is that of the bus's port.

    Parameters
    ----------
    bus : Bus
        An open bus; the driver sets its time-outs.
    servo_map : ServoMap
        The robot's servos.
    config : DriverConfig, optional
        Parameters; by default the package's ``config/driver.yaml``.

    Examples
    --------
    >>> driver = MotorDriver(Bus(port), ServoMap.load("walker"))
    >>> driver.start()
    >>> while True:
    ...     driver.tick(targets)  # (24,) rad, or None if there are no new ones
    ...     port.sleep(driver.next_tick - port.now())
    """

    def __init__(self, bus: Bus, servo_map: ServoMap, config: Optional[DriverConfig] = None) -> None:
        self.bus = bus
        self.servo_map = servo_map
        self.config = config if config is not None else DriverConfig.load()

    @property
    def joint_names(self) -> Tuple[str, ...]:
        """Order of targets and joint arrays, `driven_joint_names(variant)`."""
        raise NotImplementedError

    @property
    def limits(self) -> JointLimits:
        """Limits that every command keeps."""
        raise NotImplementedError

    @property
    def next_tick(self) -> float:
        """Port's time at which the next tick is due, s; a missed tick is left out, not caught up."""
        raise NotImplementedError

    def start(self) -> StartReport:
        """Check everything, then bring the torque up (over the following ticks). Takes about 0.2 s of bus time.

        A servo whose torque is on already (the driver was restarted) goes on holding its goal.

        Raises
        ------
        StartError
            If a servo is missing, doubled, of another model, in wheel mode or unable to answer, or the wiring is unfit;
            nothing has moved.
        PortLostError
            If the port goes away meanwhile.
        """
        raise NotImplementedError

    def tick(self, targets: Optional[Array] = None, stamp: Optional[float] = None, due: Optional[float] = None) -> None:
        """Send the goals, read some servos, run the ladder. Never raises for what bus, servos or targets do.

        Parameters
        ----------
        targets : (n_joints,) array, optional
            rad; None if there are no new ones since the last tick.
        stamp : float, optional
            Port's time at which the targets were given, s; by default now.
        due : float, optional
            Port's time at which this tick was due, s; by default one period after the last one's.
        """
        raise NotImplementedError

    def state(self) -> DriverState:
        """Return the state at the end of the last tick."""
        raise NotImplementedError

    def events(self) -> Tuple[Notice, ...]:
        """Return what happened since the last call, in words for the operator, and forget it."""
        raise NotImplementedError

    def hold(self) -> Array:
        """Hold the last command from now on, until targets come; return it, (n_joints,) rad."""
        raise NotImplementedError

    def torque(self, on: bool) -> Answer:
        """Switch the torque of all servos.

        On: goal := present, then the torque limit rises over ``start.torque_ramp``; refused while a rung of the ladder
        stands against it. Off: at once and for good, the robot sags.
        """
        raise NotImplementedError

    def emergency_stop(self, cause: str = "emergency stop") -> None:
        """Switch all torque off at once and keep it off until `rearm`."""
        raise NotImplementedError

    def rearm(self) -> Answer:
        """End what is latched, if its causes are gone; motion starts from where the joints are."""
        raise NotImplementedError

    def set_compliance(self, table: Mapping[str, Compliance]) -> Answer:
        """Set slope, margin and punch per joint class (``coxa``, ...); written to the servos over the next ticks.

        `compliance_from_gains` makes the table from a `GainTable`.
        """
        raise NotImplementedError

    def drive_fan(self, velocity: float) -> Answer:
        """Turn the fan's servo in wheel mode for ``fan.lease`` s, joint rad/s; refused unless it is in wheel mode."""
        raise NotImplementedError

    def shutdown(self, torque_off: bool = True) -> None:
        """Stop for good: fan's stop burst, torque off (or holding on), port left open."""
        raise NotImplementedError
