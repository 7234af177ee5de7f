# SPDX-License-Identifier: MIT
"""The whole chain in this process as a robot to drive: as fast as the machine allows, without ROS."""

from __future__ import annotations

from dataclasses import replace
from typing import Mapping, Sequence, Tuple

from shellbot_chain.chain import Chain
from shellbot_common.performance import Outcome

from .link import ActionProgress
from .mission import BodyPose, Observation, Twist


class ChainLink:
    """Drives a chain; a `Link`.

    Parameters
    ----------
    chain : Chain
        The robot.
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._refusal = ""

    def observe(self) -> Observation:
        """Return what the robot says of itself at the newest tick."""
        chain = self.chain
        seen = Observation(chain.time, *chain.odom, chain.mode, chain.target, chain.step)
        if chain.estimate is not None and chain.output is not None:
            velocity, acceleration = chain.estimate.twist[:2].tolist(), chain.output.walkspace.max_acceleration.tolist()
            seen = replace(seen, velocity=tuple(velocity), acceleration=tuple(acceleration))
        return seen

    def tick(self) -> None:
        """Advance the chain by a tick."""
        self.chain.tick()

    def command(self, twist: Twist, body_pose: BodyPose) -> None:
        """Command a velocity (m/s, m/s, rad/s) and a body pose (m, rad from the rest pose)."""
        self.chain.command_twist(twist)
        self.chain.command_body_pose(body_pose)

    def renew_body_pose(self) -> None:
        """Do nothing: every command counts."""

    def request_mode(self, name: str) -> Tuple[bool, str]:
        """Request a mode; return whether it was accepted, and one sentence."""
        return self.chain.request_mode(name)

    def set_gait(self, name: str) -> None:
        """Command a gait by its name."""
        self.chain.commands = replace(self.chain.commands, gait=name)

    @property
    def gait(self) -> str:
        """The gait in use."""
        return "" if self.chain.output is None else self.chain.output.walkspace.gait

    @property
    def text(self) -> str:
        """What the mode says, one sentence."""
        return "" if self.chain.output is None else self.chain.output.mode.text

    @property
    def joints(self) -> Tuple[Sequence[str], Sequence[float]]:
        """Names and positions (rad) of the joints at the newest tick."""
        return self.chain.joint_names, self.chain.state.q.tolist()

    def begin_action(self, name: str, speed: float, parameters: Mapping[str, float]) -> None:
        """Send an action of the library; `progress` says what becomes of it."""
        accepted, reason = self.chain.manager.perform(name, parameters, speed)
        self._refusal = "" if accepted else f"{name} refused: {reason}"

    def progress(self) -> ActionProgress:
        """Return how far the action that was sent last is."""
        status = self.chain.manager.performer.status
        if self._refusal or status is None:
            return ActionProgress(ended=True, text=self._refusal or "the chain was reset")
        ended, succeeded = status.outcome is not None, status.outcome is Outcome.SUCCEEDED
        return ActionProgress(status.step, status.progress, ended, succeeded, status.text)

    def cancel_action(self) -> None:
        """Take the action back to rest."""
        self.chain.manager.performer.cancel()

    def emergency_stop(self) -> None:
        """Stop now, until `rearm`."""
        self.chain.manager.emergency_stop()

    def rearm(self) -> None:
        """End an emergency stop."""
        self.chain.manager.rearm()

    def close(self) -> None:
        """Stop commanding a velocity."""
        self.chain.command_twist((0.0, 0.0, 0.0))
