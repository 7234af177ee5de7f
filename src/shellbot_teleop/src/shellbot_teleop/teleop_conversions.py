# SPDX-License-Identifier: MIT
"""Messages to what the pure modules know, and back."""

from __future__ import annotations

import math
import time
from typing import List, Optional, Tuple

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Pose
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Log
from sensor_msgs.msg import BatteryState, Image, JointState
from tf2_msgs.msg import TFMessage

from shellbot_common.image import rgb_array
from shellbot_common.rotations import quaternion_product, rotation_from_quaternion, rpy_from_quaternion
from shellbot_msgs.msg import (
    Contacts,
    Footsteps,
    Mode,
    ReferenceStatus,
    ServoState,
    ServoStates,
    UpperShells,
    Walkspace,
)
from shellbot_teleop.effects import PublishUpperShells
from shellbot_teleop.limits import Limits
from shellbot_teleop.robot_monitor import (
    BaseInfo,
    BatteryInfo,
    ContactsInfo,
    FootstepsInfo,
    JointsInfo,
    LogLine,
    ModeInfo,
    OdomInfo,
    ServoReading,
    ServosInfo,
    StatusInfo,
)
from shellbot_teleop.texts import tr

_LEVELS = {Log.DEBUG: "debug", Log.INFO: "info", Log.WARN: "warn", Log.ERROR: "error", Log.FATAL: "fatal"}

ODOM_FRAME = "odom"

SERVO_SILENT_S = 0.5  # a servo that has not answered for so long is worth a word
# bits of the error byte, lowest first, as an operator calls them
SERVO_ALARMS = (
    tr("voltage"),
    tr("angle limit"),
    tr("overheating"),
    tr("range"),
    tr("checksum"),
    tr("overload"),
    tr("instruction"),
)


def pose_vector(message: Pose) -> Tuple[float, ...]:
    """Body pose (6,): x, y, z in m, roll, pitch, yaw in rad."""
    orientation = message.orientation
    return (message.position.x, message.position.y, message.position.z) + rpy_from_quaternion(
        orientation.x, orientation.y, orientation.z, orientation.w
    )


def shells_message(effect: PublishUpperShells) -> UpperShells:
    """upper_shells of a height and an angle."""
    return UpperShells(sphere_centre_height=effect.height, opening_angle=effect.angle)


def limits_from_walkspace(message: Walkspace) -> Limits:
    """Limits of a walkspace; raises LimitsError when they cannot be used."""
    velocity, low, high, tilt = message.max_velocity, message.min_shift, message.max_shift, message.max_tilt
    return Limits(
        (velocity.linear.x, velocity.linear.y, velocity.angular.z),
        (low.x, low.y, low.z),
        (high.x, high.y, high.z),
        (tilt.x, tilt.y, tilt.z),
        message.gait,
        measured=True,
        gaits=tuple(message.gaits),
    )


def mode_info(message: Mode) -> ModeInfo:
    """Mode as the views show it."""
    return ModeInfo(message.name, message.target, message.step, message.progress, message.text)


def odom_info(message: Odometry, now: float) -> OdomInfo:
    """Pose and velocity as the views show them."""
    pose, twist = message.pose.pose, message.twist.twist
    orientation = pose.orientation
    return OdomInfo(
        (pose.position.x, pose.position.y, pose.position.z),
        rpy_from_quaternion(orientation.x, orientation.y, orientation.z, orientation.w),
        (twist.linear.x, twist.linear.y, twist.angular.z),
        now,
        has_tilt=message.child_frame_id not in ("", "base_footprint"),
    )


def base_info(message: Odometry, now: float) -> BaseInfo:
    """Pose of the base in an odometry message that has all of it, as the simulator's has."""
    p, q = message.pose.pose.position, message.pose.pose.orientation
    return BaseInfo(np.array([p.x, p.y, p.z]), np.array([q.x, q.y, q.z, q.w]), now)


def base_from_transforms(message: TFMessage, base_frame: str, now: float) -> Optional[BaseInfo]:
    """Pose of the base in odom; None if the message does not lead from the one to the other with finite numbers."""
    parent = {each.child_frame_id: each for each in message.transforms}
    frame, place, turn = base_frame, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    for _ in message.transforms:
        if frame not in parent:
            break
        p, q = parent[frame].transform.translation, parent[frame].transform.rotation
        x, y, z, w = q.x, q.y, q.z, q.w
        if not x * x + y * y + z * z + w * w > 0.5:
            return None
        place = rotation_from_quaternion(np.array([x, y, z, w])) @ place + [p.x, p.y, p.z]
        turn = quaternion_product(np.array([x, y, z, w]), turn)
        frame = parent[frame].header.frame_id
    is_known = frame == ODOM_FRAME != base_frame and np.isfinite(place).all()
    return BaseInfo(place, turn, now) if is_known else None


def footsteps_info(message: Footsteps, now: float) -> FootstepsInfo:
    """Planned landings as the view draws them."""
    return FootstepsInfo(np.array([(p.x, p.y, p.z) for p in message.positions]).reshape(-1, 3), now)


def contacts_info(message: Contacts, now: float) -> ContactsInfo:
    """Contacts as the views show them."""
    contacts = message.contacts
    loaded = tuple(bool(c.in_contact and c.load_share != 0.0) for c in contacts)  # NaN is not known: it may be
    pressure = [c.centre_of_pressure for c, is_loaded in zip(contacts, loaded) if is_loaded]
    return ContactsInfo(
        loaded,
        tuple(c.phase for c in contacts),
        np.array([(c.position.x, c.position.y, c.position.z) for c in contacts]).reshape(-1, 3),
        now,
        message.model,
        np.array([pressure[0].x, pressure[0].y, pressure[0].z]) if pressure else None,
    )


def status_info(message: ReferenceStatus, now: float) -> StatusInfo:
    """Joint errors as the views show them."""
    return StatusInfo(message.reached, message.max_error, message.max_error_joint, message.holding, message.text, now)


def joints_info(message: JointState, now: float) -> JointsInfo:
    """Joints as the views show them."""
    return JointsInfo(tuple(message.name), tuple(message.position), tuple(message.effort), now)


def battery_info(message: BatteryState, now: float) -> BatteryInfo:
    """Battery as the views show it."""
    return BatteryInfo(message.voltage, message.percentage, now)


def servos_info(message: ServoStates, now: float) -> ServosInfo:
    """Servos as the views show them."""
    servos = message.servos
    known = [servo for servo in servos if math.isfinite(servo.temperature)]
    hot = max(known, key=lambda servo: servo.temperature, default=None)
    readings = {
        servo.joint: ServoReading(
            servo.load, servo.voltage, servo.temperature, not servo.torque_enabled, _servo_trouble(servo)
        )
        for servo in servos
    }
    trouble = tuple(f"{joint}: {reading.trouble}" for joint, reading in readings.items() if reading.trouble)
    limp = sum(not servo.torque_enabled for servo in servos)
    hottest, joint = (hot.temperature, hot.joint) if hot is not None else (math.nan, "")
    return ServosInfo(len(servos), hottest, joint, limp, trouble, now, readings)


def _servo_trouble(servo: ServoState) -> str:
    if servo.error:
        return _alarms(servo.error)
    return "" if servo.age <= SERVO_SILENT_S else tr("silent")  # NaN is silence, too


def _alarms(error: int) -> str:
    return ", ".join(name for bit, name in enumerate(SERVO_ALARMS) if error >> bit & 1)


def reports(message: DiagnosticArray) -> List[Tuple[str, int, str]]:
    """Name, level and text of each part, as `Diagnostics` takes them."""
    return [(status.name, status.level, status.message) for status in message.status]


def log_line(message: Log) -> LogLine:
    """Line of the log; the time is when it arrived, because the stamp may be simulated time."""
    source = message.name.lstrip("/")
    prefix = f"{source}: "  # many nodes begin their messages with their own name
    text = message.msg[len(prefix) :] if message.msg.startswith(prefix) else message.msg
    return LogLine(_LEVELS.get(message.level, "info"), source, text, time.time())


def picture(message: Image) -> np.ndarray:
    """(h, w, 3) uint8 RGB of a picture; raises ImageError when it cannot be shown."""
    return rgb_array(message.height, message.width, message.encoding, message.step, message.data)
