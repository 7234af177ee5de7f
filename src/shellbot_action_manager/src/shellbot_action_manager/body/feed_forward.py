# SPDX-License-Identifier: MIT
"""The torques that the commanded motion needs, for servos that cannot know them: weight, inertia, friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Mapping, Optional

import numpy as np

from robot_mechanics.dynamics.standing import StandingModel
from shellbot_action_manager.errors import ConfigError
from shellbot_common import Settings, number

if TYPE_CHECKING:
    from shellbot_action_manager.behaviours.protocol import Motion, State
    from shellbot_action_manager.body.limbs import LimbGroup
    from shellbot_action_manager.interface import ContactEstimate

_FASTEST = 20.0  # rad/s: a command that moves on by more in a tick is a jump, not a motion
_HARDEST = 500.0  # rad/s^2: the same of its speed


@dataclass(frozen=True)
class FeedForwardConfig(Settings, error=ConfigError):
    """Torques that are fed forward; units and meaning in `config/action_manager.yaml`."""

    gravity: float = number(0.0, 1.0)
    motion: float = number(0.0, 1.0)
    load_time: float = number(0.0, 1.0, "s")
    fade_time: float = number(0.02, 5.0, "s")


@dataclass(frozen=True)
class Body:
    """The robot's masses and what it may stand on."""

    standing: StandingModel  #: Its contacts are those of `contacts`, in this order
    contacts: Mapping[str, slice]  #: Contact model -> where its contacts are among those of `standing`
    effort_limits: np.ndarray  #: (n,) Greatest torque of each joint, N m


class FeedForward:
    """Computes the torques at each tick. Loads are handed over and torques come and go smoothly.

    Torques are those of the commanded joints, not of the measured ones: a joint that is pushed away gets no more torque
    for it, so that nothing is fed back. Limbs get none as long as it is not known what carries the robot.

    Parameters
    ----------
    config : FeedForwardConfig
        How much of it.
    body : Body
        The robot.
    groups : mapping of str to LimbGroup
        Its limbs.
    """

    def __init__(self, config: FeedForwardConfig, body: Body, groups: Mapping[str, LimbGroup]) -> None:
        self.config, self._body, self._groups = config, body, groups
        self._weights = np.zeros(len(body.standing.contacts))
        self._fraction = 0.0
        self._q: Optional[np.ndarray] = None
        self._tau = np.zeros(len(body.effort_limits))
        self._orientation = np.array([0.0, 0.0, 0.0, 1.0])
        #: (contacts,) Planned load of each contact of the body, N; as of the last tick
        self.loads = np.zeros(len(body.standing.contacts))

    @property
    def on(self) -> bool:
        """Whether there is anything to compute."""
        return self.config.gravity > 0.0 or self._fraction > 0.0

    def step(self, dt: float, motion: Motion, state: State, contacts: ContactEstimate) -> Dict[str, np.ndarray]:
        """Return the efforts (m, n) of the joints of each group, N m; of coupled joints their sum. Empty: none.

        Parameters
        ----------
        dt : float
            s since the tick before.
        motion : Motion
            What is commanded.
        state : State
            What was measured.
        contacts : ContactEstimate
            What is in contact.
        """
        if not self.on:
            return {}
        q, ahead = self._commanded(motion)
        known = self._carry(dt, motion, contacts)
        if state.orientation is None:
            known = False
        else:
            self._orientation = state.orientation
        v, a = self._rates(dt, q, ahead)
        found = self._body.standing.torques(q, self._orientation, self._weights, v, a)
        if np.isfinite(found.tau).all():
            limits = self._body.effort_limits
            self._tau, self.loads = np.clip(found.tau, -limits, limits), found.loads
        else:
            known = False
        goal = self.config.gravity if known else 0.0
        change = dt / self.config.fade_time
        self._fraction = min(max(goal, self._fraction - change), self._fraction + change)
        tau = self._fraction * self._tau
        return {name: tau[group.columns].sum(axis=2) for name, group in self._groups.items()}

    def _commanded(self, motion: Motion) -> tuple:
        """Return all commanded joints (n,), and those of a tick later as far as they are known."""
        q = np.empty(len(self._tau)) if self._q is None else self._q.copy()
        ahead = np.full(len(q), np.nan)
        for name, command in motion.limbs.items():
            columns = self._groups[name].columns
            q[columns] = command.q[..., None]
            if command.ahead is not None:
                ahead[columns] = command.ahead[..., None]
        return q, ahead

    def _carry(self, dt: float, motion: Motion, contacts: ContactEstimate) -> bool:
        """Move the weights of the contacts on; return whether it is known what carries the robot."""
        goal = np.zeros(len(self._weights))
        where = self._body.contacts.get(contacts.model)
        known = False
        if where is not None:
            carries = motion.planted if contacts.model == "feet" else contacts.in_contact
            if carries is not None and carries.any():
                goal[where], known = carries, True
        if known or not self._weights.any():
            change = dt / self.config.load_time if self.config.load_time > 0.0 else 1.0
            self._weights = np.clip(goal, self._weights - change, self._weights + change)
        return known

    def _rates(self, dt: float, q: np.ndarray, ahead: np.ndarray) -> tuple:
        """Return rates and accelerations (n,) of the commanded joints: central differences where they can be had."""
        before, self._q = self._q, q
        fraction = self.config.motion
        if before is None or fraction == 0.0 or not dt > 0.0:
            return None, None
        with np.errstate(invalid="ignore"):
            back = (q - before) / dt
            forth = (ahead - q) / dt
            v = np.where(np.isnan(forth), back, 0.5 * (back + forth))
            a = np.where(np.isnan(forth), 0.0, (forth - back) / dt)
        moves = (np.abs(v) < _FASTEST) & (np.abs(a) < _HARDEST)
        return fraction * np.where(moves, v, 0.0), fraction * np.where(moves, a, 0.0)
