# SPDX-License-Identifier: MIT
"""Node `markers`: draws feet, support, reach, paths and footsteps for RViz, while there is a subscriber."""

from __future__ import annotations

import sys
import threading
import time
from typing import List

import rospy
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from shellbot_action_manager.config import load_config
from shellbot_action_manager.errors import ActionManagerError
from shellbot_action_manager.markers.marker_core import MarkerCore
from shellbot_action_manager.node import markers_conversions as conversions
from shellbot_action_manager.node.odometry_conversions import contacts_from_message
from shellbot_common import Level, Notice, Stamp
from shellbot_common.init_node import init_node
from shellbot_common.log_node import NodeLog
from shellbot_common.publisher_node import Publisher
from shellbot_kinematics.limb_references_conversions import stamp_from_seconds
from shellbot_msgs.msg import Contacts, Footsteps, LimbReferences

SILENCE = 5.0  # s of wall clock without a picture before it is reported
QUEUE = 50  # messages: a path shall have no gaps on a busy machine
WATCH = 0.2  # s of wall clock between two looks for subscribers


class MarkersNode:
    """Listens only while it has subscribers, so that markers cost nothing while they are not shown."""

    def __init__(self, core: MarkerCore) -> None:
        self._core, self._page = core, conversions.MarkerPage()
        self._lock = threading.Lock()
        self._log = NodeLog("markers")
        self._heard = False
        self._last = time.monotonic()  # when the last picture was published, or listening began
        self._publisher = Publisher("markers", MarkerArray, queue_size=2)
        self._subscribers: List[rospy.Subscriber] = []

    def run(self) -> None:
        """Listen as long as there are subscribers, until shutdown."""
        while not rospy.is_shutdown():
            if bool(self._publisher.get_num_connections()) != bool(self._subscribers):
                (self._stop if self._subscribers else self._listen)()
            if self._subscribers and time.monotonic() - self._last > SILENCE:
                missing = "no transforms odom to base_link; is odometry running?"
                if not self._heard:
                    missing = f"waiting for {rospy.resolve_name('foot_contacts')}; is action_manager running?"
                self._log(Notice("inputs", Level.WARN, missing))
            self._log()
            time.sleep(WATCH)

    def _listen(self) -> None:
        with self._lock:
            self._core.reset()
            self._page.begin()
            self._heard, self._last = False, time.monotonic()
        self._subscribers = [
            rospy.Subscriber("/tf", TFMessage, self._on_transforms, queue_size=QUEUE),
            rospy.Subscriber("foot_contacts", Contacts, self._on_contacts, queue_size=QUEUE),
            rospy.Subscriber("limb_references", LimbReferences, self._on_references, queue_size=QUEUE),
            rospy.Subscriber("footsteps", Footsteps, self._on_footsteps, queue_size=QUEUE),
        ]

    def _stop(self) -> None:
        for subscriber in self._subscribers:
            subscriber.unregister()
        self._subscribers = []

    def _on_contacts(self, message: Contacts) -> None:
        contacts = contacts_from_message(message)
        with self._lock:
            self._heard = True
            if self._core.receive_contacts(message.header.stamp.to_sec(), contacts) is Stamp.RESET:
                self._page.begin()
            self._draw()

    def _on_transforms(self, message: TFMessage) -> None:
        found = conversions.base_pose_from_message(message)
        if found is not None:
            with self._lock:
                self._core.receive_pose(*found)
                self._draw()

    def _on_references(self, message: LimbReferences) -> None:
        feet = conversions.commanded_feet_from_message(message)
        with self._lock:
            self._core.receive_commanded(message.header.stamp.to_sec(), feet)

    def _on_footsteps(self, message: Footsteps) -> None:
        feet = conversions.footsteps_from_message(message)
        with self._lock:
            self._core.receive_footsteps(message.header.stamp.to_sec(), feet)

    def _draw(self) -> None:
        picture = self._core.draw()
        if picture is not None:
            self._last = time.monotonic()
            t, shapes = picture
            message = self._page.array(shapes, stamp_from_seconds(t))
            if message.markers:
                self._publisher.publish(message)


def main() -> None:
    """Run the node."""
    # Time comes with foot_contacts; /clock at every tick would only cost processor time.
    init_node("markers", disable_rostime=True)
    try:
        config = load_config(path=rospy.get_param("~settings_file", "") or None)
    except ActionManagerError as error:
        rospy.logfatal(f"markers: {error}")
        sys.exit(1)
    MarkersNode(MarkerCore(config)).run()
