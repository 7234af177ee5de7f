# SPDX-License-Identifier: MIT
"""Measurements that are numbers, but cannot be true: frozen ones, and soles that contradict what the robot does."""

from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

import numpy as np

from humanoid_motion.interface import Feedback

# Ticks of bit-identical readings. In the simulator without any noise not two ticks of attitude, rates or angles are
# alike in 30 s of standing; an inertial unit that sends at 10 Hz repeats itself for 10 ticks.
_FROZEN_IMU = 20
# Angles in steps of an encoder repeat while the robot stands, but not all of them while their command moves by so much.
_FROZEN_JOINTS, _MOVED = 10, 0.05  # ticks, rad
_FROZEN_SOLES = 15  # ticks in a walk: force sensors without noise repeat while the robot stands
# Walks, turns, plates of 5 mm and pushes of 20 N: not more than 4 ticks below the first fraction, a foot in the air
# reads 0.2 N at least once, and the one that carries 41 N or more.
_UNLOADED, _UNLOADED_TICKS = 0.3, 30  # fraction of the weight
_CARRIES = 0.2  # fraction of the weight on each sole that stands
_IN_AIR = 8.0  # N
_UPRIGHT = 0.15  # rad
_SWING = 8  # ticks: a shorter one says nothing

_Bits = Tuple[Tuple[object, ...], bytes, bytes]
_DOES = "it does not walk and balances by its plan"


class MeasurementWatch:
    """Follows the measurements of one robot from tick to tick.

    Parameters
    ----------
    soles : sequence of str
        Link of each sole.
    weight : float
        Of the robot, N.

    Attributes
    ----------
    imu, joints : bool
        Whether attitude and rates, or the joint angles, are frozen.
    is_frozen : bool
        Whether one of them was, when `has_changed` was called last.
    soles : str
        Why the soles' forces are not to be believed, a sentence; empty if they are.
    """

    def __init__(self, soles: Sequence[str], weight: float) -> None:
        self._names, self._weight = tuple(soles), weight
        self.reset()

    def reset(self) -> None:
        """Begin anew, without a fault."""
        self._former: Optional[_Bits] = None
        self._same = [0, 0, 0]  # ticks without a change: inertial unit, joints, soles
        self._held: Optional[np.ndarray] = None  # command when the joints changed last
        self.imu = self.joints = self.is_frozen = False
        self.clear_soles()

    def clear_soles(self) -> None:
        """Use the soles again, until they contradict the robot once more."""
        self.soles = ""
        self._is_passing = False  # whether soles that carry again are used
        self._unloaded = self._loaded = 0  # ticks
        self._least, self._most, self._swing = np.inf, 0.0, 0  # N in the air, N that carries, ticks

    @property
    def frozen(self) -> str:
        """What is frozen, a clause; empty without."""
        found: List[str] = []
        if self.imu:
            found.append("attitude and rates of imu/data do not change any more")
        if self.joints:
            found.append("the angles of joint_states do not change any more, though their command did")
        return " and ".join(found)

    def update(self, feedback: Feedback, command: Optional[np.ndarray]) -> None:
        """Compare the measurement of a tick with the one before.

        Parameters
        ----------
        feedback : Feedback
            As measured.
        command : (n,) array, optional
            Joint angles commanded last, rad; None before the first.
        """
        former, self._former = self._former, _bits(feedback)
        if former is None:
            return
        is_same = [now == before for now, before in zip(self._former, former)]
        self._same[0] = self._same[0] + 1 if is_same[0] else 0
        self.imu = self._same[0] >= _FROZEN_IMU
        if is_same[1]:
            self._same[1] += 1
            moved = command is not None and self._held is not None and np.abs(command - self._held).max() > _MOVED
            self.joints = self.joints or (self._same[1] >= _FROZEN_JOINTS and bool(moved))
        else:
            self._same[1], self._held, self.joints = 0, command, False
        self._same[2] = self._same[2] + 1 if is_same[2] else 0

    def has_changed(self) -> bool:
        """Whether, since the last call, something has frozen, or nothing is frozen any more."""
        was, self.is_frozen = self.is_frozen, self.imu or self.joints
        return self.is_frozen != was

    def watch_soles(self, wrenches: np.ndarray, tilt: float, is_walking: bool, swing: Optional[int]) -> None:
        """Compare the soles' forces with what the robot does while it balances; after `update`.

        Parameters
        ----------
        wrenches : (2, 6) array
            Of the ground at each sole, N and N m.
        tilt : float
            Of the torso, rad; a robot that falls is not judged.
        is_walking : bool
            Else it stands.
        swing : int, optional
            Side of the foot in the air; none if both stand.
        """
        loads = [max(force, 0.0) for force in wrenches[:, 2].tolist()]
        total, is_upright = sum(loads), tilt < _UPRIGHT
        self._same[2] *= is_walking
        self._unloaded = self._unloaded + 1 if total < _UNLOADED * self._weight and is_upright else 0
        self._loaded = self._loaded + 1 if min(loads) > _CARRIES * self._weight else 0
        if self.soles:
            if self._is_passing and self._loaded >= _UNLOADED_TICKS:
                self.clear_soles()
            return
        if self._unloaded >= _UNLOADED_TICKS:
            self._reject_soles(f"The soles carry {total:.0f} N of {self._weight:.0f} N, though it is upright", True)
        elif is_walking and self._same[2] >= _FROZEN_SOLES and total > 0.0:
            self._reject_soles("The forces of the soles have not changed while it walks", False)
        elif swing is not None:
            self._swing += 1
            self._side, self._least = swing, min(self._least, loads[swing])
            self._most = max(self._most, loads[1 - swing])
        else:
            if self._swing >= _SWING and is_upright:
                if self._least > _IN_AIR:
                    name = self._names[self._side]
                    self._reject_soles(f"{name} reads {self._least:.0f} N or more while its foot is in the air", False)
                elif self._most < _UNLOADED * self._weight:
                    name = self._names[1 - self._side]
                    self._reject_soles(
                        f"{name} reads {self._most:.0f} N at most while it alone carries the robot", True
                    )
            self._least, self._most, self._swing = np.inf, 0.0, 0

    def _reject_soles(self, what: str, is_passing: bool) -> None:
        until = "both soles carry it again" if is_passing else "stand is requested"
        self.soles, self._is_passing = f"{what}: {_DOES} until {until}.", is_passing


def _bits(feedback: Feedback) -> _Bits:
    """Return what inertial unit, joints and soles measured, bit by bit: comparing arrays takes ten times as long."""
    force = b"" if feedback.specific_force is None else feedback.specific_force.tobytes()
    unit = feedback.rates.tobytes(), force, tuple(feedback.attitude)
    return unit, feedback.q.tobytes(), feedback.wrenches.tobytes()
