# SPDX-License-Identifier: MIT
"""The page of plots: any joints, commanded against measured, with pause and files."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

from python_qt_binding.QtCore import Qt, Signal
from python_qt_binding.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
)

from shellbot_teleop.effects import Notice
from shellbot_teleop.joint_history import KINDS, JointHistory, JointSamples, write_csv
from shellbot_teleop.qt.joint_plot import JointPlot
from shellbot_teleop.qt.widgets import ChoiceRow, View, button
from shellbot_teleop.texts import tr

SPANS = (5, 10, 30, 60)  # s
_MOST = 6  # joints at once: as many colours


class PlotsPanel(View):
    """
    Draws the history of the joints that are ticked.

    Parameters
    ----------
    history : JointHistory
        What is drawn; filled while the page is seen.
    """

    noticed = Signal(object)  # a Notice

    def __init__(self, history: JointHistory) -> None:
        super().__init__()
        self._history = history
        self.plot = JointPlot()
        self._held: Optional[float] = None  # stamp at which the picture was paused
        self._frozen: Dict[str, JointSamples] = {}  # all that was known then
        self._shown: Dict[str, JointSamples] = {}
        page = QVBoxLayout(self)
        page.setContentsMargins(8, 8, 8, 8)
        bar = QHBoxLayout()
        self.spans = ChoiceRow(
            [f"{span} s" for span in SPANS], [tr("the last {seconds} s", seconds=span) for span in SPANS]
        )
        self.spans.chosen.connect(self._choose_span)
        self._seconds = SPANS[1]
        self.spans.show_choice(f"{self._seconds} s")
        self.pause = button(tr("Pause"), tr("Hold the picture; the robot moves on."), checkable=True, name="small")
        self.pause.toggled.connect(self._hold)
        self.csv = button("CSV…", tr("Write what is shown to a table, in rad and s."), name="small")
        self.png = button("PNG…", tr("Write the picture to a file."), name="small")
        self.csv.clicked.connect(lambda: self._save("csv", self.write_csv))
        self.png.clicked.connect(lambda: self._save("png", self.write_png))
        bar.addWidget(self.spans)
        bar.addStretch(1)
        for widget in (self.pause, self.csv, self.png):
            bar.addWidget(widget)
        page.addLayout(bar)
        row = QHBoxLayout()
        page.addLayout(row, 1)
        column = QVBoxLayout()
        row.addLayout(column)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("search joints"))
        self.search.setFocusPolicy(Qt.StrongFocus)
        self.search.textChanged.connect(lambda _text: self._filter())
        self.list = QListWidget()
        self.list.setFocusPolicy(Qt.TabFocus)
        self.list.setSelectionMode(QAbstractItemView.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarAlwaysOff)
        self.list.itemChanged.connect(self._limit)
        for child in (self.search, self.list):
            child.setFixedWidth(160)
            column.addWidget(child)
        row.addWidget(self.plot, 1)

    @property
    def joints(self) -> List[str]:
        """Names of the joints that are ticked."""
        items = (self.list.item(row) for row in range(self.list.count()))
        return [item.text() for item in items if item.checkState() == Qt.Checked]

    def refresh(self) -> None:
        """Draw what is known; called by the window's timer while the page is seen."""
        names = self._history.names
        if not names:
            return
        self._show_names(names)
        end = self._history.newest if self._held is None else self._held
        if self._held is None:
            self._shown = {kind: self._history.since(kind, end - self._seconds) for kind in KINDS}
        self.plot.show_samples(self._shown, self.joints, end, float(self._seconds))

    def write_csv(self, path: Path) -> None:
        """Write what is shown; raises OSError."""
        count = write_csv(path, self._shown, self.joints)
        text = tr("{count} rows of {joints} joints are in {path}.", count=count, joints=len(self.joints), path=path)
        self.noticed.emit(Notice("info", text))

    def write_png(self, path: Path) -> None:
        """Write the picture; raises OSError or ValueError."""
        self.plot.save(path)
        self.noticed.emit(Notice("info", tr("The picture is in {path}.", path=path)))

    def _save(self, ending: str, write: Callable[[Path], None]) -> None:
        name = time.strftime(f"joints-%Y%m%d-%H%M%S.{ending}")
        path, _ = QFileDialog.getSaveFileName(
            self, tr("Save the plot"), str(Path.home() / name), f"*.{ending}", options=QFileDialog.DontUseNativeDialog
        )
        if path:
            self.save(Path(path), write)

    def save(self, path: Path, write: Callable[[Path], None]) -> None:
        """Write a file; a refusal becomes a notice."""
        try:
            write(path)
        except (OSError, ValueError) as error:
            text = tr("{path} was not written: {error}. Choose another folder or name.", path=path, error=error)
            self.noticed.emit(Notice("error", text))

    def _choose_span(self, name: str) -> None:
        self._seconds = int(name.split()[0])
        self.spans.show_choice(name)
        if self._held is not None:
            start = self._held - self._seconds
            self._shown = {kind: samples.since(start) for kind, samples in self._frozen.items()}

    def _hold(self, held: bool) -> None:
        self._frozen = {kind: self._history.since(kind, -math.inf) for kind in KINDS} if held else {}
        self._held = self._history.newest if held else None

    def _show_names(self, names: Any) -> None:
        known = [self.list.item(row).text() for row in range(self.list.count())]
        if list(names) == known:
            return
        ticked = [joint for joint in self.joints if joint in names] or list(names)[:2]
        self.list.blockSignals(True)
        self.list.clear()
        for name in names:
            item = QListWidgetItem(name, self.list)
            item.setFlags(Qt.ItemIsEnabled | Qt.ItemIsSelectable | Qt.ItemIsUserCheckable)
            item.setCheckState(Qt.Checked if name in ticked else Qt.Unchecked)
        self.list.blockSignals(False)
        self._filter()

    def _filter(self) -> None:
        words = self.search.text().lower().split()
        for row in range(self.list.count()):
            item = self.list.item(row)
            item.setHidden(not all(word in item.text().lower() for word in words))

    def _limit(self, item: QListWidgetItem) -> None:
        if len(self.joints) > _MOST:
            item.setCheckState(Qt.Unchecked)
            text = tr("{count} joints at once are drawn: take the tick of another one away.", count=_MOST)
            self.noticed.emit(Notice("warn", text))
