# SPDX-License-Identifier: MIT
"""The profile of a snake, made from the number of its modules."""

from __future__ import annotations

from typing import Optional, Tuple

from shellbot_common import RobotProfile
from snake_description.variables import SnakeVariables, load_variables

CONTROLLER = "snake_controller"
_REACH = 3.0  # of a body's origin to its farthest corner, in module lengths: all that touches belongs to the body


def joint_names(modules: int) -> Tuple[str, ...]:
    """Return the joints from head to tail: the first is a pitch joint, the second a yaw joint, and so on."""
    return tuple(f"module_{k:02d}_{'pitch' if k % 2 else 'yaw'}" for k in range(1, modules + 1))


def link_names(modules: int) -> Tuple[str, ...]:
    """Return the bodies from head to tail, one more than modules."""
    return ("head", *(f"body_{k:02d}" for k in range(1, modules)), "tail")


def snake_profile(variables: Optional[SnakeVariables] = None) -> RobotProfile:
    """Return the profile of a snake.

    Parameters
    ----------
    variables : SnakeVariables, optional
        Those of the package's file if not given.
    """
    v = variables or load_variables()
    servo, joints, links = v.chosen_servo, joint_names(v.modules), link_names(v.modules)
    kind = {"stiffness": servo.stiffness, "armature": servo.armature, "velocity_gain": servo.velocity_gain}
    classes = ("pitch", "yaw") if v.modules > 1 else ("pitch",)
    return RobotProfile.from_mapping(
        {
            "name": "snake",
            "base": {"kind": "free", "link": "head", "spawn_pose": "straight"},
            "joints": {name: name.rsplit("_", 1)[1] for name in joints},
            "classes": dict.fromkeys(classes, kind),
            "controller": CONTROLLER,
            "gain_limits": {"p": 4.0 * servo.stiffness, "i": 4.0 * servo.stiffness, "d": servo.stiffness},
            "poses": {"straight": {f"{name}_deg": 0.0 for name in classes}},
            "limbs": {"body": {"base": "head", "joints": joints, "tips": ("tail",)}},
            "contacts": {link: {"kind": "body", "radius": _REACH * v.length} for link in links},
            "imu": "imu_link",
            # neighbours overlap when the joint between them bends
            "collision_exclusions": tuple(zip(links, links[1:])),
        }
    )
