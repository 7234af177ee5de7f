# SPDX-License-Identifier: MIT
"""The robot and its floor as Bullet's bodies, made of the compiled model: shapes, masses, joints and who may collide."""

from __future__ import annotations

import dataclasses
import math
import tempfile
import weakref
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

import mujoco
import numpy as np
import pybullet
from scipy.spatial import ConvexHull, HalfspaceIntersection

from .errors import ModelError
from .urdf_tree import COLLISION_GROUP, link_bodies

_SKIN_M = 0.001  # that Bullet adds to convex hulls, and takes from the inside of other shapes
_MOST_SHAPES = 16  # of one link, by createCollisionShapeArray
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
    geom_of_floor : dict
        The geom of each body that stands still.
    T_root_base : Pose
        Main axes of the base in the root link.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self.client = pybullet.connect(pybullet.DIRECT)
        if self.client < 0:
            raise ModelError("pybullet opens no physics client; close other simulators of this process")
        weakref.finalize(self, pybullet.disconnect, self.client)
        with tempfile.TemporaryDirectory(prefix="shellbot-bullet-") as folder:
            self._folder = Path(folder)
            self.geom_of_floor = {self._still(geom): geom for geom in np.flatnonzero(model.geom_bodyid == 0).tolist()}
            self._links = self._describe()
            self.T_root_base = self._links[0].inertial
            self.robot = self._build(self._links)
        of_joint = {link.joint: index - 1 for index, link in enumerate(self._links)}
        self.joints = [of_joint[int(joint)] for joint in model.actuator_trnid[:, 0]]
        self.geom_of_link = {index - 1: link.geoms[0] for index, link in enumerate(self._links) if link.geoms}
        self._set_up()

    def _describe(self) -> List[_Link]:
        """Return base and links: bodies that move as one are one link, and each URDF link of shapes within it another."""
        model, data = self._model, mujoco.MjData(self._model)
        mujoco.mj_kinematics(model, data)
        pose = [(data.xpos[b].copy(), data.xmat[b].reshape(3, 3).copy()) for b in range(model.nbody)]
        shape = [(data.geom_xpos[g].copy(), data.geom_xmat[g].reshape(3, 3).copy()) for g in range(model.ngeom)]
        owner = link_bodies(model)
        links: List[_Link] = []
        index_of: Dict[int, int] = {}  # of the link of each moving body; the base is -1
        root = 1
        for body in range(root, model.nbody):
            if body != root and not model.body_jntnum[body]:
                continue
            # what is fixed to the root of a fixed base is welded to the world
            welded = model.body_weldid[body]
            members = [b for b in range(root, model.nbody) if model.body_weldid[b] == welded]
            mass, inertia, inertial = _lumped(model, data, members, pose[body])
            solid = [g for g in range(model.ngeom) if model.geom_group[g] == COLLISION_GROUP and model.geom_bodyid[g] in members]
            groups = [
                part
                for link in dict.fromkeys(int(owner[g]) for g in solid)
                for part in _parts([g for g in solid if owner[g] == link])
            ]
            frame = _times(pose[body], inertial) if body == root else pose[body]
            if body == root:
                parent, place, joint = -1, frame, -1
                if not welded:
                    mass, inertia = 0.0, np.zeros(3)
            else:
                above = model.body_parentid[body]
                while above not in index_of and above != root:
                    above = model.body_parentid[above]
                parent = index_of.get(int(above), -1)
                base_frame = _times(pose[root], links[0].inertial) if parent < 0 else pose[above]
                place, joint = _in_frame(base_frame, pose[body]), int(model.body_jntadr[body])
            first = groups[0] if groups else ()
            own = len(links) - 1
            index_of[body] = own
            links.append(
                _Link(parent, place, joint, mass, inertia, inertial, first, tuple(_in_frame(frame, shape[g]) for g in first))
            )
            still: Pose = (np.zeros(3), np.eye(3))
            for part in groups[1:]:
                shapes = tuple(_in_frame(frame, shape[g]) for g in part)
                links.append(_Link(own, still, -1, 0.0, np.zeros(3), still, part, shapes))
        if len(links) > _MOST_LINKS:
            raise ModelError(f"Bullet takes robots of {_MOST_LINKS} links, this one has {len(links)}; use the engine mujoco")
        return links

    def _build(self, links: Sequence[_Link]) -> int:
        base, rest = links[0], links[1:]
        hinges = [int(self._model.jnt_type[link.joint]) == mujoco.mjtJoint.mjJNT_HINGE for link in rest if link.joint >= 0]
        if not all(hinges):
            raise ModelError("the engine bullet drives revolute and continuous joints only; use the engine mujoco")
        axes = [self._model.jnt_axis[link.joint] if link.joint >= 0 else np.array([0.0, 0.0, 1.0]) for link in rest]
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
        # Bullet multiplies the coefficients of both sides, MuJoCo takes the greater
        change: Dict[str, Any] = dict(linearDamping=0.0, angularDamping=0.0, jointDamping=0.0, restitution=0.0)
        for index, link in enumerate(self._links, start=-1):
            friction = math.sqrt(model.geom_friction[link.geoms[0], 0]) if link.geoms else 0.0
            pybullet.changeDynamics(
                self.robot, index, localInertiaDiagonal=link.inertia.tolist(), lateralFriction=friction,
                physicsClientId=client, **change,
            )  # fmt: skip
            if link.joint >= 0:
                # as far as an integer of turns that no wheel reaches: without limits Bullet takes those of a former joint
                lower, upper = model.jnt_range[link.joint] if model.jnt_limited[link.joint] else (-1e6, 1e6)
                pybullet.changeDynamics(
                    self.robot, index, jointLowerLimit=lower, jointUpperLimit=upper, maxJointVelocity=1e3,
                    physicsClientId=client,
                )  # fmt: skip
        for body, geom in self.geom_of_floor.items():
            friction = math.sqrt(model.geom_friction[geom, 0])
            pybullet.changeDynamics(body, -1, lateralFriction=friction, physicsClientId=client, restitution=0.0)
        solid = {index: link.geoms[0] for index, link in enumerate(self._links, start=-1) if link.geoms}
        excluded = {tuple(sorted((int(s) >> 16, int(s) & 0xFFFF))) for s in model.exclude_signature}
        for one, geom in solid.items():
            for other, second in solid.items():
                if one < other:
                    pybullet.setCollisionFilterPair(
                        self.robot, self.robot, one, other, int(self._collide(geom, second, excluded)),
                        physicsClientId=client,
                    )  # fmt: skip

    def _collide(self, one: int, other: int, excluded: Any) -> bool:
        model = self._model
        bodies = int(model.geom_bodyid[one]), int(model.geom_bodyid[other])
        if model.body_weldid[bodies[0]] == model.body_weldid[bodies[1]] or tuple(sorted(bodies)) in excluded:
            return False
        masks = model.geom_contype[one] & model.geom_conaffinity[other], model.geom_contype[other] & model.geom_conaffinity[one]
        return any(masks)

    def _still(self, geom: int) -> int:
        """Return the body of a part of the floor."""
        model = self._model
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
            shape = pybullet.createCollisionShape(pybullet.GEOM_PLANE, physicsClientId=self.client)
        else:
            shape = pybullet.createCollisionShape(physicsClientId=self.client, **self._geometry(geom))
        place = model.geom_pos[geom].tolist(), model.geom_quat[geom][[1, 2, 3, 0]].tolist()
        return int(pybullet.createMultiBody(0, shape, -1, *place, physicsClientId=self.client))

    def _shape(self, link: _Link) -> int:
        if not link.geoms:
            return -1
        entries = [self._geometry(geom) for geom in link.geoms]
        keys = ("shapeType", "radius", "halfExtents", "length", "fileName")
        filler = {"shapeType": 0, "radius": 0.0, "halfExtents": [0.0, 0.0, 0.0], "length": 0.0, "fileName": ""}
        columns = {key: [entry.get("height" if key == "length" else key, filler[key]) for entry in entries] for key in keys}
        return int(
            pybullet.createCollisionShapeArray(
                shapeTypes=columns["shapeType"], radii=columns["radius"], halfExtents=columns["halfExtents"],
                lengths=columns["length"], fileNames=columns["fileName"],
                collisionFramePositions=[place.tolist() for place, _ in link.shapes],
                collisionFrameOrientations=[quaternion(rotation) for _, rotation in link.shapes],
                physicsClientId=self.client,
            )
        )  # fmt: skip

    def _geometry(self, geom: int) -> Dict[str, Any]:
        """Return the arguments of createCollisionShape for a shape."""
        model, kinds = self._model, mujoco.mjtGeom
        kind, size = model.geom_type[geom], model.geom_size[geom].tolist()
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


def main_axes(tensor: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Return the main moments (3,) of a tensor of inertia, and their axes as the columns of a rotation (3, 3)."""
    values, axes = np.linalg.eigh(tensor)
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])  # right-handed
    return values, axes


def _parts(geoms: List[int]) -> List[Tuple[int, ...]]:
    return [tuple(geoms[i : i + _MOST_SHAPES]) for i in range(0, len(geoms), _MOST_SHAPES)]


def _times(one: Pose, other: Pose) -> Pose:
    return one[0] + one[1] @ other[0], one[1] @ other[1]


def _in_frame(frame: Pose, pose: Pose) -> Pose:
    """Return a pose of the world in the axes of `frame`."""
    return frame[1].T @ (pose[0] - frame[0]), frame[1].T @ pose[1]


def _lumped(model: mujoco.MjModel, data: mujoco.MjData, bodies: Sequence[int], frame: Pose) -> Tuple[float, np.ndarray, Pose]:
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
