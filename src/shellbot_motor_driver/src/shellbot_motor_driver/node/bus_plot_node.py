# SPDX-License-Identifier: MIT
"""Command ``bus_plot``: ask a running motor_driver for the times of its bus loop and draw them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import rosgraph
import rospy
from std_srvs.srv import Trigger

from ax_tools.errors import ToolError
from shellbot_motor_driver.node.bus_plot import plot


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="bus_plot", description="Draw the times of the motor driver's bus loop.")
    parser.add_argument("--output", type=Path, default=Path("bus.png"), help="file to write (default bus.png)")
    parser.add_argument("--node", default="motor_driver", help="the driver's name (default motor_driver)")
    arguments = parser.parse_args(rospy.myargv(sys.argv)[1:])
    service = f"{arguments.node}/timing"
    if not rosgraph.is_master_online():
        raise SystemExit(f"bus_plot: no ROS master at {rosgraph.get_master_uri()}; start scripts/onboard first")
    try:
        # rospy waits for a service in a node only
        rospy.init_node("bus_plot", anonymous=True, disable_rostime=True, disable_signals=True)
        rospy.wait_for_service(service, timeout=5.0)
        answer = rospy.ServiceProxy(service, Trigger)()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except (rospy.ROSException, rospy.ServiceException) as error:
        raise SystemExit(f"bus_plot: {service} does not answer ({error}); is the driver running?") from error
    if not answer.success:
        raise SystemExit(f"bus_plot: {answer.message}")
    content = json.loads(answer.message)
    try:
        plot(content["counts"], content["figures"], arguments.output)
    except ToolError as error:
        raise SystemExit(f"bus_plot: {error}") from error
    sys.stdout.write(f"{arguments.output.resolve()}\n")
