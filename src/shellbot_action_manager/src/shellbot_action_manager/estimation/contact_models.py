# SPDX-License-Identifier: MIT
"""Contact models by name: what touches the floor, from the command and the measured joints, as the behaviour needs.

The same on the robot and in simulators. Odometry has a motion model of each name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Dict, Optional, Protocol, Tuple

import numpy as np

from shellbot_action_manager.interface import ContactEstimate

if TYPE_CHECKING:
    from shellbot_action_manager.behaviours.protocol import Motion, State
    from shellbot_action_manager.body.geometry import RobotGeometry
    from shellbot_action_manager.config import ActionManagerConfig


class ContactModel(Protocol):
    """Estimates at each tick what touches the ground."""

    def step(self, dt: float, state: State, motion: Motion) -> ContactEstimate:
        """Return the contacts of a tick, `dt` (s) after the previous one, in which `motion` was commanded."""


class NoContacts:
    """Which feet stand is not known, or the model of the motion does not need it: none does.

    Parameters
    ----------
    name : str
        Of the model.
    config : ActionManagerConfig
        Its section `contact` is used.
    geometry : RobotGeometry
        Whose feet they are.
    """

    def __init__(self, name: str, config: ActionManagerConfig, geometry: RobotGeometry) -> None:
        self._name, self._geometry = name, geometry
        self._tolerance, self._lag = config.contact.height, config.contact.lag
        self._frames = tuple(f"{limb}_foot" for limb in geometry.limbs["lower"].limbs)
        self._nothing = np.full(len(self._frames), np.nan)

    def step(self, dt: float, state: State, motion: Motion) -> ContactEstimate:
        """Return the measured feet, and those that stand with equal load."""
        position = self._geometry.legs.forward(self._geometry.q_lower(state.q))
        stands = self._standing(dt, position, motion, state.up)
        phase = self._nothing if motion.phase is None else motion.phase
        load_share = stands / max(int(stands.sum()), 1)
        pressure, previous = self._pressure(state, stands)
        return ContactEstimate(
            self._name, self._frames, stands, phase, load_share, position, pressure, previous, motion.heading
        )

    def _standing(self, dt: float, p_base_feet: np.ndarray, motion: Motion, up: Optional[np.ndarray]) -> np.ndarray:
        return np.zeros(len(self._frames), dtype=bool)

    def _pressure(self, state: State, stands: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Return where the feet touch the ground, and where the points that did before are now, both (6, 3)."""
        unknown = np.full((len(self._frames), 3), np.nan)
        return unknown, unknown


class FeetContacts(NoContacts):
    """Feet that were commanded to stand a moment ago, and that are as low as the lowest of them.

    Notes
    -----
    The measured joints are behind their command: a foot touches down `config.contact.lag` after it was commanded to,
    and lifts as late. One that feels for the ground stands as soon as it felt it. A foot may stand up to
    `config.contact.height` above the lowest foot.
    """

    def __init__(self, name: str, config: ActionManagerConfig, geometry: RobotGeometry) -> None:
        super().__init__(name, config, geometry)
        count = len(self._frames)
        self._planted: Optional[np.ndarray] = None  # as commanded
        self._since = np.full(count, np.inf)  # s: how long each has been commanded so
        self._p_foot = np.full((count, 3), np.nan)  # where each touched the ground at the previous tick

    def _standing(self, dt: float, p_base_feet: np.ndarray, motion: Motion, up: Optional[np.ndarray]) -> np.ndarray:
        planted = np.zeros(len(self._frames), dtype=bool) if motion.planted is None else motion.planted
        if self._planted is not None:
            self._since = np.where(planted == self._planted, self._since + dt, 0.0)
        self._planted = planted
        late = self._since < self._lag - 1e-9
        if motion.ground is not None:
            return planted | late  # they felt the ground, at whatever height
        candidates = planted ^ late
        if not candidates.any():
            return candidates
        height = p_base_feet[:, 2] if up is None else p_base_feet @ up
        return candidates & (height <= height[candidates].min() + self._tolerance)

    def _pressure(self, state: State, stands: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        feet = self._geometry.feet
        T_base_foot = feet.poses(self._geometry.q_lower(state.q))
        R_base_foot, p_tip = T_base_foot[:, :3, :3], T_base_foot[:, :3, 3]
        down = np.array([0.0, 0.0, -1.0]) if state.up is None else -state.up
        pressure = np.where(stands[:, None], feet.lowest_points(T_base_foot, down), np.nan)
        previous = np.einsum("kij,kj->ki", R_base_foot, self._p_foot) + p_tip
        self._p_foot = np.einsum("kji,kj->ki", R_base_foot, pressure - p_tip)
        return pressure, previous


class RollingContacts:
    """The gores that a ball may roll on: the one whose sphere, or its nearest edge, is lowest, and those as low.

    Parameters
    ----------
    name : str
        Of the model.
    config : ActionManagerConfig
        Its `contact.height` is used: joints are not measured well enough to tell gores apart that are nearer.
    geometry : RobotGeometry
        Of a robot with upper legs.
    """

    def __init__(self, name: str, config: ActionManagerConfig, geometry: RobotGeometry) -> None:
        assert geometry.gores is not None  # see build_contact_models
        self._name, self._gores, self._tolerance = name, geometry.gores, config.contact.height
        self._previous: Optional[Tuple[np.ndarray, np.ndarray]] = None

    def step(self, dt: float, state: State, motion: Motion) -> ContactEstimate:
        """Return the twelve sphere centres, and the points at which some of them may touch the floor."""
        gores = self._gores
        T_base_gore = gores.poses(state.q)
        count = len(gores.names)
        touches, load_share, centre = np.zeros(count, dtype=bool), np.zeros(count), np.full((count, 3), np.nan)
        previous = centre
        if self._previous is not None:
            T_then, points = self._previous
            p_gore = np.einsum("kji,kj->ki", T_then[:, :3, :3], points - T_then[:, :3, 3])
            previous = np.einsum("kij,kj->ki", T_base_gore[:, :3, :3], p_gore) + T_base_gore[:, :3, 3]
        self._previous = None
        if state.up is not None:
            down = -state.up
            points = gores.lowest_points(T_base_gore, down)
            depth = points @ down
            touches = depth >= depth.max() - self._tolerance
            load_share[depth.argmax()] = 1.0  # the others may touch, the lowest does
            centre = np.where(touches[:, None], points, np.nan)
            self._previous = T_base_gore, centre
        return ContactEstimate(
            self._name,
            gores.names,
            touches,
            np.full(count, np.nan),
            load_share,
            T_base_gore[:, :3, 3],
            centre,
            previous,
            motion.heading,
        )


CONTACT_MODELS: Dict[str, Callable[[str, ActionManagerConfig, RobotGeometry], ContactModel]] = {
    "feet": FeetContacts,
    "none": NoContacts,
    "rolling": RollingContacts,
}


def build_contact_models(config: ActionManagerConfig, geometry: RobotGeometry) -> Dict[str, ContactModel]:
    """Return one model of each name; without upper legs there is no rolling."""
    known = {name: build for name, build in CONTACT_MODELS.items() if geometry.gores is not None or name != "rolling"}
    return {name: build(name, config, geometry) for name, build in known.items()}
