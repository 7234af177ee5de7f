# SPDX-License-Identifier: MIT
"""Pictures of the cameras, rendered beside the physics loop and only while there is a subscriber."""

from __future__ import annotations

import queue
import threading
from typing import Any, List, Optional, Tuple

import numpy as np
import rospy
from sensor_msgs.msg import CameraInfo, Image

from shellbot_common import TICK, Level, Notice
from shellbot_common.log_node import NodeLog
from shellbot_common.publisher_node import Publisher
from shellbot_common.robot_profile import CameraSensor
from shellbot_simulator.core.errors import RenderError
from shellbot_simulator.core.render_process import RenderProcess
from shellbot_simulator.core.simulator import Simulator

from .node_parameters import NodeParameters
from .sensor_conversions import camera_info_message, image_message, stamp_of

_FOLLOWER = "camera"  # namespace of the camera that follows the robot


class _Camera:
    """The topics of one camera; without a link, of the one that follows the robot."""

    def __init__(self, namespace: str, sensor: CameraSensor, link: Optional[str] = None) -> None:
        self.topic, self.link, self.sensor = f"{namespace}/image_raw", link, sensor
        self.period_ticks = max(1, round(1.0 / (sensor.rate * TICK)))
        self._publisher = Publisher(self.topic, Image, queue_size=1)
        self._info = None if link is None else Publisher(f"{namespace}/camera_info", CameraInfo, queue_size=1)

    @property
    def is_requested(self) -> bool:
        return bool(self._publisher.get_num_connections())

    def publish(self, pixels: np.ndarray, stamp: rospy.Time) -> None:
        if self._info is not None:
            self._info.publish(camera_info_message(self.sensor, stamp))
        self._publisher.publish(image_message(pixels, stamp, self.sensor.optical_frame))


class Cameras:
    """Take positions from the loop; a thread renders the newest for each camera in a child process.

    Parameters
    ----------
    simulator : Simulator
        Whose model and cameras to show.
    parameters : NodeParameters
        Quality; rate and size of the camera that follows the robot.
    """

    def __init__(self, simulator: Simulator, parameters: NodeParameters) -> None:
        self._nice = parameters.camera_nice
        self._log = NodeLog("simulator")
        self._model = simulator.model
        self._renderer = RenderProcess(self._model, self._nice)
        follower = CameraSensor(
            optical_frame="camera_link",
            field_of_view_deg=90.0,
            width=parameters.camera_width,
            height=parameters.camera_height,
            rate=parameters.camera_rate,
        )
        self._cameras = [_Camera(_FOLLOWER, follower)]
        self._cameras += [_Camera(f"cameras/{link}", c, link) for link, c in simulator.profile.cameras.items()]
        self._waiting: queue.Queue[Tuple[List[_Camera], rospy.Time, np.ndarray, Any]] = queue.Queue(maxsize=1)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)
        self._thread.start()

    @property
    def is_requested(self) -> bool:
        """Whether there is a subscriber."""
        return any(camera.is_requested for camera in self._cameras)

    def offer(self, simulator: Simulator, stamp: Optional[rospy.Time] = None) -> None:
        """Hand over a copy of the position, if a picture is due, requested and the renderer free; call at every tick.

        The picture is stamped with simulated time, unless a robot in real time gives its own stamp.
        """
        tick = simulator.tick_count
        due = [camera for camera in self._cameras if tick % camera.period_ticks == 0 and camera.is_requested]
        if not due:
            return
        try:
            self._waiting.put_nowait((due, stamp or stamp_of(tick), simulator.data.qpos.copy(), simulator.model))
        except queue.Full:
            return  # slower than requested: these pictures are left out, the robot is not held up

    def close(self) -> None:
        """Stop the thread and the child process."""
        self._closed.set()
        self._thread.join(timeout=2.0)
        self._renderer.close()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                cameras, stamp, qpos, model = self._waiting.get(timeout=0.2)
            except queue.Empty:
                continue
            if model is not self._model:  # obstacles came or went
                self._renderer.close()
                self._model, self._renderer = model, RenderProcess(model, self._nice)
            for camera in cameras:
                try:
                    size = camera.sensor.width, camera.sensor.height
                    camera.publish(self._renderer.render(qpos, *size, camera.link), stamp)
                except RenderError as error:
                    self._log(Notice("camera", Level.ERROR, f"no picture on {camera.topic}: {error}"))
