# SPDX-License-Identifier: MIT
"""The action `transform_and_roll`: close, roll to a point, open; what to command at each tick. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Optional, Sequence, Tuple

import numpy as np

from shellbot_action_manager.body.roll_to import RollTo, RollToConfig
from shellbot_common.performance import Outcome

NAME = "transform_and_roll"
FARTHEST_M = 20.0
SLOWEST = 0.3  # of the usual speed
CLOSE_LIMIT_S, OPEN_LIMIT_S = 60.0, 90.0  # waiting and retries included
ROLL_LIMIT_S, ROLL_LEAST_M_S = 15.0, 0.2  # a roll may take so long, and the time at this speed
JUMP_M, FASTEST_M_S = 0.2, 2.0  # more than this and that since the last tick: the odometry has begun anew
REST_M_S, REST_S = 0.05, 0.5  # a ball that was slower for so long is at rest
BRAKE_LIMIT_S = 20.0  # for it to come to rest after a cancel
IGNORED_S = 0.3  # without rolling: the command does not count, as after a gap of the IMU, until it was zero once
CANCEL_S = 0.5  # that a request of a mode may be under way
STARTS = ("hexapod", "stand", "sit", "relax", "halfway", "shell")


@dataclass(frozen=True)
class TransformObservation:
    """Odometry and mode of the robot at a tick."""

    t: float  #: Simulated time, s
    pose: Tuple[float, float, float]  #: x, y (m) and heading (rad) in odom
    velocity: Tuple[float, float]  #: Forward and leftward in the axes of the heading, m/s
    #: mode, target, step, progress, text: of the topic mode
    mode: str
    target: str
    step: str = ""
    progress: float = 1.0
    text: str = ""

    @property
    def settled_mode(self) -> str:
        """The mode, if no transition and no step runs; else empty."""
        return self.mode if self.mode == self.target and not self.step else ""


@dataclass(frozen=True)
class TransformCommands:
    """Commands at a tick, and how far the action is."""

    sub_action: str
    phase: float = 0.0  #: 0..1 of the sub-action
    progress: float = 0.0  #: 0..1 of the whole
    request: str = ""  #: Mode to request now
    velocity: Optional[Tuple[float, float]] = None  #: To command, forward and leftward, m/s; None: nothing
    end: Optional[Outcome] = None
    text: str = ""  #: With `end`: one sentence


def refusal(
    name: str,
    speed: float,
    parameters: Sequence[float],
    names: Sequence[str],
    seen: Optional[TransformObservation],
    has_mode: bool = True,
) -> str:
    """Return why a goal cannot be begun, and what to do; empty if it can. Nothing is seen before mode and odom came."""
    if name != NAME:
        return f"there is no action '{name}' here; its name is {NAME}"
    if len(parameters) != 2 or not all(math.isfinite(value) for value in parameters):
        given = ", ".join(f"{value:g}" for value in parameters) or "none"
        return f"the parameters are {given}; give two numbers, x and y of the point in odom, m"
    if names and list(names) != ["x", "y"]:
        return f"the parameters are named {', '.join(names)}; give x, y in this order, or no names"
    if speed != 0.0 and not SLOWEST <= speed <= 1.0:
        return f"the speed is {speed:g} of the usual one; give {SLOWEST:g} to 1, or 0 for the usual one"
    if seen is None:
        topic, node = ("odom", "odometry") if has_mode else ("mode", "action_manager")
        return f"nothing came on {topic} yet; is {node} running? Then try again"
    distance = math.dist(parameters, seen.pose[:2])
    if not distance <= FARTHEST_M:
        return f"the point is {distance:.1f} m away; give one within {FARTHEST_M:g} m, or go there in parts"
    if seen.mode not in STARTS:
        return f"the robot is in mode {seen.mode} ({seen.text}); bring it to hexapod, then try again"
    return ""


class TransformAndRoll:
    """Runs once: close, roll, open. A cancel leads to the nearest mode in which the robot can rest.

    Parameters
    ----------
    point : (2,) sequence
        In odom, m.
    speed : float
        Fraction of the usual speed of rolling; 0: the usual one.
    """

    def __init__(self, point: Sequence[float], speed: float = 0.0) -> None:
        self._point = np.array(point, dtype=np.float64)
        usual = RollToConfig()
        self._guide = RollTo(self._point, replace(usual, speed=usual.speed * (speed or 1.0)))
        self._stage = "closing"
        self._seen: Optional[TransformObservation] = None
        self._started = -math.inf  # the stage
        self._begun_from = ""  # mode
        self._requested, self._has_begun = False, False
        self._distance, self._still, self._ignored = 0.0, 0.0, 0.0
        self._refusal = ""

    def cancel(self) -> None:
        """Give up at the next tick: brake, or turn round to the nearer end of a transformation."""
        if self._stage in ("closing", "rolling", "opening"):
            self._begin("braking" if self._stage == "rolling" else "turning back")

    def refused(self, reason: str) -> None:
        """Take note of a request of a mode that was refused."""
        self._refusal = reason

    def step(self, seen: TransformObservation) -> TransformCommands:
        """Return the orders of a tick; after an end, do not call it again."""
        previous, self._seen = self._seen, seen
        if previous is None:
            self._begun_from = seen.target if seen.target in ("hexapod", "stand", "sit") else "stand"
        if not math.isfinite(self._started):
            self._started = seen.t
        lost = self._lost(previous, seen)
        if lost:
            return self._ended(Outcome.ABORTED, lost)
        if self._stage == "closing":
            return self._change("shell", 0.0, CLOSE_LIMIT_S)
        if self._stage == "rolling":
            return self._roll(seen.t - previous.t if previous is not None else 0.0)
        if self._stage == "opening":
            return self._change("hexapod", 2.0 / 3.0, OPEN_LIMIT_S)
        return self._brake() if self._stage == "braking" else self._turn_back()

    def _begin(self, stage: str) -> None:
        turns_back = stage == "turning back"
        self._nearer = self._nearer_end() if turns_back else ""
        self._stage, self._started = stage, math.nan if self._seen is None else self._seen.t
        self._requested, self._has_begun, self._refusal = turns_back and not self._nearer, False, ""
        self._still = 0.0

    def _nearer_end(self) -> str:
        """Return the mode to request for turning back; empty: go on, or nothing has begun yet."""
        if not self._requested or self._seen is None or (self._has_begun and self._seen.progress >= 0.5):
            return ""
        return self._begun_from if self._stage == "closing" else "shell"

    def _lost(self, previous: Optional[TransformObservation], seen: TransformObservation) -> str:
        if seen.mode in ("stopped", "waiting"):
            return f"the robot is in mode {seen.mode}: {seen.text}"
        if not all(math.isfinite(value) for value in (*seen.pose, *seen.velocity)):
            return "the odometry is no number; look at the topic odom"
        if previous is None:
            return ""
        if seen.t < previous.t:
            return "the clock went back: the simulation was reset; send the goal again"
        jump = math.dist(seen.pose[:2], previous.pose[:2])
        if jump > JUMP_M + FASTEST_M_S * (seen.t - previous.t):
            return f"the odometry jumped by {jump:.2f} m, so that the point is not where it was; give it anew"
        return ""

    def _change(self, goal: str, done: float, limit: float) -> TransformCommands:
        """Commands during the change to a mode; `done` of the whole was done before."""
        seen = self._seen
        assert seen is not None
        if seen.settled_mode == goal:
            if goal == "hexapod":
                away = float(np.hypot(*(self._point - seen.pose[:2])))
                return self._ended(Outcome.SUCCEEDED, f"standing {away:.2f} m from the point, by its odometry")
            self._begin("rolling")
            return self._roll(0.0)
        if self._refusal:
            return self._ended(Outcome.ABORTED, f"{self._stage} was refused: {self._refusal}")
        self._has_begun = self._has_begun or seen.target == goal
        if self._has_begun and seen.target != goal:
            return self._ended(Outcome.ABORTED, f"{self._stage} ended in mode {seen.target}: {seen.text}")
        if seen.t - self._started > limit:
            return self._ended(Outcome.ABORTED, f"{self._stage} took more than {limit:g} s: {seen.text}")
        request = "" if self._requested else goal
        self._requested = True
        fraction = seen.progress if self._has_begun else 0.0
        return TransformCommands(seen.text or self._stage, fraction, done + fraction / 3.0, request)

    def _roll(self, dt: float) -> TransformCommands:
        seen = self._seen
        assert seen is not None
        left = float(np.hypot(*(self._point - seen.pose[:2])))
        self._distance = max(self._distance, left, 1e-3)
        if not seen.mode == seen.target == "shell":
            return self._ended(Outcome.ABORTED, f"left mode shell for {seen.target} while rolling: {seen.text}")
        late = seen.t - self._started > ROLL_LIMIT_S + self._distance / ROLL_LEAST_M_S
        if late and left > self._guide.leave:
            text = f"still {left:.2f} m from the point; the ball rests ({seen.text}); clear its path and try again"
            return replace(self._ended(Outcome.ABORTED, text), velocity=(0.0, 0.0))
        velocity = self._guide.twist(dt, seen.pose, seen.velocity)
        if self._guide.arrived or late:  # one that rocks where it may open does not have to come to rest for it
            self._begin("opening")
            return replace(self._change("hexapod", 2.0 / 3.0, OPEN_LIMIT_S), velocity=(0.0, 0.0))
        self._ignored = self._ignored + dt if any(velocity) and seen.step != "rolling" else 0.0
        if self._ignored > IGNORED_S:
            velocity, self._ignored = (0.0, 0.0), 0.0
        fraction = 1.0 - left / self._distance
        return TransformCommands("rolling", fraction, (1.0 + fraction) / 3.0, velocity=velocity)

    def _brake(self) -> TransformCommands:
        seen = self._seen
        assert seen is not None
        if math.hypot(*seen.velocity) >= REST_M_S:
            self._still = seen.t
        since = seen.t - max(self._still, self._started)
        orders = TransformCommands("braking", progress=1.0 / 3.0, velocity=(0.0, 0.0))
        if since < REST_S and seen.t - self._started < BRAKE_LIMIT_S:
            return orders
        if since < REST_S:
            text = f"the ball still creeps {BRAKE_LIMIT_S:g} s after a cancel"
            return replace(orders, end=Outcome.ABORTED, text=text)
        return replace(orders, end=Outcome.CANCELLED, text=f"the ball rests in mode {seen.mode}")

    def _turn_back(self) -> TransformCommands:
        seen = self._seen
        assert seen is not None
        if seen.settled_mode and seen.t - self._started >= CANCEL_S:
            return self._ended(Outcome.CANCELLED, f"the robot rests in mode {seen.mode}")
        if seen.t - self._started > OPEN_LIMIT_S:
            return self._ended(Outcome.ABORTED, f"not at rest {OPEN_LIMIT_S:g} s after a cancel: {seen.text}")
        request = "" if self._requested else self._nearer  # refused: it goes on to where it was going, and rests there
        self._requested = True
        return TransformCommands(seen.text, seen.progress, 0.0, request)

    def _ended(self, end: Outcome, text: str) -> TransformCommands:
        return TransformCommands(self._stage, 1.0, 1.0 if end is Outcome.SUCCEEDED else 0.0, end=end, text=text)
