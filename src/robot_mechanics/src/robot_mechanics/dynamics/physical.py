# SPDX-License-Identifier: MIT
"""Physical parameters that explain the torques of an identification, and are otherwise nearest to a nominal model's.

A body can exist if its pseudo-inertia is positive definite (Wensing, Kim and Slotine, RA-L 2018),

    J = [[S, h], [h^T, m]],   S = tr(I) / 2 - I   (h: mass * com; I: tensor about the origin)

which says that mass and moments are positive and obey the triangle inequality. An armature or a friction is such a
matrix of one row. With J = C K C^T, where K is 1 in the nominal model, tr K - log det K is least there, does not depend
on units and frames (Lee, Wensing and Park, T-RO 2020), and grows without limit towards bodies that cannot exist. It is
added, with a small weight, to half the squared error of the combinations that the torques show, in standard deviations:
so it decides where the torques do not. The sum is convex; Newton's steps, each a least squares problem, find its
minimum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, List, NamedTuple

import numpy as np

from robot_mechanics.dynamics.bodies import JointFriction
from robot_mechanics.dynamics.model import DynamicModel
from robot_mechanics.dynamics.slopes import parameters
from robot_mechanics.errors import DynamicsError, InvalidInertiaError
from robot_mechanics.models.inertia import Inertia

if TYPE_CHECKING:
    from robot_mechanics.dynamics.identification import Identified

WEIGHT = 0.01  # of the distance from the nominal model: that is known to within ten times its size
WORSE = 2.0  # times the residual of the fit is no explanation
_STEPS = 300
_TEN = np.array([[4, 5, 6], [5, 7, 8], [6, 8, 9]])  # where `Inertia.parameters` have the tensor


class _Block(NamedTuple):
    """Parameters that vary together: ten of a body, or one of a joint's drive."""

    body: int  # -1 for a drive
    name: str
    at: slice  # in the vector of all parameters
    columns: np.ndarray  # (10, 10) or (1, 1): the parameters are these times `_vector` of K


def physical_model(found: Identified) -> DynamicModel:
    """Return the model that explains the torques of an identification, nearest to its nominal one where they do not.

    Parameters
    ----------
    found : Identified
        Bodies and drives that its torques do not show, and bodies without mass, stay as in its nominal model.

    Raises
    ------
    InvalidInertiaError
        If a body that the torques show has a tensor in the nominal model that no solid body has.
    DynamicsError
        If no physical parameters explain the torques about as well as those that were fitted.
    """
    nominal, shown = found.nominal, found.weight @ found.basis.T
    theta, blocks = parameters(nominal), _blocks(found)
    for block in blocks:
        theta[block.at] = 0.0
    G = np.hstack([shown[:, block.at] @ block.columns for block in blocks])
    S = _minimum(G, shown @ (found.parameters - theta), [len(block.columns) for block in blocks])
    for block, s in zip(blocks, S):
        theta[block.at] = block.columns @ _vector(s @ s.T)
    error = shown @ (theta - found.parameters)
    worse = float(np.sqrt(1.0 + error @ error / found.torques))
    if worse > WORSE:
        least = min(zip(blocks, S), key=lambda pair: float(np.linalg.svd(pair[1], compute_uv=False)[-1]))[0]
        raise DynamicsError(
            f"no physical masses, tensors and friction explain the torques: what they leave is {worse:.3g} times the"
            f" {found.residual:.3g} N m of the fit, and {least.name} is at the limit of what is possible; check signs,"
            " units and order of tau, v and a, and the axes of the joints"
        )
    table, n = nominal.table, len(nominal.bodies)
    shown_bodies = {block.body for block in blocks}
    inertias = {link: i for link, i in nominal.inertias.items() if table.body_of[link] not in shown_bodies}
    for body in shown_bodies.difference([-1]):
        T = table.pose_in_body[nominal.bodies[body]]
        inertia = Inertia.from_parameters(theta[10 * body : 10 * body + 10])
        inertias[nominal.bodies[body]] = inertia.in_frame(-T[:3, :3].T @ T[:3, 3], T[:3, :3].T)
    drives = zip(nominal.joint_names, theta[10 * n :].reshape(-1, 3).tolist())
    friction = {name: JointFriction(viscous, coulomb, armature) for name, (armature, viscous, coulomb) in drives}
    return DynamicModel(nominal.tree, inertias, friction, nominal.floating, nominal.gravity_vector)


def _blocks(found: Identified) -> List[_Block]:
    """Return what the torques show something of."""
    nominal, before = found.nominal, parameters(found.nominal)
    shows = np.abs(found.basis).max(axis=1) > 1e-12
    made = []
    for body, link in enumerate(nominal.bodies):
        at = slice(10 * body, 10 * body + 10)
        if not shows[at].any() or before[at][0] == 0.0:
            continue
        J = _pseudo_inertia(before[at])
        size = np.sqrt(np.where(J.diagonal() > 0.0, J.diagonal(), 1.0))  # the same for all units
        if not np.linalg.eigvalsh(J / np.outer(size, size))[0] > 1e-9:
            reasons = nominal.table.inertias[body].problems() or ["two of its moments add up to the third: it is flat"]
            raise InvalidInertiaError(
                f"the nominal model's body '{link}' has a tensor that no solid body has ({'; '.join(reasons)}); give"
                " it one with which to compare, such as that of a box"
            )
        columns = np.column_stack([_ten(_matrix(column)) for column in _congruence(np.linalg.cholesky(J)).T])
        made.append(_Block(body, f"body '{link}'", at, columns))
    first = 10 * len(nominal.bodies)
    if not made:
        raise InvalidInertiaError(
            "the nominal model has no mass in any body that the torques show; give its links first guesses of theirs"
        )
    for k in np.flatnonzero(shows[first:]):
        size = max(before[first + k], abs(found.parameters[first + k]))  # one of zero says nothing of its size
        if size > 0.0:
            what = ("armature", "viscous friction", "Coulomb friction")[k % 3]
            name = f"the {what} of joint '{nominal.joint_names[k // 3]}'"
            made.append(_Block(-1, name, slice(first + k, first + k + 1), np.array([[size]])))
    return made


def _minimum(G: np.ndarray, target: np.ndarray, sizes: List[int]) -> List[np.ndarray]:  # noqa: N803 - as above
    """Return S of each K = S S^T that minimize |G k - target|^2 / 2 + WEIGHT sum(tr K - log det K), k: all `_vector`s.

    S is carried along, not K, so that a body that comes near to impossible is still exact.
    """
    S = [np.eye(4 if size == 10 else 1) for size in sizes]
    spans = [slice(end - size, end) for end, size in zip(np.cumsum(sizes), sizes)]
    root = np.sqrt(WEIGHT)

    def left(S: List[np.ndarray]) -> np.ndarray:  # noqa: N803
        return target - G @ np.concatenate([_vector(s @ s.T) for s in S])

    def value(S: List[np.ndarray]) -> float:  # noqa: N803
        distance = sum(float(np.sum(s * s) - 2.0 * np.log(s.diagonal()).sum()) for s in S)
        return 0.5 * float(np.sum(left(S) ** 2)) + WEIGHT * distance

    for _ in range(_STEPS):
        # in E, where K becomes S (1 + E) S^T, the second derivative of the distance is the unit matrix
        turned = np.hstack([G[:, span] @ _congruence(s) for span, s in zip(spans, S)])
        slope = np.concatenate([_vector(s.T @ s - np.eye(len(s))) for s in S])
        rows = np.vstack([turned, root * np.eye(len(slope))])
        step = np.linalg.lstsq(rows, np.concatenate([left(S), -root * slope]), rcond=None)[0]
        gain = float(np.sum((rows @ step) ** 2))  # slope of the value along the step, times -1
        E = [_matrix(step[span]) for span in spans]
        t = min(1.0, 0.9 / max(0.9, -min(float(np.linalg.eigvalsh(e)[0]) for e in E)))
        now = value(S)
        while gain > 1e-9 and t > 1e-9:
            ahead = [s @ np.linalg.cholesky(np.eye(len(s)) + t * e) for s, e in zip(S, E)]
            if value(ahead) <= now - 1e-4 * t * gain:
                S = ahead  # noqa: N806
                break
            t *= 0.5
        else:
            break  # at the minimum, or as near to it as rounding lets
    return S


def _congruence(S: np.ndarray) -> np.ndarray:  # noqa: N803
    """Return the matrix that makes `_vector` of E that of S E S^T."""
    size = len(S) * (len(S) + 1) // 2
    return np.column_stack([_vector(S @ _matrix(unit) @ S.T) for unit in np.eye(size)])


def _pseudo_inertia(ten: np.ndarray) -> np.ndarray:
    J, tensor = np.empty((4, 4)), ten[_TEN]
    J[:3, :3] = 0.5 * np.trace(tensor) * np.eye(3) - tensor
    J[:3, 3] = J[3, :3] = ten[1:4]
    J[3, 3] = ten[0]
    return J


def _ten(J: np.ndarray) -> np.ndarray:  # noqa: N803
    tensor = np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]
    return np.array([J[3, 3], *J[:3, 3], *tensor[np.triu_indices(3)]])


def _vector(matrix: np.ndarray) -> np.ndarray:
    """Return the upper triangle of a symmetric matrix, whose squares add up to those of all its elements."""
    rows, columns = np.triu_indices(len(matrix))
    return matrix[rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))


def _matrix(vector: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix of a `_vector`."""
    n = int(np.sqrt(2 * len(vector)))
    rows, columns = np.triu_indices(n)
    matrix = np.empty((n, n))
    matrix[rows, columns] = matrix[columns, rows] = vector * np.where(rows == columns, 1.0, np.sqrt(0.5))
    return matrix
