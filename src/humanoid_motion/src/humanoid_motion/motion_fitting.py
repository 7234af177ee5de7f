# SPDX-License-Identifier: MIT
"""Recorded joint angles become a motion of few key frames within a tolerance, as lines of a motions file."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Mapping, Sequence, Tuple

import numpy as np

from humanoid_motion.joint_motion import JointRange
from humanoid_motion.motions import HOLD, STAND, KeyMotion
from humanoid_motion.parameters import WalkError
from robot_mechanics.trajectories import Keyframes

_FIT = 0.8  # of the tolerance: the rest is for angles that are rounded
_APART = 0.03  # s between two frames at least
_GAP = 0.5  # s without a measurement, from which on a recording is no motion
_LONGEST = 15.0  # s between two frames at most
_APPROACH = 1.0  # s to the first frame, from wherever the joints are
_BEYOND = math.radians(2.0)  # that a measured joint may be beyond its limits
_COUPLED = math.radians(4.0)  # that joints of one motor may be measured apart, as in Gazebo
# from the pose in which it stands, from which on a joint is elsewhere: balancing moves hips and ankles by up to 10 deg
_ELSEWHERE = math.radians(12.0)


@dataclass(frozen=True)
class Recording:
    """Angles of all joints of a robot over time."""

    t: np.ndarray  #: (m,) s, rising from 0
    q: np.ndarray  #: (m, n) rad, in the robot's order and within its limits
    begin: float = 0.0  #: Of t = 0 in what it was read from, s


@dataclass(frozen=True)
class FittedMotion:
    """A motion as its file has it."""

    times: Tuple[float, ...]  #: s, of each frame since the one before
    joints: Tuple[str, ...]  #: That it moves
    frames_deg: np.ndarray  #: (k, j) of these
    then: str  #: STAND or HOLD

    def lines(self, name: str, text: str) -> str:
        """Return it as YAML."""
        then = [f"  then: {HOLD}"] if self.then == HOLD else []
        rows = [f"{name}:", f"  text: {json.dumps(text)}", *then, "  frames:"]
        for time, angles in zip(self.times, self.frames_deg):
            joints = ", ".join(f"{joint}: {angle:.1f}" for joint, angle in zip(self.joints, angles + 0.0))
            rows.append(f"    - {{time: {time:.3f}, joints_deg: {{{joints}}}}}")
        return "\n".join(rows) + "\n"


def recording_of(
    names: Sequence[str],
    t: Sequence[float],
    q: np.ndarray,
    ranges: Mapping[str, JointRange],
    span: Tuple[float, float] = (0.0, math.inf),
) -> Recording:
    """Return measured joint angles as a recording of the robot with these joints.

    Parameters
    ----------
    names : sequence of str
        Joints of the columns.
    t : (m,) sequence
        Stamps, s.
    q : (m, k) array
        rad.
    ranges : mapping of str to JointRange
        The robot's joints.
    span : (2,) tuple
        Part that counts, s since the first stamp.

    Raises
    ------
    WalkError
        If a joint is missing, not a number or beyond its limits, joints of one motor are apart, time does not rise
        or has a gap, or the part is too short; names joint, time and range.
    """
    missing = [name for name in ranges if name not in names]
    columns = [list(names).index(name) for name in ranges if name in names]
    times, angles = np.asarray(t, dtype=float), np.asarray(q, dtype=float)[:, columns]
    missing += [name for name, column in zip(ranges, angles.T) if not np.isfinite(column).any()] if not missing else []
    if missing:
        raise WalkError(f"joints are missing: {', '.join(missing)}; record joint_states of the whole humanoid")
    if len(times) and (np.diff(times) <= 0.0).any():
        raise WalkError("the stamps do not rise; record one run, without a reset of the simulation")
    begin = float(times[0]) if len(times) else 0.0
    inside = (times - begin >= span[0]) & (times - begin <= span[1])
    if inside.sum() < 3 or np.ptp(times[inside]) < 3.0 * _APART:
        length = float(np.ptp(times)) if len(times) else 0.0
        end = f"{span[1]:g} s" if math.isfinite(span[1]) else "the end"
        raise WalkError(
            f"nothing to read from {span[0]:g} s to {end} of a recording of {length:.2f} s; choose more of it"
        )
    times, angles = times[inside] - begin, angles[inside].copy()
    gap = int(np.diff(times).argmax())
    if times[gap + 1] - times[gap] > _GAP:
        raise WalkError(
            f"no joints were recorded for {times[gap + 1] - times[gap]:.2f} s after {times[gap]:.2f} s; at most "
            f"{_GAP:g} s may be missing: take a part without the gap (--begin, --end)"
        )
    for index, (name, joint) in enumerate(ranges.items()):
        column = angles[:, index]
        beyond = np.maximum(joint.lower - column, column - joint.upper)
        row = int(np.argmax(np.where(np.isfinite(beyond), beyond, math.inf)))
        if not beyond[row] <= _BEYOND:
            raise WalkError(
                f"{name} is at {column[row]:.4g} rad ({math.degrees(column[row]):.4g} deg) after {times[row]:.2f} s; "
                f"its limits are {joint.lower:.4f} .. {joint.upper:.4f} rad; leave this part out, or correct the table"
            )
        column[:] = np.clip(column, joint.lower, joint.upper)
    order = list(ranges)
    for name, joint in ranges.items():
        if joint.leader:
            pair = [order.index(joint.leader), order.index(name)]
            apart = np.abs(np.diff(angles[:, pair], axis=1)).ravel()
            row = int(apart.argmax())
            if apart[row] > _COUPLED:
                raise WalkError(
                    f"{joint.leader} and {name} are turned by one motor, but are {math.degrees(apart[row]):.1f} deg "
                    f"apart after {times[row]:.2f} s; at most {math.degrees(_COUPLED):.0f} deg are taken as its play"
                )
            angles[:, pair] = angles[:, pair].mean(axis=1, keepdims=True)
    return Recording(times - times[0], angles, float(times[0]))


def trimmed(recording: Recording, tolerance: float) -> Recording:
    """Return a recording without what rests, within a tolerance (rad), at its begin and its end.

    Raises
    ------
    WalkError
        If nothing moves.
    """
    first, last = (np.abs(recording.q - recording.q[row]).max(axis=1) > tolerance for row in (0, -1))
    if not first.any():
        raise WalkError(f"no joint moves by more than {math.degrees(tolerance):g} deg; record a movement")
    begin, end = recording.t[int(first.argmax())], recording.t[len(last) - 1 - int(last[::-1].argmax())]
    keep = (recording.t >= begin - 3.0 * _APART) & (recording.t <= end + 3.0 * _APART)
    t = recording.t[keep]
    return Recording(t - t[0], recording.q[keep], recording.begin + float(t[0]))


def fit(recording: Recording, ranges: Mapping[str, JointRange], stance: np.ndarray, tolerance: float) -> FittedMotion:
    """Return few key frames whose curve passes a recording.

    Frames are added where the curve is farthest from the recording, then those taken away that are not needed.

    Parameters
    ----------
    recording : Recording
        Of all joints.
    ranges : mapping of str to JointRange
        Of these.
    stance : (n,) array
        In which the robot stands, rad: a joint that rests there is left out.
    tolerance : float
        rad.
    """
    moves = (np.ptp(recording.q, axis=0) > tolerance) | (np.abs(recording.q - stance).max(axis=0) > _ELSEWHERE)
    q, t = recording.q[:, moves], recording.t
    spacing = max(1, round(_APART / float(np.median(np.diff(t)))))

    def error(knots: Sequence[int]) -> np.ndarray:
        return np.asarray(np.abs(Keyframes(q[list(knots)], t[list(knots)])(t) - q).max(axis=1))

    knots = sorted(
        {0, *(int(np.searchsorted(t, at)) for at in np.arange(_LONGEST, t[-1] - _APART, _LONGEST)), len(t) - 1}
    )
    fixed = set(knots)
    while True:
        free = np.ones(len(t), dtype=bool)
        for knot in knots:
            free[max(knot - spacing + 1, 0) : knot + spacing] = False
        off = np.where(free, error(knots), 0.0)
        if off.max() <= _FIT * tolerance:
            break
        knots = sorted((*knots, int(off.argmax())))
    most = np.maximum(_FIT * tolerance, error(knots))  # more where frames are as near as can be
    for knot in [knot for knot in knots if knot not in fixed]:
        fewer = [other for other in knots if other != knot]
        if (error(fewer) <= most).all():
            knots = fewer
    at = np.round(t[knots], 3)
    elsewhere = np.abs(recording.q[-1] - stance).max() > _ELSEWHERE
    joints = tuple(name for name, is_moved in zip(ranges, moves) if is_moved)
    low, high = np.degrees([[ranges[name].lower, ranges[name].upper] for name in joints]).T
    frames_deg = np.clip(np.round(np.degrees(q[knots]), 1), np.ceil(10.0 * low) / 10.0, np.floor(10.0 * high) / 10.0)
    return FittedMotion((_APPROACH, *np.diff(at).tolist()), joints, frames_deg, HOLD if elsewhere else STAND)


def play_error(motion: KeyMotion, recording: Recording, times: Sequence[float]) -> Tuple[np.ndarray, float]:
    """Return how far a motion as it is played is from its recording, and how much longer it takes.

    Parameters
    ----------
    motion : KeyMotion
        As read from its file.
    recording : Recording
        That it was made of.
    times : (k,) sequence
        Of its frames, s: the first one is the begin of the recording.

    Returns
    -------
    (n,) array, float
        Greatest error of each joint, rad (0 of one that is left out), and the factor of time.
    """
    curve = motion.begin(recording.q[0])
    recorded = np.concatenate(([0.0], np.cumsum(times[1:])))
    played = curve(np.interp(recording.t, recorded, curve.at[1:]))
    off = np.abs(played - recording.q).max(axis=0)
    return np.where(np.isfinite(motion.frames[0]), off, 0.0), float((curve.duration - curve.at[1]) / recorded[-1])
