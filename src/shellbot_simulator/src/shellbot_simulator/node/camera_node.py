# SPDX-License-Identifier: MIT
"""Pictures on camera/image_raw, rendered beside the physics loop and only while somebody listens."""

from __future__ import annotations

import queue
import threading
from typing import Any, Optional, Tuple

import numpy as np
import rospy
from sensor_msgs.msg import Image

from shellbot_common import TICK, Level, Notice
from shellbot_common.log_node import NodeLog
from shellbot_common.publisher_node import Publisher
from shellbot_simulator.core.errors import RenderError
from shellbot_simulator.core.render_process import RenderProcess
from shellbot_simulator.core.simulator import Simulator

from .node_parameters import NodeParameters
from .sensor_conversions import image_message, stamp_of


class Camera:
    """Takes positions from the loop; a thread renders the newest in a child process.

    Parameters
    ----------
    simulator : Simulator
        Whose model to show.
    parameters : NodeParameters
        Rate, size, quality.
    """

    def __init__(self, simulator: Simulator, parameters: NodeParameters) -> None:
        self._parameters = parameters
        self._log = NodeLog("simulator")
        self._period_ticks = max(1, int(round(1.0 / (parameters.camera_rate * TICK))))
        self._model = simulator.model
        self._renderer = RenderProcess(self._model, parameters.camera_nice)
        self._publisher = Publisher("camera/image_raw", Image, queue_size=1)
        self._waiting: queue.Queue[Tuple[rospy.Time, np.ndarray, Any]] = queue.Queue(maxsize=1)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="camera", daemon=True)
        self._thread.start()

    @property
    def is_requested(self) -> bool:
        """Whether somebody listens."""
        return bool(self._publisher.get_num_connections())

    def offer(self, simulator: Simulator, stamp: Optional[rospy.Time] = None) -> None:
        """Hand over a copy of the position, if a picture is due, wanted and the renderer free; call at every tick.

        The picture is stamped with simulated time, unless a robot in real time gives its own stamp.
        """
        tick = simulator.tick_count
        if tick % self._period_ticks or not self._publisher.get_num_connections():
            return
        try:
            self._waiting.put_nowait((stamp or stamp_of(tick), simulator.data.qpos.copy(), simulator.model))
        except queue.Full:
            return  # slower than wanted: this picture is left out, the robot is not held up

    def close(self) -> None:
        """Stop the thread and the child process."""
        self._closed.set()
        self._thread.join(timeout=2.0)
        self._renderer.close()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                stamp, qpos, model = self._waiting.get(timeout=0.2)
            except queue.Empty:
                continue
            if model is not self._model:  # obstacles came or went
                self._renderer.close()
                self._model, self._renderer = model, RenderProcess(model, self._parameters.camera_nice)
            try:
                pixels = self._renderer.render(qpos, self._parameters.camera_width, self._parameters.camera_height)
                self._publisher.publish(image_message(pixels, stamp))
            except RenderError as error:
                self._log(Notice("camera", Level.ERROR, f"no picture on camera/image_raw: {error}"))
