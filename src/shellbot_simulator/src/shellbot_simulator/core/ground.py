# SPDX-License-Identifier: MIT
"""Who touches the ground: feet, other links, forces and penetration."""

from __future__ import annotations

import dataclasses
import functools
from typing import List, Mapping, Union

import mujoco
import numpy as np

from shellbot_common.robot_profile import Contact

from .obstacles import first_body
from .shape_points import BodyPoses, ShapePoints, shape_points
from .state import GroundContacts
from .urdf_tree import COLLISION_GROUP, link_bodies

_NEXT = np.array([1, 2, 0])  # axis after each axis
_LOADED = 0.05  # N: a foot that carries less does not count as touching


@dataclasses.dataclass(frozen=True)
class ContactSnapshot:
    """The contacts of a solved step as the engine hands them out, copied because it is about to replace them."""

    sensor: GroundSensor  #: Of the model that the numbers of the geoms belong to
    geoms: np.ndarray  #: (c, 2)
    p_world_contacts: np.ndarray  #: (c, 3) m
    frames: np.ndarray  #: (c, 9) Normal and two tangents
    depths: np.ndarray  #: (c,) m, negative: overlap
    wrenches: np.ndarray  #: (c, 6) N and N m, in the contacts' frames
    p_world_feet: np.ndarray  #: (f, 3) m
    rotations: np.ndarray  #: (f, 9) Feet -> world

    @functools.cached_property
    def contacts(self) -> GroundContacts:
        """Who touches the ground, and how hard; evaluated when it is first read, as few ticks are."""
        return self.sensor.evaluate(self)


class GroundSensor:
    """Reads contacts and foot heights of one model.

    Parameters
    ----------
    model : mujoco.MjModel
        From `build_model`.
    feet : mapping of str to Contact
        The profile's contacts; what touches the ground within the radius of one belongs to it.

    Attributes
    ----------
    foot_bodies : (f,) int array
        Bodies of the foot tips.
    """

    def __init__(self, model: mujoco.MjModel, feet: Mapping[str, Contact]) -> None:
        self._model = model
        #: (ngeom,) The floor, what stands on it, and obstacles
        self._is_floor = (model.geom_bodyid == 0) | (model.geom_bodyid >= first_body(model))
        self._body_names = [model.body(body).name for body in range(model.nbody)]
        self._foot_radius = np.array([foot.radius for foot in feet.values()])
        self.foot_bodies = np.array([model.body(link).id for link in feet], dtype=int)
        self._link = link_bodies(model)
        solid = [g for g in range(model.ngeom) if model.geom_group[g] == COLLISION_GROUP]
        has_shape = {int(self._link[g]) for g in solid}
        # a tip may be a massless link; the shapes belong to the link it is fixed to then
        shanks = [int(body if body in has_shape else model.body_parentid[body]) for body in self.foot_bodies]
        self._foot_of_body = np.full(model.nbody, -1)
        self._foot_of_body[shanks] = np.arange(len(shanks))
        self._all_points = shape_points(model, solid)
        feet_points = [
            self._points_of_foot(foot, shank, radius, [g for g in solid if self._link[g] == shank])
            for foot, radius, shank in zip(self.foot_bodies, self._foot_radius, shanks)
        ]
        stack = [shape_points(model, []), *feet_points]  # the first has no points: there may be no feet
        self._foot_stack = ShapePoints(
            *(np.concatenate([getattr(points, name) for points in stack]) for name in ("body", "p_body", "radius"))
        )
        self._foot_starts = np.cumsum([len(points.body) for points in stack])[:-1]

    def _points_of_foot(self, foot: int, shank: int, radius: float, geoms: List[int]) -> ShapePoints:
        # a foot link without shapes is fixed to the shank: its offset in the shank's frame
        tip = np.zeros(3) if foot == shank else self._model.body_pos[foot]
        near = shape_points(self._model, geoms).near(tip, radius)
        if len(near.body):
            return near
        return ShapePoints(np.array([shank]), tip.reshape(1, 3).copy(), np.zeros(1))

    def lowest_height(self, data: mujoco.MjData) -> float:
        """Return the height of the lowest point of the whole robot, m."""
        return float(np.min(self._all_points.heights(data), initial=np.inf))

    def foot_heights(self, data: Union[mujoco.MjData, BodyPoses]) -> np.ndarray:
        """Return the height of the lowest point of each foot, m, shape (f,)."""
        if not len(self._foot_starts):
            return np.zeros(0)
        return np.minimum.reduceat(self._foot_stack.heights(data), self._foot_starts)

    def snapshot(self, data: mujoco.MjData) -> ContactSnapshot:
        """Copy what `evaluate` needs (call before the positions are updated)."""
        contact, wrenches = data.contact, np.zeros((data.ncon, 6))
        for row, wrench in enumerate(wrenches):
            mujoco.mj_contactForce(self._model, data, row, wrench)
        feet = self.foot_bodies  # an index array: the results are copies
        return ContactSnapshot(
            self, contact.geom.copy(), contact.pos.copy(), contact.frame.copy(), contact.dist.copy(), wrenches,
            data.xpos[feet], data.xmat[feet],
        )  # fmt: skip

    def evaluate(self, snapshot: ContactSnapshot) -> GroundContacts:
        """Return who touches the ground, and how hard."""
        is_floor = self._is_floor[snapshot.geoms]
        of_robot = ~is_floor.all(axis=1)  # the others are those of obstacles
        rows = np.flatnonzero(is_floor.any(axis=1) & of_robot)
        geoms = snapshot.geoms[rows]
        floor_first = self._is_floor[geoms[:, 0]]
        bodies = self._link[np.where(floor_first, geoms[:, 1], geoms[:, 0])]
        feet = self._foot_of_body[bodies]
        is_foot = feet >= 0
        # the normal points from the first geom to the second: towards the robot if the floor is the first
        sign = np.where(floor_first, 1.0, -1.0)
        frames = snapshot.frames[rows].reshape(-1, 3, 3)  # rows: normal, two tangents
        f_robot = sign[:, None] * np.einsum("ci,cij->cj", snapshot.wrenches[rows, :3], frames)
        foot_force, foot_moment = foot_wrench = np.zeros((2, len(self.foot_bodies), 3))
        if is_foot.any():  # not in the ball
            arms = snapshot.p_world_contacts[rows] - snapshot.p_world_feet[feet]
            is_foot &= np.linalg.norm(arms, axis=1) <= self._foot_radius[feet]
            np.add.at(foot_force, feet[is_foot], f_robot[is_foot])
            np.add.at(foot_moment, feet[is_foot], _cross(arms[is_foot], f_robot[is_foot]))
        others = {self._body_names[body] for body in bodies[~is_foot]}
        return GroundContacts(
            foot_contact=foot_force[:, 2] > _LOADED,
            foot_force=foot_force,
            foot_wrench=_in_own_axes(snapshot.rotations, foot_wrench),
            ground_force=f_robot.sum(axis=0),
            other_links=tuple(sorted(others)),
            max_penetration=max(0.0, -float(np.min(snapshot.depths[of_robot], initial=0.0))),
        )


def _in_own_axes(rotations: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return world vectors (number, f, 3) of each foot side by side in the axes of its link, (f, 3 * number)."""
    rotation = rotations.reshape(-1, 3, 3)  # own axes -> world
    return np.einsum("fij,nfi->fnj", rotation, vectors).reshape(len(rotation), 3 * len(vectors))


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    # numpy's own takes five times as long for so few vectors
    return a[:, _NEXT] * b[:, _NEXT[_NEXT]] - a[:, _NEXT[_NEXT]] * b[:, _NEXT]
