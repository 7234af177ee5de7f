# SPDX-License-Identifier: MIT
"""Joints and Denavit-Hartenberg rows of a YAML model, in its units; the schema stands in yaml_model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from robot_mechanics.errors import InvalidChainError, InvalidYamlError
from robot_mechanics.models.dh import DHRow
from robot_mechanics.models.joint import FIXED, KINDS, PRISMATIC, REVOLUTE, Joint, Mimic
from robot_mechanics.models.yaml_reader import Node
from robot_mechanics.motion.rotations import rotation_from_rpy, transform

_JOINT = ("name", "kind", "lower", "upper", "velocity", "effort", "mimic")
_ROW = (*_JOINT, "alpha", "a", "theta", "d")
LINKED = (*_JOINT, "xyz", "rpy", "axis", "parent", "child")
_LENGTHS = {"m": 1.0, "mm": 1e-3}
_ANGLES: Dict[str, Callable[[float], float]] = {"rad": float, "deg": math.radians}


@dataclass(frozen=True)
class Units:
    """Factors from the model's units to SI."""

    length: float
    angle: Callable[[float], float]

    def of(self, kind: str, value: float) -> float:
        """Return a position of a joint in SI."""
        return self.length * value if kind == PRISMATIC else self.angle(value)


def read_units(node: Optional[Node]) -> Units:
    """Return the units that a model names, by default m and rad."""
    keys = {} if node is None else node.mapping(("length", "angle"))
    length = keys["length"].choice(tuple(_LENGTHS)) if "length" in keys else "m"
    angle = keys["angle"].choice(tuple(_ANGLES)) if "angle" in keys else "rad"
    return Units(_LENGTHS[length], _ANGLES[angle])


def linked_joints(list_of: Node, units: Units, prefix: str = "joint_") -> List[Joint]:
    """Return the joints of a list, those without a name called by their place."""
    nodes = list_of.items()
    kinds = _kinds(nodes, prefix)
    joints = []
    for i, node in enumerate(nodes):
        keys = node.mapping(LINKED)
        values = _shared(keys, units, f"{prefix}{i}", kinds, node)
        x, y, z = (units.length * c for c in keys["xyz"].triple()) if "xyz" in keys else (0.0, 0.0, 0.0)
        roll, pitch, yaw = (units.angle(c) for c in keys["rpy"].triple()) if "rpy" in keys else (0.0, 0.0, 0.0)
        if "axis" in keys:
            values["axis"] = keys["axis"].triple()
        for end in ("parent", "child"):
            if end in keys:
                values[end] = keys[end].text()
        try:
            joints.append(Joint(origin=transform(rotation_from_rpy(roll, pitch, yaw), (x, y, z)), **values))
        except InvalidChainError as error:
            raise InvalidYamlError(f"{node.where}: {error}") from None
    return joints


def dh_rows(list_of: Node, units: Units, prefix: str) -> List[DHRow]:
    """Return the rows of a Denavit-Hartenberg table."""
    nodes = list_of.items()
    kinds = _kinds(nodes, prefix)
    return [_row(node, units, f"{prefix}{i}", kinds) for i, node in enumerate(nodes)]


def _row(node: Node, units: Units, name: str, kinds: Mapping[str, str]) -> DHRow:
    keys = node.mapping(_ROW)
    for key in ("alpha", "a"):
        if key not in keys:
            raise InvalidYamlError(f"{node.where}: has no {key}; expected alpha and a in every row")
    numbers = {key: keys[key].number() if key in keys else 0.0 for key in ("alpha", "a", "theta", "d")}
    return DHRow(
        units.angle(numbers["alpha"]),
        units.length * numbers["a"],
        units.angle(numbers["theta"]),
        units.length * numbers["d"],
        **_shared(keys, units, name, kinds, node),
    )


def _kinds(nodes: Sequence[Node], prefix: str) -> Dict[str, str]:
    """Return the kind of every joint of a list by its name."""
    kinds = {}
    for i, node in enumerate(nodes):
        keys = node.mapping(None)
        name = keys["name"].text() if "name" in keys else f"{prefix}{i}"
        kinds[name] = keys["kind"].choice(KINDS) if "kind" in keys else REVOLUTE
    return kinds


def _shared(
    keys: Mapping[str, Node], units: Units, default: str, kinds: Mapping[str, str], node: Node
) -> Dict[str, Any]:
    """Return the arguments that DHRow and Joint have in common."""
    values: Dict[str, Any] = {"name": keys["name"].text() if "name" in keys else default}
    values["kind"] = kind = keys["kind"].choice(KINDS) if "kind" in keys else REVOLUTE
    for key in ("lower", "upper", "velocity"):
        if key in keys:
            values[key] = units.of(kind, keys[key].number())
    if "effort" in keys:
        values["effort"] = keys["effort"].number()
    if "mimic" in keys:
        mimic = keys["mimic"].mapping(("joint", "ratio", "offset"))
        if "joint" not in mimic:
            raise InvalidYamlError(f"{keys['mimic'].where}: has no joint; expected the name of the joint to follow")
        master = mimic["joint"].text()
        ratio = mimic["ratio"].number() if "ratio" in mimic else 1.0
        offset = mimic["offset"].number() if "offset" in mimic else 0.0
        scale = units.of(kind, 1.0) / units.of(kinds.get(master, kind), 1.0)
        if kind == FIXED:
            raise InvalidYamlError(f"{keys['mimic'].where}: a fixed joint follows no other")
        try:
            values["mimic"] = Mimic(master, ratio if scale == 1.0 else ratio * scale, units.of(kind, offset))
        except InvalidChainError as error:
            raise InvalidYamlError(f"{node.where}: {error}") from None
    return values
