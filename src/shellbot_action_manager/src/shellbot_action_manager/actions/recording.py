# SPDX-License-Identifier: MIT
"""Turns recorded joint positions into postures over the feet: what `teaching` writes as an action."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Optional, Tuple

import numpy as np
from scipy.signal import savgol_filter
from scipy.spatial.transform import Rotation

from shellbot_action_manager.actions.postures import Postures, leg_axes
from shellbot_action_manager.body.geometry import LEG_COUNT, LOWER_COUNT
from shellbot_action_manager.errors import ActionError
from shellbot_action_manager.gait.walking import rest_footholds
from shellbot_common import TICK
from shellbot_common.rotations import up_from_quaternion

if TYPE_CHECKING:
    from shellbot_action_manager.body.geometry import RobotGeometry
    from shellbot_action_manager.config import ActionManagerConfig

_LONGEST = 600.0  # s
_GAP = 0.3  # s without joint positions
_SMOOTH = 21  # ticks over which encoder steps are averaged
_PLANE = 0.004  # m: feet this near to the ground's plane touch it, whatever the encoders' steps are
_LIFTED = 0.008  # m: a foot that comes higher than this above the plane of the others is lifted
_EDGE = 0.0025  # m: height at which it leaves the ground and comes back, followed to the lowest point beside it
_EDGE_TICKS = 15
_ASIDE = 0.015  # m from where it stood that a foot may be put down: the action puts it down where it stood
_JUMP = 0.01  # m in a tick: of a body that is posed over other feet than just before
_NEAR_REST = (0.005, np.radians(1.5), np.radians(3.0))  # m, rad of the body, rad of a shell's joint: this is rest
_TRIPLES = np.array(list(combinations(range(LEG_COUNT), 3)))


@dataclass(frozen=True)
class Recording:
    """Joint positions over time; one row is a posture."""

    t: np.ndarray  #: (m,) s, increasing
    q: np.ndarray  #: (m, n) Driven joints in the order of the description, rad
    orientation: Optional[np.ndarray] = None  #: (m, 4) Of base_link, x, y, z, w, if it was measured

    def window(self, begin: float, end: float) -> Recording:
        """Return the rows from `begin` to `end`, s."""
        inside = (self.t >= begin) & (self.t <= end)
        orientation = None if self.orientation is None else self.orientation[inside]
        return Recording(self.t[inside], self.q[inside], orientation)

    def posture(self) -> Recording:
        """Return the mean posture, as a recording of one row."""
        return Recording(self.t[-1:], self.q.mean(axis=0, keepdims=True)) if len(self.q) else self


@dataclass(frozen=True)
class Taught:
    """What the robot did in a recording."""

    postures: Postures  #: Every `TICK`; a single one of a recorded posture
    stood: bool  #: On its feet; otherwise feet are relative to where they were in the beginning, and the body is still
    lifted: np.ndarray  #: (m, 6) Which feet were in the air
    notes: Tuple[str, ...]  #: What was changed


def postures_of(recording: Recording, geometry: RobotGeometry, config: ActionManagerConfig) -> Taught:
    """Return the postures of a recording.

    Parameters
    ----------
    recording : Recording
        Of a robot that stands, or sits with legs and shells moved by hand.
    geometry : RobotGeometry
        Of the robot that was recorded.
    config : ActionManagerConfig
        Rest stance of its gait, and sections `posture` and `action`.

    Raises
    ------
    ActionError
        If the recording is no such thing; says which joint, when, and what to do.

    Notes
    -----
    The body's pose is the rigid motion that brings the standing feet nearest to their footholds (W. Kabsch, A solution
    for the best rotation to relate two sets of vectors, Acta Crystallographica A32, 1976). Which feet stand is found
    first from the plane through three feet that leaves none below it and the body's centre between them.
    """
    _check(recording, geometry, config)
    q, up = _resampled(recording)
    if len(q) >= _SMOOTH:
        q = savgol_filter(q, _SMOOTH, 3, axis=0)
    legs = geometry.legs.leg_set
    p_base = np.swapaxes(legs.forward(np.swapaxes(q[:, :LOWER_COUNT].reshape(-1, LEG_COUNT, 4), 0, 1)), 0, 1)
    upper = q[:, LOWER_COUNT:].reshape(len(q), -1, 2)
    sits_at = -float(geometry.legs.forward(geometry.sit_lower)[:, 2].mean())
    lowest = config.gaits[config.gait].stance_height + config.body.z_range[0]
    stood = _touching(p_base[:1], up[:1], 0.5 * (sits_at + lowest))[0].any()
    if not stood:
        rises = _touching(p_base, up, lowest).any(axis=1)
        if rises.any():
            raise ActionError(
                f"the robot stands up or is lifted after {TICK * int(rises.argmax()):.2f} s; record it either standing "
                "or sitting all the time"
            )
    taught = _of_standing(p_base, up, config) if stood else _of_sitting(p_base)
    taught = replace(taught, postures=replace(taught.postures, upper=upper))
    return _from_rest(taught, geometry)


def _check(recording: Recording, geometry: RobotGeometry, config: ActionManagerConfig) -> None:
    t, q, names = recording.t, recording.q, geometry.joint_names
    if not len(t):
        raise ActionError("the recording is empty; does anything publish joint_states? Start the robot, record again")
    if q.shape != (len(t), len(names)):
        raise ActionError(
            f"the recording has {q.shape[-1]} joints at {len(t)} times, {q.shape}; give the {len(names)} driven joints "
            f"of this robot, {names[0]} to {names[-1]}"
        )
    wrong = ~np.isfinite(q)
    if wrong.any():
        i, k = np.argwhere(wrong)[0]
        raise ActionError(f"{names[k]} is {q[i, k]} after {t[i] - t[0]:.2f} s; look at joint_states and record again")
    steps = np.diff(t)
    if not np.isfinite(t).all() or (steps <= 0.0).any():
        i = int(np.argmin(np.where(np.isfinite(steps), steps, -1.0)))
        raise ActionError(
            f"the time goes from {t[i]:.3f} s to {t[min(i + 1, len(t) - 1)]:.3f} s; give increasing times"
        )
    if (steps > _GAP).any():
        i = int(np.argmax(steps))
        raise ActionError(
            f"no joint positions from {t[i] - t[0]:.2f} s to {t[i + 1] - t[0]:.2f} s; a gap of at most {_GAP:g} s can "
            "be filled: record again, or shorter"
        )
    if t[-1] - t[0] > _LONGEST:
        raise ActionError(f"the recording is {t[-1] - t[0]:.0f} s long; give at most {_LONGEST:g} s")
    if recording.orientation is not None:
        upwards = np.array([up_from_quaternion(o)[2] for o in recording.orientation])
        tilt = np.arccos(np.clip(upwards, -1.0, 1.0))
        if (tilt > config.posture.upright).any():
            i = int((tilt > config.posture.upright).argmax())
            raise ActionError(
                f"the robot is tilted by {np.degrees(tilt[i]):.0f} deg after {t[i] - t[0]:.2f} s; an action is "
                f"performed upright, within {np.degrees(config.posture.upright):.0f} deg: stand it up and record again"
            )


def _resampled(recording: Recording) -> Tuple[np.ndarray, np.ndarray]:
    """Return the joints (k, n) and the up direction in base_link (k, 3) every tick."""
    t = recording.t - recording.t[0]
    grid = TICK * np.arange(int(t[-1] / TICK + 0.5) + 1)
    up = np.tile([0.0, 0.0, 1.0], (len(t), 1))
    if recording.orientation is not None:
        up = np.array([up_from_quaternion(o) for o in recording.orientation])
    q, up = (np.stack([np.interp(grid, t, column) for column in rows.T], axis=-1) for rows in (recording.q, up))
    return q, up


def _touching(p_base: np.ndarray, up: np.ndarray, least_height: float) -> np.ndarray:
    """Return which feet (m, 6, 3) touch the ground, (m, 6); none where the body is not above three of them.

    Of two planes that as many feet touch the one nearer to level by `up` (m, 3) in base_link is the ground.
    """
    corners = p_base[:, _TRIPLES]  # (m, 20, 3, 3)
    edges = corners[:, :, 1:] - corners[:, :, :1]
    normal = np.cross(edges[:, :, 0], edges[:, :, 1])
    size = np.linalg.norm(normal, axis=-1, keepdims=True)
    normal = normal * np.sign(normal[..., 2:]) / np.maximum(size, 1e-9)
    above = np.einsum("mtj,mtkj->mtk", normal, p_base[:, None] - corners[:, :, :1])  # (m, 20, 6)
    centre = np.einsum("mtj,mtj->mt", normal, -corners[:, :, 0])
    below = centre[..., None] * -normal  # of the centre in the plane
    sides = []
    for a, b in ((0, 1), (1, 2), (2, 0)):
        edge, inwards = corners[:, :, b] - corners[:, :, a], below - corners[:, :, a]
        turn = np.cross(edge, inwards)
        sides.append(np.einsum("mtj,mtj->mt", turn, normal))
    side = np.stack(sides)
    inside = (side > 0.0).all(axis=0) | (side < 0.0).all(axis=0)
    carries = inside & (above >= -_PLANE).all(axis=-1) & (centre >= least_height) & (normal[..., 2] > 0.8)
    near = np.abs(above) <= _PLANE
    level = np.einsum("mtj,mj->mt", normal, up)
    best = np.where(carries, near.sum(axis=-1) + level, -1.0).argmax(axis=1)
    rows = np.arange(len(p_base))
    return near[rows, best] & carries[rows, best][:, None]


def _of_standing(p_base: np.ndarray, up: np.ndarray, config: ActionManagerConfig) -> Taught:
    gait = config.gaits[config.gait]
    p_rest = rest_footholds(gait.rest_radius)
    stands = _touching(p_base, up, config.posture.pushing_height)
    fallen = stands.sum(axis=1) < 3
    if fallen.any():
        seconds = TICK * int(fallen.argmax())
        raise ActionError(
            f"the robot does not stand on three feet around its centre after {seconds:.2f} s; record it standing, or "
            "sitting with legs and shells moved by hand"
        )
    p_feet = _in_walk(p_base, _fitted(p_base, p_rest, stands))
    air = _airborne(p_feet[..., 2])
    few = (~air).sum(axis=1) < 3
    if few.any():
        seconds = TICK * int(few.argmax())
        raise ActionError(f"fewer than three feet stand after {seconds:.2f} s; record without walking, on the spot")
    footholds = _stance_footholds(p_feet, air, p_rest)
    pose = _fitted(p_base, footholds, ~air)
    jumps = np.linalg.norm(np.diff(pose[:, :2], axis=0), axis=1)
    if len(jumps) and jumps.max() > _JUMP:
        raise ActionError(
            f"the feet step to other places after {TICK * int(jumps.argmax()):.2f} s; an action of postures is on the "
            "spot: record without walking"
        )
    offsets = np.einsum("kji,mkj->mki", leg_axes(), _in_walk(p_base, pose) - footholds)
    offsets[..., 2] = np.maximum(offsets[..., 2], 0.0)
    notes = []
    aside = 1e3 * np.linalg.norm(footholds[:, :2] - p_rest[:, :2], axis=1)
    if aside.max() > 10.0:
        notes.append(
            f"the foot of lower_{int(aside.argmax()) + 1} stood {aside.max():.0f} mm from its place in the rest "
            "stance; the action moves the body alike over the rest stance"
        )
    pose[:, 2] -= gait.stance_height
    return Taught(Postures(pose, np.where(air[..., None], offsets, 0.0), np.zeros(0)), True, air, tuple(notes))


def _of_sitting(p_base: np.ndarray) -> Taught:
    """Return what hands do to the legs of a body that lies still: from where they were in the beginning."""
    offsets = np.einsum("kji,mkj->mki", leg_axes(), p_base - p_base[0])
    air = _airborne(offsets[..., 2])
    pushed = np.linalg.norm(np.where(air[..., None], 0.0, offsets)[..., :2], axis=-1) > 2.0 * _ASIDE
    notes = ["the robot did not stand: legs are taken from where they were in the beginning, the body stays at rest"]
    if pushed.any():
        leg = int(pushed.any(axis=0).argmax())
        notes.append(f"lower_{leg + 1} was moved without being lifted by {1e3 * _LIFTED:.0f} mm; this is left out")
    pose = np.zeros((len(p_base), 6))
    offsets[..., 2] = np.maximum(offsets[..., 2], 0.0)
    return Taught(Postures(pose, np.where(air[..., None], offsets, 0.0), np.zeros(0)), False, air, tuple(notes))


def _airborne(height: np.ndarray) -> np.ndarray:
    """Return when feet are in the air, (m, 6), for their heights over the ground (m, 6)."""
    air = np.zeros(height.shape, dtype=bool)
    for leg, h in enumerate(height.T):
        for a, b in runs(h > _EDGE):
            if h[a : b + 1].max() <= _LIFTED:
                continue
            first, last = a, b
            while first > max(a - _EDGE_TICKS, 0) and h[first - 1] < h[first]:
                first -= 1
            while last < min(b + _EDGE_TICKS, len(h) - 1) and h[last + 1] < h[last]:
                last += 1
            air[first : last + 1, leg] = True
    return air


def _stance_footholds(p_feet: np.ndarray, air: np.ndarray, p_rest: np.ndarray) -> np.ndarray:
    """Return the footholds (6, 3) of feet (m, 6, 3) where they are not in the air, in W; at rest if they always are."""
    footholds = np.empty((LEG_COUNT, 3))
    for leg in range(LEG_COUNT):
        stands = runs(~air[:, leg])
        if not stands:
            footholds[leg] = p_rest[leg]
            continue
        a, b = stands[0]
        footholds[leg] = np.median(p_feet[a : b + 1, leg], axis=0)
        for a, b in stands:
            aside = float(np.linalg.norm(np.median(p_feet[a : b + 1, leg], axis=0)[:2] - footholds[leg, :2]))
            if aside > _ASIDE:
                raise ActionError(
                    f"lower_{leg + 1} stands {1e3 * aside:.0f} mm from where it began after {TICK * a:.2f} s; an "
                    f"action is performed on the spot: put feet down within {1e3 * _ASIDE:.0f} mm of where they stood"
                )
    footholds[:, 2] = 0.0
    return footholds


def _fitted(p_base: np.ndarray, p_walk: np.ndarray, stands: np.ndarray) -> np.ndarray:
    """Return poses (m, 6) of the body in W with which the feet (m, 6, 3) that stand (m, 6) are nearest to (6, 3)."""
    weight = stands[..., None] / stands.sum(axis=1)[:, None, None]
    here, there = (weight * p_base).sum(axis=1), (weight * p_walk).sum(axis=1)
    spread = np.einsum("mki,mkj->mij", weight * (p_base - here[:, None]), p_walk - there[:, None])
    u, _, vt = np.linalg.svd(spread)
    turn = np.ones((len(p_base), 3))
    turn[:, 2] = np.sign(np.linalg.det(u) * np.linalg.det(vt))  # a rotation and no mirror
    R_walk_base = np.einsum("mji,mj,mkj->mik", vt, turn, u)  # noqa: N806
    position = there - np.einsum("mij,mj->mi", R_walk_base, here)
    return np.hstack((position, Rotation.from_matrix(R_walk_base).as_euler("xyz")))


def _in_walk(p_base: np.ndarray, pose: np.ndarray) -> np.ndarray:
    R_walk_base = Rotation.from_euler("xyz", pose[:, 3:]).as_matrix()  # noqa: N806
    return np.asarray(np.einsum("mij,mkj->mki", R_walk_base, p_base) + pose[:, None, :3])


def _from_rest(taught: Taught, geometry: RobotGeometry) -> Taught:
    """Take what is near rest in the beginning as rest: servos sag, and what they miss there they miss all along."""
    postures = taught.postures
    pose, upper = postures.pose.copy(), postures.upper.copy()
    if np.abs(pose[0, :3]).max() <= _NEAR_REST[0] and np.abs(pose[0, 3:]).max() <= _NEAR_REST[1]:
        pose = pose - pose[0] if len(pose) > 1 else pose
    if len(upper) > 1:
        error = upper[0] - geometry.up_upper
        upper = upper - np.where(np.abs(error).max(axis=-1, keepdims=True) <= _NEAR_REST[2], error, 0.0)
    return replace(taught, postures=replace(postures, pose=pose, upper=upper))


def runs(active: np.ndarray) -> Tuple[Tuple[int, int], ...]:
    """Return first and last index of each run of True in (m,)."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], active, [False]))))
    return tuple((int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2]))
