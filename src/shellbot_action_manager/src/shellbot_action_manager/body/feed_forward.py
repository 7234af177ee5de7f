# SPDX-License-Identifier: MIT
"""The torques that the commanded motion needs, for servos that cannot know them: weight, inertia, friction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Dict, Mapping, Tuple

import numpy as np

from robot_mechanics.dynamics.standing import StandingModel
from shellbot_action_manager.body._feed_forward_tick import divided, feed_forward_tick, memory_size
from shellbot_action_manager.errors import ConfigError
from shellbot_common import Settings, number

if TYPE_CHECKING:
    from shellbot_action_manager.behaviours.protocol import Motion, State
    from shellbot_action_manager.body.limbs import LimbGroup
    from shellbot_action_manager.interface import ContactEstimate


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
        self.config = config
        n, contacts = len(body.effort_limits), len(body.standing.contacts)
        shapes = {name: group.columns.shape[:2] for name, group in groups.items()}
        self._coordinate = np.zeros(n, dtype=np.int64)
        self._count = sum(m * k for m, k in shapes.values())
        self._memory = np.zeros(memory_size(n, contacts, self._count))
        self._goal, _, load, u, ahead, out, _, limits, q, *_ = divided(self._memory, n, contacts, self._count)
        # of each group: what is commanded now and a tick later, and the torques, in the memory of the kernel
        self._commanded: Dict[str, Tuple[np.ndarray, np.ndarray]] = {}
        self._torques: Dict[str, np.ndarray] = {}
        first = 0
        for name, (m, k) in shapes.items():
            where = slice(first, first + m * k)
            self._coordinate[groups[name].columns] = np.arange(where.start, where.stop).reshape(m, k, 1)
            self._commanded[name] = u[where].reshape(m, k), ahead[where].reshape(m, k)
            self._torques[name] = out[where].reshape(m, k)
            first = where.stop
        self._orientation = q[3:7]
        self._goals = {model: self._goal[where] for model, where in body.contacts.items()}
        self._model = ""  # of the contacts whose weights are in `_goal`
        ahead[:] = q[7:] = np.nan
        q[6] = 1.0
        limits[:] = body.effort_limits
        self._fraction = 0.0
        self._table, self._rows, self._work = body.standing.arrays()
        #: (contacts,) Planned load of each contact of the body, N; as of the last tick
        self.loads = load

    @property
    def on(self) -> bool:
        """Whether there is anything to compute."""
        return self.config.gravity > 0.0 or self._fraction > 0.0

    def step(self, dt: float, motion: Motion, state: State, contacts: ContactEstimate) -> Dict[str, np.ndarray]:
        """Return the efforts (m, n) of the joints of each group, N m, in memory that the next call writes anew.

        Those of coupled joints are their sum. Empty: none.

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
        config = self.config
        if not self.on:
            return {}
        for name, command in motion.limbs.items():
            u, ahead = self._commanded[name]
            u[:] = command.q
            if command.ahead is not None:
                ahead[:] = command.ahead
        known = state.orientation is not None
        if known:
            self._orientation[:] = state.orientation
        self._carried(motion, contacts)
        self._fraction = feed_forward_tick(
            dt, config.gravity, config.motion, config.load_time, config.fade_time, known, self._fraction,
            self._table, self._rows, self._coordinate, self._count, self._memory, self._work,
        )  # fmt: skip
        return self._torques

    def _carried(self, motion: Motion, contacts: ContactEstimate) -> None:
        """Set the target weights: all 0 if it is not known what carries the robot."""
        model = contacts.model
        carries = motion.planted if model == "feet" else contacts.in_contact
        if carries is None or model != self._model:
            self._goal[:] = 0.0
            self._model = model
        if carries is not None and model in self._goals:
            self._goals[model][:] = carries
