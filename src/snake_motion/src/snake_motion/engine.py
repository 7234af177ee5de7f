# SPDX-License-Identifier: MIT
"""The gait engine: requests in, joint angles out, one step at each tick; time is an argument, ROS is elsewhere."""

from __future__ import annotations

import math
from typing import Optional, Tuple

import numpy as np

from shellbot_common import GAP, TICK
from snake_motion.config import EngineConfig
from snake_motion.engine_io import EngineOutput, Feedback, Target
from snake_motion.errors import SnakeMotionError
from snake_motion.gait_shape import GaitShape, blends_directly
from snake_motion.gait_table import RIGHTING, GaitTable, split_request
from snake_motion.layers import Layers
from snake_motion.torque_watch import TorqueWatch
from snake_motion.waves import Wave

MODES = ("relax", "straighten", "go")
"""Modes to be requested; the robot is `waiting` before it knows its joints and `stopped` after an emergency stop."""

_SETTLE = 0.3  # s between straight joints and a reading of the roll
_QUARTER = 0.5 * math.pi
_LONGEST_RIGHTING = 5.0  # cycles of an attempt to roll upright; 24 modules on friction 0.6 took up to 4.5


class SnakeEngine:
    """Gaits, their changes, and modes of one snake.

    Parameters
    ----------
    gaits : GaitTable
        What the robot can do.
    config : EngineConfig, optional
        Fades, time-outs and thresholds.
    start_mode : str
        One of `MODES`.
    """

    def __init__(self, gaits: GaitTable, config: Optional[EngineConfig] = None, start_mode: str = "go") -> None:
        self.gaits, self.config = gaits, config or EngineConfig()
        self._check_mode(start_mode)
        self._layers, self._watch = Layers(gaits.modules), TorqueWatch(gaits.modules, self.config)
        self._start_mode = start_mode
        self._mode = "waiting"
        self._first = ""  # gait to begin with, once
        arc = 2.0 * math.radians(self.config.righting_arc_deg) / gaits.modules
        arc = min(arc, gaits.limits.angle, gaits.limits.speed * self.config.righting_period / (2.0 * math.pi))
        self._righting = GaitShape(Wave(arc), Wave(arc, phase=_QUARTER), self.config.righting_period, 3.0 * _QUARTER)
        self.reset()

    def reset(self) -> None:
        """Begin anew, as after a reset of the simulation; an emergency stop stays."""
        self._time: Optional[float] = None
        self._theta = 0.0
        self._period = self.config.fade  # s, of the cycle that the joints are in, also while it fades out
        self._active: Optional[Target] = None
        self._target: Optional[Target] = None
        self._straight_since: Optional[float] = None
        self._attempts = 0
        self._righting_until = -math.inf  # s, when the present attempt counts as failed
        self._failed = False
        self._position = np.zeros(self.gaits.modules)
        self._watch.clear()
        self._face = 0.0  # rad, roll of the body when the present gait began
        self._mode = "stopped" if self._mode == "stopped" else "waiting"
        self._text = "waiting for joint_states"
        self._layers.clear()

    # ---------------------------------------------------------------- requests

    def request_gait(self, text: str) -> Tuple[bool, str]:
        """Request a gait: "NAME", "NAME 1", "NAME -1" or "NAME toggle"; "": stop flat.

        Returns
        -------
        (bool, str)
            Whether it is accepted, and a sentence.
        """
        if self._mode != "go":
            return False, f"gait {text!r} refused in mode {self._mode}: {self.remedy}"
        if not text.strip():
            self.stop()
            return True, "stopping flat"
        try:
            name, word = split_request(text)
            shape = self.gaits.shape(name)
        except SnakeMotionError as error:
            self.stop()
            return False, f"{error}; stopping flat"
        current = self._target or self._active
        again = word == "toggle" and current is not None and current.name == name
        direction = -current.direction if again and current is not None else -1 if word == "-1" else 1
        self._target = Target(name, shape, direction, self.gaits.rows[name].rolls)
        self._attempts = 0
        bound = self.gaits.bounds[name]
        self._text = f"gait {name}, direction {direction:+d}" + (f": {bound}" if bound else "")
        return True, self._text

    def request_at_start(self, text: str) -> None:
        """Request a gait for when the joints are known; raises SnakeMotionError if it cannot be done."""
        name, word = split_request(text)
        self.gaits.shape(name)
        self._first = f"{name} {word}"

    def drive(self, target: Optional[Target]) -> None:
        """Take a gait that is steered from outside; None: stop flat."""
        if self._mode != "go":
            return
        if (target and target.name) != (self._target and self._target.name):
            self._text = "flat" if target is None else f"steered, gait {target.name}"
        self._target = target

    def stop(self) -> None:
        """Stop flat, from rolling upright, too."""
        self.drive(None)
        self._righting_until = -math.inf

    def request_mode(self, name: str) -> Tuple[bool, str]:
        """Request a mode; returns whether it is accepted, and a sentence."""
        try:
            self._check_mode(name)
        except SnakeMotionError as error:
            return False, str(error)
        if self._mode in ("waiting", "stopped"):
            return False, f"{name} refused: the robot is {self._mode}; {self.remedy}"
        self._enter(name, {"relax": "holding where it is", "straighten": "straight", "go": "ready"}[name])
        return True, self._text

    def emergency_stop(self) -> None:
        """Hold the present command until `rearm`, which begins no gait, not even that of the start."""
        self._first = ""
        self._enter("stopped", "emergency stop; rearm to resume")

    def rearm(self) -> None:
        """End the emergency stop: straighten slowly from where the joints are, then be ready."""
        if self._mode == "stopped":
            self._mode, self._text = "waiting", "armed again"

    def _check_mode(self, name: str) -> None:
        if name not in MODES:
            raise SnakeMotionError(f"mode {name!r} does not exist; choose from {', '.join(MODES)}")

    def _enter(self, mode: str, text: str) -> None:
        if self._mode == "relax":
            self._layers.begin_at(self._time or 0.0, self._straightening(self._position), self._position)
        self._mode, self._text, self._target, self._failed = mode, text, None, False
        self._watch.clear()

    # -------------------------------------------------------------------- tick

    @property
    def mode(self) -> str:
        """The present mode."""
        return self._mode

    @property
    def remedy(self) -> str:
        """How to come to the mode go from the present one."""
        remedies = {"stopped": "rearm it first", "waiting": "start simulator or driver first"}
        return remedies.get(self._mode, "request the mode go first")

    @property
    def active(self) -> Optional[Target]:
        """The gait that the joints are in, or None."""
        return self._active

    @property
    def is_changing(self) -> bool:
        """Whether one gait is fading into another."""
        return self._time is not None and not self._layers.is_steady(self._time)

    def step(self, t: float, feedback: Feedback) -> EngineOutput:
        """Advance to a time.

        Parameters
        ----------
        t : float
            Simulated time, s.
        feedback : Feedback
            Measured; joints that are not finite change nothing.
        """
        q = np.asarray(feedback.q, dtype=float)
        if q.shape != self._position.shape or not np.isfinite(q).all():
            self._text = "joint_states are incomplete or not finite: holding; look at simulator or driver"
            return self._output()
        elapsed = TICK if self._time is None else t - self._time
        self._time = t
        if self._mode == "waiting":
            self._mode, self._text = self._start_mode, "ready" if self._start_mode == "go" else self._start_mode
            self._layers.begin_at(t, self._straightening(q), q)
            self._active = self._target = None
            self._position = q.copy()
            if self._first:
                self.request_gait(self._first)
                self._first = ""
        if self._mode == "stopped":
            if feedback.hold:
                is_whole = feedback.hold.startswith("emergency stop")  # as the connector's, with what to do
                self._text = feedback.hold if is_whole else f"emergency stop: {feedback.hold}; rearm to resume"
            return self._output()
        if self._mode == "relax":
            self._active, self._target = None, None
            self._position = q.copy() if not self._layers.is_flat() else self._position
            self._layers.clear()
            return self._output()
        if 0.0 < elapsed <= GAP:
            self._period = self._active.shape.period if self._active else self._period
            self._theta += 2.0 * math.pi * elapsed / self._period
            lost = self._lost(elapsed, q, feedback)
            if lost and self._mode == "go":
                self._enter("straighten", lost)
                self._failed = True
        self._change(t, feedback.roll)
        self._position = self._layers.angles(t, self._theta)
        return self._output()

    def _lost(self, elapsed: float, q: np.ndarray, feedback: Feedback) -> str:
        """Return in words that joints do not obey, else ""; while all hold, their errors tell nothing."""
        if not feedback.hold:
            return self._watch.step(elapsed, self._position, q, feedback.effort)
        self._watch.clear()
        is_long = feedback.held_for > self.config.lost_time
        return f"{feedback.hold}; stopping flat. When they follow again, request the mode go" if is_long else ""

    def _output(self) -> EngineOutput:
        active = self._active
        return EngineOutput(
            self._position.copy(),
            self._mode,
            active.name if active else "",
            active.direction if active else 1,
            self._theta,
            self._text,
            self._failed,
        )

    def _straightening(self, posture: np.ndarray) -> float:
        """Return the time, s, to straighten from a posture at half the servos' speed (a smoothstep peaks at 1.5)."""
        return max(self.config.fade, 3.0 * float(np.max(np.abs(posture))) / self.gaits.limits.speed)

    def _change(self, t: float, roll: Optional[float]) -> None:
        """Go on from the active gait towards the requested one."""
        if self._active is not None and self._active.name == RIGHTING:
            is_upright = roll is None or abs(roll) < math.radians(self.config.upright_deg)
            if is_upright or self._mode != "go" or t > self._righting_until:
                self._leave(t)
            return
        if self._active == self._target:
            return
        if self._active is None:
            self._begin(t, roll)
        elif self._target is not None and self._mixes(self._active, self._target):
            if self._layers.is_steady(t):
                duration = self.config.command_fade if self._target.is_steered else self.config.fade
                self._layers.fade_out(t, duration)
                self._layers.add(t, duration, self._target.shape, self._target.direction, self._face)
                self._active = self._target
        else:
            self._leave(t)

    @staticmethod
    def _mixes(one: Target, other: Target) -> bool:
        return (
            (one.name == other.name or not (one.rolls or other.rolls))
            and one.direction == other.direction
            and one.shape.mirrored == other.shape.mirrored
            and blends_directly(one.shape, other.shape)
        )

    def _leave(self, t: float) -> None:
        self._layers.fade_out(t, 0.5 * self.config.fade)
        self._active = None

    def _begin(self, t: float, roll: Optional[float]) -> None:
        """Begin the requested gait once the body is straight: upright if it can be made so."""
        if not self._layers.is_flat():
            self._straight_since = None
            return
        if self._straight_since is None:
            self._straight_since = t
        if t < self._straight_since + _SETTLE or self._target is None:
            return
        self._straight_since = None
        tilt = roll or 0.0
        self._theta = 0.0
        if abs(tilt) > math.radians(self.config.upright_deg) and self._attempts < self.config.righting_attempts:
            self._attempts += 1
            self._righting_until = t + _LONGEST_RIGHTING * self.config.righting_period
            # direction 1 rolls to the left, which makes the roll smaller
            self._active = Target(RIGHTING, self._righting, 1 if tilt > 0.0 else -1, rolls=True)
            self._layers.add(t, 0.5 * self.config.fade, self._righting, self._active.direction)
            return
        self._face = round(tilt / _QUARTER) * _QUARTER
        self._active, self._attempts = self._target, 0
        self._layers.add(t, 0.5 * self.config.fade, self._target.shape, self._target.direction, self._face)
