# SPDX-License-Identifier: MIT
"""The simulator node: parameters, description, controller, then the physics loop."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, Dict

import rospy

from shellbot_description import DescriptionError
from shellbot_simulator.core.config import load_config
from shellbot_simulator.core.errors import SimulatorError
from shellbot_simulator.core.shellbot_profile import shellbot_profile, variant_of
from shellbot_simulator.core.simulator import Simulator

from .node_parameters import NodeParameters, joint_gains
from .physics_loop_node import CONTROLLER, PhysicsLoop


def _build_simulator(parameters: NodeParameters, urdf_text: str, controller: Dict[str, Any]) -> Simulator:
    """Build the simulator with the controller's joints and gains.

    Raises
    ------
    SimulatorError
        If description, controller and settings do not fit together.
    """
    config = load_config(parameters.config or None)
    if parameters.friction:
        config = config.replace(friction=parameters.friction)
    found, wanted = variant_of(urdf_text), parameters.variant
    if wanted not in ("auto", found) and (wanted, found) != ("full", "simulation"):
        raise SimulatorError(
            f"~variant is {wanted}, but robot_description is {found}: give both launch files the same variant"
        )
    profile = shellbot_profile(urdf_text)
    joints = controller.get("joints", [])
    if not joints:
        rospy.logwarn(
            f"simulator: no parameter {CONTROLLER}/joints; taking the order of the description (load controllers.yaml)"
        )
    elif tuple(joints) != profile.joint_names:
        raise SimulatorError(
            f"{CONTROLLER}/joints ({len(joints)} joints) is not the order of the description "
            f"({len(profile.joint_names)} joints): load robot_description and controllers.yaml of the same variant"
        )
    gains, missing = joint_gains(controller, profile.joint_names, profile.gains)
    if missing:
        rospy.logwarn(
            f"simulator: no gains under {CONTROLLER}/<joint>/pid for {', '.join(missing[:3])}"
            f"{' ...' if missing[3:] else ''}; taking the servos' own stiffness (load controllers.yaml)"
        )
    return Simulator(urdf_text, config, dataclasses.replace(profile, gains=gains))


def main() -> None:
    """Run the node."""
    # rospy's own subscription to /clock would bring this node, at every tick, the time it has just published itself
    rospy.init_node("simulator", disable_rostime=True)
    try:
        if not rospy.get_param("/use_sim_time", False):
            raise SimulatorError(
                "the parameter /use_sim_time is not true, so the other nodes would run in wall time: "
                "set it before the nodes start (rosparam set /use_sim_time true, or <param> in the launch file)"
            )
        urdf_text = rospy.get_param("robot_description", "")
        if not urdf_text:
            raise SimulatorError(
                f"the parameter {rospy.resolve_name('robot_description')} is missing: "
                "include shellbot_description's description.launch"
            )
        parameters = NodeParameters.from_mapping(rospy.get_param("~", {}), "~")
        loop = PhysicsLoop(_build_simulator(parameters, urdf_text, rospy.get_param(CONTROLLER, {})), parameters)
    except (SimulatorError, DescriptionError) as error:
        rospy.logfatal(f"simulator: {error}")
        sys.exit(1)
    loop.run()
