# SPDX-License-Identifier: MIT
"""What a program needs of a robot, whether it runs over ROS or in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Mapping, Optional, Protocol, Sequence, Tuple

from .mission import BodyPose, Mission, MissionState, Observation, Twist


@dataclass(frozen=True)
class ActionProgress:
    """How far an action is."""

    step: str = ""  #: Such as "2 of 5: lift"
    fraction: float = 0.0  #: 0..1 of the whole
    ended: bool = False
    succeeded: bool = False
    text: str = ""  #: Once it has ended, or was refused: one sentence


class Link(Protocol):
    """A robot that can be observed and commanded."""

    def observe(self) -> Observation:
        """Return what the robot says of itself at the newest tick."""

    def tick(self) -> None:
        """Wait for the next tick.

        Raises
        ------
        ChainError
            If none comes.
        """

    def command(self, twist: Twist, body_pose: BodyPose) -> None:
        """Command a velocity (m/s, m/s, rad/s) and a body pose (m, rad from the rest pose)."""

    def renew_body_pose(self) -> None:
        """Let the next command count although its body pose is that of the one before: another operator may have moved
        the body.
        """

    def request_mode(self, name: str) -> Tuple[bool, str]:
        """Request a mode; return whether it was accepted, and one sentence."""

    def set_gait(self, name: str) -> None:
        """Command a gait by its name."""

    @property
    def gait(self) -> str:
        """The gait in use."""

    @property
    def text(self) -> str:
        """What the mode says, one sentence."""

    @property
    def joints(self) -> Tuple[Sequence[str], Sequence[float]]:
        """Names and positions (rad) of the joints at the newest tick."""

    def begin_action(self, name: str, speed: float, parameters: Mapping[str, float]) -> None:
        """Send an action of the library; `progress` says what becomes of it."""

    def progress(self) -> ActionProgress:
        """Return how far the action that was sent last is."""

    def cancel_action(self) -> None:
        """Take the action back to rest."""

    def emergency_stop(self) -> None:
        """Stop now, until `rearm`."""

    def rearm(self) -> None:
        """End an emergency stop."""

    def close(self) -> None:
        """Stop commanding."""


def run_mission(link: Link, mission: Mission, each_tick: Optional[Callable[[], None]] = None) -> None:
    """Run a mission to its end; `each_tick` is called before each tick.

    Raises
    ------
    MissionFailed
        See `Mission.step`.
    """
    while mission.state is MissionState.RUNNING:
        command = mission.step(link.observe())
        if command.request_mode is not None:
            accepted, reason = link.request_mode(command.request_mode)
            if not accepted:
                mission.refused(reason)
        link.command(command.twist, command.body_pose)
        if each_tick is not None:
            each_tick()
        link.tick()
