# SPDX-License-Identifier: MIT
"""Where the robot is, and what is drawn into its picture: support, feet, planned steps, paths, heading, attitude."""

from __future__ import annotations

import math
from collections import deque
from typing import Deque, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from shellbot_common.rotations import quaternion_from_rpy, quaternion_product, rotation_from_quaternion
from shellbot_common.view import Mark
from shellbot_teleop.effects import PublishTwist
from shellbot_teleop.robot_monitor import BaseInfo, ContactsInfo, FootstepsInfo, OdomInfo

_OVER_GROUND = 0.003  # m: a flat mark in the plane of the floor would flicker
_AHEAD_S = 2.0  # how far ahead the path of the commanded twist is drawn
_AHEAD_POINTS = 24
_LEAST_SPEED = 0.005  # m/s or rad/s: a twist below it leads nowhere
_REACH = 0.20  # m: half the size of a robot whose contacts are not known
_TRAIL_STEP = 0.01  # m between two points of the trail
_TRAIL_JUMP = 0.5  # m: farther in one step only if the simulation was reset
_BALL_RADIUS = 0.15  # m, where a ball touches nothing that is known

Colour = Tuple[float, float, float, float]
COMMANDED: Colour = (0.22, 0.74, 0.97, 1.0)
MEASURED: Colour = (0.29, 0.87, 0.50, 1.0)
SWINGING: Colour = (0.98, 0.75, 0.14, 1.0)
PLANNED: Colour = (0.77, 0.40, 0.95, 1.0)
HEADING: Colour = (0.95, 0.97, 1.0, 1.0)


def base_pose(
    transform: Optional[BaseInfo], odom: Optional[OdomInfo], contacts: Optional[ContactsInfo]
) -> Optional[BaseInfo]:
    """Return the pose of the base in odom; None if nothing says where the robot is.

    The transforms of odometry say all of it. Without them it is odometry, and what that lacks is level, with the lowest
    foot on the ground; a ball is turned from upright by the shortest rotation, as its contacts give the vertical and
    not the turn about it.
    """
    if transform is not None:
        return transform
    if (odom is None or not odom.finite) and contacts is None:
        return None
    x, y, yaw = 0.0, 0.0, 0.0
    if odom is not None and odom.finite:
        if odom.has_tilt:
            return BaseInfo(np.array(odom.position), np.array(quaternion_from_rpy(*odom.rpy)), odom.arrived)
        (x, y, _), yaw = odom.position, odom.rpy[2]
    arrived = contacts.arrived if contacts is not None else 0.0
    upright = np.array(quaternion_from_rpy(0.0, 0.0, yaw))
    up = contacts.ball_up if contacts is not None else None
    if up is not None:
        return BaseInfo(np.array([x, y, _BALL_RADIUS]), quaternion_product(upright, shortest_rotation(up)), arrived)
    height = odom.position[2] if odom is not None and odom.finite else 0.0
    if contacts is not None and np.isfinite(contacts.p_base_foot).any():
        height = -float(np.nanmin(contacts.p_base_foot[:, 2]))
    return BaseInfo(np.array([x, y, height]), upright, arrived)


class Trail:
    """Where the robot went, from point to point."""

    def __init__(self) -> None:
        self.points: Deque[Tuple[float, float]] = deque(maxlen=300)  #: Oldest first, m

    def extend(self, x: float, y: float) -> None:
        """Take over where the robot is, m."""
        step = math.hypot(x - self.points[-1][0], y - self.points[-1][1]) if self.points else math.inf
        if step > _TRAIL_STEP:
            if self.points and step > _TRAIL_JUMP:
                self.points.clear()
            self.points.append((x, y))


def shortest_rotation(up: np.ndarray) -> np.ndarray:
    """Quaternion (x, y, z, w) of the rotation about a horizontal axis that takes a unit vector (3,) to the vertical."""
    w = 1.0 + up[2]
    if w < 1e-9:  # upside down: any horizontal axis does
        return np.array([1.0, 0.0, 0.0, 0.0])
    return np.array([up[1], -up[0], 0.0, w]) / math.sqrt(2.0 * w)


def heading(base: BaseInfo, odom: Optional[OdomInfo]) -> float:
    """Return where the robot is headed on the ground, rad: as odometry says, which knows it of a ball that turns over.

    Without odometry it is where the base's x axis points.
    """
    if odom is not None and odom.finite:
        return odom.rpy[2]
    x_axis = rotation_from_quaternion(base.quaternion)[:, 0]
    return math.atan2(x_axis[1], x_axis[0])


def support_polygon(p_ground: np.ndarray) -> np.ndarray:
    """Order ground points (n, 3) around their middle, so that they can be filled; n < 3 gives an empty array."""
    if len(p_ground) < 3:
        return np.empty((0, 3))
    middle = p_ground.mean(axis=0)
    order = np.argsort(np.arctan2(p_ground[:, 1] - middle[1], p_ground[:, 0] - middle[0]))
    return p_ground[order]


def commanded_path(x: float, y: float, yaw: float, twist: PublishTwist) -> np.ndarray:
    """Where a twist that is held leads: points (n, 3) on the ground, empty for no motion.

    Parameters
    ----------
    x, y, yaw : float
        Where the robot is, m and rad.
    twist : PublishTwist
        In the robot's axes.
    """
    if max(abs(twist.x), abs(twist.y), abs(twist.yaw)) < _LEAST_SPEED:
        return np.empty((0, 3))
    time = np.linspace(0.0, _AHEAD_S, _AHEAD_POINTS)
    step = time[1] - time[0]
    bearing = yaw + twist.yaw * (time[:-1] + 0.5 * step)
    points = np.zeros((len(time), 3))
    points[:, :2] = x, y
    points[1:, 0] += np.cumsum((twist.x * np.cos(bearing) - twist.y * np.sin(bearing)) * step)
    points[1:, 1] += np.cumsum((twist.x * np.sin(bearing) + twist.y * np.cos(bearing)) * step)
    points[:, 2] = _OVER_GROUND
    return points


def marks(
    base: BaseInfo,
    yaw: float,
    contacts: Optional[ContactsInfo],
    footsteps: Optional[FootstepsInfo],
    twist: PublishTwist,
    trail: Sequence[Tuple[float, float]],
) -> List[Mark]:
    """Return everything that is drawn over the robot, in odom.

    Parameters
    ----------
    base : BaseInfo
        Where the robot is.
    yaw : float
        Where it is headed, rad.
    contacts, footsteps : ContactsInfo or None, FootstepsInfo or None
        What stands and where the rest will land; None if unknown or old.
    twist : PublishTwist
        Commanded by this operator.
    trail : sequence of (float, float)
        Where the robot went, oldest first, m.
    """
    rotation = rotation_from_quaternion(base.quaternion)
    x, y = float(base.position[0]), float(base.position[1])
    reach = _REACH
    drawn: List[Mark] = []
    if contacts is not None and contacts.model == "feet" and np.isfinite(contacts.p_base_foot).all():
        feet = contacts.p_base_foot @ rotation.T + base.position
        reach = float(np.abs(contacts.p_base_foot[:, :2]).max(initial=0.1)) if len(feet) else reach
        drawn += _feet(feet, np.array(contacts.contact, dtype=bool))
        if footsteps is not None and np.isfinite(footsteps.p_base).all():
            landing = _on_ground(footsteps.p_base @ rotation.T + base.position)
            drawn.append(Mark("disc", landing, 0.045, PLANNED))
    elif contacts is not None and contacts.model == "rolling":
        drawn += _ball(base.position, rotation)
    ahead = np.array([math.cos(yaw), math.sin(yaw), 0.0])
    start = np.array([x, y, _OVER_GROUND]) + ahead * (reach + 0.06)
    drawn.append(Mark("arrow", np.array([start, start + 0.09 * ahead]), 0.008, HEADING))
    if len(trail) > 1:
        drawn.append(Mark("line", _on_ground(np.array(trail)), 2.0, MEASURED))
    path = commanded_path(x, y, yaw, twist)
    if len(path):
        drawn.append(Mark("line", path, 4.0, COMMANDED))
        drawn.append(Mark("disc", path[-1:], 0.03, COMMANDED))
    return drawn


def _feet(feet: np.ndarray, standing: np.ndarray) -> Iterator[Mark]:
    corners = support_polygon(_on_ground(feet[standing]))
    if len(corners):
        triangles = np.concatenate([corners[[0, i, i + 1]] for i in range(1, len(corners) - 1)])
        yield Mark("area", triangles, 1.0, (*MEASURED[:3], 0.22))
        yield Mark("line", np.vstack((corners, corners[:1])), 2.0, MEASURED)
    if standing.any():
        yield Mark("disc", _on_ground(feet[standing]), 0.04, MEASURED)
    if not standing.all():
        yield Mark("sphere", feet[~standing], 0.03, SWINGING)
    for number, foot in enumerate(feet, start=1):
        yield Mark("text", foot[None] + [0.0, 0.0, 0.03], 1.0, HEADING, str(number))


def _ball(centre: np.ndarray, rotation: np.ndarray) -> Iterator[Mark]:
    """Draw the attitude of a ball: its equator, and an arrow out of its upper pole."""
    angle = np.linspace(0.0, 2.0 * math.pi, 49)
    equator = 1.04 * _BALL_RADIUS * np.column_stack((np.cos(angle), np.sin(angle), np.zeros_like(angle)))
    yield Mark("line", equator @ rotation.T + centre, 3.0, SWINGING)
    pole = rotation[:, 2]
    ends = np.outer((1.02 * _BALL_RADIUS, 1.7 * _BALL_RADIUS), pole)
    yield Mark("arrow", centre + ends, 0.012, SWINGING)


def _on_ground(points: np.ndarray) -> np.ndarray:
    """Return points (n, 2 or 3) straight above or below where they are, on the ground, (n, 3)."""
    return np.column_stack((points[:, :2], np.full(len(points), _OVER_GROUND)))
