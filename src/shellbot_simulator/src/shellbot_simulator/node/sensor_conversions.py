# SPDX-License-Identifier: MIT
"""From simulator states to messages."""

from __future__ import annotations

import math
from typing import Iterable, Sequence

import numpy as np
import rospy
from geometry_msgs.msg import Point, Point32, Quaternion, Vector3, WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import CameraInfo, ChannelFloat32, Image, Imu, JointState, PointCloud, Range
from std_msgs.msg import Header

from shellbot_common import TICK
from shellbot_common.robot_profile import CameraSensor, RangeSensor
from shellbot_msgs.msg import Contact, Contacts
from shellbot_simulator.core.config import SimulatorConfig
from shellbot_simulator.core.state import SimState

TICK_NS = int(round(TICK * 1e9))
WORLD = "world"
_NAN = float("nan")
_NOWHERE = Point(_NAN, _NAN, _NAN)
NO_ORIENTATION = [-1.0] + [0.0] * 8  # covariance of an IMU that does not estimate it, REP 145


def stamp_ns(tick: int) -> int:
    """Return the stamp of a tick, ns: exact, without the rounding of seconds."""
    return tick * TICK_NS


def stamp_of(tick: int) -> rospy.Time:
    """Return the stamp of a tick."""
    return rospy.Time(0, stamp_ns(tick))


def joint_state_message(state: SimState, stamp: rospy.Time, names: Sequence[str]) -> JointState:
    """Return position (rad), velocity (rad/s) and servo torque (N m) of every driven joint."""
    return JointState(
        header=Header(stamp=stamp),
        name=names,
        position=state.q.tolist(),
        velocity=state.dq.tolist(),
        effort=state.effort.tolist(),
    )


def imu_message(state: SimState, stamp: rospy.Time, covariance: ImuCovariance, frame: str) -> Imu:
    """Return the inertial unit's reading in its own frame; acceleration is specific force (+9.81 up at rest)."""
    imu = state.imu
    return Imu(
        header=Header(stamp=stamp, frame_id=frame),
        orientation=Quaternion() if imu.orientation is None else Quaternion(*imu.orientation.tolist()),
        orientation_covariance=NO_ORIENTATION if imu.orientation is None else covariance.orientation,
        angular_velocity=Vector3(*imu.angular_velocity.tolist()),
        angular_velocity_covariance=covariance.angular_velocity,
        linear_acceleration=Vector3(*imu.specific_force.tolist()),
        linear_acceleration_covariance=covariance.linear_acceleration,
    )


class ImuCovariance:
    """Diagonal covariances of the IMU message, row-major 3 x 3, from the settings' standard deviations."""

    def __init__(self, config: SimulatorConfig) -> None:
        self.orientation = _diagonal(float(np.radians(config.orientation_std_deg)))
        self.angular_velocity = _diagonal(config.gyroscope_std)
        self.linear_acceleration = _diagonal(config.accelerometer_std)


def odometry_message(state: SimState, stamp: rospy.Time, base: str) -> Odometry:
    """Return the true pose of the frame `base` in the world, and its twist in itself."""
    message = Odometry(header=Header(stamp=stamp, frame_id=WORLD), child_frame_id=base)
    message.pose.pose.position = Point(*state.p_world_base.tolist())
    message.pose.pose.orientation = Quaternion(*state.quat_world_base.tolist())
    message.twist.twist.linear = Vector3(*state.v_base.tolist())
    message.twist.twist.angular = Vector3(*state.w_base.tolist())
    return message


def contacts_message(state: SimState, stamp: rospy.Time, names: Iterable[str], base: str) -> Contacts:
    """Return which contacts carry load, how much of it, and where the frames `names` are in the frame `base`, m."""
    carries, points = state.contacts.foot_contact, [Point(*p) for p in state.p_base_foot.tolist()]
    force = np.where(carries, state.contacts.foot_force[:, 2], 0.0)
    fraction = force / max(float(force.sum()), 1e-9)
    return Contacts(
        header=Header(stamp=stamp, frame_id=base),
        model="feet",
        contacts=[
            Contact(name, loaded, _NAN, load, point, point if loaded else _NOWHERE, _NOWHERE)
            for name, loaded, load, point in zip(names, carries.tolist(), fraction.tolist(), points)
        ],
    )


def wrench_message(wrench: np.ndarray, stamp: rospy.Time, frame: str) -> WrenchStamped:
    """Return the force and moment (6,), N and N m, of the ground on a contact, in the frame of its link."""
    message = WrenchStamped(header=Header(stamp=stamp, frame_id=frame))
    message.wrench.force = Vector3(*wrench[:3].tolist())
    message.wrench.torque = Vector3(*wrench[3:].tolist())
    return message


def load_cells_message(forces: np.ndarray, places: np.ndarray, stamp: rospy.Time, frame: str) -> PointCloud:
    """Return the forces (c,), N, of load cells at places (c, 3), m, in the frame of their contact."""
    return PointCloud(
        header=Header(stamp=stamp, frame_id=frame),
        points=[Point32(*place) for place in places.tolist()],
        channels=[ChannelFloat32(name="force", values=forces.tolist())],
    )


def range_message(distance: float, sensor: RangeSensor, stamp: rospy.Time, frame: str) -> Range:
    """Return a distance, m, along the x axis of its sensor's frame."""
    return Range(
        header=Header(stamp=stamp, frame_id=frame),
        radiation_type=Range.ULTRASOUND if sensor.kind == "ultrasound" else Range.INFRARED,
        field_of_view=float(np.radians(sensor.field_of_view_deg)),
        min_range=sensor.limits[0],
        max_range=sensor.limits[1],
        range=distance,
    )


def image_message(pixels: np.ndarray, stamp: rospy.Time, frame: str) -> Image:
    """Return a picture (height, width, 3) uint8 as rgb8."""
    height, width, _ = pixels.shape
    return Image(
        header=Header(stamp=stamp, frame_id=frame),
        height=height,
        width=width,
        encoding="rgb8",
        step=3 * width,
        data=pixels.tobytes(),
    )


def camera_info_message(camera: CameraSensor, stamp: rospy.Time) -> CameraInfo:
    """Return the pinhole model of a camera's pictures, without distortion."""
    focal = 0.5 * camera.width / math.tan(0.5 * math.radians(camera.field_of_view_deg))
    centre_x, centre_y = 0.5 * camera.width, 0.5 * camera.height
    return CameraInfo(
        header=Header(stamp=stamp, frame_id=camera.optical_frame),
        width=camera.width,
        height=camera.height,
        distortion_model="plumb_bob",
        D=[0.0] * 5,
        K=[focal, 0.0, centre_x, 0.0, focal, centre_y, 0.0, 0.0, 1.0],
        R=np.eye(3).ravel().tolist(),
        P=[focal, 0.0, centre_x, 0.0, 0.0, focal, centre_y, 0.0, 0.0, 0.0, 1.0, 0.0],
    )


def _diagonal(std: float) -> list:
    return (np.eye(3) * std**2).ravel().tolist()
