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
limbs              mapping of limbs, makes a set of limbs: each a mapping with `dh` (and `convention`) or `joints`,
                   or, where the model has a tree of `joints`, with `tip` (and `base`; default the model's, else root)
common             with `limbs`: mapping of drive -> list of joints that it turns together
=================  ====================================================================================================

The joint's keys: name (default joint_0, joint_1, ...), kind "revolute" (default), "prismatic", "fixed"; lower, upper,
velocity (in the unit of the joint), effort (N m or N); mimic, a mapping of joint (required), ratio (default 1; unit of
this joint per unit of the other), offset (default 0). Numbers may be written as YAML or Python writes them, 1e-3
included; no expressions. Text in the place of a number, nan and inf are refused.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Union

from robot_mechanics.errors import InvalidYamlError, KinematicsError
from robot_mechanics.models.chain import SerialChain
from robot_mechanics.models.limbs import LimbSet
from robot_mechanics.models.tree import KinematicTree
from robot_mechanics.models.yaml_joints import LINKED, Units, dh_rows, linked_joints, read_units
from robot_mechanics.models.yaml_reader import Node

Model = Union[SerialChain, LimbSet, KinematicTree]

_TOP = ("name", "source", "units", "base", "tip", "convention", "dh", "joints", "limbs", "common")


def load_model(source: object) -> Model:
    """Return the serial chain, set of limbs or tree that a YAML model describes.

    Parameters
    ----------
    source : str or path
        The text, or the path of a file that holds it; see the module for the schema.

    Raises
    ------
    InvalidYamlError
        Naming the key that cannot be used, what was given and what is expected.
    """
    from robot_mechanics.models.yaml_text import (
        parse,
    )  # noqa: PLC0415 - imports yaml, which a control loop has no use for

    try:
        return _model(parse(source))
    except InvalidYamlError:
        raise
    except KinematicsError as error:  # what the numbers say: reversed limits, a loop, an unknown link
        raise InvalidYamlError(f"the model cannot be built: {error}") from None


def load_chain(source: object) -> SerialChain:
    """Return the serial chain of a model; InvalidYamlError if it is something else.

    Parameters
    ----------
    source : str or path
        As of `load_model`.
    """
    return _of_kind(load_model(source), SerialChain, "a serial chain (dh, or joints without links, or tip)")


def load_limbs(source: object) -> LimbSet:
    """Return the set of limbs of a model; InvalidYamlError if it is something else.

    Parameters
    ----------
    source : str or path
        As of `load_model`.
    """
    return _of_kind(load_model(source), LimbSet, "a set of limbs")


def load_tree(source: object) -> KinematicTree:
    """Return the tree of a model; InvalidYamlError if it is something else.

    Parameters
    ----------
    source : str or path
        As of `load_model`.
    """
    return _of_kind(load_model(source), KinematicTree, "a tree (joints with parent and child, no tip, no limbs)")


def _of_kind(model: Any, kind: Any, expected: str) -> Any:
    if not isinstance(model, kind):
        raise InvalidYamlError(f"the model makes a {type(model).__name__}; expected {expected}")
    return model


def _model(text: object) -> Model:
    top = Node(text, "the model").mapping(_TOP)
    name = top["name"].text() if "name" in top else ""
    if not name:
        raise InvalidYamlError("the model has no name; expected name: ...")
    if "source" in top:
        top["source"].text()
    units = read_units(top.get("units"))
    if "limbs" in top:
        return _limbs(top, units)
    if "common" in top:
        raise InvalidYamlError("common: expected only beside limbs")
    ends: Dict[str, str] = {key: top[key].text() for key in ("base", "tip") if key in top}
    if _is_tree(top):
        tree = KinematicTree(linked_joints(top["joints"], units), name)
        return tree.chain(ends.get("base", tree.root), ends["tip"], name) if "tip" in ends else tree
    return _serial(top, units, name, ends)


def _limbs(top: Mapping[str, Node], units: Units) -> LimbSet:
    for key in ("dh", "convention", "tip"):
        if key in top:
            raise InvalidYamlError(f"{key}: expected inside the limbs, not beside them")
    base = top["base"].text() if "base" in top else None
    tree: Optional[KinematicTree] = None
    if "joints" in top:
        tree = KinematicTree(linked_joints(top["joints"], units), top["name"].text())
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
    return LimbSet(limbs, common)


def _serial(
    keys: Mapping[str, Node], units: Units, name: str, ends: Mapping[str, str], prefix: str = "joint_"
) -> SerialChain:
    if ("dh" in keys) == ("joints" in keys):
        raise InvalidYamlError(f"{name}: expected either dh or joints" + (", not both" if "dh" in keys else ""))
    if "dh" in keys:
        convention = keys["convention"].choice(("standard", "modified")) if "convention" in keys else "standard"
        return SerialChain.from_dh(dh_rows(keys["dh"], units, prefix), name=name, convention=convention, **ends)
    if "convention" in keys:
        raise InvalidYamlError("convention: expected only beside dh")
    if _is_tree(keys):
        raise InvalidYamlError(f"{keys['joints'].where}: name links; expected none of them in a limb's own joints")
    return SerialChain(linked_joints(keys["joints"], units, prefix), name, **ends)


def _is_tree(keys: Mapping[str, Node]) -> bool:
    """Tell whether the joints name links; all of them must, or none."""
    if "joints" not in keys:
        return False
    nodes = keys["joints"].items()
    named = [sum(key in node.mapping(LINKED) for key in ("parent", "child")) for node in nodes]
    for node, count in zip(nodes, named):
        if count == 1 or (count == 0) != (max(named) == 0):
            raise InvalidYamlError(f"{node.where}: expected parent and child in every joint, or in none")
    return bool(named) and named[0] == 2
