# SPDX-License-Identifier: MIT
"""What one limb reaches within its joint limits: region in its plane, boundary, volume."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, Tuple

import numpy as np

from robot_mechanics.errors import InvalidConfigError
from shellbot_kinematics import _layout as K  # noqa: N812 - columns of the packed geometry
from shellbot_kinematics.shellbot_limbs import Frame
from shellbot_kinematics.shellbot_model import ShellbotModel
from shellbot_kinematics.workspace_legs import LegSet
from shellbot_kinematics.workspace_plane import LimbPlane

_NEAR = 1e-6  # m, how far beside a curve its two sides are looked at


@dataclass(frozen=True, eq=False)
class LimbReach:
    """Reach of a limb's tip."""

    plane: LimbPlane  #: Links, limits and the meaning of s and z
    #: s, z: (ns,) Grid in the plane, m
    s: np.ndarray
    z: np.ndarray
    branches: np.ndarray  #: (nz, ns) How many of the two knee branches reach each point: 0, 1 or 2
    #: Points (s, z) where the reach ends, by what is in the way; NaN between the pieces. (Where only one of two knee
    #: branches ends there is a curve of `plane.curves()`, too.)
    boundary: Dict[str, np.ndarray]
    area: float  #: Of the region in the plane, m^2
    #: Of what the plane sweeps when the coxa turns between its limits, m^3; 0 for upper limbs, which do not turn
    volume: float
    step: float  #: Grid spacing, m: area and volume are good to about the length of the boundary times half of it


def limb_reach(model: ShellbotModel, limb: str, frame: Frame = Frame.FOOT, step: float = 0.002) -> LimbReach:
    """Return what a limb reaches from where its plane turns; the fan only carries that along (see `reach_slice`).

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    limb : str
        lower_1 .. upper_6.
    frame : Frame
        FOOT (lower limbs) or SPHERE_CENTRE.
    step : float
        Spacing of the grid, m.

    Raises
    ------
    UnknownNameError
        If there is no such limb or frame.
    InvalidConfigError
        If the step is not between 0.1 mm and 50 mm.

    Notes
    -----
    With rho the distance from the coxa axis, s = +-sqrt(rho^2 - h^2) and rho d rho = s ds: the volume is the integral
    of |s| times the angle of the coxa that reaches (rho, z), joined over the points in front of the axis and inside.
    """
    plane = LimbPlane.from_model(model, limb, frame)
    s, z = plane_grid(plane, step)
    points = np.stack(np.meshgrid(s, z), axis=-1).reshape(-1, 2)
    q, _ = plane.solve(points)
    branches = np.isfinite(q[..., 0]).sum(axis=0).reshape(z.size, s.size)
    reached = branches > 0
    volume = _swept_volume(plane, s, reached, step) if plane.is_lower else 0.0
    return LimbReach(plane, s, z, branches, _boundary(plane), float(reached.sum()) * step * step, volume, step)


@dataclass(frozen=True, eq=False)
class ReachSlice:
    """Horizontal cut through what the legs reach."""

    #: x, y: (nx,) Grid in base_link, m
    x: np.ndarray
    y: np.ndarray
    height: float  #: z of the cut in base_link, m
    fan: float  #: Angle of the fans, rad
    reached: np.ndarray  #: (k, ny, nx) Per leg


def reach_slice(legs: LegSet, height: float, fan: float = 0.0, step: float = 0.004) -> ReachSlice:
    """Return what each leg reaches at one height, all branches, within the joint limits.

    Parameters
    ----------
    legs : LegSet
        k legs.
    height : float
        z in base_link, m (the ground of a body at 0.1623 m is at -0.1623).
    fan : float
        Angle of the fans, rad.
    step : float
        Grid spacing, m.

    Raises
    ------
    InvalidConfigError
        If the height is not finite, or the step is not between 0.1 mm and 50 mm.
    """
    if not math.isfinite(height):
        raise InvalidConfigError(f"height is {height}; expected a finite number, m")
    if not 1e-4 <= step <= 0.05:
        raise InvalidConfigError(f"step is {step}; expected 0.0001 to 0.05 m")
    g = legs.geometry
    lengths = np.hypot(g[:, 0], g[:, 1]) + np.hypot(g[:, K.G_OFF], g[:, K.G_OFF + 1])
    k = K.G_TIP + 3 * legs.tip
    lengths = lengths + np.hypot(g[:, K.G_L2] + g[:, K.G_L] + g[:, k + 1], g[:, k])
    half = math.ceil(float(lengths.max()) / step)
    axis = np.arange(-half, half + 1) * step
    points = np.stack(np.meshgrid(axis, axis, [height], indexing="xy"), axis=-1).reshape(1, -1, 3)
    everywhere = np.broadcast_to(points, (len(legs.names), *points.shape[1:]))
    reached = legs.reaches(everywhere, fan).reshape(len(legs.names), axis.size, axis.size)
    return ReachSlice(axis, axis, float(height), float(fan), reached)


def plane_grid(plane: LimbPlane, step: float) -> Tuple[np.ndarray, np.ndarray]:
    """Return s and z of a grid over the plane, m; s lies symmetrically about 0 and never on it.

    Parameters
    ----------
    plane : LimbPlane
        Whose reach the grid covers.
    step : float
        m.

    Raises
    ------
    InvalidConfigError
        If the step is not between 0.1 mm and 50 mm.
    """
    if not 1e-4 <= step <= 0.05:
        raise InvalidConfigError(f"step is {step}; expected 0.0001 to 0.05 m")
    low, high = plane.span()
    half = math.ceil(max(-low[0], high[0]) / step)
    return (np.arange(-half, half) + 0.5) * step, np.arange(low[1] - step, high[1] + step, step)


def _swept_volume(plane: LimbPlane, s: np.ndarray, reached: np.ndarray, step: float) -> float:
    """Return the volume swept by the plane between the coxa's limits, overlaps of front and inside counted once."""
    span = min(float(plane.turn[1] - plane.turn[0]), 2.0 * math.pi)
    half = s.size // 2
    ahead, in_front, inside = s[half:], reached[:, half:], reached[:, half - 1 :: -1]
    # azimuth of the tip = coxa + atan2(h, s): the arcs of s and -s are turned against each other
    shift = np.arctan2(plane.offset, -ahead) - np.arctan2(plane.offset, ahead)
    shift = np.abs(np.remainder(shift + np.pi, 2.0 * np.pi) - np.pi)
    overlap = np.maximum(span - shift, 0.0) + np.maximum(span - (2.0 * np.pi - shift), 0.0)
    joined = np.minimum(2.0 * span - overlap, 2.0 * np.pi)
    angle = np.where(in_front & inside, joined, np.where(in_front | inside, span, 0.0))
    return float((angle * ahead).sum()) * step * step


def _boundary(plane: LimbPlane) -> Dict[str, np.ndarray]:
    """Return the pieces of the bounding curves with points out of reach on one side."""
    found = {}
    for name, curve in plane.curves().items():
        along = np.gradient(curve, axis=0)
        length = np.linalg.norm(along, axis=1, keepdims=True)
        across = np.stack((-along[:, 1], along[:, 0]), axis=1) / np.where(length > 0.0, length, 1.0)
        count = [np.isfinite(plane.solve(curve + side * _NEAR * across)[0][..., 0]).sum(axis=0) for side in (1.0, -1.0)]
        curve_part = np.where(((count[0] > 0) != (count[1] > 0))[:, None], curve, np.nan)
        if np.isfinite(curve_part).any():
            found[name] = curve_part
    return found
