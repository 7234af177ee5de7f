# SPDX-License-Identifier: MIT
"""The servos as a backend of the common contract."""

from __future__ import annotations

from typing import Optional, Tuple, Union

import numpy as np

from shellbot_control import JointSample, RobotBackend, TargetsError, clamp_targets
from shellbot_description import joint_class
from shellbot_motor_driver.driving.motor_driver import MotorDriver
from shellbot_motor_driver.map.servo_map import FANS_APART
from shellbot_motor_driver.process.bus_process import BusProcess

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
        self._fans = np.array([joint_class(name) == "fan" for name in driver.joint_names])

    @property
    def joint_names(self) -> Tuple[str, ...]:
        """Names of the joints."""
        return self.driver.joint_names

    def tick(self) -> None:
        """Run one tick with the targets in force."""
        self.driver.tick(self._targets)

    def read(self) -> JointSample:
        """Return the measured joints of the last tick."""
        state = self.driver.state()
        return JointSample(state.stamp, state.joint_names, state.position, state.velocity, state.effort)

    def write(self, targets: Array) -> Array:
        """Command joint positions; the driver's limits of speed apply on the way.

        Parameters
        ----------
        targets : (n,) array
            rad.

        Returns
        -------
        (n,) array
            The targets within the joints' range.

        Raises
        ------
        TargetsError
            If the shape is wrong, a value is not finite, or the fans, which hang on one servo, differ.
        """
        wanted = clamp_targets(targets, self.driver.limits)
        fans = wanted[self._fans]
        if fans.size and float(np.ptp(fans)) > FANS_APART:
            raise TargetsError(
                f"fan targets differ ({fans.min():.3f} to {fans.max():.3f} rad); one servo turns all six"
            )
        self._targets = wanted
        if isinstance(self.driver, BusProcess):
            self.driver.set_targets(wanted)
        return wanted.copy()

    def hold(self) -> Array:
        """Keep the last targets, or where the joints are before the first."""
        if self._targets is not None:
            return self._targets.copy()
        return self.driver.hold()
