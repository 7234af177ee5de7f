# SPDX-License-Identifier: MIT
"""Shellbot's profile, from the description package."""

from __future__ import annotations

from shellbot_description import collision_exclusions, driven_joint_names, joint_class, load_variables, named_pose_array

from .errors import ModelError
from .model_builder import urdf_joint_names
from .robot_profile import RobotProfile
from .servo import PidGains

_LEGS = range(1, 7)
_SIMULATED = ("simulation", "walker")  # `full` has the same driven joints as `simulation`


def variant_of(urdf_text: str) -> str:
    """Return the variant whose driven joints are the movable joints of the URDF.

    Raises
    ------
    ModelError
        If no variant fits; says which joints are too many or missing.
    """
    joints = set(urdf_joint_names(urdf_text))
    for variant in _SIMULATED:
        if joints == set(driven_joint_names(variant)):
            return variant
    closest = min(_SIMULATED, key=lambda name: len(joints ^ set(driven_joint_names(name))))
    differing = sorted(joints ^ set(driven_joint_names(closest)))
    raise ModelError(
        f"the robot description is no variant of Shellbot: against {closest!r} it differs in {', '.join(differing[:6])}"
        f"{' ...' if len(differing) > 6 else ''}; load robot_description from shellbot_description"
    )


def shellbot_profile(urdf_text: str) -> RobotProfile:
    """Return the profile of the variant in the URDF; the gains are the servos' own stiffness.

    Raises
    ------
    ModelError
        If the URDF is no Shellbot.
    """
    variant = variant_of(urdf_text)
    variables = load_variables()
    names = driven_joint_names(variant)
    classes = [joint_class(name) for name in names]
    return RobotProfile(
        joint_names=tuple(names),
        gains=tuple(PidGains(p=variables.servo_stiffness(name)) for name in classes),
        armature=tuple(variables.armature(name) for name in classes),
        spawn_q=tuple(float(angle) for angle in named_pose_array("spawn", variant)),
        coupled_joints=(tuple(f"lower_{leg}_fan" for leg in _LEGS),),
        collision_exclusions=collision_exclusions(variant),
        foot_links=tuple(f"lower_{leg}_foot" for leg in _LEGS),
    )
