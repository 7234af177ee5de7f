# SPDX-License-Identifier: MIT
"""A command line in the window: another program runs the lines, so that none of them can hold the keys up."""

from __future__ import annotations

import json
import os
import signal
from typing import Any, Dict, List, Sequence

from python_qt_binding.QtCore import QEvent, QProcess, Qt, Signal
from python_qt_binding.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from shellbot_teleop.qt import theme
from shellbot_teleop.qt.widgets import button
from shellbot_teleop.texts import tr

TAKES_KEYS = "takes_keys"  # property of a field in which Space, Enter and Tab are the field's own
_LINES = 2000
_END_MS = 3000  # for the program to let the robot stop


class CommandField(QLineEdit):
    """A line with a history; Tab requests its completion."""

    completion_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty(TAKES_KEYS, True)
        self.setFont(theme.font(mono=True))
        self.setPlaceholderText("walk(x=0.5)   " + tr("Tab completes, help() lists all"))
        self.history: List[str] = []
        self._at = 0

    def remember(self, line: str) -> None:
        """Put a line at the end of the history."""
        self.history = [*(each for each in self.history if each != line), line]
        self._at = len(self.history)

    def event(self, event: Any) -> bool:
        """Qt's hook: Tab moves the focus only while nothing stands in the line."""
        if event.type() == QEvent.KeyPress and event.key() == Qt.Key_Tab and self.text():
            self.completion_requested.emit(self.text()[: self.cursorPosition()])
            return True
        return bool(super().event(event))

    def keyPressEvent(self, event: Any) -> None:  # noqa: N802  Qt's name
        """Qt's hook: up and down go through the history."""
        step = {Qt.Key_Up: -1, Qt.Key_Down: 1}.get(event.key())
        if step is None:
            super().keyPressEvent(event)
            event.accept()  # Qt would offer Enter to what is around, which takes it for one on an empty line
        elif self.history:
            self._at = min(max(self._at + step, 0), len(self.history))
            self.setText(self.history[self._at] if self._at < len(self.history) else "")


class CommandPanel(QWidget):
    """What was run and what it printed, over the line.

    Parameters
    ----------
    command : sequence of str
        The program, with pipes for lines as `shellbot_client.command_line` has them; started by the first line.
    """

    def __init__(self, command: Sequence[str]) -> None:
        super().__init__()
        self._command = list(command)
        self._process = QProcess(self)
        self._process.readyReadStandardOutput.connect(self._read)
        self._process.readyReadStandardError.connect(
            lambda: self._print(bytes(self._process.readAllStandardError()).decode(errors="replace"))
        )
        self._process.finished.connect(
            lambda *_: self._print(tr("the command line ended; the next line starts it again") + "\n")
        )
        self._process.errorOccurred.connect(self._say_error)
        self.output = QPlainTextEdit()
        self.output.setReadOnly(True)
        self.output.setMaximumBlockCount(_LINES)
        self.output.setFocusPolicy(Qt.TabFocus)
        self.output.setTabChangesFocus(True)
        self.output.setFont(theme.font(9, mono=True))
        self.field = CommandField()
        self.field.returnPressed.connect(self._run)
        self.field.completion_requested.connect(lambda text: self._send({"complete": text}))
        tip = tr("End what runs; the robot stops where it can stand. Esc is the emergency stop.")
        self.stop = button(tr("Stop"), tip)
        self.stop.clicked.connect(self.interrupt)
        column, row = QVBoxLayout(self), QHBoxLayout()
        column.addWidget(self.output, 1)
        row.addWidget(self.field, 1)
        row.addWidget(self.stop)
        column.addLayout(row)

    def interrupt(self) -> None:
        """End what runs."""
        if self._process.state() == QProcess.Running:
            os.kill(self._process.processId(), signal.SIGINT)

    def close_process(self) -> None:
        """End the program, which lets the robot stop."""
        self._process.finished.disconnect()
        self.interrupt()
        self._process.closeWriteChannel()
        if self._process.state() != QProcess.NotRunning and not self._process.waitForFinished(_END_MS):
            self._process.kill()
            self._process.waitForFinished(_END_MS)

    def _run(self) -> None:
        line = self.field.text().strip()
        if line:
            self.field.remember(line)
            self.field.clear()
            self._print(f">>> {line}\n")
            self._send({"run": line})

    def _send(self, message: Dict[str, str]) -> None:
        if self._process.state() == QProcess.NotRunning:
            self._process.start(self._command[0], self._command[1:])
        self._process.write(json.dumps(message).encode() + b"\n")

    def _say_error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.FailedToStart:
            program, reason = self._command[0], self._process.errorString()
            text = tr("{program} does not start: {error}; run scripts/setup", program=program, error=reason)
            self._print(f"{text}\n")

    def _read(self) -> None:
        while self._process.canReadLine():
            line = bytes(self._process.readLine()).decode(errors="replace")
            try:
                message = json.loads(line)
            except ValueError:  # printed past the command line, such as a log line of rospy
                message = {"text": line}
            self._print(message.get("text", ""))
            if "completions" in message:
                self._complete(message["completions"])

    def _complete(self, found: List[str]) -> None:
        """Go on as far as all agree; show them where this is no further."""
        before = self.field.text()[: self.field.cursorPosition()]
        common = os.path.commonprefix(found)
        if len(common) > len(before):
            self.field.setText(common + self.field.text()[len(before) :])
            self.field.setCursorPosition(len(common))
        elif len(found) > 1:
            self._print("  ".join(found) + "\n")

    def _print(self, text: str) -> None:
        if text:
            self.output.moveCursor(self.output.textCursor().End)
            self.output.insertPlainText(text)
            self.output.ensureCursorVisible()
