# SPDX-License-Identifier: MIT
"""What experiments with a robot that runs over ROS have in common: their node, and waiting in simulated time."""

from __future__ import annotations

import signal
import time
from typing import Callable, Optional, Tuple

import rosgraph
import rospy

from robot_mechanics.dynamics import DynamicModel
from shellbot_common import RobotProfile, SettingsError, Stamp, classify_stamp
from shellbot_common.robot_profile import PARAMETER

WAIT = 60.0  # s of wall clock without news
PERIOD = 0.02  # s of wall clock between looks


def begin_node(start: str) -> None:
    """Become a node that a terminal's end, or any other request to end, interrupts as Ctrl-C does.

    Parameters
    ----------
    start : str
        What to do where no robot runs, for the message.

    Raises
    ------
    SettingsError
        If there is no ROS master.
    """
    if not rosgraph.is_master_online():
        raise SettingsError(f"no ROS master at {rosgraph.get_master_uri()}; {start}")
    rospy.init_node("running", anonymous=True, disable_signals=True)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)


def loaded_robot(start: str) -> Tuple[str, RobotProfile, float]:
    """Return URDF, profile and mass, kg, of the robot that runs.

    Raises
    ------
    SettingsError
        If none is loaded; `start` as of `begin_node`.
    """
    urdf = rospy.get_param("robot_description", "")
    if not urdf or not rospy.has_param(PARAMETER):
        raise SettingsError(f"no robot is loaded; {start}")
    return urdf, RobotProfile.from_text(rospy.get_param(PARAMETER)), DynamicModel.from_urdf(urdf).mass


def wait_until(
    condition: Callable[[], bool], clock: Callable[[], float], meanwhile: Optional[Callable[[], None]] = None
) -> None:
    """Wait for what the robot does.

    Parameters
    ----------
    condition : callable
        Whether it is so.
    clock : callable
        Newest stamp of the robot, s of simulated time.
    meanwhile : callable, optional
        Called at each look.

    Raises
    ------
    SettingsError
        If the clock stands still, or goes back: the simulation was reset.
    """
    newest, news = clock(), time.monotonic()
    while not condition():
        now = clock()
        if classify_stamp(newest, now) is Stamp.RESET:
            raise SettingsError(f"the simulation was reset at {newest:.1f} s; start the same command again")
        if now > newest:
            newest, news = now, time.monotonic()
        if rospy.is_shutdown() or time.monotonic() > news + WAIT:
            raise SettingsError(f"nothing new of the robot for {WAIT:g} s; has the simulation ended, or is it paused?")
        if meanwhile is not None:
            meanwhile()
        time.sleep(PERIOD)
