#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""markers live: support and footsteps while walking, where the feet then land, restarts, reset, the ball."""

from __future__ import annotations

import os
import signal
import unittest
import xmlrpc.client

import numpy as np
import rosgraph
import rospy
import rostest
from geometry_msgs.msg import Twist
from mode_watch import ModeWatch
from std_srvs.srv import Empty
from visualization_msgs.msg import Marker, MarkerArray

from shellbot_msgs.msg import Mode
from shellbot_msgs.srv import RequestMode

TOGETHER = 0.11  # s: a picture that is missing between plan and landing may hide another step
LANDED = 0.1  # s after which a foot stands where it has landed


class Viewer(ModeWatch):
    """Shows what RViz would: the markers that were added and not deleted since."""

    def __init__(self):
        self.last, self.shown, self.pictures, self.time = {}, {}, 0, 0.0
        self.steps, self.landing, self.errors = {}, {}, []
        self.cmd_vel = rospy.Publisher("cmd_vel", Twist, queue_size=1)
        rospy.Subscriber("mode", Mode, lambda message: self.last.__setitem__("mode", message), queue_size=10)
        self.listen()

    def listen(self):
        self.subscriber = rospy.Subscriber("markers", MarkerArray, self.on_markers, queue_size=1000)

    def on_markers(self, message):
        shown = dict(self.shown)
        for marker in message.markers:
            if marker.action == Marker.DELETEALL:
                shown = {}
            elif marker.action == Marker.DELETE:
                shown.pop((marker.ns, marker.id), None)
            else:
                shown[marker.ns, marker.id] = marker
        self.pictures += 1
        before, self.time = self.time, message.markers[0].header.stamp.to_sec()
        # on a busy machine a picture may be lost, and with it what it deletes
        self.shown = {key: marker for key, marker in shown.items() if not self.is_over(marker)}
        if self.time - before > TOGETHER or self.time < before:
            self.steps, self.landing = {}, {}
        self.score()

    def is_over(self, marker):
        """Return whether a marker was not renewed for its lifetime."""
        return marker.lifetime.to_sec() > 0.0 and self.time - (marker.header.stamp + marker.lifetime).to_sec() > 0.0

    def score(self):
        """Compare where feet have landed with the last footstep that was shown."""
        steps = {leg: self.point("footsteps", leg) for leg in range(6) if ("footsteps", leg) in self.shown}
        for leg in self.steps.keys() - steps.keys():
            self.landing[leg] = (self.time, self.steps[leg])
        for leg, (time, planned) in list(self.landing.items()):
            if leg in steps:
                del self.landing[leg]
            elif self.time - time >= LANDED - 1e-6 and self.shown["feet", leg].type == Marker.CYLINDER:
                self.errors.append(float(np.linalg.norm(self.point("feet", leg) - planned)))
                del self.landing[leg]
        self.steps = steps

    def point(self, layer, number):
        p = self.shown[layer, number].pose.position
        return np.array([p.x, p.y])

    def longest_path(self):
        """Distance between the ends of the longest, m; the sway of a standing robot is a few mm."""
        paths = [marker.points for (layer, _), marker in self.shown.items() if layer == "path"]
        return max([float(np.hypot(p[0].x - p[-1].x, p[0].y - p[-1].y)) for p in paths], default=0.0)

    def layers(self):
        return {layer for layer, _ in self.shown}

    def walk_until(self, condition, what):
        twist = Twist()
        twist.linear.x, twist.angular.z = 0.15, 0.1

        def driven():
            self.cmd_vel.publish(twist)
            return condition()

        self.until(driven, what)

    def stands(self):
        return self.mode() == ("hexapod", "hexapod", "") and "margin" in self.layers()

    def kill(self, name):
        uri = rosgraph.Master("/test").lookupNode(name)
        os.kill(xmlrpc.client.ServerProxy(uri).getPid("/test")[2], signal.SIGKILL)


VIEWER = None


class MarkersTest(unittest.TestCase):
    """Tests run in the order of their names."""

    def setUp(self):
        global VIEWER
        VIEWER = VIEWER or Viewer()
        self.viewer = VIEWER
        self.viewer.until(self.viewer.stands, "standing, with markers")

    def test_1_standing(self):
        seen = {}

        def hexagon():  # feet are judged by their height: one that was put down just now may come and go for a moment
            seen.update(now=self.viewer.shown)
            return ("support", 1) in seen["now"] and len(seen["now"]["support", 1].points) == 7

        self.viewer.until(hexagon, "six standing feet")
        shown = seen["now"]
        self.assertEqual([shown["feet", leg].type for leg in range(6)], [Marker.CYLINDER] * 6)
        self.assertRegex(shown["margin", 2].text, r"margin 2[23]\d mm")
        self.assertEqual([("reach", leg) in shown for leg in range(6)], [True] * 6)
        self.assertNotIn(("footsteps", 0), shown)

    def test_2_walking_shows_support_and_where_the_feet_land(self):
        viewer, corners = self.viewer, set()

        def enough():
            shown = viewer.shown
            if ("support", 1) in shown:
                corners.add(len(shown["support", 1].points) - 1)
            return len(viewer.errors) >= 24

        viewer.walk_until(lambda: "footsteps" in viewer.layers(), "footsteps")
        viewer.walk_until(enough, "24 landings")
        self.assertGreaterEqual(min(corners), 3)
        # a listener that starves commands late: some footsteps were planned for another velocity
        self.assertLess(np.median(viewer.errors), 0.010, "m between footstep and landed foot")
        self.assertGreater(viewer.longest_path(), 0.05)  # a listener that starves makes the robot brake in between
        viewer.until(lambda: viewer.mode()[2] == "", "stopped, its feet at home")
        viewer.until(lambda: "footsteps" not in viewer.layers(), "no footsteps at rest")
        viewer.until(lambda: viewer.longest_path() < 0.01, "no path 2 s later")

    def test_3_survives_restarts_of_its_neighbours_and_its_own(self):
        for name in ("action_manager", "odometry", "markers"):
            self.viewer.kill("/" + name)
            self.viewer.shown, seen = {}, self.viewer.pictures
            self.viewer.until(lambda seen=seen: self.viewer.pictures > seen + 5, f"markers after {name} died")
            self.viewer.until(self.viewer.stands, f"standing after {name} died")

    def test_4_a_reset_leaves_nothing_of_before(self):
        viewer = self.viewer
        viewer.walk_until(lambda: "footsteps" in viewer.layers(), "footsteps")
        before = viewer.time
        viewer.shown = {("stale", 0): Marker()}
        rospy.ServiceProxy("/gazebo/reset_simulation", Empty)()
        viewer.until(lambda: viewer.time < before, "markers of after the reset")
        self.assertNotIn("stale", viewer.layers())
        viewer.until(self.viewer.stands, "standing again")

    def test_5_nobody_looks_nobody_pays(self):
        viewer = self.viewer
        viewer.subscriber.unregister()

        def listeners(topic):
            state = rosgraph.Master("/test").getSystemState()
            return {node for name, nodes in state[1] if name == topic for node in nodes}

        viewer.until(lambda: "/markers" not in listeners("/limb_references") | listeners("/footsteps"), "no listener")
        viewer.shown = {}
        viewer.listen()
        viewer.until(viewer.stands, "markers again")

    def test_6_a_ball_has_no_support(self):
        rospy.wait_for_service("request_mode", 60)
        self.assertTrue(rospy.ServiceProxy("request_mode", RequestMode)("shell").accepted)
        self.viewer.until(lambda: self.viewer.mode() == ("shell", "shell", ""), "a ball")
        self.viewer.until(lambda: self.viewer.layers() == {"feet"}, "the gores that touch, and nothing else")


if __name__ == "__main__":
    rospy.init_node("markers_rostest")
    rostest.rosrun("shellbot_action_manager", "markers_live", MarkersTest)
