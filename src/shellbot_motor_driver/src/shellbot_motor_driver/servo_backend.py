# SPDX-License-Identifier: MIT
"""The servos as a backend of the common contract."""

from __future__ import annotations

from typing import Optional, Tuple, Union

import numpy as np

from shellbot_control import JointSample, RobotBackend
from shellbot_motor_driver.bus_process import BusProcess
from shellbot_motor_driver.motor_driver import MotorDriver

Array = np.ndarray


class ServoBackend(RobotBackend):
    """A started `MotorDriver` or `BusProcess` as a `RobotBackend`.

    With a `MotorDriver` the caller lets time pass with `tick`, which repeats the targets in force (a backend's caller
    writes when it wants to; who wants the time-out of the ladder calls the driver itself). A `BusProcess` runs by
    itself: there targets must be written at least every ``setpoint.hold_after`` s, or the joints stop.

    Parameters
    ----------
    driver : MotorDriver or BusProcess
        Started.
    """

    def __init__(self, driver: Union[MotorDriver, BusProcess]) -> None:
        self.driver = driver
        self._targets: Optional[Array] = None

    @property
    def joint_names(self) -> Tuple[str, ...]:
        """Names of the joints."""
        return self.driver.joint_names

    def tick(self) -> None:
        """Run one tick with the targets in force."""
        raise NotImplementedError

    def read(self) -> JointSample:
        """Return the measured joints of the last tick."""
        raise NotImplementedError

    def write(self, targets: Array) -> Array:
        """Command joint positions; the driver's limits of speed apply on the way."""
        raise NotImplementedError

    def hold(self) -> Array:
        """Keep the last targets, or where the joints are before the first."""
        raise NotImplementedError
