# SPDX-License-Identifier: MIT
"""What the sliders move: a picture alone, or servos on a bus."""

from __future__ import annotations

import math
from typing import Dict, List, Mapping, Optional, Sequence, Set, Tuple

from ax_bus.bus import Bus
from ax_bus.errors import ServoError
from ax_bus.registers import AX_12A, FEEDBACK_ADDRESS, FEEDBACK_COUNT, RAD_PER_S_PER_STEP
from ax_tools import torque
from robot_evaluation.errors import EvaluationError

from .limb import LimbJoint

_GOAL = AX_12A.register("goal_position")
_ENABLE = AX_12A.register("torque_enable")


class PictureDrive:
    """No servo: joints follow the sliders at a constant speed.

    Parameters
    ----------
    start : mapping of str to float
        Where they are, rad.
    speed : float
        rad/s.
    """

    def __init__(self, joints: Sequence[LimbJoint], start: Mapping[str, float], speed: float) -> None:
        self.is_stopped = False
        self._joints = tuple(joints)
        self._speed = speed
        self._angle = {joint.name: joint.clamp(start[joint.name]) for joint in joints}
        self._goal = dict(self._angle)

    def command(self, name: str, angle: float) -> None:
        """Send a joint to an angle, rad; after a stop nothing moves."""
        if name in self.movable:
            joint = next(joint for joint in self._joints if joint.name == name)
            self._goal[name] = joint.clamp(angle)

    @property
    def movable(self) -> Set[str]:
        """Joints that follow `command`."""
        return set() if self.is_stopped else set(self._angle)

    def stop(self) -> None:
        """Stay where everything is until `resume`."""
        self.is_stopped = True
        self._goal = dict(self._angle)

    def resume(self) -> None:
        """Follow the sliders again."""
        self.is_stopped = False

    def state(self) -> Tuple[bool, str]:
        """Return whether all is as it should be, and in words what holds."""
        return True, "stopped" if self.is_stopped else "picture only: no servo is connected"

    def measure(self, duration: float) -> Dict[str, float]:
        """Let ``duration`` s pass; return where the joints are, rad."""
        reach = self._speed * duration
        for name, goal in self._goal.items():
            self._angle[name] += max(-reach, min(reach, goal - self._angle[name]))
        return dict(self._angle)

    def notes(self) -> Dict[str, str]:
        """Return a remark per joint: none here."""
        return {}

    def close(self) -> List[str]:
        """Return why servos could not be released: there are none."""
        return []


class BusDrive:
    """Servos on a bus, slow and with little torque; they start where they are and go limp at the end.

    Parameters
    ----------
    joints : sequence of LimbJoint
        The limb; who does not answer gets no torque and keeps its slider.
    torque_fraction : float
        Of the stall torque, 0 to 1.
    rpm : float
        Speed of the horns.

    Raises
    ------
    EvaluationError
        If no servo of the limb answers.
    """

    def __init__(self, bus: Bus, joints: Sequence[LimbJoint], torque_fraction: float, rpm: float) -> None:
        self.is_stopped = False
        self._bus = bus
        self._joints = {joint.name: joint for joint in joints}
        self._notes: Dict[str, str] = {}
        self._angle: Dict[str, float] = {}  # of every joint that ever had torque from here
        self._held: Set[str] = set()  # those that hold, and may be sent elsewhere
        self._unconfirmed: Set[str] = set()  # joints whose torque has not been read back as off since the stop
        self._unsent = ""  # why the stop could not be sent
        self._settings = {
            "torque_limit": round(torque_fraction * 1023),
            "moving_speed": max(1, round(rpm * math.pi / 30.0 / RAD_PER_S_PER_STEP)),
        }
        for name in self._joints:
            self._hold(name)
        if not self._angle:
            raise EvaluationError(
                f"no servo of this limb can be moved: {'; '.join(self._notes.values())}. Look with scripts/servo scan"
            )

    def command(self, name: str, angle: float) -> None:
        """Send a joint to an angle, rad; one that does not answer is left alone, and after a stop all are."""
        if name not in self._held:
            return
        joint = self._joints[name]
        try:
            self._bus.write(joint.entry.servo_id, _GOAL.address, _GOAL.to_bytes(joint.steps(angle)))
        except ServoError as error:
            self._notes[name] = str(error)

    def measure(self, duration: float) -> Dict[str, float]:
        """Read the servos; return where the joints are, rad: the last value of one that does not answer."""
        del duration  # real servos have their own time
        on = set()
        for name in self._angle:
            joint = self._joints[name]
            reply = self._read(joint.entry.servo_id)
            if reply is None:
                self._notes[name] = "does not answer"
                continue
            if reply[0]:
                on.add(name)
            else:
                self._unconfirmed.discard(name)
            feedback = reply[FEEDBACK_ADDRESS - _ENABLE.address :]
            self._angle[name] = joint.angle(int.from_bytes(feedback[:2], "little"))
            self._notes[name] = f"{feedback[6] / 10.0:.1f} V  {feedback[7]} °C  load {_load(feedback):+.0%}"
        if self.is_stopped and (on or self._unconfirmed):
            self._unconfirmed |= on
            self._send_off()  # until each of them says so
        return dict(self._angle)

    def notes(self) -> Dict[str, str]:
        """Return what each servo feels, or why it does not move."""
        return dict(self._notes)

    @property
    def movable(self) -> Set[str]:
        """Joints that follow `command`."""
        return set(self._held)

    def stop(self) -> None:
        """Switch off the torque of everything on the bus, whoever answers, and keep it off until `resume`."""
        self.is_stopped = True
        self._held = set()
        self._unconfirmed = set(self._angle)
        self._send_off()

    def resume(self) -> None:
        """Let the servos hold where they are now, again with little torque."""
        self.is_stopped = False
        for name in self._joints:
            self._hold(name)

    def state(self) -> Tuple[bool, str]:
        """Return whether all is as it should be, and in words what holds."""
        if not self.is_stopped:
            return bool(self._held), f"torque on: {len(self._held)} servo(s) hold and follow the sliders"
        if self._unsent:
            return False, f"STOP COULD NOT BE SENT, switch the servos' power off: {self._unsent}"
        if self._unconfirmed:
            who = ", ".join(sorted(self._unconfirmed))
            return False, f"STOPPED, NOT CONFIRMED by {who}: switch the servos' power off if it holds"
        return True, f"STOPPED: no torque, read back from {len(self._angle)} servo(s)"

    def close(self) -> List[str]:
        """Switch the torque off, the limb sags; return for which servos that is not confirmed."""
        ids = [self._joints[name].entry.servo_id for name in self._angle]
        try:
            return list(torque.off(self._bus, ids).values())
        except ServoError as error:
            return [f"torque off could not be sent, switch the servos' power off: {error}"]

    def _hold(self, name: str) -> None:
        """Give a joint torque where it is; or say why not."""
        joint = self._joints[name]
        try:
            self._angle[name] = joint.angle(torque.hold(self._bus, joint.entry.servo_id, self._settings))
            self._held.add(name)
        except ServoError as error:
            self._notes[name] = str(error)

    def _send_off(self) -> None:
        try:
            torque.all_off(self._bus)
            self._unsent = ""
        except ServoError as error:
            self._unsent = str(error)

    def _read(self, servo_id: int) -> Optional[bytes]:
        """Return registers from torque_enable to the last of the feedback."""
        try:
            return self._bus.read(servo_id, _ENABLE.address, FEEDBACK_ADDRESS + FEEDBACK_COUNT - _ENABLE.address).data
        except ServoError:
            return None


def _load(feedback: bytes) -> float:
    number = int.from_bytes(feedback[4:6], "little")
    return (number & 1023) / 1023.0 * (-1.0 if number & 1024 else 1.0)
