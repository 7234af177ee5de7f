# SPDX-License-Identifier: MIT
"""The profile of a snake, made from the number of its modules."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from shellbot_common import RobotProfile
from snake_description.variables import SnakeVariables, load_variables

CONTROLLER = "snake_controller"
MODEL = "AX-12A"
ZERO = 511.5  # steps: a straight joint is in the middle of its servo's range
_REACH = 3.0  # of a body's origin to its farthest corner, in module lengths: all that touches belongs to the body


def joint_names(modules: int) -> Tuple[str, ...]:
    """Return the joints from head to tail: the first is a pitch joint, the second a yaw joint, and so on."""
    return tuple(f"module_{k:02d}_{'pitch' if k % 2 else 'yaw'}" for k in range(1, modules + 1))


def link_names(modules: int) -> Tuple[str, ...]:
    """Return the bodies from head to tail, one more than modules."""
    return ("head", *(f"body_{k:02d}" for k in range(1, modules)), "tail")


def servo_map(variables: Optional[SnakeVariables] = None) -> Dict[str, Any]:
    """Return the servo map of a snake of AX-12A modules, as the motor driver reads it: IDs from 0 at the head.

    Parameters
    ----------
    variables : SnakeVariables, optional
        Those of the package's file if not given.
    """
    v = variables or load_variables()
    joints = joint_names(v.modules)
    return {
        "servos": {name: {"id": index, "zero": ZERO, "sign": 1} for index, name in enumerate(joints)},
        "classes": {kind: {"model": MODEL, "gear": 1.0} for kind in _kinds(v.modules)},
    }


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
    classes = _kinds(v.modules)
    return RobotProfile.from_mapping(
        {
            "name": "snake",
            "base": {"kind": "free", "link": "head", "spawn_pose": "straight"},
            "joints": {name: name.rsplit("_", 1)[1] for name in joints},
            "classes": dict.fromkeys(classes, kind),
            "controller": CONTROLLER,
            "gain_presets": {"soft": {"text": "half the stiffness, for rough ground", "stiffness": 0.5}},
            "gain_limits": {"p": 4.0 * servo.stiffness, "i": 4.0 * servo.stiffness, "d": servo.stiffness},
            "poses": {"straight": {f"{name}_deg": 0.0 for name in classes}},
            "limbs": {"body": {"base": "head", "joints": joints, "tips": ("tail",)}},
            "contacts": {link: {"kind": "body", "radius": _REACH * v.length} for link in links},
            "imu": "imu_link",
            # neighbours overlap when the joint between them bends
            "collision_exclusions": tuple(zip(links, links[1:])),
        }
    )


def _kinds(modules: int) -> Tuple[str, ...]:
    return ("pitch", "yaw") if modules > 1 else ("pitch",)
