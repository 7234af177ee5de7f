# SPDX-License-Identifier: MIT
"""scripts/action record: an action from moved joints, live or from a file."""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.console import say
from robot_evaluation.errors import EvaluationError
from robot_evaluation.joint_tables import read_joints, write_joints
from shellbot_action_manager.actions.teacher import Teacher
from shellbot_action_manager.actions.teaching import Tolerance
from shellbot_action_manager.errors import ActionManagerError

_MOVED = np.radians(1.0)  # rad: joints that move by less rest; encoders have steps of 0.29 deg
_BEFORE = 0.6  # s before the first movement that belong to the recording
_POSTURE = 0.5  # s over which a posture is averaged


def add_parser(commands: Any) -> None:
    """Add the command to those of scripts/action."""
    text = "write what the joints of the running robot do, moved by hand or by a program, as an action"
    p = commands.add_parser("record", help=text, description=text)
    p.add_argument("action", help="its name")
    p.add_argument("--out", required=True, metavar="FILE.yaml", help="a new file, or one that it is added to")
    p.add_argument("--text", default="", help="what it does, in a few words")
    p.add_argument("--posture", action="store_true", help="only the present posture, to go to and hold")
    p.add_argument("--seconds", type=float, help="begin now and record so long (default: begin with the movement)")
    p.add_argument("--rest", type=float, default=3.0, help="end when nothing moves for so long, s (default 3)")
    p.add_argument("--tolerance-mm", type=float, default=3.0, help="of body and feet (default 3)")
    p.add_argument("--tolerance-deg", type=float, default=1.0, help="of tilts and shells (default 1)")
    p.add_argument("--from-file", metavar="FILE.csv", help="not live: t and joints as columns, or rostopic echo -p")
    p.add_argument("--force", action="store_true", help="replace an action of that name in the file")


def run(arguments: argparse.Namespace) -> int:
    """Record and save; returns 0.

    Raises
    ------
    EvaluationError
        If it cannot be recorded, performed or saved. What was recorded live is then in a file beside the output.
    """
    name, out = arguments.action, Path(arguments.out)
    try:
        tolerance = Tolerance(mm=arguments.tolerance_mm, deg=arguments.tolerance_deg)
        Teacher.for_joints(()).ready(name, out, arguments.force)  # before anybody moves anything
        if arguments.from_file:
            names, t, q = read_joints(Path(arguments.from_file))
        else:
            recorder = Recorder(_POSTURE if arguments.posture else arguments.seconds, arguments.rest)
            importlib.import_module("shellbot_evaluation.record_node").listen(recorder, not arguments.posture)
            names, t, q = recorder.joints
    except ActionManagerError as error:
        raise EvaluationError(str(error)) from None
    try:
        teacher = Teacher.for_joints(names)
        recording = teacher.recording(t, names, q)
        if arguments.posture:
            recording = recording.window(t[-1] - _POSTURE, t[-1]).posture() if len(t) else recording
        saved = teacher.save(recording, name, out, arguments.text, tolerance, arguments.force)
    except ActionManagerError as error:
        hint = ""
        if not arguments.from_file and len(t):
            csv_file = out.with_name(f"{name}.csv")
            write_joints(csv_file, names, t, q)
            hint = f"\nthe recording is in {csv_file}: try again with --from-file {csv_file}"
        raise EvaluationError(f"{name} is not saved: {error}{hint}") from None
    action = saved.action
    for note in action.notes:
        say(f"note: {note}")
    slowed = f", at most {action.slowed:.2f} times as long as recorded" if action.slowed > 1.01 else ""
    say(
        f"{name} in {out}: {', '.join(action.moves)}; {action.waypoints} waypoints within {action.off_mm:.1f} mm and "
        f"{action.off_deg:.1f} deg of the recording; {saved.duration:.1f} s{slowed}\n"
        f"next: scripts/action check --folder {out.parent} {name}"
    )
    return 0


class Recorder:
    """Decides when a recording begins and ends.

    Parameters
    ----------
    seconds : float, optional
        Begin at once and record so long; None: begin when a joint moves.
    rest : float
        End when no joint has moved for so long, s, if it began by itself.

    Attributes
    ----------
    began, done : bool
        Whether it is recording, or was; whether it has ended.
    names : sequence of str
        Of the joints, those of the first message.
    """

    def __init__(self, seconds: Optional[float], rest: float) -> None:
        if not (seconds is None or 0.1 <= seconds <= 600.0):
            raise EvaluationError(f"--seconds is {seconds:g}; give 0.1 to 600")
        if not 0.5 <= rest <= 60.0:
            raise EvaluationError(f"--rest is {rest:g} s; give 0.5 to 60")
        self._seconds, self._rest = seconds, rest
        self.began, self.done = seconds is not None, False
        self.names: Sequence[str] = ()
        self._t: List[float] = []
        self._q: List[Sequence[float]] = []

    @property
    def duration(self) -> float:
        """Of what is recorded so far, s."""
        return self._t[-1] - self._t[0] if self._t else 0.0

    @property
    def joints(self) -> Tuple[Sequence[str], List[float], np.ndarray]:
        """Names, times (s) and positions (m, n) in rad."""
        return self.names, self._t, np.array(self._q).reshape(len(self._t), -1)

    def begin(self) -> None:
        """Begin now."""
        self.began = True

    def end(self) -> None:
        """End now."""
        self.done = True

    def moving(self, seconds: float) -> List[str]:
        """Return the limbs that have moved in the last so many seconds, such as lower_2."""
        recent = np.array(self._q[int(np.searchsorted(self._t, self._t[-1] - seconds)) :])
        moved = np.ptp(recent, axis=0) > _MOVED
        return list(dict.fromkeys(name.rsplit("_", 1)[0] for name, is_moved in zip(self.names, moved) if is_moved))

    def receive(self, t: float, names: Sequence[str], q: Sequence[float]) -> None:
        """Take the joints of a message; a time that goes back, of a simulator that was reset, begins anew."""
        if self.done:
            return
        if not self.names:
            self.names = tuple(names)
        if self._t and t < self._t[-1]:
            self._t, self._q = [], []
        if self._t and t == self._t[-1]:
            return
        place = dict(zip(names, q))
        self._t.append(t)
        self._q.append([place.get(name, float("nan")) for name in self.names])
        if not self.began:
            self.began = bool(self.moving(_BEFORE))
            while not self.began and self.duration > _BEFORE:
                del self._t[0], self._q[0]
        elif self._seconds is not None:
            self.done = self.duration >= self._seconds
        elif self.duration > self._rest:
            self.done = not self.moving(self._rest)
