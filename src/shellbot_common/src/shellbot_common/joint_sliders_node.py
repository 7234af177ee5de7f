# SPDX-License-Identifier: MIT
"""The window of joint_state_publisher_gui, able to start under Python 3.10 and newer.

Release 1.15.1 of that package, which is what Debian 12 has, hands floats to QSlider.setValue; Qt's binding
refuses them since Python 3.10, and the program dies before its window opens. Here its slider is replaced by one that
rounds; everything else is the package's own. With a repaired release this changes nothing.
"""

from __future__ import annotations

import signal
import sys
import threading

import joint_state_publisher
import joint_state_publisher_gui
import rospy
from python_qt_binding.QtWidgets import QApplication, QSlider

ROWS = 12  # 36 joints stand in three columns


class RoundingSlider(QSlider):
    """A slider that takes floats."""

    def setValue(self, value: float) -> None:  # noqa: N802 - Qt's name
        """Set the nearest whole value."""
        super().setValue(int(round(value)))


def main() -> None:
    """Publish joint_states as the sliders stand, until the window is closed."""
    rospy.init_node("joint_state_publisher", disable_signals=True)
    joint_state_publisher_gui.QSlider = RoundingSlider
    app = QApplication(sys.argv)
    app.setApplicationDisplayName("Joints")
    publisher = joint_state_publisher.JointStatePublisher()
    rows = rospy.get_param("~rows", ROWS)
    window = joint_state_publisher_gui.JointStatePublisherGui("Joints", publisher, rows)
    window.resize(900, 720)
    window.show()
    window.sliderUpdateTrigger.emit()
    threading.Thread(target=publisher.loop, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Qt's loop does not see Python's handler
    sys.exit(app.exec_())
