# SPDX-License-Identifier: MIT
"""A small robot for tests: a box with two arms on short stalks, and its profile."""

from __future__ import annotations

from typing import Any

from shellbot_common import RobotProfile

_ARM = """
<joint name="{name}" type="revolute"><parent link="chassis"/><child link="{name}_link"/><origin xyz="{x} 0 0"/>
  <axis xyz="0 0 1"/>
  <limit lower="-1.5" upper="1.5" effort="1.5" velocity="6.2"/><dynamics damping="{damping}"/></joint>
<link name="{name}_link"><inertial><mass value="0.05"/><origin xyz="0.05 0 0"/>
  <inertia ixx="2e-5" iyy="5e-5" izz="5e-5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{name}_fixed" type="fixed"><parent link="{name}_link"/><child link="{name}_tip"/>
  <origin xyz="0.1 0 0"/></joint>
<link name="{name}_tip"/>
"""

URDF = (
    """<robot name="tiny"><link name="base_link"/>
<joint name="base_fixed" type="fixed"><parent link="base_link"/><child link="chassis"/></joint>
<link name="chassis"><inertial><mass value="20"/><origin xyz="0 0 -0.04"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><box size="0.3 0.3 0.1"/></geometry>
  <material name="red"><color rgba="0.9 0.1 0.1 1"/></material></visual>
  <collision><geometry><box size="0.3 0.3 0.1"/></geometry></collision></link>
"""
    + _ARM.format(name="left", x=0.05, damping=0.2427)
    + _ARM.format(name="right", x=-0.05, damping=0.2427)
    + "</robot>"
)


def profile(**changes: Any) -> RobotProfile:
    """The tiny robot's profile with some entries changed."""
    values = {
        "name": "tiny",
        "base": {"kind": "free", "spawn_pose": "zero"},
        "joints": {"left": "arm", "right": "arm"},
        "classes": {"arm": {"stiffness": 18.5, "armature": 0.006}},
        "controller": "tiny_controller",
        "gain_limits": {"p": 100.0, "i": 50.0, "d": 2.0},
        "poses": {"zero": {"arm_deg": 0.0}},
    }
    return RobotProfile.from_mapping({**values, **changes})
