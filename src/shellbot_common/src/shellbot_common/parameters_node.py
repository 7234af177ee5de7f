# SPDX-License-Identifier: MIT
"""Parameters that a launch file loads and a node cannot do without, and those that outlive a crash of their node."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Tuple

import rospy

_KEEPING = threading.Lock()


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


def keep_parameter(name: str, value: Callable[[], Any]) -> None:
    """Keep a value on the parameter server, over a crash of the node; say so where there is no master.

    Hold no lock that others need: a master that hangs does not answer.

    Parameters
    ----------
    name : str
        The parameter.
    value : callable
        Returns the present value. One thread at a time keeps it, so that the last one kept is the newest.
    """
    with _KEEPING:
        newest = value()
        try:
            rospy.set_param(name, newest)
        except OSError as error:
            lost = "is in force, but not on the parameter server, and lost if this node crashes; is roscore there?"
            rospy.logerr("%s: %s %r %s (%s)", rospy.get_name()[1:], name, newest, lost, error)
