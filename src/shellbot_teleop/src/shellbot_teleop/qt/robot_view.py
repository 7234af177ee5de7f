# SPDX-License-Identifier: MIT
"""3D feedback: ground, trail, body, legs and feet; turned with the mouse, zoomed with its wheel."""

from __future__ import annotations

import math
from collections import deque
from typing import Any, Deque, Optional, Tuple

import numpy as np
from python_qt_binding.QtCore import QLineF, QPointF, QRectF, Qt
from python_qt_binding.QtGui import QPainter, QPen, QPolygonF
from python_qt_binding.QtWidgets import QWidget
from scipy.spatial import ConvexHull

from shellbot_teleop import scene
from shellbot_teleop.effects import PublishTwist
from shellbot_teleop.qt import theme
from shellbot_teleop.robot_monitor import ContactsInfo, OdomInfo

_TRAIL_STEP = 0.01  # m between two points of the trail
_ARROW_SECONDS = 1.0  # an arrow is as long as the distance covered in this time


class RobotView(QWidget):
    """The robot from its contacts and its odometry; the body is a drawing."""

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumSize(240, 180)
        self.setFocusPolicy(Qt.NoFocus)
        self._view = scene.Viewpoint()
        self._zoom = 1.0
        self._yaw = 0.0
        self._odom: Optional[OdomInfo] = None
        self._contacts: Optional[ContactsInfo] = None
        self._twist = PublishTwist(0.0, 0.0, 0.0)
        self._trail: Deque[Tuple[float, float]] = deque(maxlen=3000)
        self._drag: Optional[QPointF] = None
        self.setToolTip("Drag: turn.  Wheel: zoom.  Double click: from above and back.")

    def show_robot(self, odom: Optional[OdomInfo], contacts: Optional[ContactsInfo], twist: PublishTwist) -> None:
        """Show odometry and feet (None when unknown or old) and the commanded twist."""
        self._odom, self._contacts, self._twist = odom, contacts, twist
        if odom is not None and odom.finite:
            x, y = odom.position[:2]
            if not self._trail or math.hypot(x - self._trail[-1][0], y - self._trail[-1][1]) > _TRAIL_STEP:
                if self._trail and math.hypot(x - self._trail[-1][0], y - self._trail[-1][1]) > 0.5:
                    self._trail.clear()  # the simulation was reset
                self._trail.append((x, y))
        if self.isVisible():
            self.update()

    # ------------------------------------------------------------------ mouse

    def mousePressEvent(self, event: Any) -> None:  # noqa: N802  Qt's name
        """Qt's hook: begin to turn."""
        self._drag = event.pos()

    def mouseMoveEvent(self, event: Any) -> None:  # noqa: N802  Qt's name
        """Qt's hook: turn."""
        if self._drag is not None:
            self._view = self._view.turned(event.pos().x() - self._drag.x(), event.pos().y() - self._drag.y())
            self._drag = event.pos()
            self.update()

    def mouseReleaseEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: end of turning."""
        self._drag = None

    def mouseDoubleClickEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: from above, with x up, or back to the first view."""
        above = scene.Viewpoint(math.pi, math.pi / 2)
        self._view = scene.Viewpoint() if self._view.elevation > 1.5 else above
        self.update()

    def wheelEvent(self, event: Any) -> None:  # noqa: N802  Qt's name
        """Qt's hook: zoom."""
        self._zoom = min(max(self._zoom * math.exp(event.angleDelta().y() / 800.0), 0.3), 4.0)
        self.update()

    # ---------------------------------------------------------------- drawing

    def paintEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: draw."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.Antialiasing)
        painter.fillRect(self.rect(), theme.colour(theme.BACKGROUND))
        fit = min(self.width() / 1.15, self.height() / 0.8)
        self._view = scene.Viewpoint(self._view.azimuth, self._view.elevation, max(fit * self._zoom, 50.0))
        pose = scene.robot_pose(self._odom, self._contacts)
        self._yaw = self._odom.rpy[2] if self._odom is not None and self._odom.finite else 0.0
        centre = np.array([pose.position[0], pose.position[1], 0.05])
        self._draw_ground(painter, centre)
        if self._contacts is not None and self._contacts.ball_up is not None:
            self._draw_ball(painter, pose, centre)
        else:
            self._draw_robot(painter, pose, centre)
        self._draw_heading(painter, pose, centre)
        self._draw_arrows(painter, pose, centre)
        self._draw_text(painter)

    def _points(self, p_world: np.ndarray, centre: np.ndarray) -> QPolygonF:
        return _polygon(self._screen(p_world, centre))

    def _screen(self, p_world: np.ndarray, centre: np.ndarray) -> np.ndarray:
        middle = np.array([self.width() / 2, self.height() / 2])
        return self._view.following(self._yaw).project(p_world, centre) + middle

    def _draw_ground(self, painter: QPainter, centre: np.ndarray) -> None:
        painter.setPen(QPen(theme.colour(theme.LINE, 150), 1))
        ends = self._screen(scene.grid_segments(centre[0], centre[1]), centre).reshape(-1, 4)
        painter.drawLines([QLineF(*line) for line in ends.tolist()])
        if len(self._trail) > 1:
            painter.setPen(QPen(theme.colour(theme.GOOD, 150), 2))
            trail = np.array([(x, y, 0.0) for x, y in self._trail])
            near = trail[np.hypot(trail[:, 0] - centre[0], trail[:, 1] - centre[1]) < 3.0]
            painter.drawPolyline(self._points(near, centre))

    def _draw_arrows(self, painter: QPainter, pose: scene.RobotPose, centre: np.ndarray) -> None:
        yaw = self._yaw
        measured = self._odom.velocity if self._odom is not None and self._odom.finite else (0.0, 0.0, 0.0)
        for (x, y), name, width in (((self._twist.x, self._twist.y), theme.ACCENT, 4), (measured[:2], theme.GOOD, 2)):
            length = math.hypot(x, y)
            if length < 0.01:
                continue
            direction = np.array([x * math.cos(yaw) - y * math.sin(yaw), x * math.sin(yaw) + y * math.cos(yaw), 0.0])
            start = np.array([pose.position[0], pose.position[1], 0.0]) + direction / length * (
                scene.BODY_RADIUS + 0.11
            )
            tip = start + direction * _ARROW_SECONDS
            side = np.array([-direction[1], direction[0], 0.0]) / length * 0.02
            back = tip - direction / length * 0.035
            painter.setPen(QPen(theme.colour(name), width, Qt.SolidLine, Qt.RoundCap))
            painter.drawPolyline(self._points(np.array([start, tip]), centre))
            painter.drawPolyline(self._points(np.array([back + side, tip, back - side]), centre))

    def _draw_robot(self, painter: QPainter, pose: scene.RobotPose, centre: np.ndarray) -> None:
        contacts = self._contacts
        if contacts is not None and np.isfinite(contacts.p_base_foot).all():
            feet = pose.to_world(contacts.p_base_foot)
            standing = np.array(contacts.contact, dtype=bool)
            ground = feet[standing].copy()
            ground[:, 2] = 0.0
            polygon = scene.support_polygon(ground)
            if len(polygon):
                painter.setPen(QPen(theme.colour(theme.GOOD, 110), 1, Qt.DashLine))
                painter.setBrush(theme.colour(theme.GOOD, 28))
                painter.drawPolygon(self._points(polygon, centre))
            roots = pose.to_world(scene.leg_roots())
            for number, (root, foot, down) in enumerate(zip(roots, feet, standing), start=1):
                painter.setPen(QPen(theme.colour(theme.MUTED, 220), 4, Qt.SolidLine, Qt.RoundCap))
                painter.drawPolyline(self._points(np.array([root, foot]), centre))
                spot = QPointF(self._points(foot[None, :], centre)[0])  # a copy: the polygon dies here
                painter.setPen(QPen(theme.colour(theme.GOOD if down else theme.WARN), 2))
                painter.setBrush(theme.colour(theme.GOOD if down else theme.BACKGROUND))
                painter.drawEllipse(spot, 6, 6)
                painter.setFont(theme.font(8))
                painter.setPen(theme.colour(theme.MUTED))
                painter.drawText(QRectF(spot.x() + 8, spot.y() - 2, 20, 14), Qt.AlignLeft, str(number))
        painter.setBrush(theme.colour(theme.RAISED, 235))
        painter.setPen(QPen(theme.colour(theme.TEXT, 220), 1.5))
        corners = self._screen(pose.to_world(scene.BODY_POINTS), centre)
        painter.drawPolygon(_polygon(corners[ConvexHull(corners).vertices]))
        painter.setBrush(Qt.NoBrush)
        painter.setPen(QPen(theme.colour(theme.MUTED, 130), 1))
        for line in scene.BODY_LINES:
            painter.drawPolyline(self._points(pose.to_world(line), centre))
        nose = np.array([[scene.BODY_RADIUS, 0.0, 0.0], [scene.BODY_RADIUS + 0.045, 0.0, 0.0]])
        painter.setPen(QPen(theme.colour(theme.TEXT), 3, Qt.SolidLine, Qt.RoundCap))
        painter.drawPolyline(self._points(pose.to_world(nose), centre))

    def _draw_ball(self, painter: QPainter, pose: scene.RobotPose, centre: np.ndarray) -> None:
        """Draw the closed ball: the lines on the side of the viewer, those of the lower half in another colour."""
        view = self._view.following(self._yaw)
        radius = scene.BODY_RADIUS * view.scale
        painter.setBrush(theme.colour(theme.RAISED, 235))
        painter.setPen(QPen(theme.colour(theme.TEXT, 220), 1.5))
        painter.drawEllipse(self._points(pose.position[None, :], centre)[0], radius, radius)
        for lines, name in ((scene.BODY_LINES, theme.TEXT), (scene.LOWER_LINES, theme.WARN)):
            painter.setPen(QPen(theme.colour(name, 200), 1.5))
            for line in lines:
                p_world = pose.to_world(line)
                in_front = (p_world - pose.position) @ view.towards >= 0.0
                ends = self._screen(p_world, centre)
                pairs = np.hstack((ends[:-1], ends[1:]))[in_front[:-1] & in_front[1:]]
                painter.drawLines([QLineF(*pair) for pair in pairs.tolist()])

    def _draw_heading(self, painter: QPainter, pose: scene.RobotPose, centre: np.ndarray) -> None:
        wedge = np.array([[0.245, 0.0, 0.0], [0.205, 0.022, 0.0], [0.215, 0.0, 0.0], [0.205, -0.022, 0.0]])
        cos, sin = math.cos(self._yaw), math.sin(self._yaw)
        ground = wedge @ np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
        ground[:, :2] += pose.position[:2]
        painter.setPen(Qt.NoPen)
        painter.setBrush(theme.colour(theme.TEXT, 200))
        painter.drawPolygon(self._points(ground, centre))

    def _draw_text(self, painter: QPainter) -> None:
        painter.setFont(theme.font(9))
        painter.setPen(theme.colour(theme.MUTED))
        if self._contacts is None and self._odom is None:
            text = "no odom and no foot_contacts: the robot is drawn where it stands at rest"
        elif self._contacts is None:
            text = "no foot_contacts"
        elif self._contacts.model != "feet":
            text = "closed to a ball" if self._contacts.model == "rolling" else "contacts with the ground are not known"
        elif self._odom is None:
            text = "no odom: the robot is drawn level, at the origin"
        else:
            text = f"{sum(self._contacts.contact)} of {len(self._contacts.contact)} feet on the ground"
        painter.drawText(QRectF(12, 8, self.width() - 24, 20), Qt.AlignLeft, text)
        painter.drawText(QRectF(12, self.height() - 24, self.width() - 24, 18), Qt.AlignLeft, "grid 0.1 m")


def _polygon(points: np.ndarray) -> QPolygonF:
    """Qt's polygon of points (n, 2)."""
    return QPolygonF([QPointF(x, y) for x, y in points.tolist()])
