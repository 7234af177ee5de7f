# SPDX-License-Identifier: MIT
"""Brings together what belongs to one tick, and says when and what to draw; time is that of the stamps."""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.config import ActionManagerConfig
from shellbot_action_manager.interface import ContactEstimate
from shellbot_action_manager.markers.reach import GroundReach
from shellbot_action_manager.markers.shapes import (
    Shape,
    contact_shapes,
    footstep_shapes,
    moved,
    path_shapes,
    reach_shapes,
    support_shapes,
)
from shellbot_action_manager.markers.support import find_support
from shellbot_common import Stamp, classify_stamp
from shellbot_common.rotations import rotation_from_quaternion, rpy_from_quaternion

PERIOD = 0.05  # s between two pictures
_PATH_TIME = 2.0  # s
_PATH_STEP = 0.002  # m: a path's points are not nearer to each other, a standing foot has one
_JUMP = 0.1  # m: farther in a tick than a foot moves, as when the odometry begins again at its origin
_TOGETHER = 1.0  # s: messages of a tick come together; what differs by more is from before a reset


class BasePose(NamedTuple):
    """Where the body is."""

    T_odom_footprint: np.ndarray  #: (4, 4)
    height: float  #: Of base_link over base_footprint, m
    quat_footprint_base: Tuple[float, float, float, float]  #: x, y, z, w

    @property
    def T_odom_base(self) -> np.ndarray:  # noqa: N802
        """Pose of base_link, (4, 4)."""
        T_footprint_base = np.eye(4)
        T_footprint_base[:3, :3] = rotation_from_quaternion(np.array(self.quat_footprint_base))
        T_footprint_base[2, 3] = self.height
        return self.T_odom_footprint @ T_footprint_base


class _Tick:
    """What has come of one tick so far."""

    pose: Optional[BasePose] = None
    contacts: Optional[ContactEstimate] = None
    commanded: Optional[np.ndarray] = None
    on_path: bool = False
    footsteps: Optional[np.ndarray] = None


class MarkerCore:
    """Draws at most every `PERIOD`, from inputs that are joined by their stamps, in whatever order they come.

    Parameters
    ----------
    config : ActionManagerConfig
        Stance, margins.
    """

    def __init__(self, config: ActionManagerConfig) -> None:
        legs = replace(load_geometry("walker").legs, shank_min=config.shank_min)  # the lower legs of every variant
        self._reach = GroundReach(legs, config.gaits[config.gait].stance_radius, config.joint_margin)
        self._required = config.action.stability
        self.reset()

    def reset(self) -> None:
        """Forget everything that was received."""
        self._ticks: Dict[float, _Tick] = {}
        self._now: Optional[float] = None
        self._drawn = -np.inf
        self._paths: Dict[int, List[Tuple[float, np.ndarray]]] = {}
        self._footsteps = np.full((6, 3), np.nan)

    def receive_contacts(self, t: float, contacts: ContactEstimate) -> Stamp:
        """Take the contacts of a tick, which are the clock of this core; return what their stamp means.

        A clock that went back resets.
        """
        kind = classify_stamp(self._now, t)
        if kind is Stamp.RESET:
            self.reset()
        if kind not in (Stamp.REPEATED, Stamp.LATE):
            self._now = t
            self._ticks = {time: tick for time, tick in self._ticks.items() if abs(time - t) <= _TOGETHER}
            tick = self._tick(t)
            tick.contacts = contacts
            self._join(t, tick)
        return kind

    def receive_pose(self, t: float, pose: BasePose) -> None:
        """Take where the body was at a tick."""
        tick = self._tick(t)
        tick.pose = pose
        self._join(t, tick)

    def receive_commanded(self, t: float, p_base: np.ndarray) -> None:
        """Take where the feet (6, 3) were commanded to be at a tick, in base_link, m; NaN: not as feet."""
        tick = self._tick(t)
        tick.commanded = p_base
        self._join(t, tick)

    def receive_footsteps(self, t: float, p_base: np.ndarray) -> None:
        """Take where the feet (6, 3) in the air will land, in base_link, m; NaN for those that stand."""
        tick = self._tick(t)
        tick.footsteps = p_base
        self._join(t, tick)

    def draw(self) -> Optional[Tuple[float, List[Shape]]]:
        """Return the time (s) of a picture and everything in it, in place of the one before; None: none is due."""
        complete = [t for t, tick in self._ticks.items() if tick.pose is not None and tick.contacts is not None]
        t = max(complete, default=-np.inf)
        if t < self._drawn + PERIOD - 1e-6 or not complete:
            return None
        self._drawn = t
        pose, contacts = self._ticks[t].pose, self._ticks[t].contacts
        assert pose is not None and contacts is not None
        T_odom_base = pose.T_odom_base
        shapes = list(contact_shapes(contacts, T_odom_base))
        self._forget_paths(t)
        if contacts.model != "feet":
            return t, shapes
        standing = moved(T_odom_base, contacts.position[contacts.in_contact])[:, :2]
        shapes += support_shapes(find_support(standing, T_odom_base[:2, 3]), T_odom_base, self._required)
        roll, pitch, _ = rpy_from_quaternion(*pose.quat_footprint_base)
        shapes += reach_shapes(self._reach.outlines(pose.height, roll, pitch), pose.T_odom_footprint)
        shapes += path_shapes({leg: [p for _, p in path] for leg, path in self._paths.items()})
        shapes += footstep_shapes(self._footsteps)
        return t, shapes

    def _tick(self, t: float) -> _Tick:
        """Return the tick of a stamp; one that is far from the newest contacts is not remembered."""
        if self._now is None or abs(t - self._now) > _TOGETHER:
            return _Tick()
        return self._ticks.setdefault(t, _Tick())

    def _join(self, t: float, tick: _Tick) -> None:
        if tick.pose is None:
            return
        T_odom_base = tick.pose.T_odom_base
        if tick.commanded is not None and not tick.on_path:
            tick.on_path = True
            for leg, point in enumerate(moved(T_odom_base, tick.commanded)):
                self._extend(leg, t, point)
        if tick.footsteps is not None and tick.commanded is not None and tick.contacts is not None:
            p_base = tick.footsteps + _behind(tick.contacts, tick.commanded)
            self._footsteps, tick.footsteps = moved(T_odom_base, p_base), None

    def _extend(self, leg: int, t: float, point: np.ndarray) -> None:
        path = self._paths.setdefault(leg, [])
        step = np.linalg.norm(point - path[-1][1]) if path else np.abs(point).max() + _JUMP
        if step > _JUMP:
            path.clear()
        if step >= _PATH_STEP:  # False for NaN: not commanded as a foot
            path.append((t, point))

    def _forget_paths(self, t: float) -> None:
        for leg, path in self._paths.items():
            self._paths[leg] = [(time, point) for time, point in path if time > t - _PATH_TIME]


def _behind(contacts: ContactEstimate, commanded: np.ndarray) -> np.ndarray:
    """Return how far (3,) the standing feet are from their command, m.

    Joints are some milliseconds behind: a walking body is not quite where its command would have it, and what is
    planned against the commanded body is as far off.
    """
    if contacts.model != "feet" or not contacts.in_contact.any():
        return np.zeros(3)
    return np.nan_to_num((contacts.position - commanded)[contacts.in_contact].mean(axis=0))
