# SPDX-License-Identifier: MIT
"""Lengths, angles and signs of Shellbot's legs, read from their chains: no number of the robot is repeated here.

The closed forms need the structure of the legs, not the frames that the description happens to use: lower legs have
two parallel vertical axes (fan, coxa), then two parallel horizontal ones (femur, tibia); upper legs two parallel
horizontal ones. Everything else is measured from the chains at q = 0.
"""

from __future__ import annotations

from typing import List, Tuple

import numpy as np

from robot_mechanics.errors import InvalidChainError
from robot_mechanics.models.chain import SerialChain

PARALLEL_TOLERANCE = 1e-6  # rad; a URDF printed with seven digits still passes
NO_LIMIT = 1e6  # rad; stands for "none" in the kernels, which take the middle of the limits


def pack_lower(foot: SerialChain, sphere_centre: SerialChain) -> np.ndarray:
    """Return the packed geometry (47,) of a lower leg, columns as named in _layout (G_*), m and rad.

    Parameters
    ----------
    foot, sphere_centre : SerialChain
        From base_link to the two tips, over the same four joints.

    Raises
    ------
    InvalidChainError
        If the chains are not built as the closed form needs.
    """
    if foot.n != 4 or foot.joint_names != sphere_centre.joint_names:
        raise InvalidChainError(
            f"a lower leg has four joints to both of its tips; got {foot.joint_names} and {sphere_centre.joint_names}"
        )
    (p1, a1), (p2, a2), (p3, a3), (p4, a4) = _axes(foot)
    _require_parallel(foot, "fan", a1, "coxa", a2)
    _require_parallel(foot, "femur", a3, "tibia", a4)
    if abs(a2 @ a3) > PARALLEL_TOLERANCE:
        raise InvalidChainError(f"{foot.name}: femur axis {a3} must be at a right angle to the coxa axis {a2}")
    up = a2
    out = np.cross(a3, up)
    toward = p3 - p2
    if abs(out @ toward) < 1e-9:
        toward = foot.fk(np.zeros(4))[:3, 3] - p2
    out *= np.sign(out @ toward) or 1.0
    across = np.cross(up, out)
    R = np.array([out, across, up])  # noqa: N806 - rows: axes of the leg at zero, in base_link
    knee = R @ (p4 - p3)
    tips = [R @ (chain.fk(np.zeros(4))[:3, 3] - p4) for chain in (foot, sphere_centre)]
    lateral = [float((R @ (p3 - p2))[1] + knee[1] + tip[1]) for tip in tips]
    femur = R @ (p3 - p2)
    columns = [
        *p1,
        *R.ravel(),
        *(R @ (p2 - p1)),
        np.sign(a1 @ up),
        femur[0],
        femur[2],
        np.sign(a3 @ across),
        np.sign(a4 @ across),
    ]
    columns += list(_polar(foot, knee, "femur"))
    for tip, h in zip(tips, lateral):
        columns += [h, *_polar(foot, tip, "tibia")]
    R0 = sphere_centre.fk(np.zeros(4))[:3, :3]  # noqa: N806
    seen = R @ R0  # axes of the sphere-centre frame in those of the leg, at zero
    columns += [*(R0.T @ across), *(R0.T @ out), _pitch(sphere_centre, seen)]
    return np.array(columns + _limits(foot), dtype=np.float64)


def pack_upper(sphere_centre: SerialChain) -> np.ndarray:
    """Return the packed geometry (28,) of an upper leg, columns as named in _layout (U_*), m and rad.

    Parameters
    ----------
    sphere_centre : SerialChain
        From base_link to the frame sphere_centre of an upper leg.

    Raises
    ------
    InvalidChainError
        If the chain is not planar with two joints about a horizontal axis.
    """
    chain = sphere_centre
    if chain.n != 2:
        raise InvalidChainError(f"an upper leg has two joints; {chain.name} has {chain.joint_names}")
    (p5, a5), (p6, a6) = _axes(chain)
    _require_parallel(chain, "shoulder", a5, "shell", a6)
    up = np.array([0.0, 0.0, 1.0])
    if abs(a5 @ up) > PARALLEL_TOLERANCE:
        raise InvalidChainError(f"{chain.name}: the shoulder axis {a5} must be horizontal in base_link")
    out = np.cross(a5, up)
    out *= np.sign(out @ p5) or 1.0  # away from the body's axis
    across = np.cross(up, out)
    R = np.array([out, across, up])  # noqa: N806
    T = chain.fk(np.zeros(2))  # noqa: N806
    arm, tip = R @ (p6 - p5), R @ (T[:3, 3] - p6)
    columns = [*p5, *R.ravel(), np.sign(a5 @ across), np.sign(a6 @ across), *_polar(chain, arm, "shoulder")]
    columns += [float(arm[1] + tip[1]), *_polar(chain, tip, "shell"), *(T[:3, :3].T @ out)]
    return np.array(columns + _limits(chain), dtype=np.float64)


def _axes(chain: SerialChain) -> Tuple[Tuple[np.ndarray, np.ndarray], ...]:
    """Return a point (3,) and the direction (3,) of every moving joint's axis in the base at q = 0."""
    result = []
    T = np.eye(4)  # noqa: N806
    for joint in chain.joints:
        T = T @ joint.origin  # noqa: N806
        if joint.moves:
            if joint.kind != "revolute":
                raise InvalidChainError(
                    f"{chain.name}: joint '{joint.name}' is {joint.kind}; the legs have revolute joints"
                )
            result.append((T[:3, 3].copy(), T[:3, :3] @ joint.axis))
        T = T @ joint.after  # noqa: N806
    return tuple(result)


def _limits(chain: SerialChain) -> List[float]:
    """Return lower and upper limits and speeds of the joints, rad and rad/s, 1e6 for none."""
    values = np.concatenate([chain.lower, chain.upper, chain.velocity])
    return [float(value) for value in np.clip(values, -NO_LIMIT, NO_LIMIT)]


def _pitch(chain: SerialChain, seen: np.ndarray) -> float:
    """Return the pitch (rad) of the sphere-centre frame at zero, as the second report counts it: alpha + beta, the
    angle of its x axis below the leg's.
    """
    if abs(seen[1, 0]) > PARALLEL_TOLERANCE:
        raise InvalidChainError(f"{chain.name}: the x axis of the sphere-centre frame must lie in the leg plane")
    return float(np.arctan2(-seen[2, 0], seen[0, 0]))


def _require_parallel(chain: SerialChain, name: str, a: np.ndarray, other: str, b: np.ndarray) -> None:
    if np.linalg.norm(np.cross(a, b)) > PARALLEL_TOLERANCE:
        raise InvalidChainError(
            f"{chain.name}: the axes of {name} {a} and {other} {b} must be parallel for the closed form"
        )


def _polar(chain: SerialChain, vector: np.ndarray, what: str) -> Tuple[float, float]:
    """Return length (m) and angle (rad) of a link in the leg plane."""
    length = float(np.hypot(vector[0], vector[2]))
    if length < 1e-6:
        raise InvalidChainError(f"{chain.name}: the {what} link has no length; the closed form needs one")
    return length, float(np.arctan2(vector[2], vector[0]))
