# SPDX-License-Identifier: MIT
"""Which mode the robot is in, where it is going, and what it says about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from shellbot_action_manager.modes.mode_table import Mode, ModeTable


@dataclass(frozen=True)
class ModeStatus:
    """What is told to everyone; the fields are those of Mode.msg."""

    mode: Mode
    target: Mode
    step: str
    progress: float
    text: str

    @property
    def name(self) -> str:
        """Name of the mode in lower case."""
        return self.mode.label


class ModeMachine:
    """Mode, goal and the queue of steps between them. It only keeps the book; the core does the steps.

    Parameters
    ----------
    table : ModeTable
        Which request leads where.
    """

    def __init__(self, table: ModeTable) -> None:
        self._table = table
        self.reset()

    def reset(self) -> None:
        """Back to waiting for the first joint states."""
        self.mode = Mode.WAITING
        self.goal = Mode.WAITING
        self.steps: Tuple[str, ...] = ()
        self.done = 0
        self.text = _AT_REST[Mode.WAITING]
        self.passing = False

    @property
    def step(self) -> Optional[str]:
        """The step to be done now; None at rest."""
        return self.steps[self.done] if self.done < len(self.steps) else None

    def request(self, name: str) -> Tuple[bool, str]:
        """Take or refuse a request; return whether it was accepted and one sentence.

        While a transition runs, the request is looked up from its goal and its steps are put behind the running ones.
        """
        transition, reason = self._table.find(self.goal, name)
        if transition is None:
            already = name == self.goal.label
            sentence = f"{reason}, or on the way there" if already and self.step else reason
            self.answer(sentence if already else f"{name} refused: {reason}")
            return already, sentence
        self.goal = transition.goal
        self.steps = self.steps[self.done :] + transition.steps
        self.done = 0
        if self.step is None:
            self._arrive()
            return True, f"now in mode {self.mode.label}"
        self._tell(f"going to {self.goal.label}: {self.step.replace('_', ' ')}")
        return True, self.text

    def answer(self, text: str) -> None:
        """Say something that is news for a while only, such as a refusal."""
        self.text, self.passing = text, True

    def forget_answer(self) -> None:
        """Say again what holds for the mode, once an answer is no news any more; a transition tells of itself."""
        if self.passing and self.step is None:
            self.text, self.passing = _AT_REST[self.mode], False

    def finish_step(self) -> None:
        """Go on to the next step; at the last one the goal becomes the mode."""
        self.done += 1
        if self.step is None:
            self._arrive()
        else:
            self._tell(f"going to {self.goal.label}: {self.step.replace('_', ' ')}")

    def fail(self, reason: str) -> None:
        """Give the transition up, stay in the mode left, and say why."""
        self.goal, self.steps, self.done = self.mode, (), 0
        self._tell(reason)

    def enter(self, mode: Mode, text: str) -> None:
        """Be in a mode at once, whatever was going on."""
        self.mode = self.goal = mode
        self.steps, self.done = (), 0
        self._tell(text)

    def status(self, step: str, step_progress: float, text: str) -> ModeStatus:
        """Return what is told to everyone.

        Parameters
        ----------
        step : str
            What the body does at rest in the mode (for example walking); a running transition step wins.
        step_progress : float
            0..1 of the running step.
        text : str
            One sentence for the operator.
        """
        if self.step is None:
            return ModeStatus(self.mode, self.goal, step, 1.0, text)
        progress = (self.done + min(max(step_progress, 0.0), 1.0)) / len(self.steps)
        return ModeStatus(self.mode, self.goal, self.step, progress, text)

    def _arrive(self) -> None:
        self.mode, self.steps, self.done = self.goal, (), 0
        self._tell(_AT_REST[self.mode])

    def _tell(self, text: str) -> None:
        self.text, self.passing = text, False


_AT_REST = {
    Mode.WAITING: "waiting for joint_states",
    Mode.SIT: "sitting; request hexapod to stand up and walk",
    Mode.STAND: "standing; body_pose is obeyed, request hexapod to walk",
    Mode.HEXAPOD: "ready to walk; cmd_vel and body_pose are obeyed",
    Mode.SHELL: "closed",
    Mode.RELAX: "relaxed; the joints follow the hand, request sit, stand or hexapod",
    Mode.STOPPED: "stopped; to go on call rearm, or torque true if it was switched off",
}
