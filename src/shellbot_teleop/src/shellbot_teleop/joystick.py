# SPDX-License-Identifier: MIT
"""Between a joystick's messages and the command model: what is not centred, not finite or silent drives nothing."""

from __future__ import annotations

import math
from typing import Dict, List, Sequence, Set

from shellbot_teleop.actions import ACTIONS, HeldAction, Quantity
from shellbot_teleop.command_model import CommandModel
from shellbot_teleop.effects import Effect, Notice
from shellbot_teleop.joystick_mapping import JoystickMapping
from shellbot_teleop.texts import tr

_GONE_AFTER = 2.0  # s; as long as the robot itself waits for an operator that is silent
_REPORT_EVERY = 5.0  # s; messages come 50 times a second
_LARGEST = 1.001  # deflection; rounding of drivers
_STOPPING = frozenset(("safety.emergency_stop", "drive.stop"))


class Joystick:
    """
    A joystick that drives the command model.

    Parameters
    ----------
    model : CommandModel
        Made with the key map of the mapping.
    mapping : JoystickMapping
        What axes and buttons do.
    takes_at_once : bool
        Whether the first message takes control of the robot.

    Notes
    -----
    An axis counts once it was centred, a button once it was released: at the start, and after everything was dropped.
    Times `t` are of any steady clock, s.
    """

    def __init__(self, model: CommandModel, mapping: JoystickMapping, takes_at_once: bool = False) -> None:
        self.model, self._mapping = model, mapping
        self._takes_at_once = takes_at_once
        self._centred: Set[str] = set()
        self._down: Dict[str, bool] = {}  # buttons by name; one that is not there was not seen released yet
        self._pushed: Set[str] = set()  # axes that the model held at our last look
        self._heard = self._watched = self._reported_at = -math.inf
        self._reported, self._is_lost = "", False

    @property
    def is_lost(self) -> bool:
        """True from a silence that stopped the robot to the next message."""
        return self._is_lost

    def receive(self, axes: Sequence[float], buttons: Sequence[int], t: float) -> List[Effect]:
        """Take a message: deflections -1 .. 1 and buttons, 0 or 1.

        One that does not fit the mapping or is not finite drops everything, and only what stops the robot acts.
        """
        out = self._end_stall(t)  # first: a message that waited meanwhile must not drive
        self._heard, self._is_lost = t, False
        misfit = self._misfit(axes, buttons)
        if misfit:
            out += self._drop(t)
            if misfit != self._reported or t - self._reported_at >= _REPORT_EVERY:
                self._reported, self._reported_at = misfit, t
                out.append(Notice("error", tr("The joystick drives nothing: {reason}.", reason=misfit)))
        elif self._takes_at_once:
            self._takes_at_once = False
            if not self.model.control.armed:
                out += self.model.perform("control.take", t)
        for button in self._mapping.buttons:
            is_pressed = button.is_pressed(axes, buttons)
            if is_pressed is None or (misfit and button.action not in _STOPPING):
                continue
            was_pressed = self._down.get(button.name, True)
            self._down[button.name] = is_pressed
            if is_pressed and not was_pressed:
                out += self.model.press(button.name, t)
            elif was_pressed and not is_pressed:
                out += self.model.release(button.name, t)
        return out if misfit else out + self._push(axes, t)

    def _push(self, axes: Sequence[float], t: float) -> List[Effect]:
        velocity, out = [0.0, 0.0, 0.0], []
        for entry in self._mapping.axes:
            action, key = ACTIONS[entry.action], entry.key
            assert isinstance(action, HeldAction)
            fraction = entry.fraction(axes[entry.axis])
            if key in self._pushed and key not in self.model.held:
                self._centred.discard(key)  # a stop dropped it
            if fraction == 0.0:
                self._centred.add(key)
            elif key not in self._centred:
                fraction = 0.0
            if action.quantity is Quantity.VELOCITY:
                velocity[action.axis] += action.sign * fraction
                continue
            out += self.model.push_axis(key, entry.action, fraction, t)
            if fraction and key not in self.model.held:
                self._centred.discard(key)  # refused: say so once, and begin at the centre
        self._pushed = {entry.key for entry in self._mapping.axes if entry.key in self.model.held}
        return out + self.model.push_stick(velocity, t)

    def watch(self, t: float) -> List[Effect]:
        """Stop what is driven by a joystick that fell silent; call it often, after the messages were taken."""
        limit = self._mapping.silence
        stall = self._end_stall(t)
        if stall:
            return stall
        if not self.model.active:  # at rest silence is no fault: joy_node need not repeat a state that drives nothing
            if self._is_lost and t - self._heard > _GONE_AFTER and self.model.control.armed:
                self._is_lost = False
                return [
                    *self.model.perform("control.give_up", t),
                    Notice("warn", tr("The joystick is gone: gave control up.")),
                ]
            return []
        if t - self._heard <= limit:
            return []
        self._is_lost = True
        text = tr(
            "Stopped, because the joystick was silent for {seconds:g} s: it is unplugged, joy_node has ended, or its "
            "autorepeat_rate is below 20 Hz. Centre it and begin anew.",
            seconds=limit,
        )
        return [*self._drop(t), Notice("warn", text)]

    def _end_stall(self, t: float) -> List[Effect]:
        """Stop what was commanded before this program stood still (frozen, or on a machine that is too busy)."""
        limit = self._mapping.silence
        has_stalled, self._watched = t - self._watched > limit, t
        if not (has_stalled and self.model.active):
            return []
        text = tr("Stopped, because this program stood still for {seconds:g} s.", seconds=limit)
        return [*self._drop(t), Notice("warn", text)]

    def _drop(self, t: float) -> List[Effect]:
        self._centred.clear()
        stops = {button.name for button in self._mapping.buttons if button.action in _STOPPING}
        self._down = {name: is_down for name, is_down in self._down.items() if name in stops}
        return self.model.halt(t) if self.model.active else []

    def _misfit(self, axes: Sequence[float], buttons: Sequence[int]) -> str:
        """Return which entry of the mapping a message has no usable value for, or ""."""
        needed = [(f"axes[{i}] ({entry.action})", entry.axis) for i, entry in enumerate(self._mapping.axes)]
        needed += [(f"{b.name} ({b.action})", b.axis) for b in self._mapping.buttons if b.axis is not None]
        for name, axis in needed:
            if axis >= len(axes):
                return (
                    f"the mapping's {name} is axis {axis}, but it has {_range(len(axes), 'axes')}; correct the mapping"
                )
            if not abs(axes[axis]) <= _LARGEST:
                return f"axis {axis} of the mapping's {name} is {axes[axis]:g}; it must be from -1 to 1"
        for b in self._mapping.buttons:
            if b.button is not None and b.button >= len(buttons):
                return (
                    f"the mapping's {b.name} ({b.action}) is button {b.button}, but it has "
                    f"{_range(len(buttons), 'buttons')}; correct the mapping"
                )
        return ""


def _range(count: int, what: str) -> str:
    return f"{what} 0 to {count - 1}" if count else f"no {what}"
