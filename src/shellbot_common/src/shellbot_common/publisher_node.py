# SPDX-License-Identifier: MIT
"""A publisher for callbacks that may still run while their node shuts down."""

from __future__ import annotations

from typing import Any

import rospy


class Publisher(rospy.Publisher):
    """
    A ``rospy.Publisher`` that drops messages once a shutdown was requested.

    rospy closes the topics first and says ``is_shutdown()`` only after that. A message that arrives in between runs its
    callback as ever, and a plain publisher then ends a Ctrl-C with a traceback.
    """

    def publish(self, *args: Any, **kwds: Any) -> None:
        """
        Publish a message.

        Parameters
        ----------
        *args, **kwds
            The message, or the arguments of its constructor.

        Raises
        ------
        rospy.ROSException
            If the topic is closed although no shutdown was requested, or the node is not initialised.
        """
        try:
            super().publish(*args, **kwds)
        except rospy.ROSException:
            if not rospy.core.is_shutdown_requested():
                raise
