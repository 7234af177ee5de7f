# SPDX-License-Identifier: MIT
"""Geometry of the 3D feedback: where ground, body and feet are in the world, and where that is on the screen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

from shellbot_common.rotations import rotation_from_quaternion, rotation_from_rpy
from shellbot_teleop.robot_monitor import ContactsInfo, OdomInfo

BODY_RADIUS = 0.150  # m, of the drawn body; a drawing, not a model
LEG_ROOT_RADIUS = 0.110  # m, where the drawn legs begin
GRID_STEP = 0.1  # m
GRID_LINES = 6  # lines each side of the robot


@dataclass(frozen=True)
class Viewpoint:
    """Orthographic view: azimuth of the viewer about z (pi: behind), elevation (rad), pixels a metre."""

    azimuth: float = math.radians(200.0)
    elevation: float = math.radians(44.0)
    scale: float = 600.0

    def following(self, yaw: float) -> Viewpoint:
        """View that stays behind a robot of this heading (rad): left on the keyboard is left on the screen."""
        return Viewpoint(self.azimuth + yaw, self.elevation, self.scale)

    @property
    def towards(self) -> np.ndarray:
        """Unit vector (3,) from the scene to the viewer, in the world."""
        level = math.cos(self.elevation)
        return np.array([level * math.cos(self.azimuth), level * math.sin(self.azimuth), math.sin(self.elevation)])

    def turned(self, dx: float, dy: float) -> Viewpoint:
        """View after dragging the mouse by dx, dy pixels."""
        elevation = min(max(self.elevation + dy * 0.008, math.radians(5.0)), math.radians(90.0))
        return Viewpoint(self.azimuth - dx * 0.008, elevation, self.scale)

    def zoomed(self, factor: float) -> Viewpoint:
        """View at another scale, within sensible bounds."""
        return Viewpoint(self.azimuth, self.elevation, min(max(self.scale * factor, 80.0), 3000.0))

    def project(self, p_world: np.ndarray, centre_world: np.ndarray) -> np.ndarray:
        """Screen coordinates of points.

        Parameters
        ----------
        p_world : (n, 3) ndarray
            Points in m.
        centre_world : (3,) ndarray
            The point in the middle of the screen.

        Returns
        -------
        ndarray
            (n, 2) pixels from the middle, x right, y down.
        """
        ca, sa, ce, se = (
            math.cos(self.azimuth),
            math.sin(self.azimuth),
            math.cos(self.elevation),
            math.sin(self.elevation),
        )
        # columns: screen right and screen down, as directions in the world
        axes = np.array([[-sa, ca * se], [ca, sa * se], [0.0, -ce]])
        return self.scale * ((p_world - centre_world) @ axes)


@dataclass(frozen=True)
class RobotPose:
    """Pose of the body for the drawing: position (3,) in m, rotation (3, 3)."""

    position: np.ndarray
    rotation: np.ndarray

    def to_world(self, p_base: np.ndarray) -> np.ndarray:
        """World coordinates of points (n, 3) in base_link."""
        return p_base @ self.rotation.T + self.position


def robot_pose(odom: Optional[OdomInfo], contacts: Optional[ContactsInfo]) -> RobotPose:
    """Pose of the body from odometry; what that lacks is level, at the origin, and with the lowest foot on the ground.

    A ball is turned from upright by the shortest rotation: its contacts give the vertical, not the turn about it.
    """
    x, y, yaw, height = 0.0, 0.0, 0.0, 0.16
    up = contacts.ball_up if contacts is not None else None
    if odom is not None and odom.finite:
        if odom.has_tilt:
            return RobotPose(np.array(odom.position), rotation_from_rpy(*odom.rpy))
        (x, y, _), yaw = odom.position, odom.rpy[2]
    if up is not None:
        return RobotPose(np.array([x, y, BODY_RADIUS]), rotation_from_rpy(0.0, 0.0, yaw) @ shortest_rotation(up))
    if contacts is not None and np.isfinite(contacts.p_base_foot).any():
        height = -float(np.nanmin(contacts.p_base_foot[:, 2]))
    return RobotPose(np.array([x, y, height]), rotation_from_rpy(0.0, 0.0, yaw))


def shortest_rotation(up: np.ndarray) -> np.ndarray:
    """Rotation (3, 3) about a horizontal axis that takes a unit vector (3,) to the vertical."""
    w = 1.0 + up[2]
    if w < 1e-9:  # upside down: any horizontal axis does
        return np.diag([1.0, -1.0, -1.0])
    return rotation_from_quaternion(np.array([up[1], -up[0], 0.0, w]) / math.sqrt(2.0 * w))


def grid_segments(x: float, y: float) -> np.ndarray:
    """Ground lines around (x, y) as (n, 2, 3) ends; they stay put in the world, so a walking robot is seen to walk."""
    x0, y0 = GRID_STEP * round(x / GRID_STEP), GRID_STEP * round(y / GRID_STEP)
    offset = GRID_STEP * np.arange(-GRID_LINES, GRID_LINES + 1)
    half = np.sqrt((GRID_LINES * GRID_STEP) ** 2 - offset**2 + 1e-12)
    ends = np.zeros((2, len(offset), 2, 3))
    ends[0, :, :, 0], ends[1, :, :, 1] = (x0 + offset)[:, None], (y0 + offset)[:, None]
    ends[0, :, 0, 1], ends[0, :, 1, 1] = y0 - half, y0 + half
    ends[1, :, 0, 0], ends[1, :, 1, 0] = x0 - half, x0 + half
    return ends.reshape(-1, 2, 3)


def circle(radius: float, height: float = 0.0, count: int = 48) -> np.ndarray:
    """Horizontal circle (count, 3) in base_link."""
    angle = np.linspace(0.0, 2.0 * math.pi, count)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.full(count, height)])


def dome_meridian(azimuth: float, radius: float = BODY_RADIUS, count: int = 13) -> np.ndarray:
    """Quarter circle (count, 3) from the body's equator to its pole, in base_link."""
    latitude = np.linspace(0.0, math.pi / 2, count)
    return np.column_stack(
        [
            radius * np.cos(latitude) * math.cos(azimuth),
            radius * np.cos(latitude) * math.sin(azimuth),
            radius * np.sin(latitude),
        ]
    )


def leg_roots() -> np.ndarray:
    """Points (6, 3) in base_link where the drawn legs begin, leg k at (k - 1) * 60 degrees."""
    angle = np.arange(6) * math.pi / 3
    return np.column_stack([LEG_ROOT_RADIUS * np.cos(angle), LEG_ROOT_RADIUS * np.sin(angle), np.zeros(6)])


def support_polygon(p_ground: np.ndarray) -> np.ndarray:
    """Order ground points (n, 3) around their middle, so that they can be filled; n < 3 gives an empty array."""
    if len(p_ground) < 3:
        return np.empty((0, 3))
    middle = p_ground.mean(axis=0)
    order = np.argsort(np.arctan2(p_ground[:, 1] - middle[1], p_ground[:, 0] - middle[0]))
    return p_ground[order]


# The drawn body in base_link: lines to draw, and points whose convex hull on the screen is its outline.
BODY_LINES: Tuple[np.ndarray, ...] = (circle(BODY_RADIUS), *(dome_meridian(k * math.pi / 3) for k in range(6)))
# The other half of the ball, below the equator.
LOWER_LINES: Tuple[np.ndarray, ...] = tuple(line * [1.0, 1.0, -1.0] for line in BODY_LINES[1:])
BODY_POINTS = np.vstack([circle(BODY_RADIUS), *(dome_meridian(k * math.pi / 12, count=9) for k in range(24))])
