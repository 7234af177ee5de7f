# SPDX-License-Identifier: MIT
"""Pictures of the robot, made in a thread that no key waits for; the drawing itself is done by a process of its own."""

from __future__ import annotations

import threading
import time
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np
from python_qt_binding.QtCore import QObject, Signal
from python_qt_binding.QtGui import QImage

from shellbot_common import RobotProfile
from shellbot_common.view import Mark, View

Pose = Tuple[np.ndarray, np.ndarray]
_RETRY = 5.0  # s between two tries where no picture could be made: a library may be installed meanwhile


class PictureRequest(NamedTuple):
    """What to show."""

    description: str  #: URDF
    profile: RobotProfile
    base: Optional[Pose]
    angles: Mapping[str, float]  #: Joint angles by name, rad
    width: int
    height: int
    view: View
    marks: Sequence[Mark] = ()
    ghost: Optional[Pose] = None


class PictureMaker(QObject):
    """Makes the picture that was requested last; requests in between are dropped."""

    made = Signal(object, float)  # QImage; seconds that it took
    failed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._condition = threading.Condition()
        self._request: Optional[PictureRequest] = None
        self._ending = False
        self._thread: Optional[threading.Thread] = None
        self._picture: Any = None
        self._of: Tuple[str, Optional[RobotProfile]] = ("", None)

    def request(self, request: PictureRequest) -> None:
        """Request a picture; answered by one of the signals."""
        with self._condition:
            self._request = request
            if self._thread is None and not self._ending:
                self._thread = threading.Thread(target=self._serve, name="picture_maker", daemon=True)
                self._thread.start()
            self._condition.notify()

    def close(self) -> None:
        """End thread and process."""
        with self._condition:
            self._ending = True
            self._condition.notify()
        if self._thread is not None:
            self._thread.join(timeout=3.0)

    def _serve(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._request is not None or self._ending)
                request, self._request = self._request, None
                if self._ending or request is None:
                    break
            start = time.monotonic()
            try:
                pixels = self._make(request)
            # Whatever a foreign graphics library or a description that is none throws, the robot must stay drivable.
            except Exception as error:
                self._forget()
                self.failed.emit(str(error))
                with self._condition:
                    self._condition.wait_for(lambda: self._ending, timeout=_RETRY)
            else:
                self.made.emit(_image(pixels), time.monotonic() - start)
        self._forget()

    def _make(self, request: PictureRequest) -> np.ndarray:
        if self._of != (request.description, request.profile):
            self._forget()
            # not at the top: the window opens without MuJoCo, and drives
            from shellbot_simulator.core.robot_picture import RobotPicture

            self._picture = RobotPicture(request.description, request.profile)
            self._of = (request.description, request.profile)
        return self._picture.render(*request[2:])

    def _forget(self) -> None:
        if self._picture is not None:
            self._picture.close()
        self._picture, self._of = None, ("", None)


def _image(pixels: np.ndarray) -> QImage:
    """Return pixels in the format of the screen: converted here, where nobody waits, and not again at each repaint."""
    height, width, _ = pixels.shape
    return QImage(pixels.data, width, height, 3 * width, QImage.Format_RGB888).convertToFormat(QImage.Format_RGB32)
