# SPDX-License-Identifier: MIT
"""Reach and singularities of any serial chain, by sampling its joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional, Tuple

import numpy as np

from robot_mechanics.errors import InvalidConfigError, ShapeError, UnknownNameError
from robot_mechanics.models.chain import SerialChain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ROWS = ("position", "pose")
_AXES = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class ReachCloud:
    """Sampled poses of a chain's tip."""

    name: str  #: Of the chain
    q: np.ndarray  #: (n_samples, n) Joints, rad or m
    p: np.ndarray  #: (n_samples, 3) Tip in the chain's base, m
    smallest: np.ndarray  #: (n_samples,) Smallest singular value of the Jacobian
    manipulability: np.ndarray  #: (n_samples,) Product of its singular values (Yoshikawa's measure)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.q)

    @property
    def bounds(self) -> np.ndarray:
        """Lowest and highest corner (2, 3) of the box around the samples, m."""
        return np.stack((self.p.min(axis=0), self.p.max(axis=0)))

    def select(self, mask: np.ndarray) -> ReachCloud:
        """Return some of the samples, by a bool mask or indices.

        Parameters
        ----------
        mask : (m,) array of bool, or array of int
            Of or into the samples.
        """
        return ReachCloud(self.name, *(a[mask] for a in (self.q, self.p, self.smallest, self.manipulability)))

    def slice(self, axis: str, value: float, thickness: float = 0.02) -> ReachCloud:
        """Return the samples within half a thickness of a plane across x, y or z (m).

        Parameters
        ----------
        axis : str
            "x", "y" or "z" of the base.
        value : float
            Where the plane crosses it, m.
        thickness : float
            m.

        Raises
        ------
        UnknownNameError, InvalidConfigError
            If there is no such axis, or the thickness is not above 0.
        """
        if axis not in _AXES:
            raise UnknownNameError(f"no axis '{axis}'; use one of {', '.join(_AXES)}")
        if not 0.0 < thickness < np.inf:
            raise InvalidConfigError(f"thickness is {thickness}; expected a length above 0, m")
        return self.select(np.abs(self.p[:, _AXES.index(axis)] - value) <= 0.5 * thickness)

    def volume(self, edge: float) -> float:
        """Return the volume (m^3) of the cubes of edge (m) that hold a sample: an estimate that needs many samples.

        Parameters
        ----------
        edge : float
            m.

        Raises
        ------
        InvalidConfigError
            If the edge is not above 0.
        """
        if not 0.0 < edge < np.inf:
            raise InvalidConfigError(f"edge is {edge}; expected a length above 0, m")
        cells = np.unique(np.floor(self.p / edge).astype(np.int64), axis=0)
        return float(len(cells)) * edge**3


def reach_cloud(
    chain: SerialChain,
    count: int,
    rng: np.random.Generator,
    rows: str = "position",
    length: float = 1.0,
) -> ReachCloud:
    """Return tip positions and measures of the Jacobian for joints drawn evenly between their limits.

    Parameters
    ----------
    chain : SerialChain
        Any chain; of a revolute joint that turns more than once around, one turn is drawn.
    count : int
        Number of samples.
    rng : numpy.random.Generator
        Source of the samples: the same generator gives the same cloud.
    rows : str
        "position" measures the three linear rows of the Jacobian, "pose" all six, the angular ones times `length`.
    length : float
        m; makes linear and angular rows comparable ("pose" only): how far from the tip a turn counts as a shift.

    Raises
    ------
    InvalidConfigError
        If count, rows or length is out of range, or a prismatic joint has no limits.
    """
    if count < 1:
        raise InvalidConfigError(f"count is {count}; expected 1 or more samples")
    low, high = sampling_limits(chain)
    q = low + (high - low) * rng.random((int(count), chain.n))
    p = np.array([chain.fk(values)[:3, 3] for values in q])
    return ReachCloud(chain.name, q, p, *measures(chain, q, rows, length))


def measures(
    chain: SerialChain, q: np.ndarray, rows: str = "position", length: float = 1.0
) -> Tuple[np.ndarray, np.ndarray]:
    """Return the smallest singular value and the product of all, (m,) each, of the Jacobian at joints q (m, n).

    Of a chain with fewer joints than rows only the singular values that it can have count.

    Parameters
    ----------
    chain : SerialChain
        Whose Jacobian it is.
    q : (m, n) array
        Joints, rad or m.
    rows, length
        As of `reach_cloud`.

    Raises
    ------
    InvalidConfigError
        If rows or length is out of range.
    """
    if rows not in ROWS:
        raise InvalidConfigError(f"rows is '{rows}'; expected one of {', '.join(ROWS)}")
    if not 0.0 < length < np.inf:
        raise InvalidConfigError(f"length is {length}; expected a length above 0, m")
    J = np.array([chain.jacobian(values) for values in q])  # noqa: N806
    if rows == "position":
        J = J[:, :3]  # noqa: N806
    else:
        J[:, 3:] *= length
    values = np.linalg.svd(J, compute_uv=False)
    return values[:, -1], values.prod(axis=1)


def sampling_limits(chain: SerialChain) -> Tuple[np.ndarray, np.ndarray]:
    """Return finite limits (n,) each to draw joints from: the chain's own, at most one turn of a revolute joint.

    A revolute joint that can turn more than once around is drawn from -pi to pi if it gets there, else from its lower
    limit on.

    Parameters
    ----------
    chain : SerialChain
        With limits at its prismatic joints.

    Raises
    ------
    InvalidConfigError
        If a prismatic joint has no limits.
    """
    low, high = chain.lower.copy(), chain.upper.copy()
    prismatic = {joint.name for joint in chain.joints if joint.kind == "prismatic"}
    for i, name in enumerate(chain.joint_names):
        if name in prismatic:
            if not np.isfinite(high[i] - low[i]):
                raise InvalidConfigError(f"prismatic joint '{name}' has no limits; give the chain limits to sample it")
        elif not high[i] - low[i] <= 2.0 * np.pi:
            around_zero = low[i] <= -np.pi and high[i] >= np.pi
            low[i] = -np.pi if around_zero else low[i] if np.isfinite(low[i]) else high[i] - 2.0 * np.pi
            high[i] = low[i] + 2.0 * np.pi
    return low, high


@dataclass(frozen=True, eq=False)
class JointMap:
    """Measures of the Jacobian over two joints, the others held."""

    joints: Tuple[str, str]  #: Names of the joints along the first and the second axis
    #: first, second: (a,) Their values, rad or m
    first: np.ndarray
    second: np.ndarray
    #: smallest, manipulability: (b, a) As in ReachCloud
    smallest: np.ndarray
    manipulability: np.ndarray


def joint_map(
    chain: SerialChain,
    joints: Tuple[str, str],
    q: Optional[ArrayLike] = None,
    count: int = 61,
    rows: str = "position",
    length: float = 1.0,
) -> JointMap:
    """Return how singular a chain is over two of its joints, between their limits.

    Parameters
    ----------
    chain : SerialChain
        Any chain.
    joints : tuple of 2 str
        Names of the joints that are varied.
    q : (n,) array_like, optional
        Where the others stand, rad or m; default 0, or the nearest limit.
    count : int
        Values per joint, 2 or more.
    rows, length
        As in reach_cloud.

    Raises
    ------
    UnknownNameError, ShapeError, InvalidConfigError
        If a joint does not exist, q has the wrong shape, or a number is out of range.
    """
    for name in joints:
        if name not in chain.joint_names:
            raise UnknownNameError(f"chain '{chain.name}' has no joint '{name}'; it has {', '.join(chain.joint_names)}")
    if len(joints) != 2 or joints[0] == joints[1]:
        raise ShapeError(f"joints is {joints}; expected two different names")
    if count < 2:
        raise InvalidConfigError(f"count is {count}; expected 2 or more values per joint")
    low, high = sampling_limits(chain)
    held = np.clip(np.zeros(chain.n), low, high) if q is None else chain.check(q)
    i, j = (chain.joint_names.index(name) for name in joints)
    first, second = np.linspace(low[i], high[i], count), np.linspace(low[j], high[j], count)
    every = np.tile(held, (count * count, 1))
    every[:, i], every[:, j] = np.tile(first, count), np.repeat(second, count)
    smallest, product = measures(chain, every, rows, length)
    return JointMap(
        (joints[0], joints[1]), first, second, smallest.reshape(count, count), product.reshape(count, count)
    )
