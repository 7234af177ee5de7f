# SPDX-License-Identifier: MIT
"""The robot as it looks, live, in the middle of the window; turned and zoomed with the mouse."""

from __future__ import annotations

import math
from typing import Any, List, Optional, Tuple

import numpy as np
from python_qt_binding.QtCore import QPointF, QRectF, Qt, Signal
from python_qt_binding.QtGui import QImage, QPainter
from python_qt_binding.QtWidgets import QHBoxLayout, QVBoxLayout

from shellbot_common import RobotProfile
from shellbot_common.view import Mark
from shellbot_teleop import overlay
from shellbot_teleop.effects import PublishTwist
from shellbot_teleop.orbit import Orbit
from shellbot_teleop.qt import theme
from shellbot_teleop.qt.picture_maker import PictureMaker, PictureRequest
from shellbot_teleop.qt.sticks import Sticks
from shellbot_teleop.qt.widgets import View, button
from shellbot_teleop.robot_monitor import BaseInfo, ContactsInfo, FootstepsInfo, JointsInfo, OdomInfo
from shellbot_teleop.robot_size import reach
from shellbot_teleop.texts import tr

_LONG = 0.055  # s for a picture, on average: fewer pixels are drawn from then on, to stay above 15 a second
_PIXELS = (1.0, 0.75, 0.5)  # pixels drawn a pixel of the screen, along each side
_MOST_PIXELS = 1600 * 1200
_TURN, _ZOOM = 20, 0.15  # pixels of the mouse, and of the logarithm of the distance, that a key stands for
_STEP = 16  # pixels: the renderer is set up anew for each size


class RobotView(View):
    """The robot from description, joints and pose; what is not known is named in a sentence."""

    ghost_requested = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumSize(240, 180)
        self.setFocusPolicy(Qt.TabFocus)
        self.maker = PictureMaker()
        self.maker.made.connect(self._on_picture)
        self.maker.failed.connect(self._on_failure)
        self.orbit = Orbit()
        self._framed: Optional[str] = None  # description of the robot that the view is set to
        self.failure = ""  #: Why there is no picture, in words
        self._image: Optional[QImage] = None
        self._duration, self._detail = 0.0, 0
        self._status = ""
        self._trail = overlay.Trail()
        self._drag: Optional[QPointF] = None
        self.setToolTip(tr("Drag: turn.  Wheel: zoom.  Double click: from above and back."))
        self.follow = button(tr("Follow"), tr("The view stays behind the robot"), checkable=True, name="small")
        tip = tr("Support, feet, planned steps, paths, heading")
        self.drawings = button(tr("Marks"), tip, checkable=True, name="small")
        tip = tr("A faint ghost where the simulator knows the robot")
        self.ghost = button(tr("True pose"), tip, checkable=True, name="small")
        self.follow.setChecked(True)
        self.drawings.setChecked(True)
        self.follow.toggled.connect(self._set_follow)
        self.ghost.toggled.connect(self.ghost_requested)
        self.sticks = Sticks()
        column, row = QVBoxLayout(self), QHBoxLayout()
        column.setContentsMargins(8, 8, 8, 8)
        row.setSpacing(6)
        row.addStretch(1)
        for each in (self.follow, self.drawings, self.ghost):
            row.addWidget(each)
        column.addLayout(row)
        column.addStretch(1)
        column.addWidget(self.sticks, 0, Qt.AlignRight)

    def show_robot(
        self,
        description: Optional[str],
        profile: Optional[RobotProfile],
        joints: Optional[JointsInfo],
        transform: Optional[BaseInfo],
        odom: Optional[OdomInfo],
        contacts: Optional[ContactsInfo],
        footsteps: Optional[FootstepsInfo],
        truth: Optional[BaseInfo],
        twist: PublishTwist,
    ) -> None:
        """Show what is known of the robot (None: unknown or old) and the commanded twist."""
        base = overlay.base_pose(transform, odom, contacts)
        marks: List[Mark] = []
        if base is not None:
            yaw = overlay.heading(base, odom)
            self._trail.extend(float(base.position[0]), float(base.position[1]))
            self.orbit = self.orbit.on(base.position, yaw)
            if self.drawings.isChecked():
                marks = overlay.marks(base, yaw, contacts, footsteps, twist, self._trail.points)
        self._status = _status(description, profile, joints, odom, contacts)
        if description is not None and profile is not None and description != self._framed:
            self._framed = description
            self.orbit = self.orbit.framing(reach(description), profile.base.kind == "fixed")
        if not self.isVisible():
            return
        if description is None or profile is None:
            self._image = None
            self.update()
            return
        is_ghost = truth is not None and self.ghost.isChecked()
        self.maker.request(
            PictureRequest(
                description,
                profile,
                _pose(base),
                dict(zip(joints.names, joints.position)) if joints is not None else {},
                *self._size(),
                self.orbit.view,
                marks,
                _pose(truth) if is_ghost else None,
            )
        )

    def close_picture(self) -> None:
        """End the process that draws."""
        self.maker.close()

    def _size(self) -> Tuple[int, int]:
        ratio = self.devicePixelRatioF() * _PIXELS[self._detail]
        width, height = self.width() * ratio, self.height() * ratio
        ratio = min(1.0, math.sqrt(_MOST_PIXELS / (width * height)))
        width, height = (min(2048, _STEP * max(1, round(side * ratio / _STEP))) for side in (width, height))
        return int(width), int(height)

    def _set_follow(self, follows: bool) -> None:
        self.orbit = self.orbit.following(follows)

    def _on_picture(self, image: QImage, duration: float) -> None:
        self._image, self.failure = image, ""
        if duration < 0.5:  # the first one starts a process
            self._duration += 0.05 * (duration - self._duration)
        if self._duration > _LONG and self._detail < len(_PIXELS) - 1:
            self._detail, self._duration = self._detail + 1, 0.0
        self.update()

    def _on_failure(self, text: str) -> None:
        self.failure, self._image = text, None
        self.update()

    # ------------------------------------------------------------------ mouse

    def mousePressEvent(self, event: Any) -> None:  # noqa: N802  Qt's name
        """Qt's hook: begin to turn."""
        self._drag = event.pos()

    def mouseMoveEvent(self, event: Any) -> None:  # noqa: N802  Qt's name
        """Qt's hook: turn."""
        if self._drag is not None:
            self.orbit = self.orbit.turned(event.pos().x() - self._drag.x(), event.pos().y() - self._drag.y())
            self._drag = event.pos()

    def mouseReleaseEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: end of turning."""
        self._drag = None

    def mouseDoubleClickEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: from above, or back to the first view."""
        self.orbit = self.orbit.from_above()

    def wheelEvent(self, event: Any) -> None:  # noqa: N802  Qt's name
        """Qt's hook: zoom."""
        self.orbit = self.orbit.zoomed(math.exp(-event.angleDelta().y() / 800.0))

    def keyPressEvent(self, event: Any) -> None:  # noqa: N802  Qt's name
        """Qt's hook: the same by keys."""
        turns = {Qt.Key_Left: (-1, 0), Qt.Key_Right: (1, 0), Qt.Key_Up: (0, -1), Qt.Key_Down: (0, 1)}
        zooms = {Qt.Key_PageUp: -1, Qt.Key_PageDown: 1}
        if event.key() in turns:
            self.orbit = self.orbit.turned(*(_TURN * step for step in turns[event.key()]))
        elif event.key() in zooms:
            self.orbit = self.orbit.zoomed(math.exp(_ZOOM * zooms[event.key()]))
        elif event.key() == Qt.Key_Home:
            self.orbit = self.orbit.from_above()
        else:
            super().keyPressEvent(event)

    # ---------------------------------------------------------------- drawing

    def showEvent(self, event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: the view became visible: how fast pictures are made is measured anew."""
        self._detail, self._duration = 0, 0.0
        super().showEvent(event)

    def paintEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: draw."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour(theme.palette().background))
        painter.setFont(theme.font(9))
        painter.setPen(theme.colour(theme.palette().text))
        if self._image is not None:
            painter.drawImage(QRectF(self.rect()), self._image)
        elif self.failure:
            area = self.rect().adjusted(24, 48, -24, -24)
            text = tr("The robot cannot be drawn here: {reason}", reason=self.failure)
            text += "\n" + tr("Everything else on this window works.")
            painter.drawText(area, Qt.AlignCenter | Qt.TextWordWrap, text)
        if self.hasFocus():
            painter.setPen(theme.colour(theme.palette().warn))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
            painter.setPen(theme.colour(theme.palette().text))
        if not self._status:
            return
        # below, beside the sticks, so that no button covers it
        free = self.sticks.x() if self.sticks.isVisible() else self.width()
        room = QRectF(14, self.height() - 71, free - 28, 60)
        box = painter.boundingRect(room, Qt.AlignLeft | Qt.AlignBottom | Qt.TextWordWrap, self._status)
        painter.fillRect(box.adjusted(-6, -3, 6, 3), theme.colour(theme.palette().background, 170))
        painter.drawText(box, Qt.AlignLeft | Qt.TextWordWrap, self._status)


def _pose(info: Optional[BaseInfo]) -> Optional[Tuple[np.ndarray, np.ndarray]]:
    return None if info is None else (info.position, info.quaternion)


def _status(
    description: Optional[str],
    profile: Optional[RobotProfile],
    joints: Optional[JointsInfo],
    odom: Optional[OdomInfo],
    contacts: Optional[ContactsInfo],
) -> str:
    if description is None or profile is None:
        return tr("waiting for joint_states, robot_description and robot_profile")
    if joints is None:
        return tr("no joint_states: the joints are drawn where they were last")
    if contacts is not None and contacts.model == "rolling":
        return tr("closed to a ball")
    if contacts is None:
        return ""
    if contacts.model != "feet":
        return tr("contacts with the ground are not known")
    if odom is None:
        return tr("no odom: the robot is drawn at the origin")
    return tr("{count} of {all} feet on the ground", count=sum(contacts.contact), all=len(contacts.contact))
