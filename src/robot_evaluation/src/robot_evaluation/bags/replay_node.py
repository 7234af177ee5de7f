# SPDX-License-Identifier: MIT
"""Node ``replay``: checks that a bag is of the robot that is to be shown, and plays it with a clock."""

from __future__ import annotations

from pathlib import Path
from typing import List, Sequence, Tuple

import rosgraph
import rospy

from robot_evaluation.bags.data import BagData
from robot_evaluation.bags.live_robot_node import refuse_a_live_robot
from robot_evaluation.bags.read_conversions import Bag, joint_track
from robot_evaluation.bags.rosbag_node import program, run_child, run_node
from robot_evaluation.errors import EvaluationError
from shellbot_common import RobotProfile
from shellbot_common.parameters_node import wait_for_parameters
from shellbot_common.robot_profile import PARAMETER


def check(file: Path, robot: str, joints: Sequence[str], partial: bool) -> Tuple[str, ...]:
    """Return what is worth a warning about showing a bag on a robot.

    Parameters
    ----------
    file : pathlib.Path
        Of the bag.
    robot : str
        Name of the robot.
    joints : sequence of str
        The robot's.
    partial : bool
        Whether joints may be missing.

    Raises
    ------
    EvaluationError
        If the bag cannot be read, has no joint_states, or lacks joints of the robot.
    """
    with Bag(file) as bag:
        messages = bag.read(f"{bag.namespace()}/joint_states")
        if not messages:
            raise EvaluationError(f"{file} has no joint_states; it has {', '.join(bag.messages)}")
        data = BagData(str(file), bag.begin, bag.end, bag.messages, joints={"joint_states": joint_track(messages)})
        has_tf = any(topic.endswith("/tf") for topic in bag.messages)
    missing = data.missing_joints(joints)
    others = [name for name in data.joints["joint_states"].names if name not in joints]
    if missing and not partial:
        raise EvaluationError(
            f"{file} lacks {len(missing)} of {len(joints)} joints of {robot}: {', '.join(missing)}; replay it with the "
            "robot that it is of (robot:=NAME), or with partial:=true: what is missing then stays as it is"
        )
    notes = []
    if missing:
        notes.append(f"{', '.join(missing)} of {robot} are not in the bag and stay as they are")
    if others:
        notes.append(f"{', '.join(others)} of the bag are no joints of {robot}")
    if not has_tf:
        notes.append("the bag has no /tf: RViz shows nothing; record with purpose:=walk")
    return tuple(notes)


def replay() -> int:
    """Play until the node is stopped, the last picture staying when the bag is over; returns the player's status.

    Raises
    ------
    EvaluationError
        If the bag cannot be played on this robot.
    ProfileError
        If the robot's profile is wrong.
    """
    refuse_a_live_robot(rosgraph.get_master_uri(), rospy.get_name())
    file = Path(str(rospy.get_param("~bag"))).expanduser()
    rate, start = float(rospy.get_param("~rate", 1.0)), float(rospy.get_param("~start", 0.0))
    if not 0.01 <= rate <= 100.0 or start < 0.0:
        raise EvaluationError(f"rate:={rate:g} start:={start:g}: give a rate of 0.01 to 100, and seconds of 0 or more")
    profile = RobotProfile.from_text(*wait_for_parameters(PARAMETER))
    for note in check(file, profile.name, profile.joint_names, bool(rospy.get_param("~partial", False))):
        rospy.logwarn("replay: %s", note)
    command: List[str] = [
        program("play"),
        "--quiet",
        "--keep-alive",
        "--clock",
        "--hz=100",
        f"--rate={rate:g}",
        f"--start={start:g}",
    ]
    if rospy.get_param("~loop", False):
        command.append("--loop")
    rospy.loginfo("replay: %s at %g times its speed; Ctrl-C ends it", file, rate)
    return run_child([*command, str(file), f"__ns:={rospy.get_namespace()}"])


def main() -> int:
    """Run the node; returns its status."""
    return run_node("replay", replay)
