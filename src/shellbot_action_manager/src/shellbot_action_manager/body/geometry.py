# SPDX-License-Identifier: MIT
"""The robot as the action manager sees it, read from the description: no number of the robot is repeated here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Tuple, Union

import numpy as np

import shellbot_description as description
from robot_mechanics import DHRow, SerialChain
from robot_mechanics.dynamics import DynamicModel
from robot_mechanics.dynamics.standing import BallContact, StandingModel
from shellbot_action_manager.body.feed_forward import Body
from shellbot_action_manager.body.feet import Feet
from shellbot_action_manager.body.gores import Gores
from shellbot_action_manager.body.legs import LegGeometry
from shellbot_action_manager.body.limbs import LimbGroup
from shellbot_kinematics import LegSet, pack_upper, shell_heights, shell_joints
from shellbot_kinematics.shellbot_limbs import FAN, LIMB_JOINTS, LOWER_LIMBS, UPPER_LIMBS
from shellbot_simulator.core.static_model import StaticModel

LEG_COUNT = 6
LOWER_COUNT = 24  # joints of the six lower legs, first in every joint array


@dataclass(frozen=True)
class UpperLeg:
    """An upper leg in its plane."""

    packed: np.ndarray  #: (28,) for the closed form of the kinematics
    azimuth: float  #: Of its plane against that of the lower leg, rad
    upright: float  #: Sum of both joints at which the shell is vertical, rad
    limits: np.ndarray  #: (2, 2) Least and greatest angle of shoulder and shell, rad

    def solve(self, height: float, opening: float) -> np.ndarray:
        """Return shoulder and shell (2,) in rad for a height of the sphere centre (m) and an opening angle (rad).

        NaN when the height is out of reach.
        """
        return shell_joints(self.packed, height, self.upright - opening)

    def forward(self, q: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Return height (m) and opening angle (rad), (..., 2), and whether `solve` finds these joints, (...).

        Parameters
        ----------
        q : (..., 2) array
            Shoulder and shell, rad.
        """
        height, out = shell_heights(self.packed, q)
        return np.stack((height, self.upright - q.sum(axis=-1)), axis=-1), out


@dataclass(frozen=True)
class RobotGeometry:
    """Legs, upper shells and the postures that have a name.

    Attributes
    ----------
    joint_names : tuple of str
        Driven joints of the variant, in the order of every joint array.
    limbs : mapping of str to LimbGroup
        fan, lower and, unless the variant is `walker`, upper.
    legs : LegGeometry
        Lower legs.
    feet : Feet
        The balls at their ends.
    upper : UpperLeg or None
        Upper legs, all alike; None for the variant `walker`.
    sit_lower : (6, 4) array
        fan, coxa, femur, tibia of the sitting robot, rad.
    stand_lower, closed_lower : (6, 4) array
        The same of the standing robot and of the closed ball.
    gores : Gores or None
        The gores of the ball; None for the variant `walker`.
    statics : StaticModel
        Shapes and masses of its parts: what touches, and what torque holds a posture.
    body : Body
        Its equations of motion, on what it may stand on.
    top : float
        Height of the top of the trunk over base_link, m.
    up_upper, closed_upper : (6, 2) array
        shoulder, shell of the walking robot and of the closed ball, rad; empty (0, 2) for `walker`.
    """

    joint_names: Tuple[str, ...]
    limbs: Mapping[str, LimbGroup]
    legs: LegGeometry
    feet: Feet
    upper: Optional[UpperLeg]
    gores: Optional[Gores]
    statics: StaticModel
    body: Body
    top: float
    sit_lower: np.ndarray
    stand_lower: np.ndarray
    closed_lower: np.ndarray
    up_upper: np.ndarray
    closed_upper: np.ndarray

    def q_lower(self, q: np.ndarray) -> np.ndarray:
        """Return fan, coxa, femur, tibia of the lower legs, (6, 4), in all driven joints q (n,), rad."""
        return q[:LOWER_COUNT].reshape(6, 4)

    def overlap(self, q: np.ndarray) -> Tuple[float, str]:
        """Return how deep two parts overlap at worst, m, and which, in words; 0 and empty if none do.

        Parameters
        ----------
        q : (n,) array
            All driven joints, rad.
        """
        near = self.statics.near(q)
        if not near:
            return 0.0, ""
        (one, other), distance = min(near.items(), key=lambda item: item[1])
        return -distance, f"{one} and {other} would overlap by {-1e3 * distance:.1f} mm"


def load_geometry(variant: str = "simulation", design: Union[str, Mapping[str, Any], None] = None) -> RobotGeometry:
    """Return the geometry of a variant of the description.

    Parameters
    ----------
    variant : str
        simulation, full or walker.
    design : str or mapping, optional
        Another file of variables, or what differs from the adopted ones, as of `load_variables`.

    Raises
    ------
    shellbot_description.DescriptionError
        If there is no such variant or the variables are not valid.
    """
    variables = description.load_variables(design)
    urdf, profile = description.expand(variant, variables=design), description.robot_profile(variant, design)
    chains = tuple(_leg(variables, k) for k in range(1, LEG_COUNT + 1))
    names = description.driven_joint_names(variant)
    has_upper = len(names) > LOWER_COUNT
    sit, stand, closed = (description.named_pose_array(name, variant) for name in ("sit", "stand", "closed"))
    statics = StaticModel(urdf, profile)
    return RobotGeometry(
        joint_names=tuple(names),
        limbs=_groups(tuple(names)),
        legs=LegGeometry(LegSet.from_chains(chains)),
        feet=Feet(chains, variables.foot.radius, variables.foot.back),
        upper=_upper_leg(variables) if has_upper else None,
        gores=Gores.from_description(urdf, variables.gore.outer_radius) if has_upper else None,
        statics=statics,
        body=_body(has_upper, variables, design, statics.effort_limits),
        top=variables.shapes.chassis_top,
        sit_lower=sit[:LOWER_COUNT].reshape(6, 4),
        stand_lower=stand[:LOWER_COUNT].reshape(6, 4),
        closed_lower=closed[:LOWER_COUNT].reshape(6, 4),
        up_upper=stand[LOWER_COUNT:].reshape(-1, 2),
        closed_upper=closed[LOWER_COUNT:].reshape(-1, 2),
    )


def _groups(names: Tuple[str, ...]) -> Dict[str, LimbGroup]:
    """Return the limbs whose joints are driven; the fan is one joint, coupled from those of the lower legs."""
    place = {name: i for i, name in enumerate(names)}
    fans = [place[f"{limb}_{FAN}"] for limb in LOWER_LIMBS]
    groups = {"fan": LimbGroup((FAN,), np.array([[fans]]))}
    for name, limbs in (("lower", LOWER_LIMBS), ("upper", UPPER_LIMBS)):
        columns = [[[place.get(f"{limb}_{joint}", -1)] for joint in LIMB_JOINTS[limb]] for limb in limbs]
        if np.min(columns) >= 0:
            groups[name] = LimbGroup(limbs, np.array(columns))
    return groups


def _body(
    has_upper: bool,
    variables: description.Variables,
    design: Union[str, Mapping[str, Any], None],
    effort_limits: np.ndarray,
) -> Body:
    """Return the equations of motion, all fans for themselves, with feet and, with upper legs, gores to stand on."""
    variant = "simulation" if has_upper else "walker"
    profile = description.robot_profile(variant, design)
    rotors = {joint: profile.classes[name].armature for joint, name in profile.joints.items()}
    model = DynamicModel.from_urdf(description.expand(variant, variables=design), rotors, floating=True)
    contacts = [
        BallContact(f"{limb}_foot", (-variables.foot.back, 0.0, 0.0), variables.foot.radius) for limb in LOWER_LIMBS
    ]
    where = {"feet": slice(0, len(contacts))}
    if has_upper:
        gores = [f"{limb}_sphere_centre" for limb in (*LOWER_LIMBS, *UPPER_LIMBS)]
        where["rolling"] = slice(len(contacts), len(contacts) + len(gores))
        contacts += [BallContact(gore, radius=variables.gore.outer_radius) for gore in gores]
    return Body(StandingModel(model, contacts), where, effort_limits)


def _leg(variables: description.Variables, k: int) -> SerialChain:
    """Return lower leg `k` (1..6) from its Denavit-Hartenberg table, with the limits of its joints."""
    rows = []
    for row in description.dh_table_lower(variables, k):
        low, high = -math.inf, math.inf
        if row.kind != "fixed":
            joint = variables.limits(row.name.rsplit("_", 1)[1])
            low, high = joint.lower, joint.upper
        rows.append(DHRow(row.alpha, row.a, row.theta, row.d, row.kind, row.name, lower=low, upper=high))
    return SerialChain.from_dh(rows, name=f"lower_{k}")


def _upper_leg(variables: description.Variables) -> UpperLeg:
    """Return the upper legs' geometry from the Denavit-Hartenberg table of the first."""
    x, y = description.sphere_centre_in_shell(variables)
    centre = DHRow(0.0, math.hypot(x, y), math.atan2(y, x), 0.0, "fixed", "upper_1_sphere_centre")
    rows = [
        DHRow(row.alpha, row.a, row.theta, row.d, row.kind, row.name)
        for row in description.dh_table_upper(variables, 1)
    ]
    leg = variables.upper
    return UpperLeg(
        pack_upper(SerialChain.from_dh([*rows, centre], name="upper_1")),
        leg.azimuth,
        1.5 * math.pi - leg.sphere_delta - leg.sphere_epsilon,
        np.array([[joint.lower, joint.upper] for joint in map(variables.limits, LIMB_JOINTS[UPPER_LIMBS[0]])]).T,
    )
