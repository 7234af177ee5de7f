# SPDX-License-Identifier: MIT
"""The gains in force, for nodes whose commands depend on the servos' stiffness."""

from __future__ import annotations

from typing import Callable, Iterable, List

import rospy
from dynamic_reconfigure.msg import Config

from shellbot_control.gains import Gains
from shellbot_control.gains_conversions import gains_from_config


def subscribe_gains(
    controller: str, joints: Iterable[str], take: Callable[[str, Gains], None]
) -> List[rospy.Subscriber]:
    """Subscribe to what each joint's controller announces when it starts, and whenever its gains are changed.

    Parameters
    ----------
    controller : str
        Its namespace.
    joints : iterable of str
    take : callable
        Gets a joint's name and its gains; gains that cannot be understood are left out.

    Returns
    -------
    list of rospy.Subscriber
    """

    def announced(message: Config, joint: str) -> None:
        gains = gains_from_config(message)
        if gains is not None:
            take(joint, gains)

    return [
        rospy.Subscriber(f"{controller}/{joint}/pid/parameter_updates", Config, announced, joint) for joint in joints
    ]
