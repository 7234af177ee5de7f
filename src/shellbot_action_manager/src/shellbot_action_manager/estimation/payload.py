# SPDX-License-Identifier: MIT
"""What the robot carries, from the torques of its legs while it stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Optional

import numpy as np

from shellbot_action_manager.behaviours.protocol import Motion, State
from shellbot_common.rotations import up_from_quaternion

if TYPE_CHECKING:
    from shellbot_action_manager.body.geometry import RobotGeometry

_WINDOW_S = 0.5  # s over which torques are averaged ...
_SETTLES_S = 0.5  # ... after so long without motion
_LEAST_KG = 0.05  # less has no place


class Payload(NamedTuple):
    """What is on the robot beyond its own mass."""

    mass: float  #: kg; negative: the robot is lighter than its description, or something holds it up
    #: (3,) Where its plumb line, all that the torques of one attitude tell, meets the height of the trunk's top, in
    #: base_link, m; NaN where it is too little to tell
    p_base: np.ndarray
    loads: np.ndarray  #: (6,) Force straight up of the ground on each foot, N


class PayloadEstimator:
    """Forces of the feet from the torques of the three joints of each leg; what is more than the weight is payload.

    No assumption of how feet share the load is needed: three torques give the three components of a force. Friction
    of servos counts as load.

    Parameters
    ----------
    geometry : RobotGeometry
        The robot.
    """

    def __init__(self, geometry: RobotGeometry) -> None:
        self._geometry = geometry
        self._still = 0.0
        self._sums: Optional[tuple] = None
        self._count = 0
        #: Of the last time that the robot stood still; None before
        self.latest: Optional[Payload] = None

    def step(self, dt: float, motion: Motion, state: State, effort: Optional[np.ndarray]) -> None:
        """Take the torques (n,) measured at a tick, N m; None or NaN: not measured."""
        planted, before = motion.planted, state.commanded.limbs
        still = motion.activity == "" and effort is not None and state.orientation is not None
        still = still and planted is not None and len(planted) == 6 and bool(planted.all())
        still = still and all(
            name in before and (command.q is before[name].q or (command.q == before[name].q).all())
            for name, command in motion.limbs.items()
        )
        self._still = self._still + dt if still else 0.0
        if self._still < _SETTLES_S:
            self._count = 0
            return
        assert effort is not None and state.orientation is not None
        found = (state.q, effort, state.orientation)
        sums = self._sums if self._count and self._sums is not None else tuple(np.zeros(len(part)) for part in found)
        self._sums, self._count = tuple(a + b for a, b in zip(sums, found)), self._count + 1
        if self._count * dt >= _WINDOW_S:
            q, tau, orientation = (part / self._count for part in self._sums)
            self._count = 0
            self.latest = self._estimate(q, tau, orientation / np.linalg.norm(orientation)) or self.latest

    def _estimate(self, q: np.ndarray, tau: np.ndarray, orientation: np.ndarray) -> Optional[Payload]:
        geometry, standing = self._geometry, self._geometry.body.standing
        up = up_from_quaternion(orientation)
        q_lower = geometry.q_lower(q)
        points = geometry.feet.lowest_points(geometry.feet.poses(q_lower), -up)
        aloft = standing.torques(q, orientation, np.zeros(len(standing.contacts)))
        given = geometry.q_lower(aloft.tau - tau)[:, 1:]
        J = np.empty((len(points), 3, 3))
        for k, chain in enumerate(geometry.feet.chains):
            tip = chain.jacobian(q_lower[k])[:, 1:]
            J[k] = tip[:3] + np.cross(tip[3:], points[k] - chain.fk(q_lower[k])[:3, 3], axis=0)
        if not (np.isfinite(given).all() and np.isfinite(J).all()) or np.linalg.cond(J).max() > 1e6:
            return None
        forces = np.linalg.solve(np.swapaxes(J, 1, 2), given[..., None])[..., 0]
        g = float(np.linalg.norm(standing.model.gravity_vector))
        extra = forces.sum(axis=0) - aloft.missing[:3]  # N, of the feet beyond the weight
        mass = float(extra @ up) / g
        place = np.full(3, np.nan)
        if mass > _LEAST_KG:
            moment = np.cross(points, forces).sum(axis=0) - aloft.missing[3:]
            place = np.cross(up, moment) / (mass * g)
            place += (geometry.top - place[2]) / up[2] * up
        return Payload(mass, place, forces @ up)
