# SPDX-License-Identifier: MIT
"""The simulator node: parameters, description, controller, then the physics loop."""

from __future__ import annotations

import sys
from typing import Any, Dict

import rospy

from shellbot_common import RobotProfile, SettingsError
from shellbot_common.init_node import init_node
from shellbot_common.robot_profile import PARAMETER
from shellbot_control import check_controller_joints
from shellbot_simulator.core.config import load_config
from shellbot_simulator.core.errors import SimulatorError
from shellbot_simulator.core.model_builder import servo_gains
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.core.terrain import terrain

from .node_parameters import NodeParameters, joint_gains
from .physics_loop_node import PhysicsLoop


def _build_simulator(
    parameters: NodeParameters, urdf_text: str, profile: RobotProfile, controller: Dict[str, Any]
) -> Simulator:
    """Build the simulator with the controller's gains.

    Raises
    ------
    SimulatorError, SettingsError
        If description, profile, controller and settings do not fit together.
    """
    config = load_config(parameters.config or None, parameters.settings or None)
    if parameters.engine:
        config = config.replace(engine=parameters.engine)
    if parameters.friction:
        config = config.replace(friction=parameters.friction)
    if parameters.terrain != "flat":
        config = config.replace(**terrain(parameters.terrain).settings(max(0, parameters.seed)))
    if parameters.variant not in ("auto", profile.variant):
        raise SimulatorError(
            f"~variant is {parameters.variant}, but robot_profile is of {profile.variant or 'no variant'}: "
            "give both launch files the same variant"
        )
    if controller:
        check_controller_joints(controller, profile)
    gains, missing = joint_gains(profile.controller, controller, profile.joint_names, servo_gains(profile))
    if missing:
        rospy.logwarn(
            f"simulator: no gains under {profile.controller}/<joint>/pid for {', '.join(missing[:3])}"
            f"{' ...' if missing[3:] else ''}; taking the servos' own stiffness (load controllers.yaml)"
        )
    return Simulator(urdf_text, profile, config, gains)


def main() -> None:
    """Run the node."""
    # rospy's own subscription to /clock would bring this node, at every tick, the time it has just published itself
    init_node("simulator", disable_rostime=True)
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
                "include the launch file of a description"
            )
        parameters = NodeParameters.from_mapping(rospy.get_param("~", {}), "~")
        profile = RobotProfile.from_text(rospy.get_param(PARAMETER, ""))
        controller = rospy.get_param(profile.controller, {})
        loop = PhysicsLoop(_build_simulator(parameters, urdf_text, profile, controller), parameters)
    except (SimulatorError, SettingsError) as error:
        rospy.logfatal(f"simulator: {error}")
        sys.exit(1)
    loop.run()
