# SPDX-License-Identifier: MIT
"""Where the bodies of a bent snake are, and the frame that moves with all of them: the virtual chassis.

The chassis stands at the centre of mass; its x axis is the mean direction of the bodies on the ground, which is
defined for arcs, too, where principal axes are not (virtual chassis: Rollinson, Buchan,
Choset, IROS 2011, with principal axes).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Tuple

import numpy as np


@dataclass(frozen=True)
class BodyGeometry:
    """Sizes of a module, m."""

    modules: int
    length: float
    width: float
    height: float


@dataclass(frozen=True)
class BodyPoses:
    """Centres and orientations of the modules + 1 bodies, head first, in some frame."""

    centre: np.ndarray  #: (n + 1, 3) m
    rotation: np.ndarray  #: (n + 1, 3, 3) body -> frame


def body_poses(q: np.ndarray, geometry: BodyGeometry) -> BodyPoses:
    """Return the bodies in the frame `head`; cost grows linearly with the modules.

    Parameters
    ----------
    q : (n,) array
        Joint angles from head to tail, rad: pitch (about -y), yaw (about z), pitch, ...
    geometry : BodyGeometry
        Sizes.
    """
    n, length = geometry.modules, geometry.length
    cos, sin = np.cos(q), np.sin(q)
    turns = np.zeros((n, 3, 3))
    turns[0::2, 0, 0], turns[0::2, 0, 2], turns[0::2, 1, 1] = cos[0::2], -sin[0::2], 1.0
    turns[0::2, 2, 0], turns[0::2, 2, 2] = sin[0::2], cos[0::2]
    turns[1::2, 0, 0], turns[1::2, 0, 1], turns[1::2, 2, 2] = cos[1::2], -sin[1::2], 1.0
    turns[1::2, 1, 0], turns[1::2, 1, 1] = sin[1::2], cos[1::2]
    rotation = np.empty((n + 1, 3, 3))
    rotation[0] = np.eye(3)
    for i in range(n):
        rotation[i + 1] = rotation[i] @ turns[i]
    forward = rotation[:, :, 0]
    reach = np.full(n, length)  # from each joint to the next, the first from the head's centre
    reach[0] = 0.25 * length
    joint = -np.cumsum(reach[:, None] * forward[:-1], axis=0)
    half = np.full(n, 0.5 * length)
    half[-1] = 0.25 * length
    centre = np.vstack([np.zeros(3), joint - half[:, None] * forward[1:]])
    return BodyPoses(centre, rotation)


def body_masses(modules: int) -> np.ndarray:
    """Return the masses of the bodies in modules, (n + 1,): halves at the ends."""
    masses = np.ones(modules + 1)
    masses[0] = masses[-1] = 0.5
    return masses


def centre_of_mass(poses: BodyPoses) -> np.ndarray:
    """Return the centre of mass, (3,)."""
    masses = body_masses(len(poses.centre) - 1)
    return masses @ poses.centre / masses.sum()


def heading(poses: BodyPoses) -> float:
    """Return the yaw of the bodies' mean direction, rad, in a frame whose z is up."""
    x, y, _ = body_masses(len(poses.centre) - 1) @ poses.rotation[:, :, 0]
    return math.atan2(y, x)


def roll_of(poses: BodyPoses, up: np.ndarray) -> Tuple[float, float]:
    """Return the roll about the body's axis, rad (0: upright, positive: right side down), and how sure it is, 0 .. 1.

    Parameters
    ----------
    poses : BodyPoses
        In any frame.
    up : (3,) array
        The vertical in that frame, of length 1.
    """
    left, top = (float(np.mean(poses.rotation[:, :, axis] @ up)) for axis in (1, 2))
    return math.atan2(left, top), math.hypot(left, top)
