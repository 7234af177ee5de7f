# SPDX-License-Identifier: MIT
"""What the sliders move: a picture alone, or servos on a bus."""

from __future__ import annotations

import contextlib
import math
from typing import Dict, List, Mapping, Optional, Sequence

from ax_bus.bus import Bus
from ax_bus.errors import NoReplyError, ServoError
from ax_bus.registers import AX_12A, FEEDBACK_ADDRESS, FEEDBACK_COUNT, RAD_PER_S_PER_STEP

from ..errors import EvaluationError
from .limb import LimbJoint

_GOAL = AX_12A.register("goal_position")


class PictureDrive:
    """No servo: joints follow the sliders at a constant speed.

    Parameters
    ----------
    joints : sequence of LimbJoint
        The limb.
    start : mapping of str to float
        Where they are, rad.
    speed : float
        rad/s.
    """

    has_torque = False

    def __init__(self, joints: Sequence[LimbJoint], start: Mapping[str, float], speed: float) -> None:
        self._joints = tuple(joints)
        self._speed = speed
        self._angle = {joint.name: joint.clamp(start[joint.name]) for joint in joints}
        self._goal = dict(self._angle)

    def command(self, name: str, angle: float) -> None:
        """Send a joint to an angle, rad."""
        joint = next(joint for joint in self._joints if joint.name == name)
        self._goal[name] = joint.clamp(angle)

    def measure(self, duration: float) -> Dict[str, float]:
        """Let ``duration`` s pass; return where the joints are, rad."""
        reach = self._speed * duration
        for name, goal in self._goal.items():
            self._angle[name] += max(-reach, min(reach, goal - self._angle[name]))
        return dict(self._angle)

    def notes(self) -> Dict[str, str]:
        """Return a remark per joint: none here."""
        return {}

    def close(self) -> None:
        """Nothing to release."""


class BusDrive:
    """Servos on a bus, slow and with little torque; they start where they are and go limp at the end.

    Parameters
    ----------
    bus : Bus
        The bus.
    joints : sequence of LimbJoint
        The limb; who does not answer gets no torque and keeps its slider.
    torque : float
        Share of the stall torque, 0 to 1.
    rpm : float
        Speed of the horns.

    Raises
    ------
    EvaluationError
        If no servo of the limb answers.
    """

    has_torque = True

    def __init__(self, bus: Bus, joints: Sequence[LimbJoint], torque: float, rpm: float) -> None:
        self._bus = bus
        self._joints = {joint.name: joint for joint in joints}
        self._notes: Dict[str, str] = {}
        self._angle: Dict[str, float] = {}
        speed = max(1, round(rpm * math.pi / 30.0 / RAD_PER_S_PER_STEP))
        for joint in joints:
            servo_id = joint.entry.servo_id
            try:
                if self._is_wheel(servo_id):
                    self._notes[joint.name] = "wheel mode: would turn for ever, left alone (scripts/servo prepare)"
                    continue
                steps = bus.read_register(servo_id, AX_12A.register("present_position"), retries=3)
                for name, number in (("torque_limit", round(torque * 1023)), ("moving_speed", speed)):
                    bus.write_register(servo_id, AX_12A.register(name), number)
                bus.write_register(servo_id, _GOAL, steps)  # goal := present before torque: nothing jumps
                bus.write_register(servo_id, AX_12A.register("torque_enable"), 1)
            except ServoError as error:
                self._notes[joint.name] = str(error)
                continue
            self._angle[joint.name] = joint.angle(steps)
        if not self._angle:
            raise EvaluationError(
                f"no servo of this limb can be moved: {'; '.join(self._notes.values())}. Look with scripts/servo scan"
            )

    def command(self, name: str, angle: float) -> None:
        """Send a joint to an angle, rad; one that does not answer is left alone."""
        if name not in self._angle:
            return
        joint = self._joints[name]
        try:
            self._bus.write(joint.entry.servo_id, _GOAL.address, _GOAL.to_bytes(joint.steps(angle)))
        except ServoError as error:
            self._notes[name] = str(error)

    def measure(self, duration: float) -> Dict[str, float]:
        """Read the servos; return where the joints are, rad: the last value of one that does not answer."""
        del duration  # real servos have their own time
        for name in self._angle:
            joint = self._joints[name]
            reply = self._read(joint.entry.servo_id)
            if reply is None:
                self._notes[name] = "does not answer"
                continue
            self._angle[name] = joint.angle(int.from_bytes(reply[:2], "little"))
            self._notes[name] = f"{reply[6] / 10.0:.1f} V  {reply[7]} °C  load {_load(reply):+.0%}"
        return dict(self._angle)

    def notes(self) -> Dict[str, str]:
        """Return what each servo feels, or why it does not move."""
        return dict(self._notes)

    def close(self) -> None:
        """Switch the torque off; the limb sags."""
        for name in self._angle:
            with contextlib.suppress(ServoError):
                row = AX_12A.register("torque_enable")
                self._bus.write_register(self._joints[name].entry.servo_id, row, 0)

    def _is_wheel(self, servo_id: int) -> bool:
        limits: List[int] = [
            self._bus.read_register(servo_id, AX_12A.register(f"{side}_angle_limit"), retries=3)
            for side in ("cw", "ccw")
        ]
        return not any(limits)

    def _read(self, servo_id: int) -> Optional[bytes]:
        try:
            return self._bus.read(servo_id, FEEDBACK_ADDRESS, FEEDBACK_COUNT).data
        except NoReplyError:
            return None


def _load(reply: bytes) -> float:
    number = int.from_bytes(reply[4:6], "little")
    return (number & 1023) / 1023.0 * (-1.0 if number & 1024 else 1.0)
