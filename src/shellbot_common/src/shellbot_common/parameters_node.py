# SPDX-License-Identifier: MIT
"""Parameters that a launch file loads and a node cannot do without."""

from __future__ import annotations

import time
from typing import Any, Tuple

import rospy


def wait_for_parameters(*names: str) -> Tuple[Any, ...]:
    """Return the values of parameters, waiting for them as long as it takes; says once which one is missing.

    A name is looked for from the node's namespace upwards.

    Raises
    ------
    rospy.ROSInterruptException
        If the node is shut down meanwhile.
    """
    reported = ""
    while not rospy.is_shutdown():
        found = [rospy.search_param(name) for name in names]
        values = [rospy.get_param(name, None) if name else None for name in found]
        missing = next((name for name, value in zip(names, values) if not value), None)
        if missing is None:
            return tuple(values)
        if reported != missing:
            rospy.logwarn("%s: waiting for the parameter %s; sim.launch loads it", rospy.get_name()[1:], missing)
            reported = missing
        time.sleep(0.2)
    raise rospy.ROSInterruptException("shut down while waiting for parameters")
