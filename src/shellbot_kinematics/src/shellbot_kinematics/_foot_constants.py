# SPDX-License-Identifier: MIT
"""What the kernels of closed-form batches need to know of a leg."""

from __future__ import annotations

import math
from typing import Any, Dict, Union
from weakref import WeakKeyDictionary

import numpy as np

from robot_mechanics.errors import InvalidReferenceError
from shellbot_kinematics import _layout as layout
from shellbot_kinematics.limb_inverse import LegBranch
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel

NEAREST = "nearest"
SLACK = 1e-12  # rad beyond a limit that is rounding: a joint at its limit is within it
_CACHED = 64  # sets of constants kept for a model
_made: WeakKeyDictionary[ShellbotModel, Dict[Any, np.ndarray]] = WeakKeyDictionary()


def cached_constants(
    model: ShellbotModel,
    limb: str,
    frame: Frame,
    branch: Union[LegBranch, str],
    limits: bool,
    fan: float,
    from_zero: bool = False,
) -> np.ndarray:
    """Return the rows (2 * branches, CONSTANTS) of _foot_lanes, made once for batches that ask for the same;
    they cost as much as 10,000 targets.

    branch: one, or "nearest" for all four. from_zero: count joints from zero instead of from the middle of their
    limits.
    """
    cached = _made.setdefault(model, {})
    key = (limb, frame, branch, bool(limits), fan, from_zero)
    found = cached.get(key)
    if found is None:
        if len(cached) >= _CACHED:
            cached.clear()
        found = cached[key] = _constants(model, limb, frame, branch, limits, fan, from_zero)
    return found


def _constants(
    model: ShellbotModel,
    limb: str,
    frame: Frame,
    branch: Union[LegBranch, str],
    limits: bool,
    fan: float,
    from_zero: bool = False,
) -> np.ndarray:
    if branch == NEAREST:
        chosen = list(LegBranch)
    elif isinstance(branch, LegBranch):
        chosen = [branch]
    else:
        raise InvalidReferenceError(f"branch is {branch!r}; expected a LegBranch or '{NEAREST}'")
    leg = LOWER_LIMBS.index(limb)
    g = model.legs[leg]
    low, high = model.lower[4 * leg + 1 : 4 * leg + 4], model.upper[4 * leg + 1 : 4 * leg + 4]
    tip = layout.G_TIP + 3 * (0 if frame == Frame.FOOT else 1)
    h, outer, b0 = g[tip : tip + 3]
    link, a0, sf, st = (float(g[i]) for i in (layout.G_L, layout.G_A0, layout.G_SF, layout.G_ST))
    off = g[layout.G_OFF : layout.G_OFF + 3]
    turn = np.eye(4)
    R = g[layout.G_ROT : layout.G_ROT + 9].reshape(3, 3)  # noqa: N806
    c, s = math.cos(g[layout.G_SFAN] * fan), math.sin(g[layout.G_SFAN] * fan)
    turn[:3, :3] = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ R
    turn[:3, 3] = -turn[:3, :3] @ g[layout.G_FAN : layout.G_FAN + 3] - off - [0.0, 0.0, g[layout.G_ZF]]
    middle = 0.0 * low if from_zero else 0.5 * (low + high)
    # from the coxa's middle; the fan's axis is parallel to the coxa's, so that targets may be turned before the fan
    c, s = math.cos(middle[0]), math.sin(middle[0])
    back = np.array([[c, s, 0.0, 0.0], [-s, c, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    off = back[:3, :3] @ off
    c, s = math.cos(a0 - sf * middle[1]), math.sin(a0 - sf * middle[1])  # femur's own zero, from its middle
    bounds = (low - SLACK, high + SLACK) if limits else (np.full(3, -np.inf), np.full(3, np.inf))
    rows = []
    for T in (back @ turn, np.eye(4)):  # noqa: N806 - the second: targets that the kernel has turned itself
        for side, knee in (one.value for one in chosen):
            # the tibia covers half a turn from its start on; the part of it beyond the middle + pi is turned back
            start, direction = st * (b0 - a0), -st * knee
            least = min(start, start + direction * math.pi)
            start -= 2.0 * math.pi * math.floor((least - middle[2]) / (2.0 * math.pi) + 0.5)
            rows.append(
                [*T[:3, :3].ravel(), *T[:3, 3], h, side, g[layout.G_L2]]
                + [0.5 / (link * outer), 0.5 * (link / outer + outer / link), knee]
                + [link * c, outer * c, link * s, outer * s]
                + [middle[0], middle[1], -sf, start, 2.0 * direction, middle[2] + math.pi]
                + [*bounds[0], *bounds[1], *off, g[layout.G_SFAN]]
            )
    return np.array(rows)
