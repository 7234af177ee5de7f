# SPDX-License-Identifier: MIT
"""A gains page as data: what a dynamic_reconfigure server describes, without its library."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Tuple

from shellbot_teleop.texts import tr


@dataclass(frozen=True)
class GainParameter:
    """One adjustable number, switch or choice."""

    #: name, label: Name on the server, and what of it the group's title does not say already
    name: str
    label: str
    kind: str  #: ``double``, ``int``, ``bool`` or ``choice``
    #: low, high, default: Range and default; a switch has 0 and 1, a choice none
    low: float
    high: float
    default: float
    help: str  #: The server's description

    options: Mapping[str, str] = field(default_factory=dict)  #: Of a ``choice``: each with what it is

    def clamped(self, value: float) -> float:
        """Bring a value into the range; one that is not finite becomes the default."""
        return min(max(float(value), self.low), self.high) if math.isfinite(value) else self.default


@dataclass(frozen=True)
class GainGroup:
    """Parameters that belong together, such as those of one joint class."""

    title: str
    parameters: Tuple[GainParameter, ...]


def groups_from_description(tree: Mapping[str, Any]) -> Tuple[GainGroup, ...]:
    """Return the groups of a server's description.

    Parameters
    ----------
    tree : mapping
        As dynamic_reconfigure decodes it: ``name``, ``parameters`` (list of name, type, min, max, default, description)
        and ``groups`` (name to the like).

    Returns
    -------
    tuple of GainGroup
        The outer group first, then its children in the server's order; groups without anything adjustable are left
        out, and so are free texts and parameters without a finite range: a page of sliders cannot show them.
    """
    groups: List[GainGroup] = []
    _collect(tree, groups)
    return tuple(groups)


def _collect(tree: Mapping[str, Any], groups: List[GainGroup]) -> None:
    title = str(tree.get("name", ""))
    parameters = [
        parameter for parameter in (_parameter(entry, title) for entry in tree.get("parameters", ())) if parameter
    ]
    if parameters:
        groups.append(
            GainGroup(tr("Overall") if title in ("", "Default") else title.replace("_", " "), tuple(parameters))
        )
    children = tree.get("groups", {})
    for child in children.values() if isinstance(children, Mapping) else children:
        _collect(child, groups)


def _parameter(entry: Mapping[str, Any], group: str) -> Any:
    kind = entry["type"]
    options = _options(entry) if kind == "str" else {}
    if options:
        name = str(entry["name"])
        return GainParameter(name, name.replace("_", " "), "choice", 0.0, 0.0, 0.0, str(entry["description"]), options)
    if kind == "bool":
        low, high = 0.0, 1.0
    elif kind in ("double", "int"):
        low, high = float(entry["min"]), float(entry["max"])
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            return None
    else:
        return None
    name = str(entry["name"])
    label = name
    for end in (f"{group}_", f"_{group}"):
        if label.startswith(end):
            label = label[len(end) :]
        elif label.endswith(end):
            label = label[: -len(end)]
    return GainParameter(
        name, label.replace("_", " "), kind, low, high, float(entry["default"]), str(entry.get("description", ""))
    )


def _options(entry: Mapping[str, Any]) -> Dict[str, str]:
    """Return the values of an enumeration with their descriptions; dynamic_reconfigure has it as the text of a dict."""
    try:
        choices = ast.literal_eval(entry.get("edit_method") or "{}")
        return {str(option["value"]): str(option["description"]) for option in choices.get("enum", ())}
    except (ValueError, SyntaxError, KeyError, AttributeError, TypeError):
        return {}
