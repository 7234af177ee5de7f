# SPDX-License-Identifier: MIT
"""What the simulator must know about a robot beyond its URDF, taken from the description package."""

from __future__ import annotations

import dataclasses
from typing import FrozenSet, Tuple

from .errors import ModelError
from .servo import PidGains


@dataclasses.dataclass(frozen=True)
class RobotProfile:
    """Everything about a robot that a URDF cannot express.

    Attributes
    ----------
    joint_names : tuple of str
        Driven joints; the order of every joint array of the simulator.
    gains : tuple of PidGains
        Gains of each joint until `Simulator.set_gains`.
    armature : tuple of float
        Rotor inertia seen at each joint, kg m^2.
    spawn_q : tuple of float
        Joint positions after a reset, rad.
    coupled_joints : tuple of tuples of str
        Groups of joints moved by one motor (the fan): all equal to the first.
    collision_exclusions : frozenset of frozenset of str
        Pairs of links that do not collide.
    foot_links : tuple of str
        Massless links at the foot tips.
    imu_link : str
        Link of the inertial unit; the root link stands in if it does not exist.
    """

    joint_names: Tuple[str, ...]
    gains: Tuple[PidGains, ...]
    armature: Tuple[float, ...]
    spawn_q: Tuple[float, ...]
    coupled_joints: Tuple[Tuple[str, ...], ...] = ()
    collision_exclusions: FrozenSet[FrozenSet[str]] = frozenset()
    foot_links: Tuple[str, ...] = ()
    imu_link: str = "imu_link"

    def __post_init__(self) -> None:
        """Check the lengths; raises ModelError."""
        count = len(self.joint_names)
        for name in ("gains", "armature", "spawn_q"):
            if len(getattr(self, name)) != count:
                raise ModelError(f"profile: {name} has {len(getattr(self, name))} entries for {count} joints")
        if not all(value >= 0.0 for value in self.armature):
            raise ModelError("profile: armature must be >= 0 kg m^2 for every joint")

    def index(self, joint: str) -> int:
        """Return the place of a joint in every joint array.

        Raises
        ------
        ModelError
            If the robot has no such joint; lists the joints.
        """
        try:
            return self.joint_names.index(joint)
        except ValueError:
            raise ModelError(f"unknown joint {joint!r}; the joints are {', '.join(self.joint_names)}") from None
