# SPDX-License-Identifier: MIT
"""The key map: read, checked, looked up. One file for window and terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Tuple

from shellbot_common import Settings, choice, required
from shellbot_teleop.actions import ACTIONS, MODE
from shellbot_teleop.errors import KeymapError
from shellbot_teleop.keys import ALL_KEYS
from shellbot_teleop.texts import tr

# Without these an operator could move the robot but not stop it, or could never move it.
REQUIRED_ACTIONS = ("drive.stop", "safety.emergency_stop", "safety.rearm", "control.take")


@dataclass(frozen=True)
class Binding(Settings, error=KeymapError):
    """One key, what it does and its description; an empty `layout` means every layout."""

    key: str
    action: str = choice(sorted(ACTIONS), pattern=MODE)
    help: str = required()
    group: str = required()
    layout: str = ""
    argument: str = ""  #: Of `gait.request`: the gait

    def conflict(self) -> str:
        """Return that there is no such key, or that it lacks a gait or has one too many, if so."""
        if bool(self.argument) != (self.action == "gait.request"):
            return f"key {self.key!r}: argument is the gait of gait.request; give it there, and only there"
        if self.key in ALL_KEYS:
            return ""
        named = sorted(key for key in ALL_KEYS if len(key) > 1 and not key.startswith("Ctrl"))
        return f"key {self.key!r} does not exist; there are a..z, 0..9, Ctrl+<letter> (not C H I J M Z) and {named}"


@dataclass(frozen=True)
class KeyLine:
    """A line of the key help."""

    action: str
    keys: Tuple[str, ...]
    help: str


@dataclass(frozen=True)
class Keymap(Settings, error=KeymapError):
    """A checked key map; the format of its file is at the top of ``config/keymap.yaml``."""

    default_layout: str  #: The layout at the start
    #: layouts, groups: Names to descriptions, in the order of the file
    layouts: Mapping[str, str]
    groups: Mapping[str, str]
    bindings: Tuple[Binding, ...]  #: In the order of the file

    def conflict(self) -> str:
        """Return the first binding that fits no layout or group, a key with two actions, or an action without a key."""
        if self.default_layout not in self.layouts:
            return f"default_layout {self.default_layout!r} does not exist; there are {', '.join(self.layouts)}"
        for b in self.bindings:
            if b.group not in self.groups:
                return f"bindings: key {b.key!r} has the group {b.group!r}; choose from {', '.join(self.groups)}"
            if b.layout and b.layout not in self.layouts:
                return f"bindings: key {b.key!r} has the layout {b.layout!r}; choose from {', '.join(self.layouts)}"
        return next(filter(None, map(self._conflict_in, self.layouts)), "")

    def _conflict_in(self, layout: str) -> str:
        bound: Dict[str, str] = {}
        clashes: List[str] = []
        for binding in self.in_layout(layout):
            if binding.key in bound:
                clashes.append(f"{binding.key!r} does both {bound[binding.key]} and {binding.action}")
            bound[binding.key] = binding.action
        if clashes:
            return f"layout {layout!r} binds a key twice: {'; '.join(clashes)}; remove one of each"
        missing = [action for action in REQUIRED_ACTIONS if action not in bound.values()]
        if missing:
            names = ", ".join(missing)
            return f"layout {layout!r} has no key for {names}; an operator must be able to take control, and to stop"
        return ""

    @property
    def layout_names(self) -> Tuple[str, ...]:
        """Names of the layouts."""
        return tuple(self.layouts)

    def in_layout(self, layout: str) -> Tuple[Binding, ...]:
        """Return the bindings that hold in a layout."""
        return tuple(binding for binding in self.bindings if binding.layout in ("", layout))

    def find(self, layout: str, key: str) -> Optional[Binding]:
        """Return the binding of a key in a layout, or None."""
        for binding in self.in_layout(layout):
            if binding.key == key:
                return binding
        return None

    def lines(self, layout: str, group: str) -> Tuple[KeyLine, ...]:
        """Return the key help under a heading, in the order of the file; keys that do the same share a line."""
        found: Dict[Tuple[str, str], Tuple[List[str], str]] = {}
        for b in self.in_layout(layout):
            if b.group == group:
                found.setdefault((b.action, b.argument), ([], b.help))[0].append(b.key)
        return tuple(KeyLine(action, tuple(keys), tr(text)) for (action, _), (keys, text) in found.items())

    def has(self, kind: str) -> bool:
        """Tell whether a key has an action of a kind: drive (beside stopping), pose, shells, mode, gait."""
        return any(b.action.startswith(f"{kind}.") and b.action != "drive.stop" for b in self.bindings)

    def keys_of(self, layout: str, action: str) -> Tuple[str, ...]:
        """Return the keys that do an action in a layout, in the order of the file."""
        return tuple(binding.key for binding in self.in_layout(layout) if binding.action == action)
