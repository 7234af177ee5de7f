# SPDX-License-Identifier: MIT
"""Command `move_joint`: named joints, or a pose of the profile, on the running humanoid."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any, Dict, Mapping, Optional, Sequence

import rosgraph
import rospy

from humanoid_motion.joint_motion import JointRange, joint_ranges
from shellbot_common import RobotProfile, SettingsError, named_numbers
from shellbot_common.robot_profile import PARAMETER
from shellbot_msgs.srv import MoveJoints, MoveJointsResponse

_EXAMPLES = """examples:
  rosrun humanoid_motion move_joint RShoulderRoll=-1.3 LShoulderRoll=1.3 HeadYaw=-1.15 --speed 0.1
  rosrun humanoid_motion move_joint HeadPitch=20 --deg
  rosrun humanoid_motion move_joint --pose crouch
  rosrun humanoid_motion move_joint --list
The target is held until the next one; after `--pose stand`, or with cmd_vel, the robot balances and walks again."""
_PATIENCE = 10.0  # s of wall clock for the service


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the command; returns 0, 1 if the robot refuses, 2 for arguments that cannot be used."""
    parser = argparse.ArgumentParser(
        prog="move_joint", description=__doc__, epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="NAME=ANGLE", help="joint and angle, rad")
    parser.add_argument("--deg", action="store_true", help="angles are in degrees")
    parser.add_argument("--speed", type=float, default=0.2, metavar="F", help="fraction of the maximum speed (0.2)")
    parser.add_argument("--pose", metavar="NAME", help="all joints to a pose of the robot's profile")
    parser.add_argument("--list", action="store_true", help="names and limits of the joints, names of the poses")
    options = parser.parse_args(rospy.myargv(arguments)[1:] if arguments is None else arguments)
    try:
        return _run(options)
    except (SettingsError, rospy.ROSException, rospy.ServiceException, OSError) as error:
        _say(f"move_joint: {error}")
        return 2


def _run(options: argparse.Namespace) -> int:
    if not rosgraph.is_master_online():
        raise SettingsError(f"no ROS master at {rosgraph.get_master_uri()}; start scripts/sim robot:=humanoid")
    if rospy.get_name() == "/unnamed":
        rospy.init_node("move_joint", anonymous=True, disable_rostime=True, disable_signals=True)
    profile = RobotProfile.from_text(rospy.get_param(PARAMETER, ""))
    if options.list:
        _say(listing(joint_ranges(rospy.get_param("robot_description"), profile)))
        _say(f"poses: {', '.join(profile.poses)}")
        return 0
    if bool(options.targets) == bool(options.pose):
        raise SettingsError("give either NAME=ANGLE ... or --pose NAME; --help has examples")
    targets = profile.pose(options.pose) if options.pose else targets_of(options.targets, options.deg)
    answer: Any = _answer(targets, options)
    _say(f"move_joint: {'' if answer.accepted else 'refused: '}{answer.reason}")
    return 0 if answer.accepted else 1


def listing(ranges: Mapping[str, JointRange]) -> str:
    """Return a line for each joint: its limits, and whose motor turns it, too."""
    lines = [f"{'joint':<16}{'limits / rad':>22}{'limits / deg':>22}"]
    for name, joint in ranges.items():
        low_deg, high_deg = math.degrees(joint.lower), math.degrees(joint.upper)
        motor = f"  by the motor of {joint.leader}" if joint.leader else ""
        limits = f"{joint.lower:>10.4f} .. {joint.upper:7.4f}{low_deg:>11.2f} .. {high_deg:7.2f}"
        lines.append(f"{name:<16}{limits}{motor}")
    return "\n".join(lines)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _answer(targets: Dict[str, float], options: argparse.Namespace) -> MoveJointsResponse:
    rospy.wait_for_service("move_joints", timeout=_PATIENCE)
    return rospy.ServiceProxy("move_joints", MoveJoints)(list(targets), list(targets.values()), options.speed)


def targets_of(words: Sequence[str], deg: bool) -> Dict[str, float]:
    """Return joint to angle, rad, of words NAME=ANGLE.

    Raises
    ------
    SettingsError
        If a word is none, or names a joint again.
    """
    targets = named_numbers(words, "HeadYaw=20" if deg else "HeadYaw=0.5")
    return {name: math.radians(angle) if deg else angle for name, angle in targets.items()}
