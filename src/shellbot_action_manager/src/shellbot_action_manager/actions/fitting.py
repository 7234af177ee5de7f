# SPDX-License-Identifier: MIT
"""Fits few waypoints to the recorded motion of a limb, in the planner's own curve, and slows them to the limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, List, Optional, Sequence, Set, Tuple

import numpy as np
from scipy.signal import find_peaks

from robot_mechanics.trajectories import Keyframes
from shellbot_action_manager.actions.recording import runs
from shellbot_action_manager.actions.steps import COORDINATES
from shellbot_common import TICK

if TYPE_CHECKING:
    from robot_mechanics.trajectories import Limits

_APART = 12  # ticks between two waypoints at least: what is faster is the tremor of a hand
_FIT = 0.8  # of the tolerance: the rest is for times that are rounded and limbs that move alike
_SLACK = 10  # ticks by which a limb may be early or late
_GROUND = 1e-3  # m: a foot lower than this stands


@dataclass(frozen=True)
class Limb:
    """Body, a foot or a shell, all along a recording."""

    kind: str  #: Key of COORDINATES
    legs: Tuple[int, ...]  #: Those that move alike; none of the body
    values: np.ndarray  #: (m, d) Coordinates as a file has them: m, and deg where the name says so
    planned: np.ndarray  #: (m, e) Coordinates as the planner has them: m, rad, and joints of a shell
    tolerance: np.ndarray  #: (e,) Of these
    rest: np.ndarray  #: (e,) Where the action begins
    to_planned: Callable[[np.ndarray], np.ndarray]  #: From the former to the latter
    air: Optional[np.ndarray] = None  #: (m,) When a foot is in the air


def fit(limb: Limb, start: np.ndarray, a: int, b: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return times and values of few waypoints for the rows a to b, and the greatest error of each coordinate.

    They begin with the turning points. More are added where the curve is farthest from the recording, then those taken
    away that were not needed.
    """
    planned = limb.planned[a : b + 1]
    at = TICK * np.arange(len(planned))
    ground: Set[int] = {b - a} if limb.air is None or not limb.air[b] else set()
    for first, last in runs(limb.air[a : b + 1]) if limb.air is not None else ():
        ground |= {first} | ({last} if last < b - a else set())  # where it is lifted and put down
    fixed = {b - a, *ground} - {0}

    def curve(knots: Sequence[int]) -> Tuple[np.ndarray, np.ndarray]:
        values = written(limb, limb.values[[a + knot for knot in knots]])
        if limb.air is not None:
            values[[not limb.air[a + k] or k in ground for k in knots]] = 0.0
            values[values[:, 2] < _GROUND] = 0.0
        points = np.vstack((start, limb.to_planned(values)))
        return values, _error(Keyframes(points, np.append(0.0, at[list(knots)]))(at), planned, limb.tolerance)

    def free(knots: Sequence[int]) -> np.ndarray:
        found = np.ones(len(at), dtype=bool)
        for knot in (0, *knots):
            found[max(knot - _APART, 0) : knot + _APART + 1] = False
        return found

    knots = sorted(fixed)
    for turn in _turning_points(planned / limb.tolerance):
        if free(knots)[turn]:
            knots = sorted((*knots, turn))
    values, error = curve(knots)
    while True:
        scaled = np.where(free(knots), (error / limb.tolerance).max(axis=1), 0.0)
        worst = int(scaled.argmax())
        if scaled[worst] <= _FIT:
            break
        knots = sorted((*knots, worst))
        values, error = curve(knots)
    for knot in [k for k in knots if k not in fixed]:
        fewer = [k for k in knots if k != knot]
        trial, error_trial = curve(fewer)
        if (error_trial / limb.tolerance).max() <= max(_FIT, (error / limb.tolerance).max()):
            knots, values, error = fewer, trial, error_trial
    count = len(knots) - (len(knots) > 1 and bool((values[-1] == values[-2]).all()))  # it stays where it is by itself
    return at[knots[:count]], values[:count], error.max(axis=0)


def slowed(curves: Sequence[Tuple[np.ndarray, Limits]], times: Sequence[np.ndarray]) -> Tuple[float, List[np.ndarray]]:
    """Return how much longer a step takes within the limits, and when each of its motions passes its waypoints.

    Time is stretched only where a limit is passed, and for all motions alike, so that they stay together.
    """
    ats = list(times)
    for attempt in range(200):
        rounded = [np.round(at, 2) for at in ats]
        factors = [Keyframes(p, np.append(0.0, at)).stretch(limits) for (p, limits), at in zip(curves, rounded)]
        if max([f.max() for f in factors], default=1.0) <= 1.0:
            break
        borders = np.unique(np.concatenate([[0.0], *ats]))
        middle = 0.5 * (borders[:-1] + borders[1:])
        needed = np.ones(len(middle))
        for at, factor in zip(ats, factors):
            interval = np.searchsorted(at, middle)
            inside = interval < len(at)
            needed[inside] = np.maximum(needed[inside], factor[interval[inside]])
        if attempt > 60:  # neighbours push each other beyond their limits by turns
            needed[:] = needed.max()
        later = np.append(0.0, np.cumsum(np.diff(borders) * np.where(needed > 1.0, 1.01 * needed, 1.0)))
        ats = [np.interp(at, borders, later) for at in ats]
    duration = [max([at[-1] for at in each], default=1.0) for each in (rounded, times)]
    return float(duration[0] / duration[1]), rounded


def _decimals(kind: str, tolerance: np.ndarray) -> Tuple[int, ...]:
    """Return to how many decimals each coordinate is written: a sixth of the tolerance at most is lost."""
    places = {"body": tolerance, "foot": tolerance, "upper": np.array([1.5e-4, tolerance[1]])}[kind]
    unit = [np.degrees(t) if "deg" in key else t for key, t in zip(COORDINATES[kind], places)]
    return tuple(int(np.ceil(-np.log10(t / 2.9))) for t in unit)


def written(limb: Limb, values: np.ndarray) -> np.ndarray:
    """Return values as they are written: rounded, and zero where a coordinate does not move."""
    found = np.column_stack([np.round(v, d) for v, d in zip(values.T, _decimals(limb.kind, limb.tolerance))]) + 0.0
    found[:, ~used(limb)] = 0.0
    return found


def used(limb: Limb) -> np.ndarray:
    """Return which coordinates a waypoint has, (d,): both of a shell, of others those that move."""
    if limb.kind == "upper":
        return np.ones(2, dtype=bool)
    return np.asarray((np.abs(limb.planned) > 0.5 * limb.tolerance).any(axis=0))


def _error(curve: np.ndarray, recorded: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """Return how far (m, e) a curve is from the recording, and this from the curve, at the nearest time in _SLACK."""
    both = [_nearest(curve, recorded, tolerance), _nearest(recorded, curve, tolerance)]
    return np.maximum(*both)


def _nearest(a: np.ndarray, b: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    best = np.abs(a - b)
    for shift in range(-_SLACK, _SLACK + 1, 2):
        rows = np.clip(np.arange(len(a)) + shift, 0, len(a) - 1)
        error = np.abs(a - b[rows])
        nearer = (error / tolerance).max(axis=1) < (best / tolerance).max(axis=1)
        best[nearer] = error[nearer]
    return best


def _turning_points(scaled: np.ndarray) -> List[int]:
    """Return rows at which a coordinate turns round by more than its tolerance, those of great turns first."""
    found = []
    for column in scaled.T:
        for sign in (1.0, -1.0):
            rows, properties = find_peaks(sign * column, prominence=1.0)
            found += list(zip(properties["prominences"], rows))
    return [int(row) for _, row in sorted(found, reverse=True)]
