# SPDX-License-Identifier: MIT
"""Which mode the robot is in, where it is going, and its text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, FrozenSet, Optional, Sequence, Tuple

from shellbot_action_manager.modes.mode_table import WAITING, Mode, ModeTable


@dataclass(frozen=True)
class ModeStatus:
    """What is published; the fields are those of Mode.msg."""

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
    """Mode, goal and the queue of steps between them. It keeps the book; the core runs the behaviours.

    Parameters
    ----------
    table : ModeTable
        Which request leads where.
    """

    def __init__(self, table: ModeTable) -> None:
        self._table = table
        self.mode = self.goal = WAITING
        self.steps: Tuple[str, ...] = ()
        self.finished = 0
        self.text, self.passing = table.modes[WAITING].text, False

    @property
    def step(self) -> Optional[str]:
        """The behaviour that runs now on the way to the goal; None at rest."""
        return self.steps[self.finished] if self.finished < len(self.steps) else None

    @property
    def behaviour(self) -> str:
        """The behaviour that runs now."""
        return self.step or self._table.modes[self.mode].behaviour

    @property
    def obeys(self) -> FrozenSet[str]:
        """Commands that count in the mode gone to."""
        return self._table.modes[self.goal].obeys

    def request(self, name: str, refusal: Callable[[Sequence[str], Sequence[str]], str]) -> Tuple[bool, str]:
        """Accept or refuse a request; return whether it was accepted and one sentence.

        While a transition runs, the request is looked up from its goal and its steps are put behind the running ones.
        A step that the new steps would undo is not finished first: if it runs, it is turned round at once; if it has
        not begun, both are left out.

        Parameters
        ----------
        name : str
            Mode that is requested, or `recover`.
        refusal : callable
            Called with the names of the behaviours that the request leads to, in order, and of those that end before
            them; returns why the former cannot begin, or nothing.
        """
        transition, reason = self._table.find(self.goal, name)
        if transition is None:
            already = name == self.goal.label
            if not already and (self.mode, name) in self._table.refusals:  # of what it still is
                _, reason = self._table.find(self.mode, name)
            sentence = f"{reason}, or on the way there" if already and self.step else reason
            self.answer(sentence if already else f"{name} refused: {reason}")
            return already, sentence
        remaining = self.steps[self.finished :]
        if remaining and transition.goal == self.goal and transition.steps[-len(remaining) :] == remaining:
            return True, f"{name} is under way already"
        retained, following = self._joined(remaining, transition.steps)
        reason = refusal(following or (self._table.modes[transition.goal].behaviour,), retained)
        if reason:
            self.answer(f"{name} refused: {reason}")
            return False, reason
        self.goal = transition.goal
        self.steps = retained + following
        self.finished = 0
        if self.step is None:
            self.enter(self.goal)
            return True, f"now in mode {self.mode.label}"
        self._announce_step()
        return True, self.text

    def _joined(
        self, remaining: Tuple[str, ...], following: Tuple[str, ...]
    ) -> Tuple[Tuple[str, ...], Tuple[str, ...]]:
        """Return which of the `remaining` steps, the first running, go on, and which of the `following` come then."""
        for i, step in enumerate(remaining):
            reverse = self._table.reverses.get(step)
            if reverse in following:
                ahead = following[following.index(reverse) :]
                return ((), ahead) if i == 0 else (remaining[:i], ahead[1:])
        return remaining, following

    def answer(self, text: str) -> None:
        """Show a sentence that `forget_answer` removes, such as a refusal."""
        self.text, self.passing = text, True

    def forget_answer(self) -> None:
        """Show the sentence of the mode again in place of an answer; a transition has its own sentence."""
        if self.passing and self.step is None:
            self.text, self.passing = self._table.modes[self.mode].text, False

    def finish_step(self) -> None:
        """Go on to the next step; at the last one the goal becomes the mode."""
        self.finished += 1
        if self.step is None:
            self.enter(self.goal)
        else:
            self._announce_step()

    def enter(self, mode: Mode, text: str = "") -> None:
        """Be in a mode at once, whatever was going on; say `text`, or the mode's own sentence."""
        self.mode = self.goal = mode
        self.steps, self.finished = (), 0
        self.text, self.passing = text or self._table.modes[mode].text, False

    def status(self, activity: str, step_progress: float, text: str) -> ModeStatus:
        """Return what is published.

        Parameters
        ----------
        activity : str
            What the behaviour does at rest in the mode (for example walking); a running transition step wins.
        step_progress : float
            0..1 of the running step.
        text : str
            One sentence for the operator.
        """
        if self.step is None:
            return ModeStatus(self.mode, self.goal, activity, 1.0, text)
        durations = [self._table.durations.get(step, 1.0) for step in self.steps]
        done = sum(durations[: self.finished]) + durations[self.finished] * min(max(step_progress, 0.0), 1.0)
        progress = done / sum(durations)
        return ModeStatus(self.mode, self.goal, self.step, progress, text)

    def _announce_step(self) -> None:
        self.text, self.passing = f"going to {self.goal.label}: {(self.step or '').replace('_', ' ')}", False
