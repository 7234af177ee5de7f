# SPDX-License-Identifier: MIT
"""Command line of scripts/servo leg."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys
from contextlib import ExitStack
from typing import Any, List, Optional

from ax_bus.bus import Bus
from ax_bus.direction import DIRECTIONS, direction
from ax_bus.errors import ServoError
from ax_bus.serial_port import SerialPort
from ax_bus.wire_time import Timeouts, check_line
from robot_evaluation.console import run_tool
from robot_evaluation.errors import EvaluationError
from shellbot_description import driven_joint_names, named_pose_array

from .drives import BusDrive, PictureDrive
from .limb import LIMBS, limb_joints, load_map


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/servo leg",
        description="A window with a slider for each joint of one limb, its limits and offsets, and its picture.",
        epilog="Without --port only the picture moves. With --port the servos do: slowly, with little torque, starting "
        "where they are; they go limp when the window is closed, and at once with STOP, Esc or F12.",
    )
    p.add_argument("limb", nargs="?", default="lower_1", choices=LIMBS, metavar="LIMB", help="lower_1 ... upper_6")
    p.add_argument("--variant", choices=("walker", "full"), help="default: walker, full for an upper limb")
    p.add_argument("--servo-map", default="", metavar="FILE", help="a calibrated copy of servos.yaml")
    p.add_argument("--port", metavar="PATH", help="serial port with the limb's servos (or an emulated one)")
    p.add_argument("--baud", type=int, default=1_000_000, help="rate of the line (default 1000000)")
    choices = [name for name in DIRECTIONS if name not in ("gpio", "write-only")]
    p.add_argument("--direction", choices=choices, default="auto", help="who turns the line (default auto)")
    p.add_argument("--latency-ms", type=float, default=2.0, help="latency of the link to allow (default 2)")
    p.add_argument("--torque", type=float, default=0.3, help="fraction of the stall torque (default 0.3)")
    p.add_argument("--rpm", type=float, default=10.0, help="speed (default 10)")
    p.add_argument("--picture", metavar="FILE", help="write a picture of the window to this file and end")
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Open the window until it is closed; returns the exit status."""
    arguments = parser().parse_args(argv)
    return run_tool(lambda: _run(arguments))


def _run(arguments: argparse.Namespace) -> int:
    if not 0.05 <= arguments.torque <= 1.0:
        raise EvaluationError(f"--torque is {arguments.torque}; give 0.05 to 1")
    if not 0.2 <= arguments.rpm <= 60.0:
        raise EvaluationError(f"--rpm is {arguments.rpm}; give 0.2 to 60")
    try:
        check_line(arguments.baud, arguments.latency_ms * 1e-3)
    except ServoError as error:
        raise EvaluationError(str(error)) from None
    if not any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        if arguments.picture is None:
            raise EvaluationError("there is no display for the window; log in with ssh -X, or give --picture FILE")
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    variant = arguments.variant or ("full" if arguments.limb.startswith("upper") else "walker")
    joints = limb_joints(arguments.limb, load_map(variant, arguments.servo_map))
    with ExitStack() as stack:
        drive = _drive(arguments, joints, variant, stack)
        return _show(arguments, joints, drive, variant)


def _drive(arguments: argparse.Namespace, joints: Any, variant: str, stack: ExitStack) -> Any:
    if arguments.port is None:
        physical = "simulation" if variant == "full" else variant
        start = dict(zip(driven_joint_names(physical), named_pose_array("stand", physical)))
        return PictureDrive(joints, start, arguments.rpm * math.pi / 30.0)
    try:
        port = stack.enter_context(SerialPort(arguments.port, arguments.baud, direction(arguments.direction)))
        bus = Bus(port, Timeouts(link_latency=arguments.latency_ms * 1e-3))
        return BusDrive(bus, joints, arguments.torque, arguments.rpm)
    except ServoError as error:
        raise EvaluationError(str(error)) from error


def _show(arguments: argparse.Namespace, joints: Any, drive: Any, variant: str) -> int:
    from python_qt_binding.QtCore import QTimer  # a bad argument is told without a display
    from python_qt_binding.QtWidgets import QApplication

    from .window import LegWindow

    app = QApplication.instance() or QApplication(["shellbot_leg"])
    where = arguments.port or "picture only"
    window = LegWindow(f"Shellbot {arguments.limb} · {where}", joints, drive, variant, arguments.limb)
    signal.signal(signal.SIGINT, lambda *_: window.close())
    signal.signal(signal.SIGTERM, lambda *_: window.close())
    window.show()
    is_saved = True
    if arguments.picture is not None:
        shot = QTimer(window)

        def take() -> None:
            nonlocal is_saved
            if window.pictures >= 2:
                is_saved = window.grab().save(arguments.picture)
                window.close()

        shot.timeout.connect(take)
        shot.start(50)
    try:
        app.exec_()
    finally:
        window.finish()
        # Qt's order of destruction crashes at the interpreter's end otherwise
        window.deleteLater()
        app.processEvents()
    if not is_saved:
        raise EvaluationError(f"no picture can be written to {arguments.picture}; name a file such as leg.png")
    for failure in window.failures:
        sys.stderr.write(f"error: {failure}\n")
    return 1 if window.failures else 0


if __name__ == "__main__":
    sys.exit(main())
