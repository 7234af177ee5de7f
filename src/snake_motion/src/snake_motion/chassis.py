# SPDX-License-Identifier: MIT
"""Where the bodies of a bent snake are, and the frame that moves with all of them: the virtual chassis.

The chassis stands at the centre of mass; its x axis is the mean direction of the bodies on the ground, which is
defined for arcs, too, where principal axes are not (virtual chassis: Rollinson, Buchan,
Choset, IROS 2011, with principal axes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Optional

import numpy as np

from snake_motion.chassis_kernels import chain, means


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


class Chassis(NamedTuple):
    """The virtual chassis."""

    x: float  #: x, y, z: centre of mass, m
    y: float
    z: float
    yaw: float  #: Of the bodies' mean direction, rad
    roll: float  #: About the body's axis, rad (0: upright, positive: right side down)
    up: float  #: Mean component of the bodies' tops along the vertical, -1 .. 1


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


def chassis_of(poses: BodyPoses) -> Chassis:
    """Return the virtual chassis of bodies in a frame whose z is up."""
    return Chassis(*means(poses.centre, poses.rotation))
