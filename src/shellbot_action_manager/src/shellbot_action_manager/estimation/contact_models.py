# SPDX-License-Identifier: MIT
"""Contact models by name: which feet stand, from the command and the measured joints, as the present behaviour needs.

The same on the robot and in simulators. Odometry has a motion model of each name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Dict, Optional, Protocol

import numpy as np

from shellbot_common.rotations import up_from_quaternion

if TYPE_CHECKING:
    from shellbot_action_manager.config import ActionManagerConfig


class ContactModel(Protocol):
    """Says at each tick which feet are on the ground."""

    def step(
        self, dt: float, p_base_feet: np.ndarray, planted: np.ndarray, orientation: Optional[np.ndarray]
    ) -> np.ndarray:
        """Return which feet stand, (6,) bool."""


class FeetContacts:
    """Feet that are commanded to stand, or were until just now, and that are as low as the lowest of them.

    Parameters
    ----------
    tolerance : float
        Height above the lowest foot up to which a foot may stand, m.
    lag : float
        Time by which the measured joints are behind their command, s.
    """

    def __init__(self, tolerance: float, lag: float) -> None:
        self._tolerance, self._lag = tolerance, lag
        self._since_planted = np.full(6, np.inf)

    def step(
        self, dt: float, p_base_feet: np.ndarray, planted: np.ndarray, orientation: Optional[np.ndarray]
    ) -> np.ndarray:
        """Return which feet stand, (6,) bool.

        Parameters
        ----------
        dt : float
            s since the last step.
        p_base_feet : (6, 3) array
            Measured feet in base_link, m.
        planted : (6,) bool array
            Feet that are commanded to stand.
        orientation : (4,) array or None
            Quaternion x, y, z, w of base_link; None: the body is taken as level.
        """
        self._since_planted = np.where(planted, 0.0, self._since_planted + dt)
        candidates = self._since_planted <= self._lag
        if not candidates.any():
            return np.zeros(6, dtype=bool)
        height = p_base_feet[:, 2]
        if orientation is not None:
            height = p_base_feet @ up_from_quaternion(orientation)
        return candidates & (height <= height[candidates].min() + self._tolerance)


class NoContacts:
    """Nothing is known of what touches the ground, or the model of the motion does not need it."""

    def step(
        self, dt: float, p_base_feet: np.ndarray, planted: np.ndarray, orientation: Optional[np.ndarray]
    ) -> np.ndarray:
        """Return that no foot stands."""
        return np.zeros(6, dtype=bool)


CONTACT_MODELS: Dict[str, Callable[[ActionManagerConfig], ContactModel]] = {
    "feet": lambda config: FeetContacts(config.contact.height, config.contact.lag),
    "none": lambda config: NoContacts(),
}


def build_contact_models(config: ActionManagerConfig) -> Dict[str, ContactModel]:
    """Return one model of each name."""
    return {name: build(config) for name, build in CONTACT_MODELS.items()}
