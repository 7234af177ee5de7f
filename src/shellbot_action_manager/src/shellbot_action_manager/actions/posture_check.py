# SPDX-License-Identifier: MIT
"""Refuses postures that the robot cannot take: reach, limits, ground, footholds, stand, self-collision, torque."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, List, Optional, Tuple

import numpy as np

from shellbot_action_manager.actions.postures import DOWN, Postures, all_in_base, feet_in_walk_axes, stability
from shellbot_action_manager.body.geometry import LEG_COUNT
from shellbot_action_manager.errors import ConfigError
from shellbot_common import Settings, number

if TYPE_CHECKING:
    from shellbot_action_manager.body.geometry import RobotGeometry
    from shellbot_action_manager.body.holding import Holding
    from shellbot_action_manager.config import ActionManagerConfig

_DRAGGED = 1e-3  # m that a standing foot may be moved
_TURNED = 0.08  # rad: after as much of a turn of any joint the parts and the torques are looked at again


@dataclass(frozen=True)
class ActionConfig(Settings, error=ConfigError):
    """Limits of actions; others are those of sections `body` and `upper`."""

    foot_velocity: float = number(0.01, 2.0, "m/s")
    foot_acceleration: float = number(0.05, 50.0, "m/s^2")
    upper_acceleration: float = number(0.1, 100.0, "rad/s^2")
    stability: float = number(0.0, 0.2, "m")  #: Least distance of the body's centre from the edge of the standing feet
    #: Greatest torque that a still posture, or a commanded body pose, may take, as a fraction of the servo's
    effort: float = number(0.1, 1.0)


class PostureCheck:
    """Checks postures of one robot.

    Parameters
    ----------
    config : ActionManagerConfig
        Section `action`, and how far joints stay from their limits.
    geometry : RobotGeometry
        The robot.
    holding : Holding
        Judges the torques.
    """

    def __init__(self, config: ActionManagerConfig, geometry: RobotGeometry, holding: Holding) -> None:
        self._config, self._geometry, self._holding = config, geometry, holding

    def joints(self, postures: Postures, footholds: np.ndarray, height: float) -> np.ndarray:
        """Return the joints of the legs (6, m, 3), rad; arguments as those of `refusal`."""
        p_base = all_in_base(feet_in_walk_axes(postures.feet, footholds), postures.pose, height)
        return self._geometry.legs.solve(np.swapaxes(p_base, 0, 1))

    def refusal(self, postures: Postures, footholds: np.ndarray, height: float) -> Optional[Tuple[int, str]]:
        """Return the first posture that the robot cannot take, and why; None: all is well.

        Parameters
        ----------
        postures : Postures
            At every tick.
        footholds : (6, 3) array
            Where the feet stand in W, m.
        height : float
            Of the body over them at rest, m.
        """
        config, legs = self._config, self._geometry.legs
        p_walk = feet_in_walk_axes(postures.feet, footholds)
        stands = postures.stands
        found: List[Tuple[int, str]] = []
        q = self.joints(postures, footholds, height)
        margin = legs.margin(q) - config.joint_margin
        bad = (margin < 0.0).any(axis=(0, 2))
        if bad.any():
            i = int(bad.argmax())
            found.append((i, f"{legs.explain(q[:, i], config.joint_margin)}; move less, or from another posture"))
        flat = (legs.margin(q, stands=True)[..., 2] < 0.0) & stands.T
        if flat.any():
            i = int(flat.any(axis=0).argmax())
            leg = int(flat[:, i].argmax()) + 1
            found.append((i, f"the shell of lower_{leg} would touch the ground; keep the body higher or nearer"))
        dragged = stands[1:] & stands[:-1] & (np.linalg.norm(postures.feet[1:, :, :2], axis=2) > _DRAGGED)
        low = postures.feet[..., 2] < -DOWN
        for name, wrong in (("stands away from its foothold; lift it", dragged), ("goes into the ground", low)):
            if wrong.any():
                i = int(wrong.any(axis=1).argmax())
                found.append((i, f"the foot of lower_{int(wrong[i].argmax()) + 1} {name}; feet end where they began"))
        edge = stability(p_walk, stands, postures.pose[:, :2])
        if (edge < config.action.stability).any():
            i = int((edge < config.action.stability).argmax())
            least = f"{1e3 * config.action.stability:.0f} mm are required; lean away from the lifted leg"
            if np.isfinite(edge[i]):
                found.append((i, f"the stability margin is {1e3 * edge[i]:.0f} mm, at least {least}"))
            else:
                found.append((i, f"{int(stands[i].sum())} feet stand, which three at least must; lift fewer"))
        found.extend(self._upper_refusals(postures))
        return min(found, default=None) or self._body_refusal(postures, q)

    def _body_refusal(self, postures: Postures, q: np.ndarray) -> Optional[Tuple[int, str]]:
        geometry = self._geometry
        fans = np.zeros((len(postures.pose), LEG_COUNT, 1))
        lower = np.concatenate((fans, np.swapaxes(q, 0, 1)), axis=2)
        everything = np.hstack([part.reshape(len(part), -1) for part in (lower, postures.upper)])
        stands = postures.stands
        for i in _samples(everything, stands):
            overlap, text = geometry.overlap(everything[i])
            if overlap > 0.0:
                return i, f"{text}; move less, or one after the other"
            text = self._holding.obstacle(everything[i], postures.pose[i, 3:], stands[i])
            if text:
                return i, f"{text}; lift fewer feet or keep them and the body nearer"
        return None

    def _upper_refusals(self, postures: Postures) -> List[Tuple[int, str]]:
        if self._geometry.upper is None:
            return []
        limits = self._geometry.upper.limits
        outside = np.maximum(limits[0] - postures.upper, postures.upper - limits[1])
        wrong = (outside > 1e-6).any(axis=(1, 2))
        if not wrong.any():
            return []
        i = int(wrong.argmax())
        leg, joint = np.unravel_index(int(outside[i].argmax()), outside[i].shape)
        name = ("shoulder", "shell")[int(joint)]
        low, high = limits[:, joint]
        angle = postures.upper[i, leg, joint]
        return [(i, f"upper_{leg + 1}_{name} would go to {angle:.2f} rad, limits {low:.2f} to {high:.2f} rad")]


def _samples(q: np.ndarray, stands: np.ndarray) -> np.ndarray:
    """Return which of the joints (m, n) to look at: first, last, where other feet stand, and after every turn."""
    turned = np.abs(np.diff(q, axis=0)).max(axis=1, initial=0.0).cumsum()
    part = np.concatenate(([0.0], turned // _TURNED))
    changes = (part[1:] != part[:-1]) | (stands[1:] != stands[:-1]).any(axis=1)
    return np.unique(np.concatenate(([0], np.flatnonzero(changes) + 1, [len(q) - 1])))
