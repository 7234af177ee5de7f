# SPDX-License-Identifier: MIT
"""Whether the operator may command: monitor mode until the robot gives control, and the dead-man switch."""

from __future__ import annotations

from typing import Callable, Iterable

from shellbot_teleop.actions import HeldAction, Quantity
from shellbot_teleop.texts import tr

KeysOf = Callable[[str], str]


class ControlState:
    """
    Who is in control. The robot decides, so this changes only by what the robot reports.

    Parameters
    ----------
    needs_dead_man : bool
        Whether the robot is commanded only while the dead-man switch is held.

    Attributes
    ----------
    armed : bool
        Whether we are in control; if not, we only monitor.
    operator : str
        Node of the operator in control; empty: no operator is, or it is not known.
    """

    def __init__(self, needs_dead_man: bool) -> None:
        self.needs_dead_man = needs_dead_man
        self.armed, self.operator = False, ""

    @property
    def who(self) -> str:
        """Who is in control, in words."""
        return tr("you are in control") if self.armed else in_control(self.operator)

    def observe(self, name: str, is_us: bool) -> None:
        """Take over who is in control."""
        self.armed, self.operator = is_us, name

    def refusal(self, held: Iterable[HeldAction], keys_of: KeysOf) -> str:
        """Return why nothing may be commanded now, or "".

        Parameters
        ----------
        held : iterable of HeldAction
            What is held.
        keys_of : callable
            Name of an action to its keys in words.
        """
        if not self.armed:
            keys = keys_of("control.take")
            return tr("Monitor mode, nothing was sent: {who}. {keys} takes control.", who=self.who, keys=keys)
        if self.needs_dead_man and not is_held(held):
            keys = keys_of("control.dead_man")
            return tr("Hold the dead-man switch ({keys}) to command the robot.", keys=keys)
        return ""


def in_control(name: str) -> str:
    """Tell in words that an operator is in control, or that none is (empty name)."""
    return tr("{name} is in control", name=name) if name else tr("no operator is in control")


def who_drives(name: str) -> str:
    """Return the same in the few words of a header."""
    return tr("{name} drives", name=name) if name else tr("monitor")


def is_held(held: Iterable[HeldAction]) -> bool:
    """Tell whether the dead-man switch is among what is held."""
    return any(action.quantity is Quantity.DEAD_MAN for action in held)
