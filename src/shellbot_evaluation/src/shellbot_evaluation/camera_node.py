# SPDX-License-Identifier: MIT
"""Pictures from camera/image_raw: subscribed only while one is due or a film is taken, since rendering costs time."""

from __future__ import annotations

import threading
import time
from typing import Callable, Dict, List, Optional

import numpy as np
import rospy
from sensor_msgs.msg import Image

from shellbot_common import ImageError
from shellbot_common.image import rgb_array


class CameraNode:
    """Takes one picture for each caption asked for.

    Parameters
    ----------
    patience_s : float
        Wall seconds after which a picture that has not come is given up.
    film : callable, optional
        Called with the time (s) and the pixels of every picture; the subscription then lasts as long as this.
    """

    def __init__(self, patience_s: float, film: Optional[Callable[[float, np.ndarray], None]] = None) -> None:
        self.pictures: Dict[str, np.ndarray] = {}
        self.missing: List[str] = []
        self._patience_s, self._film = patience_s, film
        self._lock = threading.Lock()
        self._pending: Optional[str] = None
        self._since = 0.0
        self._subscriber: Optional[rospy.Subscriber] = None
        if film is not None:
            self._subscribe()

    def take(self, caption: str) -> None:
        """Ask for a picture from now on; one that is still awaited is given up."""
        with self._lock:
            if self._pending is not None:
                self.missing.append(self._pending)
            self._pending, self._since = caption, time.monotonic()
            if self._subscriber is None:
                self._subscribe()

    def busy(self) -> bool:
        """Whether a picture is awaited; gives up after the patience."""
        with self._lock:
            if self._pending is not None and time.monotonic() - self._since > self._patience_s:
                self.missing.append(self._pending)
                self._finish()
            return self._pending is not None

    def _on_image(self, message: Image) -> None:
        with self._lock:
            if self._pending is None and self._film is None:
                return
            try:
                picture = rgb_array(message.height, message.width, message.encoding, message.step, message.data)
            except ImageError as error:
                rospy.logwarn_once("%s", error)
                picture = None
            if picture is not None and self._film is not None:
                self._film(message.header.stamp.to_sec(), picture)
            if self._pending is None:
                return
            if picture is None:
                self.missing.append(self._pending)
            else:
                self.pictures[self._pending] = picture
            self._finish()

    def _subscribe(self) -> None:
        self._subscriber = rospy.Subscriber("camera/image_raw", Image, self._on_image, queue_size=1)

    def _finish(self) -> None:
        self._pending = None
        if self._subscriber is not None and self._film is None:
            self._subscriber.unregister()
            self._subscriber = None
