# SPDX-License-Identifier: MIT
"""What every limb should do at one tick, for any robot: the contract between the action manager and kinematics."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import NamedTuple, Sequence, Tuple

_NAN = math.nan


class Kind(IntEnum):
    """What a reference commands; numbered as in LimbReference.msg."""

    POSE = 0
    JOINTS = 1
    HOLD = 2
    """The limb keeps its last targets, as one without a reference does."""


class LimbReference(NamedTuple):
    """Reference of one limb; NaN in a pose or twist is a free coordinate."""

    limb: str  #: Its name
    kind: Kind  #: Pose of a tip frame, joints, or hold
    frame: str = ""  #: POSE: a tip frame of the limb
    #: position, linear: Of that frame in base_link, m and m/s
    position: Sequence[float] = (_NAN, _NAN, _NAN)
    linear: Sequence[float] = (_NAN, _NAN, _NAN)
    orientation: Sequence[float] = (_NAN, _NAN, _NAN, _NAN)  #: Quaternion x, y, z, w in base_link
    angular: Sequence[float] = (_NAN, _NAN, _NAN)  #: rad/s, in base_link's axes
    #: joint_position, joint_velocity: JOINTS: rad, rad/s, in the limb's order of joints; no velocities: zero
    joint_position: Sequence[float] = ()
    joint_velocity: Sequence[float] = ()
    effort: Sequence[float] = ()  #: Feed-forward effort of the joints, N m; none: zero
    load_share: float = _NAN  #: Fraction of the robot's weight that the limb is to carry, 0..1; NaN: not planned


class LimbReferences(NamedTuple):
    """References at one tick; a limb that is missing holds."""

    stamp: float  #: Simulated time of the tick, s
    #: At most one per limb. Whether names and numbers make sense is checked where they are solved.
    limbs: Tuple[LimbReference, ...] = ()
