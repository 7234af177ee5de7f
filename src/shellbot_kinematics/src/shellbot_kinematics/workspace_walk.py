# SPDX-License-Identifier: MIT
"""How far the feet may go over the ground around their rest points: per bearing, as circle and as ellipse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional, Sequence, Tuple, Union

import numpy as np

from robot_mechanics.errors import InvalidConfigError, ShapeError
from robot_mechanics.motion.rotations import rotation_from_rpy
from shellbot_kinematics.workspace_legs import LegSet

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

TRIPODS: Tuple[Tuple[int, ...], Tuple[int, ...]] = ((0, 2, 4), (1, 3, 5))
"""Rows of the legs that stand together in the tripod gait."""

_DIRECTIONS, _SHAPES = 180, 60  # candidates for the ellipse: 1 deg apart, and aspect 1 .. 6


@dataclass(frozen=True)
class StrokeEllipse:
    """Largest ellipse about the rest point in what the feet reach."""

    #: major, minor: Half axes, m
    major: float
    minor: float
    direction: float  #: Of the major axis from x towards y, rad in 0 .. pi.

    def radius(self, bearing: ArrayLike) -> np.ndarray:
        """Return the distance (m) from the centre to the ellipse at bearings in rad.

        Parameters
        ----------
        bearing : (...) array_like
            In the walk frame, rad.
        """
        angle = np.asarray(bearing, dtype=np.float64) - self.direction
        if self.minor <= 0.0:
            return np.zeros_like(angle)
        return self.major * self.minor / np.hypot(self.minor * np.cos(angle), self.major * np.sin(angle))


@dataclass(frozen=True, eq=False)
class StrokeReach:
    """How far each foot may go from its rest point over the ground."""

    bearing: np.ndarray  #: (n,) From x towards y of the walk frame, rad, from 0 on, equally spaced
    radius: np.ndarray  #: (k, n) m, without a gap from the rest point on; 0 where the rest point itself is out of reach
    rest: np.ndarray  #: (k, 2) Rest points in the walk frame, m

    @property
    def circle(self) -> np.ndarray:
        """Radius (k,) of each leg's largest circle about its rest point, m."""
        return self.radius.min(axis=1)

    def common(self, legs: Optional[Sequence[int]] = None) -> np.ndarray:
        """Return the radius (n,) that all of some legs (rows; default: all) reach: feet that stand go the same way.

        Parameters
        ----------
        legs : sequence of int, optional
            Rows.
        """
        rows = self.radius if legs is None else self.radius[list(legs)]
        return rows.min(axis=0)

    def ellipse(self, legs: Optional[Sequence[int]] = None) -> StrokeEllipse:
        """Return the largest ellipse about the rest point that some legs (rows; default: all) reach at the bearings.

        Among 180 directions and 60 aspects, 1 to 6; a circle if none of them is larger.

        Parameters
        ----------
        legs : sequence of int, optional
            Rows.
        """
        room = self.common(legs)
        direction = np.arange(_DIRECTIONS)[:, None, None] * (np.pi / _DIRECTIONS)
        aspect = np.geomspace(1.0, 6.0, _SHAPES)[None, :, None]
        angle = self.bearing[None, None, :] - direction
        unit = aspect / np.hypot(np.cos(angle), aspect * np.sin(angle))  # half axes: aspect and 1
        minor = (room / unit).min(axis=-1)
        area = minor * minor * aspect[..., 0]
        i, j = np.unravel_index(int(np.argmax(area)), area.shape)
        least, ratio = float(minor[i, j]), float(aspect[0, j, 0])
        return StrokeEllipse(ratio * least, least, float(direction[i, 0, 0]))


def stroke_reach(
    legs: LegSet,
    rest: ArrayLike,
    height: float,
    lift: float = 0.0,
    pose: Optional[ArrayLike] = None,
    joint_margin: float = 0.0,
    shank_min: float = -np.inf,
    fan: Union[float, ArrayLike] = 0.0,
    bearings: int = 72,
    radii: Optional[ArrayLike] = None,
) -> StrokeReach:
    """Search each leg's reachable ground around its rest point, on the ground and at the top of the swing.

    The branch is that of walking: the tip in front of the coxa axis, the knee up.

    Parameters
    ----------
    legs : LegSet
        k legs.
    rest : (k, 2) array_like
        Rest points of the feet in the walk frame W (level, its origin on the ground under the body's rest position), m.
    height : float
        Body centre above the ground at rest, m.
    lift : float
        Top of the swing above the ground, m; 0 looks at the ground alone.
    pose : (6,) array_like, optional
        Body relative to rest: shift (m), roll, pitch, yaw (rad).
    joint_margin : float
        Distance that every joint keeps from its limits, rad.
    shank_min : float
        Least femur plus tibia angle of a foot on the ground, rad: flatter, something beside the foot touches it.
    fan : float or (k,) array_like
        Angle of the fans, rad.
    bearings : int
        Directions that are searched, 3 or more.
    radii : (r,) array_like, optional
        Distances that are looked at, m, from 0 on, growing; default 0 to 150 mm, 2.5 mm apart.

    Raises
    ------
    ShapeError, InvalidConfigError
        If a shape does not fit, or a number is out of its range.
    """
    centre = np.asarray(rest, dtype=np.float64)
    body = np.zeros(6) if pose is None else np.asarray(pose, dtype=np.float64)
    distances = np.linspace(0.0, 0.15, 61) if radii is None else np.asarray(radii, dtype=np.float64)
    if centre.shape != (len(legs.names), 2) or not np.isfinite(centre).all():
        raise ShapeError(f"rest has shape {centre.shape}; expected ({len(legs.names)}, 2) finite numbers, m")
    if body.shape != (6,) or not np.isfinite(body).all():
        raise ShapeError(f"pose is {body}; expected shift (m) and roll, pitch, yaw (rad), 6 finite numbers")
    if distances.ndim != 1 or distances.size < 2 or distances[0] != 0.0 or not (np.diff(distances) > 0.0).all():
        raise ShapeError(f"radii is {distances}; expected growing distances from 0 on, m")
    if bearings < 3:
        raise InvalidConfigError(f"bearings is {bearings}; expected 3 or more directions")
    for name, value in (("height", height), ("lift", lift), ("joint_margin", joint_margin)):
        if not 0.0 <= value < np.inf:
            raise InvalidConfigError(f"{name} is {value}; expected 0 or more")
    bearing = np.arange(bearings) * (2.0 * np.pi / bearings)
    rays = np.stack((np.cos(bearing), np.sin(bearing)), axis=1)[:, None, :] * distances[None, :, None]
    levels = 1 if lift == 0.0 else 2
    p_walk = np.zeros((len(legs.names), levels, bearings, distances.size, 3))
    p_walk[..., :2] = centre[:, None, None, None, :] + rays[None, None]
    p_walk[:, 1:, ..., 2] = lift
    shift = np.array([body[0], body[1], body[2] + height])
    p_base = (p_walk.reshape(len(legs.names), -1, 3) - shift) @ rotation_from_rpy(*body[3:])
    q = legs.solve(p_base, fan).reshape(*p_walk.shape)
    inside = (legs.margin(q) >= joint_margin).all(axis=-1)  # (k, levels, bearings, ways)
    inside[:, 0] &= q[:, 0, ..., 1] + q[:, 0, ..., 2] - shank_min >= joint_margin
    count = np.cumprod(inside.all(axis=1), axis=-1).sum(axis=-1)  # points without a gap
    return StrokeReach(bearing, np.where(count > 0, distances[np.maximum(count - 1, 0)], 0.0), centre)


@dataclass(frozen=True, eq=False)
class Walkspace:
    """Stroke that the legs allow over body height and stance radius, body level."""

    height: np.ndarray  #: (h,) Body centre above the ground, m
    stance: np.ndarray  #: (r,) Radius of the circle on which the feet stand, m
    circle: np.ndarray  #: (h, r, k) Radius of each leg's largest stroke circle, m; 0 where the foot cannot stand

    @property
    def common(self) -> np.ndarray:
        """Radius (h, r) of the circle that all legs reach, m."""
        return self.circle.min(axis=-1)

    def best(self, height: float) -> Tuple[float, float]:
        """Return the stance radius with the largest stroke circle, and that, m, at the height nearest to this one.

        Parameters
        ----------
        height : float
            m.
        """
        row = int(np.argmin(np.abs(self.height - height)))
        column = int(np.argmax(self.common[row]))
        return float(self.stance[column]), float(self.common[row, column])


def walkspace(
    legs: LegSet,
    heights: ArrayLike,
    stances: ArrayLike,
    lift: float = 0.0,
    joint_margin: float = 0.0,
    shank_min: float = -np.inf,
    fan: float = 0.0,
    bearings: int = 36,
    radii: Optional[ArrayLike] = None,
) -> Walkspace:
    """Return the largest stroke circle per leg for body heights and stance radii.

    Parameters
    ----------
    legs : LegSet
        k legs.
    heights : (h,) array_like
        Body centre above the ground, m.
    stances : (r,) array_like
        Radius of the circle of the rest points, m; each foot stands in the direction of its leg's fan axis.
    lift, joint_margin, shank_min, fan, bearings, radii
        As of `stroke_reach`.

    Raises
    ------
    ShapeError, InvalidConfigError
        If there is no height or stance, or a number is out of its range.
    """
    high, wide = (np.atleast_1d(np.asarray(values, dtype=np.float64)) for values in (heights, stances))
    for name, values in (("heights", high), ("stances", wide)):
        if values.ndim != 1 or not values.size or not np.isfinite(values).all() or (values <= 0.0).any():
            raise ShapeError(f"{name} is {values}; expected one or more lengths above 0, m")
    direction = legs.geometry[:, :2] / np.linalg.norm(legs.geometry[:, :2], axis=1, keepdims=True)  # fan axes
    circle = np.empty((high.size, wide.size, len(legs.names)))
    for i, height in enumerate(high):
        for j, stance in enumerate(wide):
            reach = stroke_reach(
                legs, stance * direction, height, lift, None, joint_margin, shank_min, fan, bearings, radii
            )
            circle[i, j] = reach.circle
    return Walkspace(high, wide, circle)
