# SPDX-License-Identifier: MIT
"""Obstacles from a terminal: ``rosrun shellbot_simulator obstacle add box crate --size 0.2 0.2 0.1 --at 1 0 0.05``."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any, List, Optional

import rosgraph
import rospy

from shellbot_common import add_command
from shellbot_common.rotations import quaternion_from_rpy
from shellbot_msgs.srv import DeleteObstacle, ListObstacles, SpawnObstacle
from shellbot_simulator.core.config import load_config
from shellbot_simulator.core.errors import SimulatorError
from shellbot_simulator.core.obstacles import SHAPES, Obstacle

from .obstacle_conversions import message_from_obstacle, obstacle_from_message

_WAIT = 5.0  # s of wall time for the simulator's service


def main(argv: Optional[List[str]] = None) -> None:
    """Add, delete or list obstacles of the embedded simulator while it runs, or print one as SDF for Gazebo."""
    parser = argparse.ArgumentParser(prog="obstacle", description=main.__doc__)
    parser.add_argument("--node", default="simulator", help="name of the simulator's node (default simulator)")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("add", "put one beside the robot"), ("sdf", "print it, for gazebo_ros spawn_model -sdf")):
        command = add_command(commands, name, text)
        command.add_argument("shape", choices=tuple(SHAPES))
        command.add_argument("name")
        sizes = "; ".join(f"{shape}: {' '.join(names)}" for shape, names in SHAPES.items())
        command.add_argument("--size", type=float, nargs="+", required=True, help=f"m; {sizes}")
        command.add_argument("--at", type=float, nargs=3, required=True, metavar=("X", "Y", "Z"), help="its middle, m")
        command.add_argument("--rpy-deg", type=float, nargs=3, default=(0.0, 0.0, 0.0), metavar=("R", "P", "Y"))
        command.add_argument("--mass", type=float, default=0.0, help="kg; 0: fixed (default)")
        command.add_argument("--friction", type=float, default=0.0, help="0: as everything else (default)")
    add_command(commands, "delete", "remove one").add_argument("name")
    add_command(commands, "list", "names, sizes and places")
    arguments = parser.parse_args([word for word in (argv or sys.argv[1:]) if ":=" not in word])
    try:
        if arguments.command == "sdf":
            sys.stdout.write(_obstacle(arguments).sdf(load_config().friction) + "\n")
        elif arguments.command == "add":
            message = message_from_obstacle(_obstacle(arguments))
            _finish(_call(arguments.node, "spawn_obstacle", SpawnObstacle, message))
        elif arguments.command == "delete":
            _finish(_call(arguments.node, "delete_obstacle", DeleteObstacle, arguments.name))
        else:
            for entry in _call(arguments.node, "list_obstacles", ListObstacles).obstacles:
                sys.stdout.write(_line(obstacle_from_message(entry)) + "\n")
    except SimulatorError as error:
        parser.error(str(error))


def _obstacle(arguments: argparse.Namespace) -> Obstacle:
    x, y, z = arguments.at
    turn = quaternion_from_rpy(*(math.radians(angle) for angle in arguments.rpy_deg))
    return Obstacle(
        arguments.name, arguments.shape, tuple(arguments.size), (x, y, z), turn, arguments.mass, arguments.friction
    )


def _line(obstacle: Obstacle) -> str:
    size, place = (" x ".join(f"{1e3 * edge:.0f}" for edge in obstacle.size), obstacle.position)
    held = f"{obstacle.mass:g} kg" if obstacle.mass else "fixed"
    return f"{obstacle.name}: {obstacle.shape} {size} mm at {place[0]:.3f} {place[1]:.3f} {place[2]:.3f} m, {held}"


def _call(node: str, name: str, kind: Any, *values: Any) -> Any:
    service = f"{node}/{name}"
    try:
        if not rosgraph.is_master_online():
            raise rospy.ROSException(f"no ROS master at {rosgraph.get_master_uri()}")
        # rospy waits for a service in a node only
        rospy.init_node("obstacle", anonymous=True, disable_rostime=True, disable_signals=True)
        rospy.wait_for_service(service, timeout=_WAIT)
        return rospy.ServiceProxy(service, kind)(*values)
    except KeyboardInterrupt:
        sys.exit(130)
    except (rospy.ROSException, rospy.ServiceException, OSError) as error:
        sys.exit(
            f"{service} does not answer ({error}): is the embedded simulator running? For Gazebo: rosrun "
            "shellbot_simulator obstacle sdf ... | rosrun gazebo_ros spawn_model -sdf -stdin -model NAME"
        )


def _finish(answer: Any) -> None:
    sys.stdout.write(answer.reason + "\n") if answer.success else sys.exit(answer.reason)
