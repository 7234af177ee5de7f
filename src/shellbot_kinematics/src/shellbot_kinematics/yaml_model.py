# SPDX-License-Identifier: MIT
"""Robots written in YAML, without URDF.

A model is a mapping; every key not listed here is refused, as is a key given twice.

=================  ====================================================================================================
name               of the robot; required
source             where the numbers come from (text; for the reader)
units              mapping: length "m" (default) or "mm", angle "rad" (default) or "deg"; of every number below
base, tip          names of the first and last frame of a serial chain; in a tree two links: the chain between them
convention         of `dh`: "standard" (default) or "modified" (Craig)
dh                 list of rows, makes a serial chain: alpha, a (required), theta, d (default 0), and the joint's keys
joints             list of joints: xyz, rpy (default 0), axis (default 0 0 1), and the joint's keys; with parent and
                   child links in every joint they make a tree, without any of them a serial chain
limbs              mapping of limbs, makes a parallel chain: each a mapping with `dh` (and `convention`) or `joints`,
                   or, where the model has a tree of `joints`, with `tip` (and `base`; default the model's, else root)
common             with `limbs`: mapping of drive -> list of joints that it turns together
=================  ====================================================================================================

The joint's keys: name (default joint_0, joint_1, ...), kind "revolute" (default), "prismatic", "fixed"; lower, upper,
velocity (in the unit of the joint), effort (N m or N); mimic, a mapping of joint (required), ratio (default 1; unit of
this joint per unit of the other), offset (default 0). Numbers may be written as YAML or Python writes them, 1e-3
included; no expressions. Text in the place of a number, nan and inf are refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from shellbot_kinematics.chain import SerialChain
from shellbot_kinematics.dh import DHRow
from shellbot_kinematics.errors import InvalidChainError, InvalidYamlError, KinematicsError
from shellbot_kinematics.joint import FIXED, KINDS, PRISMATIC, REVOLUTE, Joint, Mimic
from shellbot_kinematics.parallel import ParallelChain
from shellbot_kinematics.rotations import rotation_from_rpy, transform
from shellbot_kinematics.tree import KinematicTree

Model = Union[SerialChain, ParallelChain, KinematicTree]

_TOP = ("name", "source", "units", "base", "tip", "convention", "dh", "joints", "limbs", "common")
_JOINT = ("name", "kind", "lower", "upper", "velocity", "effort", "mimic")
_ROW = (*_JOINT, "alpha", "a", "theta", "d")
_LINKED = (*_JOINT, "xyz", "rpy", "axis", "parent", "child")
_LENGTHS = {"m": 1.0, "mm": 1e-3}
_ANGLES: Dict[str, Callable[[float], float]] = {"rad": float, "deg": math.radians}


def load_model(source: object) -> Model:
    """Return the serial chain, parallel chain or tree that a YAML model describes.

    Parameters
    ----------
    source : str or path
        The text, or the path of a file that holds it; see the module for the schema.

    Raises
    ------
    InvalidYamlError
        Naming the key that cannot be used, what was given and what is expected.
    """
    from shellbot_kinematics.yaml_text import parse  # noqa: PLC0415 - imports yaml, which a control loop has no use for

    try:
        return _model(parse(source))
    except InvalidYamlError:
        raise
    except KinematicsError as error:  # what the numbers say: reversed limits, a loop, an unknown link
        raise InvalidYamlError(f"the model cannot be built: {error}") from None


def load_chain(source: object) -> SerialChain:
    """Return the serial chain of a model; InvalidYamlError if it is something else."""
    return _of_kind(load_model(source), SerialChain, "a serial chain (dh, or joints without links, or tip)")


def load_parallel(source: object) -> ParallelChain:
    """Return the parallel chain of a model; InvalidYamlError if it is something else."""
    return _of_kind(load_model(source), ParallelChain, "a parallel chain (limbs)")


def load_tree(source: object) -> KinematicTree:
    """Return the tree of a model; InvalidYamlError if it is something else."""
    return _of_kind(load_model(source), KinematicTree, "a tree (joints with parent and child, no tip, no limbs)")


def _of_kind(model: Any, kind: Any, expected: str) -> Any:
    if not isinstance(model, kind):
        raise InvalidYamlError(f"the model makes a {type(model).__name__}; expected {expected}")
    return model


def _model(text: object) -> Model:
    top = _Node(text, "the model").mapping(_TOP)
    name = top["name"].text() if "name" in top else ""
    if not name:
        raise InvalidYamlError("the model has no name; expected name: ...")
    if "source" in top:
        top["source"].text()
    units = _units(top.get("units"))
    if "limbs" in top:
        return _parallel(top, units)
    if "common" in top:
        raise InvalidYamlError("common: expected only beside limbs")
    ends: Dict[str, str] = {key: top[key].text() for key in ("base", "tip") if key in top}
    if _is_tree(top):
        tree = KinematicTree(_linked(top["joints"], units), name)
        return tree.chain(ends.get("base", tree.root), ends["tip"], name) if "tip" in ends else tree
    return _serial(top, units, name, ends)


def _parallel(top: Mapping[str, _Node], units: _Units) -> ParallelChain:
    for key in ("dh", "convention", "tip"):
        if key in top:
            raise InvalidYamlError(f"{key}: expected inside the limbs, not beside them")
    base = top["base"].text() if "base" in top else None
    tree: Optional[KinematicTree] = None
    if "joints" in top:
        tree = KinematicTree(_linked(top["joints"], units), top["name"].text())
    limbs: Dict[str, SerialChain] = {}
    for limb, node in top["limbs"].mapping(None).items():
        allowed = ("tip", "base") if tree is not None else ("dh", "convention", "joints", "base", "tip")
        keys = node.mapping(allowed)
        ends: Dict[str, str] = {key: keys[key].text() for key in ("base", "tip") if key in keys}
        if tree is not None:
            if "tip" not in ends:
                raise InvalidYamlError(f"{node.where}: has no tip; expected the link at its end")
            limbs[limb] = tree.chain(ends.get("base", base or tree.root), ends["tip"], limb)
        else:
            limbs[limb] = _serial(keys, units, limb, {**({"base": base} if base else {}), **ends}, f"{limb}_")
    common: Dict[str, List[str]] = {}
    if "common" in top:
        for drive, joints in top["common"].mapping(None).items():
            common[drive] = [item.text() for item in joints.items()]
    return ParallelChain(limbs, common)


def _serial(
    keys: Mapping[str, _Node], units: _Units, name: str, ends: Mapping[str, str], prefix: str = "joint_"
) -> SerialChain:
    if ("dh" in keys) == ("joints" in keys):
        raise InvalidYamlError(f"{name}: expected either dh or joints" + (", not both" if "dh" in keys else ""))
    if "dh" in keys:
        convention = keys["convention"].choice(("standard", "modified")) if "convention" in keys else "standard"
        nodes = keys["dh"].items()
        rows = [_row(node, units, f"{prefix}{i}", _kinds(nodes, prefix)) for i, node in enumerate(nodes)]
        return SerialChain.from_dh(rows, name=name, convention=convention, **ends)
    if "convention" in keys:
        raise InvalidYamlError("convention: expected only beside dh")
    if _is_tree(keys):
        raise InvalidYamlError(f"{keys['joints'].where}: name links; expected none of them in a limb's own joints")
    return SerialChain(_linked(keys["joints"], units, prefix), name, **ends)


def _is_tree(keys: Mapping[str, _Node]) -> bool:
    """Tell whether the joints name links; all of them must, or none."""
    if "joints" not in keys:
        return False
    nodes = keys["joints"].items()
    named = [sum(key in node.mapping(_LINKED) for key in ("parent", "child")) for node in nodes]
    for node, count in zip(nodes, named):
        if count == 1 or (count == 0) != (max(named) == 0):
            raise InvalidYamlError(f"{node.where}: expected parent and child in every joint, or in none")
    return bool(named) and named[0] == 2


def _linked(list_of: _Node, units: _Units, prefix: str = "joint_") -> List[Joint]:
    nodes = list_of.items()
    kinds = _kinds(nodes, prefix)
    joints = []
    for i, node in enumerate(nodes):
        keys = node.mapping(_LINKED)
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


def _row(node: _Node, units: _Units, name: str, kinds: Mapping[str, str]) -> DHRow:
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


def _kinds(nodes: Sequence[_Node], prefix: str) -> Dict[str, str]:
    """Return the kind of every joint of a list by its name."""
    kinds = {}
    for i, node in enumerate(nodes):
        keys = node.mapping(None)
        name = keys["name"].text() if "name" in keys else f"{prefix}{i}"
        kinds[name] = keys["kind"].choice(KINDS) if "kind" in keys else REVOLUTE
    return kinds


def _shared(
    keys: Mapping[str, _Node], units: _Units, default: str, kinds: Mapping[str, str], node: _Node
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


@dataclass(frozen=True)
class _Units:
    length: float
    angle: Callable[[float], float]

    def of(self, kind: str, value: float) -> float:
        """Return a position of a joint in SI."""
        return self.length * value if kind == PRISMATIC else self.angle(value)


def _units(node: Optional[_Node]) -> _Units:
    keys = {} if node is None else node.mapping(("length", "angle"))
    length = keys["length"].choice(tuple(_LENGTHS)) if "length" in keys else "m"
    angle = keys["angle"].choice(tuple(_ANGLES)) if "angle" in keys else "rad"
    return _Units(_LENGTHS[length], _ANGLES[angle])


class _Node:
    """A piece of the text with the words that lead to it."""

    def __init__(self, value: object, where: str) -> None:
        self.value, self.where = value, where

    def mapping(self, allowed: Optional[Tuple[str, ...]]) -> Dict[str, _Node]:
        if not isinstance(self.value, dict):
            raise self._expected("a mapping")
        for key in self.value:
            if not isinstance(key, str) or not key:
                raise InvalidYamlError(f"{self.where}: key {key!r}; expected a word")
            if allowed is not None and key not in allowed:
                raise InvalidYamlError(f"{self.where}: unknown key '{key}'; expected one of {', '.join(allowed)}")
        return {key: _Node(value, f"{key} of {self.where}") for key, value in self.value.items()}

    def items(self) -> List[_Node]:
        if not isinstance(self.value, list):
            raise self._expected("a list")
        return [_Node(item, f"item {i} of {self.where}") for i, item in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str) or not self.value:
            raise self._expected("a word")
        return self.value

    def choice(self, allowed: Sequence[str]) -> str:
        if self.value not in allowed:
            raise self._expected("one of " + ", ".join(allowed))
        return str(self.value)

    def number(self) -> float:
        try:
            value = float(self.value) if isinstance(self.value, str) else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self._expected("a finite number")
        return value

    def triple(self) -> Tuple[float, float, float]:
        if not isinstance(self.value, list) or len(self.value) != 3:
            raise self._expected("three numbers, as [0, 0, 1]")
        x, y, z = (item.number() for item in self.items())
        return x, y, z

    def _expected(self, what: str) -> InvalidYamlError:
        given = repr(self.value)
        given = given if len(given) <= 80 else given[:77] + "..."
        return InvalidYamlError(f"{self.where} is {given}; expected {what}")
