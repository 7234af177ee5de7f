# SPDX-License-Identifier: MIT
"""A robot that stands on points: what they carry, what the joints feel of it, how it moves while they stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from robot_mechanics.arguments import from_zero, vector
from robot_mechanics.errors import DynamicsError, InvalidConfigError
from robot_mechanics.native import rigid_body as rb

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robot_mechanics.dynamics.model import DynamicModel

_EDGES = 8  # of the pyramid inside the friction cone
_MISSING = 1e-5  # of the force needed, and of that force times the distance of the contacts
_REGULAR = 1e-4  # weight of the forces' size beside their balance
_NEAREST = 1e-3  # m: of a distance of contacts, where there is one, or all are at one point


@dataclass(frozen=True)
class Contact:
    """One point of a link that stands on something.

    Raises
    ------
    ShapeError, InvalidConfigError
        If point or normal are not three finite numbers, the normal has no length, or the friction is below 0.
    """

    link: str
    point: Tuple[float, float, float] = (0.0, 0.0, 0.0)  #: In the frame of the link, m
    normal: Tuple[float, float, float] = (0.0, 0.0, 1.0)  #: In the world, away from what it stands on
    friction: float = 0.8  #: Coefficient: greatest tangential over normal force

    def __post_init__(self) -> None:
        """Check the values."""
        what = f"of the contact of '{self.link}'"
        vector(self.point, 3, f"point {what}")
        if not vector(self.normal, 3, f"normal {what}").any():
            raise InvalidConfigError(f"normal {what} is {self.normal}; expected a direction, such as (0, 0, 1)")
        from_zero(self.friction, f"friction {what}")


class Support(NamedTuple):
    """What contacts carry."""

    forces: np.ndarray  #: (contacts, 3) on the robot, in the world, N
    tau: np.ndarray  #: (n,) generalized forces that the joints need with it, N m


def contact_jacobian(model: DynamicModel, q: ArrayLike, contacts: Sequence[Contact]) -> np.ndarray:
    """Return J (3 * contacts, nv): velocities of the contact points in the world are J v.

    Parameters
    ----------
    model : DynamicModel
    q : (nq,) array_like
    contacts : sequence of Contact

    Raises
    ------
    UnknownNameError
        If a contact's link does not exist.
    """
    for contact in contacts:
        if not isinstance(contact, Contact):
            raise InvalidConfigError(f"a contact is {contact!r}; expected Contact(link, point)")
    blocks = [model.jacobian(contact.link, q, contact.point)[:3] for contact in contacts]
    return np.concatenate(blocks) if blocks else np.zeros((0, model.nv))


def support(model: DynamicModel, q: ArrayLike, contacts: Sequence[Contact], a: Optional[ArrayLike] = None) -> Support:
    """Return how contacts carry a robot at rest, or accelerated by a, and the torques of its joints.

    The forces with the least sum of squares; where these would pull or slip, those with the least sum of squares within
    pyramids of eight edges inside the cones of friction (Lawson and Hanson's non-negative least squares, by scipy).

    Parameters
    ----------
    model : DynamicModel
        On a floating base.
    q : (nq,) array_like
    contacts : sequence of Contact
    a : (nv,) array_like, optional
        Accelerations; none at rest.

    Raises
    ------
    DynamicsError
        If the contacts cannot carry the robot without pulling or slipping; the message names what is missing.
    """
    if not model.floating:
        raise DynamicsError("a robot on a fixed base stands on it alone; build the model with floating=True")
    if not contacts:
        raise DynamicsError("there are no contacts; name at least one")
    needed = model.inverse(q, np.zeros(model.nv), np.zeros(model.nv) if a is None else a)
    J = contact_jacobian(model, q, contacts)
    A, b = _balance(J[:, :6].T, needed[:6])
    forces = np.linalg.pinv(A) @ b
    if not (_missing(A, forces, b) <= _MISSING and _holds(forces, contacts)):
        forces = _in_cones(A, b, contacts)
        if not _missing(A, forces, b) <= _MISSING:
            missing = needed[:6] - J[:, :6].T @ forces
            force, moment = (
                "[" + ", ".join(f"{x + 0.0:.3g}" for x in np.round(part, 9)) + "]"
                for part in (missing[:3], missing[3:])
            )
            raise DynamicsError(
                f"{_count(contacts)} cannot carry the robot without pulling or slipping: force {force} N and moment"
                f" {moment} N m, about the base's origin and in its axes, are missing; move the centre of mass over the"
                " contacts, add one, or raise the friction"
            )
    return Support(forces.reshape(-1, 3), (needed - J.T @ forces)[6:])


def _balance(A: np.ndarray, b: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:  # noqa: N803
    """Return the six equations A forces = b with moments about the contacts' middle, over their distance from it: N."""
    # of each contact the rotation R from the world into the base, and below it (its place in the base) x R
    blocks = A.reshape(6, -1, 3)
    levers = [blocks[3:, k] @ blocks[:3, k].T for k in range(blocks.shape[1])]
    places = np.array([(x[2, 1], x[0, 2], x[1, 0]) for x in levers])
    middle = places.mean(axis=0)
    distance = max(_NEAREST, float(np.linalg.norm(places - middle, axis=1).max()))
    turn = np.cross(middle, np.eye(3))  # takes middle x force off the moment
    scaled = np.block([[np.eye(3), np.zeros((3, 3))], [turn / distance, np.eye(3) / distance]])
    return scaled @ A, scaled @ b


def _count(contacts: Sequence[Contact]) -> str:
    return f"{len(contacts)} contact{'s' * (len(contacts) != 1)}"


def _missing(A: np.ndarray, forces: np.ndarray, b: np.ndarray) -> float:  # noqa: N803
    """Return how much of b the forces leave, beside the force in it."""
    return float(np.abs(A @ forces - b).max() / max(np.linalg.norm(b[:3]), 1e-9))


def _holds(forces: np.ndarray, contacts: Sequence[Contact]) -> bool:
    for force, contact in zip(forces.reshape(-1, 3), contacts):
        normal = _unit(contact.normal)
        along = float(force @ normal)
        if along < 0.0 or np.linalg.norm(force - along * normal) > contact.friction * along + 1e-12:
            return False
    return True


def _in_cones(A: np.ndarray, b: np.ndarray, contacts: Sequence[Contact]) -> np.ndarray:  # noqa: N803
    from robot_mechanics.native import required_scipy  # noqa: F401, I001, PLC0415 - says what to do if it is missing
    from scipy.optimize import nnls  # noqa: PLC0415 - optional

    edges = np.zeros((3 * len(contacts), _EDGES * len(contacts)))
    for k, contact in enumerate(contacts):
        normal = _unit(contact.normal)
        first = np.linalg.svd(normal[None])[2][1]
        second = np.cross(normal, first)
        for e in range(_EDGES):
            angle = 2.0 * np.pi * e / _EDGES
            tangent = np.cos(angle) * first + np.sin(angle) * second
            edges[3 * k : 3 * k + 3, _EDGES * k + e] = normal + contact.friction * tangent
    weights, _ = nnls(np.vstack([A @ edges, _REGULAR * edges]), np.concatenate([b, np.zeros(len(edges))]))
    return edges @ weights


def constrained_forward(
    model: DynamicModel, q: ArrayLike, v: ArrayLike, tau: ArrayLike, contacts: Sequence[Contact]
) -> Tuple[np.ndarray, np.ndarray]:
    """Return the accelerations a (nv,) while the contact points stay, and the forces (contacts, 3) on them, N.

    The forces hold in both directions and without a limit of friction: look at them before believing the motion.

    Parameters
    ----------
    model : DynamicModel
    q, v, tau : (nq,), (nv,), (nv,) array_like
    contacts : sequence of Contact

    Raises
    ------
    DynamicsError
        If the points hold each other, so that the forces are not determined, or the mass matrix is singular.
    """
    q0, v0, tau0 = model.check(q, v, tau)
    J, M = contact_jacobian(model, q0, contacts), model.mass_matrix(q0)
    drift = np.concatenate([_drift(model, q0, v0, contact) for contact in contacts]) if contacts else np.zeros(0)
    free = tau0 - model.bias(q0, v0)
    # M^-1 of the columns of J^T, and of the free forces
    solved = np.linalg.solve(model.check_mass_matrix(M), np.column_stack([J.T, free]))
    by_forces, falling = solved[:, :-1], solved[:, -1]
    at_points = J @ by_forces
    if len(at_points) and np.linalg.cond(at_points) > 1e12:
        raise DynamicsError(
            f"the forces of {_count(contacts)} are not determined: some points hold each other, or the joints cannot"
            " move a point in all three directions; leave one out"
        )
    forces = np.linalg.solve(at_points, -drift - J @ falling) if len(at_points) else np.zeros(0)
    return falling + by_forces @ forces, forces.reshape(-1, 3)


def _drift(model: DynamicModel, q: np.ndarray, v: np.ndarray, contact: Contact) -> np.ndarray:
    """Return dJ/dt v (3,) of a contact point: its acceleration in the world while no coordinate accelerates."""
    work = np.empty((len(model.table.rows), rb.WORK))
    rb.accelerations(model.table.rows, q, v, np.zeros(model.nv), work)
    body, T = model.table.body_of[contact.link], model.table.pose_in_body[contact.link]
    lever, row = T[:3, :3] @ np.asarray(contact.point) + T[:3, 3], work[body]
    w, turn = row[rb.W : rb.W + 3], row[rb.WD : rb.WD + 3]
    local = row[rb.A : rb.A + 3] + np.cross(turn, lever) + np.cross(w, np.cross(w, lever))
    return model.body_poses(q)[body, :3, :3] @ local + model.gravity_vector


def _unit(vector: Sequence[float]) -> np.ndarray:
    array = np.asarray(vector, dtype=float)
    return array / np.linalg.norm(array)
