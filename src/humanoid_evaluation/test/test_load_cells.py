# SPDX-License-Identifier: MIT
"""The node's `contacts:=cells`: what the messages of the force sensors say, it stands and walks by."""

from __future__ import annotations

import pytest

from humanoid_evaluation.robot import Robot
from humanoid_motion.foot_wrenches import FootWrenches
from humanoid_motion.interface import Feedback
from humanoid_motion.parameters import WalkError

convert = pytest.importorskip("humanoid_motion.walk_conversions")
from geometry_msgs.msg import Quaternion, Vector3  # noqa: E402 - only where ROS is
from sensor_msgs.msg import Imu, JointState, PointCloud  # noqa: E402

import humanoid_description  # noqa: E402
from shellbot_simulator.node.sensor_conversions import load_cells_message  # noqa: E402


class ByMessages(Robot):
    """A robot whose core has its measurements over the messages of the force sensors."""

    def __init__(self):
        super().__init__(seed=310, contacts="cells")
        self.names, step = self.simulator.joint_names, self.core.step
        wrenches = FootWrenches(humanoid_description.urdf_text(), tuple(self.simulator.profile.contacts))
        stamp = convert.rospy.Time(3)

        def by_messages(feedback: Feedback):
            places, forces = self.simulator.load_cell_places, self.simulator.load_cells()
            feet = {sole: load_cells_message(forces[sole], places[sole], stamp, sole) for sole in forces}
            imu = Imu(orientation=Quaternion(*feedback.attitude), angular_velocity=Vector3(*feedback.rates))
            imu.linear_acceleration = Vector3(*feedback.specific_force)
            states = JointState(name=self.names, position=feedback.q.tolist())
            received = convert.feedback_from_messages(states, imu, feet, self.names, wrenches)
            assert received.wrenches == pytest.approx(feedback.wrenches, abs=1e-4), "as in one process"
            return step(received)

        self.core.step = by_messages


def test_it_stands_and_walks_by_the_messages_of_its_force_sensors():
    robot = ByMessages()
    while robot.time < 4.0:
        robot.core.command_twist([0.15 if robot.time > 1.0 else 0.0, 0.0, 0.0])
        robot.tick()
    assert robot.core.status().mode == "walk" and robot.state.p_world_base[0] > 0.3
    assert robot.core.engine.state().base[0] == pytest.approx(robot.state.p_world_base[0], abs=0.05)


def test_the_topics_are_those_of_the_simulator_and_anything_else_is_refused_in_words():
    assert convert.sole_topics("cells", ["l_sole"]) == [("load_cells/l_sole", PointCloud)]
    assert convert.sole_topics("wrench", ["l_sole"])[0][0] == "contact_wrenches/l_sole"
    with pytest.raises(WalkError, match="contacts is 'fsr'; choose one of wrench, cells"):
        convert.sole_topics("fsr", ["l_sole"])
    robot = ByMessages()
    places, forces = robot.simulator.load_cell_places["l_sole"], robot.simulator.load_cells()["l_sole"]
    message = load_cells_message(forces[:3], places, convert.rospy.Time(3), "l_sole")
    imu, wrenches = (
        Imu(orientation=Quaternion(0.0, 0.0, 0.0, 1.0)),
        FootWrenches(humanoid_description.urdf_text(), ["l_sole"]),
    )
    with pytest.raises(WalkError, match="load cells in l_sole: 3 forces of 4 sensors; give one of each"):
        convert.feedback_from_messages(JointState(), imu, {"l_sole": message}, [], wrenches)
