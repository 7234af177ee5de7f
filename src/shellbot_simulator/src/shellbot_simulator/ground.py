# SPDX-License-Identifier: MIT
"""Who touches the ground: feet, other links, forces and penetration."""

from __future__ import annotations

from typing import List, Tuple

import mujoco
import numpy as np

from .errors import ModelError
from .model_builder import COLLISION_GROUP, FLOOR
from .shape_points import ShapePoints, shape_points
from .state import GroundContacts

_LOADED = 0.05  # N: a foot that carries less does not count as touching


class GroundSensor:
    """Reads contacts and foot heights of one model.

    Parameters
    ----------
    model : mujoco.MjModel
        From `build_model`.
    foot_links : tuple of str
        Links at the foot tips.
    foot_radius : float
        Contacts this close to a tip belong to the foot, m.
    """

    def __init__(self, model: mujoco.MjModel, foot_links: Tuple[str, ...], foot_radius: float) -> None:
        self._model = model
        self._floor = model.geom(FLOOR).id
        self._foot_radius = foot_radius
        self._foot_bodies = np.array([_body(model, name) for name in foot_links], dtype=int)
        # the tip is a massless link; the shapes belong to the link it is fixed to
        self._shank_bodies = np.array([model.body_parentid[body] for body in self._foot_bodies], dtype=int)
        solid = [g for g in range(model.ngeom) if model.geom_group[g] == COLLISION_GROUP]
        self._all_points = shape_points(model, solid)
        self._foot_points = [
            self._points_of_foot(foot, [g for g in solid if model.geom_bodyid[g] == shank])
            for foot, shank in zip(self._foot_bodies, self._shank_bodies)
        ]
        self._foot_stack = ShapePoints(
            *(np.concatenate([getattr(p, name) for p in self._foot_points]) for name in ("body", "p_body", "radius"))
        ) if self._foot_points else shape_points(model, [])
        counts = [len(points.body) for points in self._foot_points]
        self._foot_starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(int) if counts else np.zeros(0, dtype=int)

    def _points_of_foot(self, foot: int, geoms: List[int]) -> ShapePoints:
        tip = self._model.body_pos[foot]  # the foot link is fixed to the shank: its offset in the shank's frame
        near = shape_points(self._model, geoms).near(tip, self._foot_radius)
        if len(near.body):
            return near
        return ShapePoints(np.array([self._model.body_parentid[foot]]), tip.reshape(1, 3).copy(), np.zeros(1))

    @property
    def foot_bodies(self) -> np.ndarray:
        """Body indices of the foot tips, shape (f,)."""
        return self._foot_bodies

    def lowest_height(self, data: mujoco.MjData) -> float:
        """Return the height of the lowest point of the whole robot, m."""
        return float(np.min(self._all_points.heights(data), initial=np.inf))

    def foot_heights(self, data: mujoco.MjData) -> np.ndarray:
        """Return the height of the lowest point of each foot, m, shape (f,)."""
        if not len(self._foot_starts):
            return np.zeros(0)
        return np.minimum.reduceat(self._foot_stack.heights(data), self._foot_starts)

    def read(self, data: mujoco.MjData) -> GroundContacts:
        """Evaluate the contacts of the last solved step (call before the positions are updated again)."""
        feet = len(self._foot_bodies)
        force = np.zeros((feet, 3))
        total = np.zeros(3)
        others = set()
        contact = data.contact
        penetration = max(0.0, -float(np.min(contact.dist, initial=0.0)))
        wrench = np.zeros(6)
        for index in np.flatnonzero((contact.geom == self._floor).any(axis=1)):
            mujoco.mj_contactForce(self._model, data, int(index), wrench)
            one = contact[index]
            floor_first = one.geom[0] == self._floor
            # rows of the frame are the contact's axes, the normal points from the first geom to the second
            f_robot = wrench[:3] @ one.frame.reshape(3, 3) * (1.0 if floor_first else -1.0)
            total += f_robot
            body = self._model.geom_bodyid[one.geom[1 if floor_first else 0]]
            foot = self._foot_of(data, int(body), one.pos)
            if foot >= 0:
                force[foot] += f_robot
            else:
                others.add(self._model.body(body).name)
        return GroundContacts(force[:, 2] > _LOADED, force, total, tuple(sorted(others)), penetration)

    def _foot_of(self, data: mujoco.MjData, body: int, position: np.ndarray) -> int:
        for foot in np.flatnonzero(self._shank_bodies == body):
            if np.linalg.norm(data.xpos[self._foot_bodies[foot]] - position) <= self._foot_radius:
                return int(foot)
        return -1


def _body(model: mujoco.MjModel, name: str) -> int:
    index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
    if index < 0:
        raise ModelError(f"the robot description has no link {name!r}; the foot tips must be links")
    return index
