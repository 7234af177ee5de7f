# SPDX-License-Identifier: MIT
"""Lead a person through the calibration of the joints at a terminal; every joint is saved as soon as it is measured."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import tty
from pathlib import Path
from typing import Callable, Dict, Iterator, Optional, Sequence, Tuple

from ax_bus.bus import Bus
from ax_bus.errors import BusError
from ax_bus.registers import AX_12A
from ax_tools import torque
from ax_tools.console import say
from ax_tools.errors import ToolError
from shellbot_motor_driver.map.servo_entry import ServoEntry
from shellbot_motor_driver.map.servo_map import ServoMap
from shellbot_motor_driver.map.shellbot import config_file
from shellbot_motor_driver.tools import map_file
from shellbot_motor_driver.tools.calibration import Calibration, angle_deg, steady

_PRESENT = AX_12A.register("present_position")
_POLL = 0.1  # s between two readings that are shown
_SAMPLES, _APART = 5, 0.05  # readings that a record is made of, and s between them
_KEYS = "Enter records, s skips, b goes back, q ends"


def calibrate(
    bus: Bus, variant: str, out: Path, base: Optional[Path], ids: Optional[Sequence[int]], again: bool = False
) -> int:
    """Measure zeros, signs and ranges of joints that a person moves by hand, and write a servo map.

    Parameters
    ----------
    bus : Bus
        The servos.
    variant : str
        ``walker`` or ``full``.
    out : pathlib.Path
        The servo map to write; if it is there it is continued.
    base : pathlib.Path, optional
        What a new file begins as; the package's by default.
    ids : sequence of int, optional
        Only these servos.
    again : bool
        Also those that the file says are calibrated.

    Returns
    -------
    int
        Exit status: 0 when every joint is calibrated, else 1.

    Raises
    ------
    ToolError
        If there is no terminal, or a file cannot be used.
    """
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        raise ToolError("a calibration needs a person at a terminal; start it in one, without a pipe")
    source = out if out.exists() else base if base is not None else config_file()
    servo_map = ServoMap.load(variant, source)
    text = source.read_text(encoding="utf-8")
    chosen = servo_map.select(ids)
    done = [] if again else [entry for entry in chosen if "range_deg" in map_file.rows(text)[entry.joint]]
    entries = tuple(entry for entry in chosen if entry not in done)
    say(f"{out.resolve()}: {'continued' if source == out else f'begins as a copy of {source}'}")
    if done:
        say(f"{len(done)} of {len(chosen)} joints are calibrated already; --again measures them again")
    if not entries:
        return 0
    map_file.save(out, text, variant)  # a folder that cannot be written must be known before the work
    session = _Session(bus, Calibration(entries, _limits(servo_map)), text, variant, out)
    with _keys() as read_key, contextlib.suppress(KeyboardInterrupt):  # Ctrl-C ends it as q does
        say(f"The torque of {len(entries)} servo(s) goes off: support the robot. Enter begins, q ends.")
        key = ""
        while key not in ("\n", "q"):
            key = read_key(60.0)
        if key == "\n":
            for failure in torque.off(bus, [entry.servo_id for entry in entries]).values():
                say(failure)
            session.run(read_key)
    measured = {result.joint for result in session.calibration.results}
    missing = [entry.joint for entry in entries if entry.joint not in measured]
    say(f"{len(measured)} joint(s) calibrated, saved in {out}")
    if missing:
        say(f"not calibrated: {', '.join(missing)}; the same command goes on with them")
    return 1 if missing else 0


class _Session:
    """The dialogue: continues until all joints are done or the person ends it, and saves every joint at once."""

    def __init__(self, bus: Bus, calibration: Calibration, text: str, variant: str, out: Path) -> None:
        self.calibration = calibration
        self._bus, self._text, self._variant, self._out = bus, text, variant, out

    def run(self, read_key: Callable[[float], str]) -> None:
        """Ask one thing after the other."""
        shown, line = None, ""
        while not self.calibration.is_over:
            if self.calibration is not shown:
                shown = self.calibration
                self._print_state()
            newer = _line(self._bus, shown)
            if newer != line:
                line = newer
                sys.stdout.write(f"\r{line}\x1b[K")
                sys.stdout.flush()
            key = read_key(_POLL)
            if key in ("\n", "s", "b", "q"):
                sys.stdout.write("\r\x1b[K")
                line = ""
            if key == "q":
                return
            if key == "s":
                self.calibration = shown.skip()
            elif key == "b":
                self.calibration = shown.back()
            elif key == "\n":
                self._record()
        say(f"  {self.calibration.message}")

    def _print_state(self) -> None:
        now = self.calibration
        if now.message:
            say(f"  {now.message}")
        say(f"[{now.index + 1} of {len(now.entries)}] {now.entry.joint}, servo {now.entry.servo_id}\n  {now.question}")

    def _record(self) -> None:
        now = self.calibration
        try:
            # a result that waits to be looked at needs no position
            after = now.record(0 if now.pending is not None else _position(self._bus, now.entry))
        except (BusError, ToolError) as error:
            say(f"  {error}")
            return
        if len(after.results) > len(now.results):
            result = after.results[-1]
            self._text = map_file.with_row(self._text, result.joint, result.row)
            map_file.save(self._out, self._text, self._variant)
        self.calibration = after


def _line(bus: Bus, calibration: Calibration) -> str:
    """Return where the joint is and what may be typed."""
    entry = calibration.entry
    keys = "Enter keeps it, b measures again, s leaves the joint as it was" if calibration.pending else _KEYS
    try:
        steps = bus.read_register(entry.servo_id, _PRESENT, 0)
    except BusError:
        return f"  servo {entry.servo_id} does not answer   [{keys}]"
    return f"  {steps:4d} steps {angle_deg(entry, steps):+7.1f} deg   [{keys}]"


def _position(bus: Bus, entry: ServoEntry) -> int:
    """Return the position at which a limp servo is held still, steps."""
    if bus.read_register(entry.servo_id, AX_12A.register("torque_enable"), 3):
        torque.off(bus, [entry.servo_id])
        raise ToolError(f"servo {entry.servo_id} had torque; it is off now: move the joint, then Enter")
    positions = []
    for _ in range(_SAMPLES):
        positions.append(bus.read_register(entry.servo_id, _PRESENT, 3))
        bus.port.sleep(_APART)
    return steady(positions)


def _limits(servo_map: ServoMap) -> Dict[str, Tuple[float, float]]:
    limits = servo_map.robot.limits
    return {name: (float(low), float(high)) for name, low, high in zip(limits.names, limits.lower, limits.upper)}


def _read_key(timeout: float) -> str:
    """Return the next key, or nothing after ``timeout`` s."""
    fd = sys.stdin.fileno()
    if not select.select([fd], [], [], timeout)[0]:
        return ""
    data = os.read(fd, 1)
    if not data:
        raise ToolError("the terminal is gone; what was measured is saved")
    return data.decode("ascii", "replace").lower().replace("\r", "\n")


@contextlib.contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """Let keys come at once and unseen meanwhile; the terminal is left as it was."""
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd)
    try:
        yield _read_key
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
        sys.stdout.write("\r\x1b[K")
