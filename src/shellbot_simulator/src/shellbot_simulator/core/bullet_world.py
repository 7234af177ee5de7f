# SPDX-License-Identifier: MIT
"""Robot and floor as Bullet's bodies, made of the compiled model: shapes, masses, joints and who may collide."""

from __future__ import annotations

import dataclasses
import itertools
import math
import tempfile
import weakref
from pathlib import Path
from typing import AbstractSet, Any, Dict, List, Sequence, Tuple

import mujoco
import numpy as np
import pybullet
from scipy.spatial import ConvexHull, HalfspaceIntersection

from .errors import ModelError
from .obstacles import first_body
from .urdf_tree import COLLISION_GROUP, link_bodies

_SKIN_M = 0.001  # that Bullet adds to convex hulls, and takes from the inside of other shapes
_MOST_SHAPES = 16  # of one link, by createCollisionShapeArray
_ROOT = 1  # body of the root link
_MOST_LINKS = 256  # of one robot, by createMultiBody

Pose = Tuple[np.ndarray, np.ndarray]
"""Position (3,), m, and rotation (3, 3)."""


@dataclasses.dataclass(frozen=True)
class _Link:
    """One link of Bullet's robot; of the base: pose in the world and no joint."""

    parent: int  # index of a link, -1: the base
    pose: Pose  # in the parent's frame
    joint: int  # of the model; -1: fixed
    mass: float
    inertia: np.ndarray  # (3,) about the main axes, kg m^2
    inertial: Pose  # main axes in the link's frame
    geoms: Tuple[int, ...]
    #: Pose of each shape in the link's frame
    shapes: Tuple[Pose, ...]


class BulletWorld:
    """Bodies of one model in a physics client of their own.

    Parameters
    ----------
    model : mujoco.MjModel
        From `build_model`.

    Attributes
    ----------
    client : int
        Of pybullet, for `physicsClientId`.
    robot : int
        Its body.
    joints : list of int
        Bullet's index of the joint that each actuator of the model drives.
    geom_of_link : dict
        A geom of the model that is in each link (-1: the base).
    geom_of_body : dict
        The geom of each other body: parts of the floor, and obstacles.
    T_root_base : Pose
        Main axes of the base in the root link.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self.client = pybullet.connect(pybullet.DIRECT)
        if self.client < 0:
            raise ModelError("pybullet opens no physics client; close other simulators of this process")
        weakref.finalize(self, pybullet.disconnect, self.client)
        with tempfile.TemporaryDirectory(prefix="bullet-") as folder:
            self._folder = Path(folder)
            others = [g for g, body in enumerate(model.geom_bodyid) if not _ROOT <= body < first_body(model)]
            self.geom_of_body = {self._body(geom): geom for geom in others}
            self._links = self._describe()
            self.T_root_base = self._links[0].inertial
            self.robot = self._build(self._links)
        of_joint = {link.joint: index - 1 for index, link in enumerate(self._links)}
        self.joints = [of_joint[int(joint)] for joint in model.actuator_trnid[:, 0]]
        self.geom_of_link = {index - 1: link.geoms[0] for index, link in enumerate(self._links) if link.geoms}
        self._set_up()

    def _describe(self) -> List[_Link]:
        """Return base and links: bodies fixed to each other are one, each URDF link of shapes in it one more."""
        model, data = self._model, mujoco.MjData(self._model)
        mujoco.mj_kinematics(model, data)
        pose = [(data.xpos[b].copy(), data.xmat[b].reshape(3, 3).copy()) for b in range(model.nbody)]
        shape = [(data.geom_xpos[g].copy(), data.geom_xmat[g].reshape(3, 3).copy()) for g in range(model.ngeom)]
        owner = link_bodies(model)
        fixed: Pose = (np.zeros(3), np.eye(3))
        links: List[_Link] = []
        index_of: Dict[int, int] = {}  # of each moving body, in Bullet
        frames: Dict[int, Pose] = {}  # of each moving body, in the world
        end = first_body(model)
        # what is fixed to the root of a fixed base is welded to the world, whose own shapes are the floor
        for body in [_ROOT, *np.flatnonzero(model.body_jntnum[_ROOT + 1 : end] > 0) + _ROOT + 1]:
            members = [b for b in range(_ROOT, end) if model.body_weldid[b] == model.body_weldid[body]]
            mass, inertia, inertial = _lumped(model, data, members, pose[body])
            if body == _ROOT:
                parent, joint, frame = -1, -1, _times(pose[body], inertial)
                place, mass = frame, mass if model.body_weldid[body] else 0.0
            else:
                above = model.body_weldid[model.body_parentid[body]] or _ROOT
                parent, joint, frame = index_of[above], model.body_jntadr[body], pose[body]
                place = _in_frame(frames[above], frame)
            index_of[body], frames[body] = len(links) - 1, frame
            solid = [g for g in np.flatnonzero(model.geom_group == COLLISION_GROUP) if model.geom_bodyid[g] in members]
            groups = [part for link in sorted({owner[g] for g in solid}) for part in _parts(solid, owner, link)] or [()]
            shapes = [tuple(_in_frame(frame, shape[g]) for g in part) for part in groups]
            links.append(_Link(parent, place, int(joint), mass, inertia, inertial, groups[0], shapes[0]))
            for part, poses in zip(groups[1:], shapes[1:]):
                links.append(_Link(index_of[body], fixed, -1, 0.0, np.zeros(3), fixed, part, poses))
        if len(links) > _MOST_LINKS:
            raise ModelError(f"Bullet takes robots of {_MOST_LINKS} links, not {len(links)}; use the engine mujoco")
        return links

    def _build(self, links: Sequence[_Link]) -> int:
        base, rest = links[0], links[1:]
        axes = [self._model.jnt_axis[link.joint] if link.joint >= 0 else np.array([0.0, 0.0, 1.0]) for link in rest]
        # other joints than hinges do not get past the reader of the description
        kinds = [pybullet.JOINT_REVOLUTE if link.joint >= 0 else pybullet.JOINT_FIXED for link in rest]
        robot = pybullet.createMultiBody(
            baseMass=base.mass,
            baseCollisionShapeIndex=self._shape(base),
            basePosition=base.pose[0].tolist(),
            baseOrientation=quaternion(base.pose[1]),
            linkMasses=[link.mass for link in rest],
            linkCollisionShapeIndices=[self._shape(link) for link in rest],
            linkVisualShapeIndices=[-1] * len(rest),
            linkPositions=[link.pose[0].tolist() for link in rest],
            linkOrientations=[quaternion(link.pose[1]) for link in rest],
            linkInertialFramePositions=[link.inertial[0].tolist() for link in rest],
            linkInertialFrameOrientations=[quaternion(link.inertial[1]) for link in rest],
            linkParentIndices=[link.parent + 1 for link in rest],
            linkJointTypes=kinds,
            linkJointAxis=[axis.tolist() for axis in axes],
            useMaximalCoordinates=0,
            flags=pybullet.URDF_MAINTAIN_LINK_ORDER | pybullet.URDF_USE_SELF_COLLISION,
            physicsClientId=self.client,
        )
        return int(robot)

    def _set_up(self) -> None:
        """Set inertia, friction, joint limits and who may collide."""
        model, client = self._model, self.client
        still = {"linearDamping": 0.0, "angularDamping": 0.0, "jointDamping": 0.0, "restitution": 0.0}
        for index, link in enumerate(self._links, start=-1):
            change: Dict[str, Any] = {**still, "localInertiaDiagonal": link.inertia.tolist()}
            if link.geoms:
                change["lateralFriction"] = _root_of_friction(model, link.geoms[0])
            if link.joint >= 0 and model.jnt_limited[link.joint]:
                change["jointLowerLimit"], change["jointUpperLimit"] = model.jnt_range[link.joint]
            pybullet.changeDynamics(self.robot, index, physicsClientId=client, **change)
        for body, geom in self.geom_of_body.items():  # whose inertia Bullet knows
            pybullet.changeDynamics(
                body, -1, lateralFriction=_root_of_friction(model, geom), physicsClientId=client, **still
            )
        excluded = {(int(s) >> 16, int(s) & 0xFFFF) for s in model.exclude_signature}
        solid = [(index, link.geoms[0]) for index, link in enumerate(self._links, start=-1) if link.geoms]
        for (one, geom), (other, second) in itertools.combinations(solid, 2):
            collide = int(_collide(model, geom, second, excluded))
            pybullet.setCollisionFilterPair(self.robot, self.robot, one, other, collide, physicsClientId=client)

    def _body(self, geom: int) -> int:
        """Return the body of a part of the floor or of an obstacle."""
        model, body = self._model, self._model.geom_bodyid[geom]
        shape = pybullet.createCollisionShape(physicsClientId=self.client, **self._geometry(geom))
        place, turn = model.body_pos[body] + model.geom_pos[geom], np.zeros(4)  # the body or the shape is at zero
        mujoco.mju_mulQuat(turn, model.body_quat[body], model.geom_quat[geom])
        pose = place.tolist(), turn[[1, 2, 3, 0]].tolist()
        mass = float(model.body_mass[body] * model.body_jntnum[body])  # 0 without a joint: it stands still
        return int(pybullet.createMultiBody(mass, shape, -1, *pose, physicsClientId=self.client))

    def _shape(self, link: _Link) -> int:
        if not link.geoms:
            return -1
        blank = {"radius": 0.0, "halfExtents": [0.0, 0.0, 0.0], "height": 0.0, "fileName": ""}
        entries = [{**blank, **self._geometry(geom)} for geom in link.geoms]
        return int(
            pybullet.createCollisionShapeArray(
                shapeTypes=[entry["shapeType"] for entry in entries],
                radii=[entry["radius"] for entry in entries],
                halfExtents=[entry["halfExtents"] for entry in entries],
                lengths=[entry["height"] for entry in entries],
                fileNames=[entry["fileName"] for entry in entries],
                collisionFramePositions=[place.tolist() for place, _ in link.shapes],
                collisionFrameOrientations=[quaternion(rotation) for _, rotation in link.shapes],
                physicsClientId=self.client,
            )
        )

    def _geometry(self, geom: int) -> Dict[str, Any]:
        """Return the arguments of createCollisionShape for a shape."""
        model, kinds = self._model, mujoco.mjtGeom
        kind, size = model.geom_type[geom], model.geom_size[geom].tolist()
        if kind == kinds.mjGEOM_PLANE:
            return {"shapeType": pybullet.GEOM_PLANE}
        if kind == kinds.mjGEOM_SPHERE:
            return {"shapeType": pybullet.GEOM_SPHERE, "radius": size[0]}
        if kind == kinds.mjGEOM_BOX:
            return {"shapeType": pybullet.GEOM_BOX, "halfExtents": size}
        if kind == kinds.mjGEOM_CYLINDER:
            return {"shapeType": pybullet.GEOM_CYLINDER, "radius": size[0], "height": 2.0 * size[1]}
        if kind == kinds.mjGEOM_MESH:
            return {"shapeType": pybullet.GEOM_MESH, "fileName": self._mesh(int(model.geom_dataid[geom]))}
        raise ModelError(f"the engine bullet has no shape for geom {geom}; use spheres, boxes, cylinders or meshes")

    def _mesh(self, mesh: int) -> str:
        """Write the convex hull of a mesh, with which MuJoCo collides, too, as a file that Bullet reads."""
        model, file = self._model, self._folder / f"{mesh}.obj"
        if not file.exists():
            start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            hull = ConvexHull(_without_skin(np.array(model.mesh_vert[start : start + count], dtype=float)))
            lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in hull.points.tolist()]
            lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in hull.simplices.tolist()]
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(file)


def _without_skin(points: np.ndarray) -> np.ndarray:
    """Return corners (m, 3) of a hull whose faces lie by Bullet's margin further inside; a thin one stays as it is."""
    planes, middle = ConvexHull(points).equations, points.mean(axis=0)
    if np.max(planes[:, :3] @ middle + planes[:, 3]) > -2.0 * _SKIN_M:
        return points
    inner = np.column_stack([planes[:, :3], planes[:, 3] + _SKIN_M])
    return np.asarray(HalfspaceIntersection(inner, middle).intersections)


def quaternion(rotation: np.ndarray) -> List[float]:
    """Return a rotation (3, 3) as x, y, z, w."""
    wxyz = np.zeros(4)
    mujoco.mju_mat2Quat(wxyz, np.ascontiguousarray(rotation).ravel())
    return wxyz[[1, 2, 3, 0]].tolist()


def rotation(wxyz: np.ndarray) -> np.ndarray:
    """Return a quaternion of MuJoCo's order, w, x, y, z, as a rotation (3, 3)."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, wxyz)
    return matrix.reshape(3, 3)


def main_axes(tensor: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Return the main moments (3,) of a tensor of inertia, and their axes as the columns of a rotation (3, 3)."""
    values, axes = np.linalg.eigh(tensor)
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])  # right-handed
    return values, axes


def _parts(geoms: Sequence[int], owner: np.ndarray, link: int) -> List[Tuple[int, ...]]:
    """Return the shapes of a URDF link, in groups of as many as a link of Bullet can have."""
    own = [int(geom) for geom in geoms if owner[geom] == link]
    return [tuple(own[i : i + _MOST_SHAPES]) for i in range(0, len(own), _MOST_SHAPES)]


def _root_of_friction(model: mujoco.MjModel, geom: int) -> float:
    """Return one side's coefficient: Bullet multiplies both, MuJoCo takes the greater, or an obstacle's own.

    That of an obstacle is right against what has the friction of the floor.
    """
    friction, floor = model.geom_friction[geom, 0], model.geom_friction[0, 0]
    return float(friction / math.sqrt(floor)) if model.geom_priority[geom] and floor else math.sqrt(friction)


def _collide(model: mujoco.MjModel, one: int, other: int, excluded: AbstractSet[Tuple[int, int]]) -> bool:
    """Return whether shapes of two links touch, by MuJoCo's rules."""
    first, second = sorted((int(model.geom_bodyid[one]), int(model.geom_bodyid[other])))
    if model.body_weldid[first] == model.body_weldid[second] or {(first, second), (second, first)} & excluded:
        return False
    kinds, partners = model.geom_contype, model.geom_conaffinity
    return bool(kinds[one] & partners[other] or kinds[other] & partners[one])


def _times(one: Pose, other: Pose) -> Pose:
    return one[0] + one[1] @ other[0], one[1] @ other[1]


def _in_frame(frame: Pose, pose: Pose) -> Pose:
    """Return a pose of the world in the axes of `frame`."""
    return frame[1].T @ (pose[0] - frame[0]), frame[1].T @ pose[1]


def _lumped(
    model: mujoco.MjModel, data: mujoco.MjData, bodies: Sequence[int], frame: Pose
) -> Tuple[float, np.ndarray, Pose]:
    """Return mass, main inertias and their axes in `frame` of bodies fixed to each other."""
    masses = model.body_mass[bodies]
    mass = float(masses.sum())
    if mass <= 0.0:
        return 0.0, np.zeros(3), (np.zeros(3), np.eye(3))
    centre = masses @ data.xipos[bodies] / mass
    tensor = np.zeros((3, 3))
    for body in bodies:
        axes, arm = data.ximat[body].reshape(3, 3), data.xipos[body] - centre
        tensor += axes * model.body_inertia[body] @ axes.T
        tensor += model.body_mass[body] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    values, axes = main_axes(tensor)
    return mass, values, _in_frame(frame, (centre, axes))
