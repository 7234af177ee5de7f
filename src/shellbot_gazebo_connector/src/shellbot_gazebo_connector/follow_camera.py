# SPDX-License-Identifier: MIT
"""A camera in Gazebo that looks at the robot from outside, as that of the embedded simulator does."""

from __future__ import annotations

import math
from typing import Tuple

from shellbot_common.rotations import quaternion_from_rpy

MODEL = "follow_camera"
TOPIC = "gazebo/follow_camera/image_raw"
RATE = 10.0  # pictures a simulated second
_FROM_BASE = (0.65, -0.75, 0.5)  # m; it keeps its direction in the world while the robot moves
_WIDTH, _HEIGHT = 640, 480  # pixels
_VERTICAL_FIELD = math.radians(45.0)
_AHEAD = 1.0  # s by which a picture may overtake the newest odometry
_PERIOD = 0.5 / RATE  # s of simulated time between moves


class Following:
    """When the camera moves, and which pictures are of now; all times are simulated, s.

    To a new subscriber Gazebo first sends the last picture that it had rendered for the one before.

    Attributes
    ----------
    now : float
        Of the newest odometry; 0 before the first.
    """

    def __init__(self) -> None:
        self.now, self._moved, self._since = 0.0, -math.inf, 0.0

    def begin(self) -> None:
        """Take pictures from now on."""
        self._since = self.now

    def moves(self, now: float) -> bool:
        """Note the time of an odometry message; return whether the camera moves with it."""
        self.now, self._since = now, min(self._since, now)  # the clock may be set back
        if 0.0 <= now - self._moved < _PERIOD - 1e-6:
            return False
        self._moved = now
        return True

    def is_current(self, stamp: float) -> bool:
        """Return whether a picture was taken since `begin`, by this clock."""
        return self._since <= stamp < self.now + _AHEAD


def camera_pose(
    p_world_base: Tuple[float, float, float],
) -> Tuple[Tuple[float, float, float], Tuple[float, float, float, float]]:
    """Return where the camera stands when the root link is at `p_world_base`, m: position, quaternion x, y, z, w."""
    x, y, z = _FROM_BASE
    position = (p_world_base[0] + x, p_world_base[1] + y, p_world_base[2] + z)
    # Gazebo's cameras look along their x axis
    return position, quaternion_from_rpy(0.0, math.atan2(z, math.hypot(x, y)), math.atan2(-y, -x))


def camera_model(namespace: str) -> str:
    """Return the SDF of the camera, which nothing touches or moves; its topic is `TOPIC` in `namespace`.

    Gazebo renders only while somebody has subscribed.
    """
    field = 2.0 * math.atan(math.tan(0.5 * _VERTICAL_FIELD) * _WIDTH / _HEIGHT)
    return f"""<sdf version="1.6">
  <model name="{MODEL}">
    <static>true</static>
    <link name="link">
      <sensor name="camera" type="camera">
        <update_rate>{RATE}</update_rate>
        <camera>
          <horizontal_fov>{field:.6f}</horizontal_fov>
          <image><width>{_WIDTH}</width><height>{_HEIGHT}</height><format>R8G8B8</format></image>
          <clip><near>0.05</near><far>50</far></clip>
        </camera>
        <plugin name="camera_plugin" filename="libgazebo_ros_camera.so">
          <robotNamespace>{namespace}</robotNamespace>
          <cameraName>{TOPIC.rpartition("/")[0]}</cameraName>
          <imageTopicName>{TOPIC.rpartition("/")[2]}</imageTopicName>
          <cameraInfoTopicName>camera_info</cameraInfoTopicName>
          <frameName>camera_link</frameName>
          <!-- 0 sends pictures twice; a limit above the sensor's rate keeps only new ones -->
          <updateRate>{2.0 * RATE}</updateRate>
        </plugin>
      </sensor>
    </link>
  </model>
</sdf>
"""
