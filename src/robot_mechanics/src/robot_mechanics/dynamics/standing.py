# SPDX-License-Identifier: MIT
"""The torques of a robot that stands or moves on contacts whose loads come and go, at every tick of a control loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from robot_mechanics.arguments import from_zero, vector
from robot_mechanics.errors import DynamicsError
from robot_mechanics.native import rigid_body as rb
from robot_mechanics.native.standing import BODY, CENTRE, CONTACT, RADIUS, standing_torques

if TYPE_CHECKING:
    from robot_mechanics.dynamics.model import DynamicModel


@dataclass(frozen=True)
class BallContact:
    """A ball on a link that may touch the ground at its lowest point."""

    link: str
    centre: Tuple[float, float, float] = (0.0, 0.0, 0.0)  #: In the frame of the link, m
    radius: float = 0.0  #: m; 0: a point

    def __post_init__(self) -> None:
        """Check the values; raises ShapeError or InvalidConfigError."""
        vector(self.centre, 3, f"centre of the contact of '{self.link}'")
        from_zero(self.radius, f"radius of the contact of '{self.link}'")


class Standing(NamedTuple):
    """What a robot on contacts needs."""

    tau: np.ndarray  #: (n,) torques (N m) or forces (N) of the joints
    loads: np.ndarray  #: (contacts,) forces straight up that the ground gives, N
    missing: np.ndarray  #: (6,) force (N) and moment (N m) on the base, in its axes, that the contacts do not give


class StandingModel:
    """A model on a floating base with its contacts: a few microseconds a call, and no errors in the middle of a walk.

    `contacts.support` does the same for any forces, with friction and with an error where contacts cannot carry the
    robot. Here the ground pushes straight up, contacts have weights between 0 and 1, so that loads can be handed over
    smoothly, and where contacts cannot carry the robot they carry its weight with what moment they can. Not
    thread-safe.

    Parameters
    ----------
    model : DynamicModel
        On a floating base. Its friction and rotors count where there are velocities and accelerations.
    contacts : sequence of BallContact
        All that may ever carry load.

    Raises
    ------
    DynamicsError
        If the base is fixed, or a contact's link does not exist.
    """

    def __init__(self, model: DynamicModel, contacts: Sequence[BallContact]) -> None:
        if not model.floating:
            raise DynamicsError("a robot on a fixed base stands on it alone; build the model with floating=True")
        self.model, self.contacts = model, tuple(contacts)
        table = model.table
        rows = np.zeros((len(self.contacts), CONTACT))
        for row, contact in zip(rows, self.contacts):
            if contact.link not in table.body_of:
                links = ", ".join(table.body_of)
                raise DynamicsError(f"there is no link '{contact.link}' for a contact; there are {links}")
            T = table.pose_in_body[contact.link]
            row[BODY], row[RADIUS] = table.body_of[contact.link], contact.radius
            row[CENTRE : CENTRE + 3] = T[:3, :3] @ np.asarray(contact.centre, dtype=float) + T[:3, 3]
        self._rows, self._table = rows, np.array(table.rows)
        self._work = np.empty((len(table.rows), rb.WORK))
        self._q, self._v, self._a = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        self._weight = np.zeros(len(self.contacts))

    def arrays(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return bodies, contacts and memory of its own, for `native.standing.standing_torques` in a kernel."""
        return self._table, self._rows, np.empty_like(self._work)

    def torques(
        self,
        q: np.ndarray,
        orientation: Union[Sequence[float], np.ndarray],
        weights: np.ndarray,
        v: Optional[np.ndarray] = None,
        a: Optional[np.ndarray] = None,
    ) -> Standing:
        """Return what the joints need for a motion while contacts carry the robot.

        Parameters
        ----------
        q : (n,) array
            Coordinates of the joints, rad.
        orientation : (4,) sequence
            Quaternion x, y, z, w of the base in the world.
        weights : (contacts,) array
            How much of its part each contact carries, 0 to 1. With a sum below 1 only this fraction of the robot is
            carried.
        v, a : (n,) array, optional
            Rates (rad/s) and accelerations (rad/s^2) of the joints, the base moving uniformly; at rest without.

        Returns
        -------
        Standing
            NaN where an argument is not finite, or `orientation` is zero.
        """
        self._q[3:7], self._q[7:] = orientation, q
        self._v[6:] = 0.0 if v is None else v
        self._a[6:] = 0.0 if a is None else a
        self._weight[:] = weights
        tau, loads = np.empty(self.model.nv), np.empty(len(self.contacts))
        standing_torques(self._table, self._q, self._v, self._a, self._rows, self._weight, tau, loads, self._work)
        return Standing(tau[6:], loads, tau[:6])
