# SPDX-License-Identifier: MIT
"""Gazebo's world services: pause, unpause and the two resets. Their names are absolute, as Gazebo's are."""

from __future__ import annotations

import enum
import queue
import threading
from typing import Any, Callable, List, Optional

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
    serve : callable
        What the loop does for a request.
    """

    def __init__(self, wake: Callable[[], None], serve: Callable[[Request], None]) -> None:
        self._requests: queue.Queue[Callable[[], None]] = queue.Queue()
        self._wake, self._serve = wake, serve
        self._services: List[rospy.Service] = [
            rospy.Service(f"/gazebo/{request.value}", Empty, self._handler(request)) for request in Request
        ]

    def next(self) -> Optional[Callable[[], None]]:
        """Return what the next request has to be carried out by, None if there is none.

        Nothing is done by it if whoever requested it has given up.
        """
        try:
            return self._requests.get_nowait()
        except queue.Empty:
            return None

    def in_loop(self, title: str, carry_out: Callable[[], Any]) -> Any:
        """Let the physics loop carry something out between two ticks, and return its result.

        Raises
        ------
        rospy.ServiceException
            If the loop has not come to it in time; it is not done later then.
        """
        done, given_up, lock = threading.Event(), threading.Event(), threading.Lock()
        results: List[Any] = []

        def serve() -> None:
            with lock:
                if not given_up.is_set():
                    results.append(carry_out())
                    done.set()

        self._requests.put(serve)
        self._wake()
        if not done.wait(_WAIT):
            with lock:
                given_up.set()
            if not results:
                raise rospy.ServiceException(
                    f"{title}: the simulator is busy, it did not answer within {_WAIT} s; try again"
                )
        return results[0]

    def _handler(self, request: Request) -> Callable[[Empty], EmptyResponse]:
        def handle(_message: Empty) -> EmptyResponse:
            self.in_loop(request.value, lambda: self._serve(request))
            return EmptyResponse()

        return handle
