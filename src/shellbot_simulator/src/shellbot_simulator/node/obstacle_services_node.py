# SPDX-License-Identifier: MIT
"""Services that spawn, delete and list obstacles, and the topic that shows them in RViz."""

from __future__ import annotations

from typing import Any, Callable, List

import rospy
from visualization_msgs.msg import MarkerArray

from shellbot_common.publisher_node import Publisher
from shellbot_msgs.srv import (
    DeleteObstacle,
    DeleteObstacleResponse,
    ListObstacles,
    ListObstaclesResponse,
    SpawnObstacle,
    SpawnObstacleResponse,
)
from shellbot_simulator.core.errors import ObstacleError
from shellbot_simulator.core.simulator import Simulator

from .obstacle_conversions import message_from_obstacle, obstacle_from_message, obstacle_markers

_MARKER_TICKS = 10  # between two messages while something that is free is there


class ObstacleServices:
    """Answers in the physics loop, between two ticks.

    Parameters
    ----------
    simulator : Simulator
        Where obstacles come and go.
    in_loop : callable
        Carries out a function in the loop and returns its result.
    """

    def __init__(self, simulator: Simulator, in_loop: Callable[[str, Callable[[], Any]], Any]) -> None:
        self._simulator, self._in_loop = simulator, in_loop
        self._markers = Publisher("obstacles", MarkerArray, queue_size=1, latch=True)
        self._services: List[rospy.Service] = [
            rospy.Service("~spawn_obstacle", SpawnObstacle, self._on_spawn),
            rospy.Service("~delete_obstacle", DeleteObstacle, self._on_delete),
            rospy.Service("~list_obstacles", ListObstacles, self._on_list),
        ]

    def publish(self, tick: int) -> None:
        """Show where free ones are now; call at each tick."""
        if tick % _MARKER_TICKS or not self._markers.get_num_connections():
            return
        if any(obstacle.mass for obstacle in self._simulator.obstacles):
            self.show(tick)

    def show(self, tick: int) -> None:
        """Show all obstacles."""
        self._markers.publish(obstacle_markers(self._simulator.obstacles, tick))

    def _on_spawn(self, request: Any) -> SpawnObstacleResponse:
        def spawn() -> str:
            obstacle = obstacle_from_message(request.obstacle)
            self._simulator.spawn_obstacle(obstacle)
            self.show(self._simulator.tick_count)
            return f"{obstacle.name} stands" if not obstacle.mass else f"{obstacle.name} is free, {obstacle.mass:g} kg"

        return SpawnObstacleResponse(*self._answer(f"spawn_obstacle {request.obstacle.name}", spawn))

    def _on_delete(self, request: Any) -> DeleteObstacleResponse:
        def delete() -> str:
            self._simulator.delete_obstacle(request.name)
            self.show(self._simulator.tick_count)
            return f"{request.name} is gone"

        return DeleteObstacleResponse(*self._answer(f"delete_obstacle {request.name}", delete))

    def _on_list(self, _request: Any) -> ListObstaclesResponse:
        found = self._in_loop("list_obstacles", lambda: self._simulator.obstacles)
        return ListObstaclesResponse([message_from_obstacle(obstacle) for obstacle in found])

    def _answer(self, title: str, change: Callable[[], str]) -> Any:
        def carry_out() -> Any:
            try:
                answer = change()
            except ObstacleError as error:
                rospy.logwarn(f"simulator: {title} refused: {error}")
                return False, str(error)
            rospy.loginfo(f"simulator: {title} at t = {self._simulator.time:.2f} s")
            return True, answer

        return self._in_loop(title, carry_out)
