# SPDX-License-Identifier: MIT
"""The key map: read, checked, looked up. One file for window and terminal."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import yaml

from shellbot_teleop.actions import ACTIONS
from shellbot_teleop.errors import KeymapError
from shellbot_teleop.keys import ALL_KEYS

_TOP_LEVEL = frozenset(("default_layout", "layouts", "groups", "bindings"))
_BINDING = frozenset(("key", "action", "help", "group", "layout"))
# Without these an operator could move the robot but not stop it.
_REQUIRED_ACTIONS = ("drive.stop", "safety.emergency_stop", "safety.rearm")


@dataclass(frozen=True)
class Binding:
    """One key, what it does and what is told about it; an empty `layout` means every layout."""

    key: str
    action: str
    help: str
    group: str
    layout: str = ""


@dataclass(frozen=True)
class Keymap:
    """A checked key map.

    Attributes
    ----------
    bindings : tuple of Binding
        In the order of the file.
    layouts, groups : tuple of (str, str)
        Names and descriptions, in the order of the file.
    default_layout : str
        The layout at the start.
    """

    bindings: Tuple[Binding, ...]
    layouts: Tuple[Tuple[str, str], ...]
    groups: Tuple[Tuple[str, str], ...]
    default_layout: str

    @property
    def layout_names(self) -> Tuple[str, ...]:
        """Names of the layouts."""
        return tuple(name for name, _ in self.layouts)

    def in_layout(self, layout: str) -> Tuple[Binding, ...]:
        """Return the bindings that hold in a layout."""
        return tuple(binding for binding in self.bindings if binding.layout in ("", layout))

    def find(self, layout: str, key: str) -> Optional[Binding]:
        """Return the binding of a key in a layout, or None."""
        for binding in self.in_layout(layout):
            if binding.key == key:
                return binding
        return None

    def keys_of(self, layout: str, action: str) -> Tuple[str, ...]:
        """Return the keys that do an action in a layout, in the order of the file."""
        return tuple(binding.key for binding in self.in_layout(layout) if binding.action == action)


def load_keymap(path: Union[str, Path]) -> Keymap:
    """Read and check a key map.

    Parameters
    ----------
    path : str or Path
        YAML file; its format is told at the top of ``config/keymap.yaml``.

    Returns
    -------
    Keymap
        The checked map.

    Raises
    ------
    KeymapError
        The file cannot be read, is not YAML, or one of its entries is wrong; the message names the entry, the choices
        and what to change.
    """
    try:
        document = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise KeymapError(
            f"cannot read the key map {path}: {error}. Give an existing file with --keymap, or leave it "
            "out to use the one of the package."
        ) from error
    except yaml.YAMLError as error:
        raise KeymapError(
            f"the key map {path} is not valid YAML: {error}. Correct that line, or start without "
            "--keymap to use the one of the package."
        ) from error
    try:
        return parse_keymap(document)
    except KeymapError as error:
        raise KeymapError(f"{path}: {error}") from error


def parse_keymap(document: Any) -> Keymap:
    """Check the content of a key map file; see `load_keymap`."""
    if not isinstance(document, Mapping):
        raise KeymapError(f"a key map is a mapping with {sorted(_TOP_LEVEL)}, got {type(document).__name__}.")
    _check_names(document, _TOP_LEVEL, _TOP_LEVEL, "the key map")
    layouts = _descriptions(document["layouts"], "layouts")
    groups = _descriptions(document["groups"], "groups")
    default_layout = document["default_layout"]
    if default_layout not in layouts:
        raise KeymapError(f"default_layout {default_layout!r} is not one of the layouts {sorted(layouts)}.")
    entries = document["bindings"]
    if not isinstance(entries, list) or not entries:
        raise KeymapError("bindings must be a list with one entry a key.")
    bindings = [_parse_binding(entry, layouts, groups) for entry in entries]
    keymap = Keymap(tuple(bindings), tuple(layouts.items()), tuple(groups.items()), default_layout)
    _check_layouts(keymap)
    return keymap


def _check_names(entry: Mapping, required: frozenset, allowed: frozenset, what: str) -> None:
    missing, unknown = sorted(required - set(entry)), sorted(str(name) for name in set(entry) - allowed)
    if missing or unknown:
        raise KeymapError(f"{what}: missing {missing}, unknown {unknown}; allowed are {sorted(allowed)}.")


def _descriptions(value: Any, name: str) -> Dict[str, str]:
    if not isinstance(value, Mapping) or not value or not all(isinstance(text, str) for text in value.values()):
        raise KeymapError(f"{name} must map at least one name to a description, got {value!r}.")
    return {str(key): text for key, text in value.items()}


def _parse_binding(entry: Any, layouts: Mapping[str, str], groups: Mapping[str, str]) -> Binding:
    if not isinstance(entry, Mapping):
        raise KeymapError(f"binding {entry!r} must be a mapping with {sorted(_BINDING)}.")
    _check_names(entry, _BINDING - {"layout"}, _BINDING, f"binding {dict(entry)}")
    # YAML reads an unquoted 8 as a number and y or n as a truth value: say so instead of guessing.
    for name, value in entry.items():
        if not isinstance(value, str):
            raise KeymapError(f"binding {dict(entry)}: {name} is {value!r}; write it in quotes.")
    binding = Binding(**{str(name): value for name, value in entry.items()})
    if binding.key not in ALL_KEYS:
        raise KeymapError(
            f"unknown key {binding.key!r}; allowed are a..z, 0..9, Ctrl+<letter> (not C H I J M Z) and "
            f"{sorted(key for key in ALL_KEYS if len(key) > 1 and not key.startswith('Ctrl'))}."
        )
    if binding.action not in ACTIONS:
        raise KeymapError(f"key {binding.key!r}: unknown action {binding.action!r}; choose one of {sorted(ACTIONS)}.")
    if binding.group not in groups:
        raise KeymapError(f"key {binding.key!r}: unknown group {binding.group!r}; choose one of {sorted(groups)}.")
    if binding.layout and binding.layout not in layouts:
        raise KeymapError(f"key {binding.key!r}: unknown layout {binding.layout!r}; choose one of {sorted(layouts)}.")
    return binding


def _check_layouts(keymap: Keymap) -> None:
    for layout in keymap.layout_names:
        bound: Dict[str, str] = {}
        clashes: List[str] = []
        for binding in keymap.in_layout(layout):
            if binding.key in bound:
                clashes.append(f"{binding.key!r} does both {bound[binding.key]} and {binding.action}")
            bound[binding.key] = binding.action
        if clashes:
            raise KeymapError(f"layout {layout!r} binds a key twice: {'; '.join(clashes)}. Remove one of each.")
        missing = [action for action in _REQUIRED_ACTIONS if not keymap.keys_of(layout, action)]
        if missing:
            raise KeymapError(
                f"layout {layout!r} has no key for {missing}: bind them, the operator must be able to stop."
            )
