# SPDX-License-Identifier: MIT
"""Initialise a node that a signal ends at any time, also while it talks to the master."""

from __future__ import annotations

import signal
import threading
from typing import Any

import rospy


def init_node(name: str, **options: Any) -> None:
    """
    Initialise a ROS node; SIGINT and SIGTERM shut it down from a thread of their own.

    rospy's own handlers shut down in the main thread. Where the signal meets that thread in a call to the master, as
    it does while a node starts, it holds the lock that the shutdown needs, and the node hangs until it is killed.

    Parameters
    ----------
    name : str
        Of the node.
    **options
        Of `rospy.init_node`, except ``disable_signals``.

    Raises
    ------
    ValueError
        If it is not called from the main thread, or the name is no legal one.
    rospy.ROSException
        If the node cannot be initialised, or a signal came meanwhile.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _shut_down)
    rospy.init_node(name, disable_signals=True, **options)


def _shut_down(number: int, _frame: Any) -> None:
    threading.Thread(target=rospy.signal_shutdown, args=(f"signal-{number}",), name="shut-down").start()
