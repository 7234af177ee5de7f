# SPDX-License-Identifier: MIT
"""Gazebo's world services: pause, unpause and the two resets. Their names are absolute, as Gazebo's are."""

from __future__ import annotations

import enum
import queue
import threading
from typing import Callable, List, Optional, Tuple

import rospy
from std_srvs.srv import Empty, EmptyResponse

_WAIT = 5.0  # s of wall time for the loop to serve a request


class Request(enum.Enum):
    """What a caller wants of the physics loop."""

    PAUSE = "pause_physics"
    UNPAUSE = "unpause_physics"
    RESET_SIMULATION = "reset_simulation"
    RESET_WORLD = "reset_world"


class WorldServices:
    """Services that hand requests to the physics loop and answer when they are done.

    Parameters
    ----------
    wake : callable
        Interrupts the loop if it waits.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._requests: queue.Queue[Tuple[Request, threading.Event]] = queue.Queue()
        self._wake = wake
        self._services: List[rospy.Service] = [
            rospy.Service(f"/gazebo/{request.value}", Empty, self._handler(request)) for request in Request
        ]

    def next(self) -> Optional[Tuple[Request, threading.Event]]:
        """Return the next request and the event to set when it is done; None if there is none."""
        try:
            return self._requests.get_nowait()
        except queue.Empty:
            return None

    def _handler(self, request: Request) -> Callable[[Empty], EmptyResponse]:
        def handle(_message: Empty) -> EmptyResponse:
            done = threading.Event()
            self._requests.put((request, done))
            self._wake()
            if not done.wait(_WAIT):
                raise rospy.ServiceException(
                    f"{request.value}: the simulator is busy, it did not answer within {_WAIT} s; try again"
                )
            return EmptyResponse()

        return handle
