# SPDX-License-Identifier: MIT
"""A page of numbers and choices as dynamic_reconfigure describes one, made when a node starts, without a .cfg file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Union


class PageNumber(NamedTuple):
    """One slider."""

    name: str
    value: float  #: That it starts with, within low and high
    low: float
    high: float
    description: str  #: With its unit


class PageChoice(NamedTuple):
    """One list to choose from."""

    name: str
    value: str  #: That it starts with, one of the options
    options: Mapping[str, str]  #: Each with what it is, in a few words
    description: str


Entry = Union[PageNumber, PageChoice]


def reconfigure_page(head: Sequence[Entry], groups: Mapping[str, Sequence[Entry]]) -> SimpleNamespace:
    """Return what a dynamic_reconfigure server takes for its type, as a generated module would be.

    Parameters
    ----------
    head : sequence of PageNumber or PageChoice
        Above all groups.
    groups : mapping of str to sequence of PageNumber or PageChoice
        Title to entries.
    """
    folded = [
        _group(title, i, [_entry(n) for n in numbers], []) for i, (title, numbers) in enumerate(groups.items(), 1)
    ]
    first = [_entry(number) for number in head]
    entries = [*first, *(entry for group in folded for entry in group["parameters"])]
    return SimpleNamespace(
        config_description=_group("Default", 0, first, folded),
        min={entry["name"]: entry["min"] for entry in entries},
        max={entry["name"]: entry["max"] for entry in entries},
        defaults={entry["name"]: entry["default"] for entry in entries},
        level={entry["name"]: entry["level"] for entry in entries},
        type={entry["name"]: entry["type"] for entry in entries},
        all_level=0,
    )


def _entry(number: Entry) -> Dict[str, Any]:
    if isinstance(number, PageChoice):
        options = [
            {"name": name, "type": "str", "value": name, "description": text, "ctype": "", "cconsttype": ""}
            for name, text in number.options.items()
        ]
        choices = {"enum": options, "enum_description": number.description}
        text = {"name": number.name, "type": "str", "default": number.value, "description": number.description}
        return {**text, "level": 0, "min": "", "max": "", "edit_method": repr(choices)}
    return {
        "name": number.name,
        "type": "double",
        "default": number.value,
        "level": 0,
        "description": number.description,
        "min": number.low,
        "max": number.high,
        "edit_method": "",
    }


def _group(name: str, index: int, entries: List[Dict[str, Any]], groups: List[Dict[str, Any]]) -> Dict[str, Any]:
    return {
        "name": name,
        "type": "",
        "state": True,
        "cstate": "true",
        "id": index,
        "parent": 0,
        "parameters": entries,
        "groups": groups,
    }
