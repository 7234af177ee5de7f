# SPDX-License-Identifier: MIT
"""The mapping file of a joystick: which axis pushes what, and what each button does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, Optional, Sequence, Tuple

from shellbot_common import Settings, choice, number
from shellbot_teleop.actions import ACTIONS, MODE, HeldAction, Quantity
from shellbot_teleop.errors import MappingError
from shellbot_teleop.keymap import REQUIRED_ACTIONS, Binding, Keymap

LAYOUT = "joystick"
_MOST = 255  # axes or buttons
_PUSHED = sorted(
    name
    for name, action in ACTIONS.items()
    if isinstance(action, HeldAction) and action.quantity not in (Quantity.DEAD_MAN, Quantity.FINE)
)
# the others need a picture
_PRESSED = sorted(name for name in ACTIONS if name not in ("layout.next", "help.keys") and name[:8] != "actions.")
_BEYOND = 0.5  # where an axis that is used as a button counts as pressed


@dataclass(frozen=True)
class Axis(Settings, error=MappingError):
    """One axis, and the action that its positive side pushes."""

    axis: int = number(0, _MOST)  #: Index in `Joy.axes`
    action: str = choice(_PUSHED)
    dead_zone: float = number(0.01, 0.9, default=0.1)  #: Deflection that counts as centred
    #: Fraction at full deflection
    scale: float = number(-1.0, 1.0, default=1.0, hint="a negative one reverses the axis")

    def conflict(self) -> str:
        """Return that the axis would do nothing, if so."""
        return "scale is 0; leave the entry out, or give a fraction from -1 to 1" if self.scale == 0.0 else ""

    @property
    def key(self) -> str:
        """Name under which the command model holds it."""
        return f"axis {self.axis}"

    def fraction(self, deflection: float) -> float:
        """Return how far the action is pushed, -1 .. 1: zero in the dead zone, from whose edge it grows steadily."""
        beyond = (abs(deflection) - self.dead_zone) / (1.0 - self.dead_zone)
        return self.scale * math.copysign(min(beyond, 1.0), deflection) if beyond > 0.0 else 0.0


@dataclass(frozen=True)
class Button(Settings, error=MappingError):
    """One button, or one side of an axis that is used as a button (cross, trigger)."""

    name: str  #: As the operator reads it on the controller
    action: str = choice(_PRESSED, pattern=MODE)
    button: Optional[int] = number(0, _MOST, default=None)  #: Index in `Joy.buttons`
    axis: Optional[int] = number(0, _MOST, default=None)  #: Index in `Joy.axes`
    side: int = number(-1, 1, default=0)  #: Which side of the axis
    argument: str = ""  #: Of `gait.request`: the gait

    def conflict(self) -> str:
        """Return that it is none or two things at once, if so."""
        if (self.button is None) == (self.axis is None) or (self.axis is None) != (self.side == 0):
            found = f"button is {self.button}, axis {self.axis}, side {self.side}"
            return f"{found}; give button alone, or axis and side -1 or 1"
        if bool(self.argument) != (self.action == "gait.request"):
            return "argument is the gait of gait.request; give it there, and only there"
        return ""

    def is_pressed(self, axes: Sequence[float], buttons: Sequence[int]) -> Optional[bool]:
        """Tell whether it is pressed; None if the joystick has no such button or axis, or the axis is not finite."""
        if self.button is not None:
            return bool(buttons[self.button]) if self.button < len(buttons) else None
        if self.axis is None or self.axis >= len(axes) or not math.isfinite(axes[self.axis]):
            return None
        return self.side * axes[self.axis] > _BEYOND


class _ButtonBinding(Binding):
    """A binding whose key is no key of a keyboard."""

    def conflict(self) -> str:
        return ""


@dataclass(frozen=True)
class JoystickMapping(Settings, error=MappingError):
    """A checked mapping; its format is at the top of ``config/joystick.yaml``."""

    axes: Tuple[Axis, ...]
    buttons: Tuple[Button, ...]
    silence: float = number(0.1, 1.0, "s", default=0.15)  #: Without a message for this long what is driven stops

    def conflict(self) -> str:
        """Return the first axis, button or name that is used twice, or the action that no button has."""
        used: Dict[Tuple[str, Optional[int], int], str] = {}
        for number_, axis in enumerate(self.axes):
            for side in (-1, 1):
                if ("axis", axis.axis, side) in used:
                    return f"axes[{number_}]: axis {axis.axis} is used twice; remove one of the entries"
                used["axis", axis.axis, side] = "axes"
        for button in self.buttons:
            source = ("axis", button.axis, button.side) if button.button is None else ("button", button.button, 0)
            if source in used:
                used_twice = f"{source[0]} {source[1]}"
                return f"buttons: {button.name} uses {used_twice}, which is used already; remove one of the entries"
            used[source] = button.name
        names = [button.name for button in self.buttons]
        for name in names:
            if names.count(name) > 1:
                return f"buttons: the name {name!r} is used twice; each button needs a name of its own"
        missing = set(REQUIRED_ACTIONS) - {button.action for button in self.buttons}
        if missing:
            names_missing = ", ".join(sorted(missing))
            return f"buttons: none does {names_missing}; an operator must be able to take control, and to stop"
        return ""

    @property
    def has_dead_man(self) -> bool:
        """Whether a button must be held to drive."""
        return any(button.action == "control.dead_man" for button in self.buttons)

    def keymap(self) -> Keymap:
        """Return what the buttons do as the command model looks it up, by their names."""
        bindings = tuple(
            _ButtonBinding(button.name, button.action, "", "buttons", "", button.argument) for button in self.buttons
        )
        return Keymap(LAYOUT, {LAYOUT: "joystick"}, {"buttons": "Buttons"}, bindings)
