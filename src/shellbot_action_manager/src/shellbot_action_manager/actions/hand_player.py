# SPDX-License-Identifier: MIT
"""A lifted foot that the operator leads by its velocity while the other five stand."""

from __future__ import annotations

from typing import Dict, Optional, Tuple

import numpy as np

from shellbot_action_manager.actions.plan import ByHand, Performance
from shellbot_action_manager.actions.planning import Planner
from shellbot_action_manager.actions.player import Player
from shellbot_action_manager.actions.postures import Postures
from shellbot_action_manager.gait.swing import smooth_step

IDLE = 10.0  # s without a command after which the foot goes back
_FASTEST = 0.1  # m/s
_JOINT_SPEED = 2.0  # rad/s: near the edge of its reach a foot needs fast joints
_CLEARANCE = 0.01  # m that the foot stays above the ground
_CELL = 0.002  # m: resolution at which the path of the foot is recorded
_RETRACE = 0.05  # m/s: mean speed along that path backwards


class HandPlayer:
    """Follows the commanded velocity as far as every posture can be taken; then back to rest. Used as a `Player` is.

    Parameters
    ----------
    planner : Planner
        Checks the postures, limits the foot, plans the way back.
    part : ByHand
        The posture in which it begins, and the leg.
    """

    def __init__(self, planner: Planner, part: ByHand) -> None:
        self._planner, self._part, self._posture = planner, part, part.posture
        self._velocity = np.zeros(3)  # m/s, in the axes of the leg
        self._idle, self._reason = 0.0, ""
        self._is_return_requested, self._back = False, None  # type: Tuple[bool, Optional[Player]]
        self._path: Dict[Tuple[int, ...], np.ndarray] = {}  # offsets of the foot up to here, m, without detours
        self._retrace: Optional[Tuple[np.ndarray, float, float]] = None  # path, m; its duration, s; s since it began
        self._note()

    @property
    def ended(self) -> bool:
        """Whether the robot is back at rest."""
        return self._back is not None and self._back.ended

    @property
    def is_returning(self) -> bool:
        """Whether it goes back to rest because it was cancelled."""
        return self._is_return_requested and self._back is not None

    @property
    def status(self) -> Tuple[int, str, float]:
        """Number of the step from 0, its name with what stops the foot, and how much of the patience is used up."""
        name = self._part.steps[0]
        return 0, f"{name}: {self._reason}" if self._reason else name, min(self._idle / IDLE, 1.0)

    @property
    def played(self) -> float:
        """Time that counts for the progress, s."""
        return 0.0

    def go_back(self, after_step: bool) -> None:
        """Go back to rest as soon as the foot is still."""
        self._is_return_requested = True

    def undo(self) -> bool:
        """Return that there is nothing to undo."""
        return False

    def step(self, dt: float, speed: float, paused: bool, velocity: Optional[np.ndarray]) -> Postures:
        """Return the posture `dt` (s) later, alone in its array.

        Parameters
        ----------
        dt : float
            Since the last tick, s.
        speed : float
            Fraction of the greatest speed of the foot.
        paused : bool
            Whether the foot stands still.
        velocity : (3,) array or None
            Commanded for the foot in the axes of its leg: out, left, up, m/s; None: nothing is commanded.
        """
        if self._back is not None:
            return self._back.step(dt, speed, False)
        if self._retrace is not None:
            self._step_along_retrace(dt)
            return self._posture
        limits = self._planner.limits["foot"]
        greatest, acceleration = float(np.max(limits.velocity)), float(np.max(limits.acceleration))
        commanded = velocity is not None and bool(velocity.any()) and not paused and not self._is_return_requested
        requested = (
            _shortened(velocity, speed * min(greatest, _FASTEST)) if commanded and velocity is not None else np.zeros(3)
        )
        self._velocity = self._velocity + _shortened(requested - self._velocity, acceleration * dt)
        self._move(dt)
        self._idle = 0.0 if commanded or paused else self._idle + dt
        if (self._is_return_requested or self._idle > IDLE) and not self._velocity.any():
            self._go_home()
        return self._posture

    def _move(self, dt: float) -> None:
        """Move the foot if the posture can be taken; else along the axes in which it can."""
        if not self._velocity.any():
            return
        self._reason = ""
        self._velocity = self._velocity * min(1.0, _JOINT_SPEED * dt / max(self._turned(self._velocity * dt), 1e-9))
        by = self._velocity * dt
        if self._try(by):
            return
        reason = self._reason
        for axis in range(3):
            along = np.where(np.arange(3) == axis, by, 0.0)
            if not along.any() or not self._try(along):
                self._velocity[axis] = 0.0
        self._reason = reason

    def _moved(self, by: np.ndarray) -> Postures:
        feet = self._posture.feet.copy()
        feet[0, self._part.leg - 1] += by
        return Postures(self._posture.pose, feet, self._posture.upper)

    def _turned(self, by: np.ndarray) -> float:
        """Return by how much a joint turns at most when the foot is moved, rad; 0 out of reach."""
        part, check = self._part, self._planner.check
        q, now = (check.joints(p, part.footholds, part.height) for p in (self._moved(by), self._posture))
        return float(np.nan_to_num(np.abs(q - now)).max())

    def _try(self, by: np.ndarray) -> bool:
        part, posture = self._part, self._moved(by)
        found = self._planner.check.refusal(posture, part.footholds, part.height)
        if posture.feet[0, part.leg - 1, 2] < _CLEARANCE:
            found = (0, f"the foot stays {1e3 * _CLEARANCE:g} mm above the ground")
        if found is None:
            self._posture = posture
            self._note()
            return True
        self._reason = found[1]
        return False

    def _go_home(self) -> None:
        part, back = self._part, self._planner.back(self._posture)
        if self._planner.check.refusal(back, part.footholds, part.height) is not None:
            self._reason = "the short way back is not free: the foot retraces its path"
            path = np.array([self._offset, *reversed(list(self._path.values()))])
            length = float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
            self._retrace = path, max(length / _RETRACE, 0.1), 0.0
            return
        ends = np.array([len(back.pose) - 1])
        self._back = Player(self._planner, Performance(back, ("back to rest",), ends, part.footholds, part.height))

    @property
    def _offset(self) -> np.ndarray:
        return self._posture.feet[0, self._part.leg - 1].copy()

    def _note(self) -> None:
        """Record where the foot is; a detour that ends where the path has been before is cut off."""
        cell = tuple(np.floor(self._offset / _CELL).astype(int).tolist())
        if self._path and cell == next(reversed(self._path)):
            return
        if cell in self._path:
            count = list(self._path).index(cell) + 1
            self._path = dict(list(self._path.items())[:count])
        else:
            self._path[cell] = self._offset

    def _step_along_retrace(self, dt: float) -> None:
        assert self._retrace is not None
        path, duration, time = self._retrace
        time = min(time + dt, duration)
        index = float(smooth_step(np.array(time / duration))) * (len(path) - 1)
        i = min(int(index), len(path) - 2)
        target = path[i] + (index - i) * (path[i + 1] - path[i])
        self._posture = self._moved(target - self._offset)
        self._retrace = path, duration, time
        if time >= duration:
            self._retrace, self._path = None, {}
            self._note()
            self._go_home()


def _shortened(vector: np.ndarray, length: float) -> np.ndarray:
    """Return a vector of the same direction that is no longer than `length`."""
    norm = float(np.linalg.norm(vector))
    return vector if norm <= length else vector * (length / norm)
