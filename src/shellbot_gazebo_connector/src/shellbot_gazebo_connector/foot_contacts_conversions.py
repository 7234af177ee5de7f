# SPDX-License-Identifier: MIT
"""From the messages of Gazebo's contact sensors, and to those of feet."""

from __future__ import annotations

import re
from typing import Any, List, Sequence

import numpy as np
import rospy
from geometry_msgs.msg import Point
from std_msgs.msg import Header

from shellbot_gazebo_connector.foot_contacts import FootLoads, Touch
from shellbot_msgs.msg import Contact, Contacts

_NAN = float("nan")
_NOWHERE = Point(_NAN, _NAN, _NAN)


def touches(message: Any, model: str) -> List[Touch]:
    """Return what a robot's sensor says of contacts with anything but the robot.

    Parameters
    ----------
    message : gazebo_msgs/ContactsState
        Points are in the world's axes; forces are those on the first of the two shapes, in the axes of its link,
        whatever frame the message names. A contact has a time of its own, which the message has in words only.
    model : str
        Name of the robot in Gazebo, with which the names of its shapes begin.
    """
    found = []
    for state in message.states:
        is_first = state.collision1_name.startswith(f"{model}::")
        if is_first and state.collision2_name.startswith(f"{model}::"):
            continue
        stated = re.search(r"\btime:(\d+\.\d+)", state.info)
        time = float(stated.group(1)) if stated else message.header.stamp.to_sec()
        forces = np.array([[w.force.x, w.force.y, w.force.z] for w in state.wrenches]).reshape(-1, 3)
        points = np.array([[p.x, p.y, p.z] for p in state.contact_positions]).reshape(-1, 3)
        link = state.collision1_name.split("::")[1] if is_first else ""  # the other thing stands level in the world
        found.append(Touch(time, link, forces if is_first else -forces, points))
    return found


def contacts_message(loads: FootLoads, names: Sequence[str], base: str) -> Contacts:
    """Return the message of the feet `names` at one tick, in the frame `base`."""
    rows = zip(names, loads.in_contact, loads.load_share, loads.p_base_foot, loads.centre_of_pressure)
    return Contacts(
        header=Header(stamp=rospy.Time.from_sec(loads.time), frame_id=base),
        model="feet",
        contacts=[
            Contact(name, bool(carries), _NAN, float(fraction), Point(*foot), Point(*centre), _NOWHERE)
            for name, carries, fraction, foot, centre in rows
        ],
    )
