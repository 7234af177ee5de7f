# SPDX-License-Identifier: MIT
"""The broadcaster of the nodes that send transforms."""

from __future__ import annotations

import tf2_ros
from tf2_msgs.msg import TFMessage

from shellbot_common.publisher_node import Publisher


class TransformBroadcaster(tf2_ros.TransformBroadcaster):
    """A ``tf2_ros.TransformBroadcaster`` on a `Publisher`, for callbacks that may run while their node shuts down."""

    def __init__(self) -> None:
        self.pub_tf = Publisher("/tf", TFMessage, queue_size=100)
