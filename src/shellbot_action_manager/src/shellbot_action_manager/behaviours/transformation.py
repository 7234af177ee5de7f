# SPDX-License-Identifier: MIT
"""Plays the path between standing and the closed ball, both ways, and waits for the joints at each step."""

from __future__ import annotations

from typing import Dict, Optional, Tuple

import numpy as np

from shellbot_action_manager.behaviours.protocol import State
from shellbot_action_manager.body.geometry import RobotGeometry
from shellbot_action_manager.body.legs import LowerCommand, limb_commands, lower_command, upper_joints
from shellbot_action_manager.body.levelling import TIBIA_PER_FEMUR, Levelling, opened
from shellbot_action_manager.body.limbs import LimbCommand, LimbCommands
from shellbot_action_manager.body.transform_path import TransformConfig, TransformPath
from shellbot_action_manager.body.unhook import GORE_RATE, Unhook

_SAME = 1e-9  # s
_RELEASE = 0.4  # s of the path over which levelling comes and goes


class Transformation:
    """Where on the path the robot is; one for all behaviours on it, so that closing and opening are one motion.

    Parameters
    ----------
    config : TransformConfig
        Settings and path.
    geometry : RobotGeometry
        Of a robot with upper legs.
    """

    def __init__(self, config: TransformConfig, geometry: RobotGeometry) -> None:
        self._config, self._geometry = config, geometry
        self.path = TransformPath(config, geometry)
        self._levelling = Levelling(config.levelling)
        levelled = [i for i, step in enumerate(self.path.steps) if step.level]
        self._level_from = self.path.starts[levelled[0]] if levelled else np.inf
        self._time, self._direction, self._index, self._waited, self._blind = 0.0, 1, 0, 0.0, 0.0
        self._arrived, self._behind_at_first = False, 0.0
        self._residual, self._held_back = np.zeros((6, 6)), np.zeros(6)  # rad; of the tibiae
        self._unhook = {
            "lower": (slice(2, 4), Unhook(config.unhook_lower, geometry.closed_lower[:, 2])),
            "upper": (slice(4, 6), Unhook(config.unhook_upper, geometry.closed_upper[:, 0])),
        }
        self.late = ""

    @property
    def closed(self) -> bool:
        """Whether the ball is closed and every joint has arrived."""
        return self._arrived and self.at(self.path.duration)

    @property
    def standing(self) -> bool:
        """Whether the robot stands as at the beginning of the path, every joint arrived."""
        return self._arrived and self.at(0.0)

    @property
    def nearly_closed(self) -> bool:
        """Whether the present posture is within the last step."""
        return self._time >= self.path.starts[-1]

    @property
    def on_pole(self) -> bool:
        """Whether the robot stands on the pole ends of its gores, on which the closed ball is what is safe."""
        return self._time >= self._level_from

    @property
    def fraction(self) -> float:
        """Fraction of the path that is closed, 0..1."""
        return self._time / self.path.duration

    @property
    def text(self) -> str:
        """The present step in words, counted from where this way begins."""
        i, count = self._index, len(self.path.steps)
        step = self.path.steps[i]
        if self._direction > 0:
            return f"closing, step {i + 1} of {count}: {step.closing}"
        return f"opening, step {count - i} of {count}: {step.opening}"

    @property
    def retreat(self) -> Tuple[int, float]:
        """Direction and time (s) of the end of the step that it came from."""
        begun = self.path.starts if self._direction > 0 else self.path.ends
        return -self._direction, float(begun[self._index])

    def at(self, time: float) -> bool:
        """Return whether the path stands at a time, s."""
        return abs(self._time - time) < _SAME

    def found(self, state: State) -> bool:
        """Return whether the commanded joints are on the path, and go to where that is."""
        lower, upper = lower_command(state.commanded.limbs).q, upper_joints(state.commanded.limbs)
        time, error = self.path.find(lower, upper)
        if error <= self._config.found + self._config.levelling.range[1] * (time >= self._level_from):
            self._time = time
            return True
        return False

    def is_folded(self, state: State) -> bool:
        """Return whether fan and coxae are commanded as in the closed ball, whatever the gores do."""
        closed = self._geometry.closed_lower[:, :2]
        return bool(np.abs(lower_command(state.commanded.limbs).q[:, :2] - closed).max() <= self._config.found)

    def go_on_from(self, name: str, limbs: LimbCommands) -> None:
        """Be at the end of a step of the path: what the limbs' command differs from it is worked off first."""
        self._index = self._index_of(name)
        self._time = float(self.path.ends[self._index])
        self._depart(limbs)

    def start_of(self, name: str) -> float:
        """Return the time of the path at which a step begins, s."""
        return float(self.path.starts[self._index_of(name)])

    def _index_of(self, name: str) -> int:
        return next(i for i, step in enumerate(self.path.steps) if step.name == name)

    def begin_closed(self, state: State) -> None:
        """Be at the end of the path, the closed ball, whatever the limbs are commanded to."""
        self._time, self._index = self.path.duration, len(self.path.steps) - 1
        self._depart(state.commanded.limbs)

    def begin(self, state: State, direction: int) -> None:
        """Begin at the present command: what it differs from the path is worked off on the way.

        A robot that is nowhere on the path begins as from standing; with the fan folded, as a ball with open gores.
        """
        self._residual = np.zeros((6, 6))
        if np.abs(_stacked(state.commanded.limbs) - self._posture()).max() > self._config.found and not self.found(
            state
        ):
            self._time = self.path.duration if self.is_folded(state) else 0.0
        self._depart(state.commanded.limbs)
        self._behind_at_first = self.behind(state)[1]
        if direction:
            self._direction = direction
        self._index = self.path.step_at(self._time, self._direction)

    def closed_posture(self, dt: float, state: State, level: bool) -> np.ndarray:
        """Return fan, coxa, femur, tibia, shoulder, shell (6, 6), rad, of the closed ball, waiting for no joint."""
        self._time = self.path.duration
        self._catch_up(dt)
        self._level(dt, state, level)
        return self._posture()

    def step(
        self, dt: float, direction: int, state: State, until: Optional[float] = None, lying: bool = False
    ) -> Dict[str, LimbCommand]:
        """Return the limbs' command one tick later, on the way to the end of the path.

        Parameters
        ----------
        dt : float
            s.
        direction : int
            1 closes, -1 opens.
        state : State
            Measured.
        until : float, optional
            Time of the path to stop at instead, s.
        lying : bool
            Whether the robot does not stand on its gores: nothing is levelled, only the end waits for the joints, and
            at last puts up with `follow_error`.
        """
        path = self.path
        worst, error = self.behind(state)
        borders = path.ends if direction > 0 else path.starts
        ends, last = self.at(borders[self._index]), self._index == (len(path.steps) - 1 if direction > 0 else 0)
        # between the steps on the pole nothing waits: gores that slide on need less torque than gores that stick
        sliding = self._level_from + _SAME < self._time < path.duration - _SAME
        limit = self._config.arrived if ends and not sliding else self._config.follow_error
        if until is not None:  # backing out from a joint that is behind lets it catch up
            limit = max(self._config.follow_error, self._behind_at_first + self._config.arrived)
        if lying and not (ends and last):
            limit = np.inf
        elif lying and self._waited > 0.5 * self._config.timeout:  # a gore that the ball lies on comes when it rolls
            limit = self._config.follow_error
        waits = error > limit
        self._waited = self._waited + dt if waits else 0.0
        if self._waited > self._config.timeout and not self.late:
            self._back_out(f"{worst} is {np.degrees(error):.0f} deg behind", "free the joint")
        self._watch_attitude(dt, state, levels=until is None and not lying)
        self._arrived = ends and last and not waits and not self._residual.any()
        if not waits:
            if ends and not last:
                self._index += direction
            goal = float(borders[self._index]) if until is None else until
            far = np.abs(self._residual).max() > self._config.found  # not on the path: first to it
            ahead = self._time + (0.0 if far else direction * self._config.speed * dt)
            self._time = min(ahead, goal) if direction > 0 else max(ahead, goal)
        self._catch_up(dt)
        self._level(dt, state, not lying)
        posture = self._posture()
        self._hold_back_tibias(dt, posture, state, direction < 0 and self.on_pole)
        # lower gores may bear the robot here, and hook at a folded fan only
        self.unhook(dt, posture, state, ("upper",))
        return limb_commands(LowerCommand(posture[:, :4], None), posture[:, 4:], None)

    def lose(self, leg: str) -> None:
        """End the present step, as a leg was lost in it."""
        self._back_out(f"{leg} is lost", "mend it")

    def _back_out(self, reason: str, remedy: str) -> None:
        back = f"back to where the step began, {remedy}, then request shell or stand"
        self.late = f"{reason} while {self.text}; {back}"

    def _watch_attitude(self, dt: float, state: State, levels: bool) -> None:
        """End a step on the pole ends without an attitude to level by; the shut ball needs none."""
        needs = levels and self.on_pole and not self.nearly_closed
        self._blind = self._blind + dt if needs and state.orientation is None else 0.0
        if self._blind > self._config.blind and not self.late:
            self._back_out("no attitude from the IMU", "look at imu/data")

    def _hold_back_tibias(self, dt: float, posture: np.ndarray, state: State, opens: bool) -> None:
        """Let no tibia of a posture (6, 6) that opens on its pole ends open ahead of its own femur.

        On rough ground friction holds the femurs back and pushes the tibias on. A tibia that is ahead of its femur jams
        behind the folded fan of the next leg: the servos push against each other, with all their torque.
        """
        femur = state.q[self._geometry.limbs["lower"].columns[:, -2, 0]]
        back = TIBIA_PER_FEMUR * np.maximum(femur - posture[:, 2], 0.0) * opens
        self._held_back = self._held_back + np.clip(back - self._held_back, -GORE_RATE * dt, GORE_RATE * dt)
        posture[:, 3] -= self._held_back

    def unhook(self, dt: float, posture: np.ndarray, state: State, kinds: Tuple[str, ...]) -> None:
        """Free the gores of a posture (6, 6) that have hooked on their way in, of the kinds lower and upper."""
        for kind in kinds:
            columns, watch = self._unhook[kind]
            measured = state.q[self._geometry.limbs[kind].columns[:, -2:, 0]]
            posture[:, columns] = watch.step(dt, posture[:, columns], measured)

    def behind(self, state: State) -> Tuple[str, float]:
        """Return the joint that is farthest behind its command, and by how much, rad."""
        error = np.abs(self.commanded(state) - state.q)
        worst = int(np.argmax(error))
        return self._geometry.joint_names[worst], float(error[worst])

    def commanded(self, state: State) -> np.ndarray:
        """Return the commanded joints (n,), in the order of the measured ones, rad."""
        commanded = np.empty_like(state.q)
        for name, group in self._geometry.limbs.items():
            commanded[group.columns] = state.commanded.limbs[name].q[..., None]
        return commanded

    def _depart(self, limbs: LimbCommands) -> None:
        """Work off, from now on, what a command differs from the path."""
        self._residual = np.zeros((6, 6))
        self._residual = _stacked(limbs) - self._posture()
        self._held_back = np.zeros(6)  # by how much each tibia is, rad
        for _, watch in self._unhook.values():
            watch.begin()
        self._waited, self._blind, self._arrived, self.late = 0.0, 0.0, False, ""

    def _catch_up(self, dt: float) -> None:
        step = self._config.catch_up * dt
        self._residual = self._residual - np.clip(self._residual, -step, step)

    def _level(self, dt: float, state: State, on: bool = True) -> None:
        lower, _ = self.path.at(self._time)
        weight = min(max((self._time - self._level_from) / _RELEASE, 0.0), 1.0)
        if state.tilt > self._config.shut_tilt or not on:  # it rolls: nothing but a shut ball is round
            weight = 0.0
        yaw = lower[0, 0] + lower[0, 1]
        self._levelling.step(dt, weight, yaw, state.orientation, state.angular_velocity)

    def _posture(self) -> np.ndarray:
        lower, upper = self.path.at(self._time)
        return np.hstack((opened(lower, self._levelling.offset), upper)) + self._residual


def _stacked(limbs: LimbCommands) -> np.ndarray:
    """Return fan, coxa, femur, tibia, shoulder, shell (6, 6), rad."""
    return np.hstack((lower_command(limbs).q, upper_joints(limbs)))
