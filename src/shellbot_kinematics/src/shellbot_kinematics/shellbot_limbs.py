# SPDX-License-Identifier: MIT
"""Shellbot's limbs: names, joints and tip frames, in the order of every per-limb array."""

from __future__ import annotations

from enum import IntEnum
from typing import Dict, Tuple

from robot_mechanics.errors import UnknownNameError


class Frame(IntEnum):
    """What a limb is commanded by, as the kernels number it."""

    FOOT = 0
    SPHERE_CENTRE = 1
    JOINT = 2
    HOLD = 3
    """The limb has no reference: it keeps its last targets."""


LIMBS: Tuple[str, ...] = tuple(f"{side}_{k}" for side in ("lower", "upper") for k in range(1, 7))
"""Legs in the order of every per-limb array: lower_1 .. lower_6, upper_1 .. upper_6."""

LOWER_LIMBS = LIMBS[:6]
UPPER_LIMBS = LIMBS[6:]

FAN = "fan"
"""The limb that turns the six lower legs about their vertical axes: one joint, no tip."""

LOWER_JOINTS = ("coxa", "femur", "tibia")
UPPER_JOINTS = ("shoulder", "shell")
LIMB_JOINTS: Dict[str, Tuple[str, ...]] = {
    **dict.fromkeys(LOWER_LIMBS, LOWER_JOINTS),
    **dict.fromkeys(UPPER_LIMBS, UPPER_JOINTS),
    FAN: ("fan",),
}
"""Joints of each limb, in the order of its references."""

_ROWS = {limb: row for row, limb in enumerate(LIMBS)}
_FRAME_LINKS: Dict[str, Dict[Frame, str]] = {
    limb: {
        frame: f"{limb}_{frame.name.lower()}"
        for frame in ((Frame.FOOT, Frame.SPHERE_CENTRE) if limb in LOWER_LIMBS else (Frame.SPHERE_CENTRE,))
    }
    for limb in LIMBS
}


def limb_index(limb: str) -> int:
    """Return the row of a leg in the per-limb arrays.

    Parameters
    ----------
    limb : str
        lower_1 .. upper_6.

    Raises
    ------
    UnknownNameError
        If there is no such leg.
    """
    try:
        return _ROWS[limb]
    except (KeyError, TypeError):
        raise UnknownNameError(f"unknown limb '{limb}'; use one of {', '.join(LIMBS)}") from None


def frame_links(limb: str) -> Dict[Frame, str]:
    """Return the tip frames of a leg: links of the description.

    Parameters
    ----------
    limb : str
        lower_1 .. upper_6.
    """
    return _FRAME_LINKS[limb]


def frame_of(limb: str, link: str) -> Frame:
    """Return which tip of a leg a link is.

    Parameters
    ----------
    limb : str
        lower_1 .. upper_6.
    link : str
        Such as lower_1_foot.

    Raises
    ------
    UnknownNameError
        If there is no such leg, or it has no such tip frame.
    """
    limb_index(limb)
    for frame, name in _FRAME_LINKS[limb].items():
        if name == link:
            return frame
    raise UnknownNameError(f"limb {limb} has no tip frame '{link}'; use {' or '.join(_FRAME_LINKS[limb].values())}")
