# SPDX-License-Identifier: MIT
"""Gait diagram: which feet stood during the last seconds."""

from __future__ import annotations

import time
from collections import deque
from typing import Deque, Iterable, Iterator, Optional, Tuple

from python_qt_binding.QtCore import QRectF, Qt
from python_qt_binding.QtGui import QPainter
from python_qt_binding.QtWidgets import QSizePolicy, QWidget

from shellbot_teleop.qt import theme
from shellbot_teleop.qt.widgets import Card
from shellbot_teleop.robot_monitor import ContactsInfo
from shellbot_teleop.texts import tr

_SPAN = 4.0  # s across the width


class GaitDiagram(QWidget):
    """Six lines, one a foot, filled while it stands; now is on the right."""

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumHeight(66)
        self.setSizePolicy(QSizePolicy.Expanding, QSizePolicy.Expanding)
        self.setMaximumHeight(130)
        self.samples: Deque[Tuple[float, Optional[Tuple[bool, ...]]]] = deque()

    def add(self, contact: Optional[Tuple[bool, ...]], now: float) -> None:
        """Take what stands at `now` (s); None when it is not known."""
        self.samples.append((now, contact))
        while self.samples and now - self.samples[0][0] > _SPAN:
            self.samples.popleft()
        self.update()

    def paintEvent(self, _event: object) -> None:  # noqa: N802  Qt's name
        """Qt's hook: draw."""
        painter = QPainter(self)
        line = self.height() / 6
        left = 16.0
        width = self.width() - left
        painter.setFont(theme.font(7.5, mono=True))
        for foot in range(6):
            painter.setPen(theme.colour(theme.palette().muted))
            painter.drawText(QRectF(0, foot * line, left, line), Qt.AlignLeft | Qt.AlignVCenter, str(foot + 1))
            painter.fillRect(QRectF(left, foot * line + 2, width, line - 4), theme.colour(theme.palette().raised))
        if len(self.samples) < 2:
            return
        now = self.samples[-1][0]
        green = theme.colour(theme.palette().stands)
        for foot in range(6):
            for start, end in standing_spans(self.samples, foot):
                x = left + width * max(1.0 - (now - start) / _SPAN, 0.0)
                step = left + width * (1.0 - (now - end) / _SPAN) - x
                painter.fillRect(QRectF(x, foot * line + 2, step, line - 4), green)


def standing_spans(
    samples: Iterable[Tuple[float, Optional[Tuple[bool, ...]]]], foot: int
) -> Iterator[Tuple[float, float]]:
    """Yield from when to when (s) a foot stood, each sample holding until the next one."""
    start: Optional[float] = None
    last = 0.0
    for when, contact in samples:
        stands = contact is not None and foot < len(contact) and contact[foot]
        if stands and start is None:
            start = when
        elif not stands and start is not None:
            yield start, when
            start = None
        last = when
    if start is not None:
        yield start, last


class FeetPanel(Card):
    """The gait diagram with its title."""

    def __init__(self) -> None:
        super().__init__(tr("Feet on the ground, last {seconds:.0f} s", seconds=_SPAN))
        self.diagram = GaitDiagram()
        self.body.addWidget(self.diagram)

    def show_contacts(self, contacts: Optional[ContactsInfo]) -> None:
        """Add what is known now; None when unknown or old."""
        has_feet = contacts is not None and contacts.model == "feet"
        self.diagram.add(contacts.contact if contacts is not None and has_feet else None, time.monotonic())
