# SPDX-License-Identifier: MIT
"""Where the bodies of a bent snake are, and the frame that moves with all of them: the virtual chassis.

The chassis stands at the centre of mass; its x axis is the mean direction of the bodies on the ground, which is
defined for arcs, too, where principal axes are not (virtual chassis: Rollinson, Buchan,
Choset, IROS 2011, with principal axes).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

from snake_motion.chassis_kernels import chain

UP = np.array([0.0, 0.0, 1.0])
"""The vertical of a frame whose z is up."""


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


def body_poses(q: np.ndarray, geometry: BodyGeometry, rotation_head: Optional[np.ndarray] = None) -> BodyPoses:
    """Return the bodies, seen from the centre of the head; cost grows linearly with the modules.

    Parameters
    ----------
    q : (n,) array
        Joint angles from head to tail, rad: pitch (about -y), yaw (about z), pitch, ...
    geometry : BodyGeometry
        Sizes.
    rotation_head : (3, 3) array, optional
        head -> the frame of the result; in the frame `head` if not given.
    """
    n = geometry.modules
    poses = BodyPoses(np.empty((n + 1, 3)), np.empty((n + 1, 3, 3)))
    head = np.eye(3) if rotation_head is None else np.ascontiguousarray(rotation_head)
    chain(np.array(q, dtype=float), geometry.length, head, poses.centre, poses.rotation)
    return poses


@functools.lru_cache(maxsize=None)
def body_masses(modules: int) -> np.ndarray:
    """Return the masses of the bodies in modules, (n + 1,): halves at the ends; not to be changed."""
    masses = np.ones(modules + 1)
    masses[0] = masses[-1] = 0.5
    masses.flags.writeable = False
    return masses


def centre_of_mass(poses: BodyPoses) -> np.ndarray:
    """Return the centre of mass, (3,)."""
    modules = len(poses.centre) - 1
    return body_masses(modules) @ poses.centre / modules


def heading(poses: BodyPoses) -> float:
    """Return the yaw of the bodies' mean direction, rad, in a frame whose z is up."""
    x, y, _ = body_masses(len(poses.centre) - 1) @ poses.rotation[:, :, 0]
    return math.atan2(y, x)


def roll_of(poses: BodyPoses, up: np.ndarray) -> Tuple[float, float]:
    """Return the roll about the body's axis, rad (0: upright, positive: right side down), and the mean component of the
    bodies' tops along the vertical, -1 .. 1.

    Parameters
    ----------
    poses : BodyPoses
        In any frame.
    up : (3,) array
        The vertical in that frame, of length 1.
    """
    _, left, top = up @ poses.rotation.sum(axis=0) / len(poses.rotation)
    return math.atan2(left, top), float(top)
