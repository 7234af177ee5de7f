# SPDX-License-Identifier: MIT
"""Bullet as the engine: it solves the rigid bodies and their contacts, under torques of this package's servos.

Servos are stiff against the light links that they turn. Their damping (the torque-speed line), integrated explicitly in
steps of 2 ms, is unstable on the lightest, and Bullet has no inertia of rotors. Both are taken implicitly, as in
stable PD control (Tan, Liu and Turk, IEEE CG&A 2011): with A = rotors + dt (damping + d) the acceleration a of

    (M + A) a + bias = torque + constraints

is predicted, and Bullet, whose mass matrix is N, gets the force N a + bias - constraints, by which it moves the robot
so. The constraints (contacts, joint limits, couplings) are those of the step before: what its motion leaves over in
Bullet's equation. This iteration converges where no eigenvalue of (M + A)^-1 N exceeds 2, by 1/e within one over the
least of the contacts' eigenvalues. With N = M that is 30 steps for a robot that stands on six legs, and it swings on
them without end. So Bullet's links have as much of what A has at their joints, about the axes of these, as keeps the
greatest eigenvalue below 1.4.
"""

from __future__ import annotations

import copy
from typing import Any, List

import mujoco
import numpy as np
import pybullet
from scipy.linalg import eigh

from .bullet_world import BulletWorld, main_axes, quaternion, rotation
from .ground import ContactSnapshot, GroundSensor
from .obstacles import FREE_V
from .step_log import StepLog

_FRACTIONS = (0.3, 0.25, 0.2, 0.15, 0.1, 0.05, 0.0)  # of rotors and implicit damping that the links may have
_GREATEST = 1.4  # eigenvalue
_ITERATIONS = 50  # Bullet's own
# How far a point of contact may drift before Bullet gives it up, a fraction of a shape's size (Bullet's own: 0.02). Its
# normal stands still while links that touch there turn together: kept for long, it wedges the shells of a rolling ball.
_POINT_DRIFT = 0.005
_COUPLING_FORCE = 100.0  # N m, greatest of a coupling
_COUPLING_ERP = 0.2


class BulletEngine:
    """Moves a robot with Bullet; parameters as `MujocoEngine`."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, ground: GroundSensor) -> None:
        self._model, self._data, self._ground = model, data, ground
        self._bullet = _with_heavier_links(model)  # the model that Bullet has, and its data
        self._bullet_data = mujoco.MjData(self._bullet)
        self._world = BulletWorld(self._bullet)
        self._id = {"physicsClientId": self._world.client}
        self._is_free = model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
        # bodies without a joint to another: root link and free obstacles, the main axes in their frame, rows of q and v
        self._free = [(self._world.robot, self._world.T_root_base, 0, 0)] if self._is_free else []
        for body, geom in self._world.geom_of_body.items():
            joint = model.body_jntadr[model.geom_bodyid[geom]]
            if joint >= 0:
                pose = np.zeros(3), np.eye(3)
                self._free.append((body, pose, int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])))
        joints = model.actuator_trnid[:, 0]
        self._q, self._v = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self._servoed = copy.copy(model)  # with what is taken implicitly as inertia of its rotors
        self._constraint = np.zeros(model.nv)
        pybullet.setGravity(*model.opt.gravity.tolist(), **self._id)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=model.opt.timestep, numSubSteps=0, numSolverIterations=_ITERATIONS, enableConeFriction=1,
            deterministicOverlappingPairs=1, contactBreakingThreshold=_POINT_DRIFT, **self._id,
        )  # fmt: skip
        # what a joint has before any command is a motor that holds it; it stays as the joint's dry friction
        loss = model.dof_frictionloss[self._v].tolist()
        pybullet.setJointMotorControlArray(
            self._world.robot, self._world.joints, pybullet.VELOCITY_CONTROL, forces=loss, **self._id
        )
        self._couple()

    def place(self) -> None:
        """Take positions and velocities over from the data."""
        data, world = self._data, self._world
        q, v = data.qpos[self._q].tolist(), data.qvel[self._v].tolist()
        for joint, angle, rate in zip(world.joints, q, v):
            pybullet.resetJointState(world.robot, joint, angle, rate, **self._id)
        for body, (offset, axes), i, k in self._free:
            root = rotation(data.qpos[i + 3 : i + 7])
            arm, spin = root @ offset, root @ data.qvel[k + 3 : k + 6]
            pybullet.resetBasePositionAndOrientation(
                body, (data.qpos[i : i + 3] + arm).tolist(), quaternion(root @ axes), **self._id
            )
            velocity = data.qvel[k : k + 3] + np.cross(spin, arm)
            pybullet.resetBaseVelocity(body, velocity.tolist(), spin.tolist(), **self._id)
        self._constraint[:] = 0.0
        data.actuator_force[:] = 0.0
        self.update()

    def solve(self, log: StepLog, steps: int = 1) -> None:
        """Advance by steps, each added to the log."""
        for step in range(steps):
            if step:
                self.update()
            self._step()
            log.add()

    def _step(self) -> None:
        model, data, world, dt, v = self._model, self._data, self._world, self._model.opt.timestep, self._v
        law = model.actuator_biasprm
        angle_torque = model.actuator_gainprm[:, 0] * data.ctrl + law[:, 0] + law[:, 1] * data.qpos[self._q]
        force = angle_torque + law[:, 2] * data.qvel[v]
        low, high = model.actuator_forcerange.T
        limited = np.where(model.actuator_forcelimited, np.clip(force, low, high), force)
        data.actuator_force[:] = limited
        damping = model.dof_damping[v]
        self._servoed.dof_armature[v] = model.dof_armature[v] + dt * (damping - law[:, 2] * (limited == force))
        _evaluate_mass(self._servoed, data)
        mujoco.mj_factorM(self._servoed, data)
        given = data.qfrc_applied.copy()
        given[v] += limited - damping * data.qvel[v]
        predicted = np.zeros((1, model.nv))
        mujoco.mj_solveM(self._servoed, data, predicted, (given + self._constraint - data.qfrc_bias)[None])
        inertial = np.zeros(model.nv)
        mujoco.mj_mulM(self._bullet, self._bullet_data, inertial, predicted[0])
        given = inertial + self._bullet_data.qfrc_bias - self._constraint
        pybullet.setJointMotorControlArray(
            world.robot, world.joints, pybullet.TORQUE_CONTROL, forces=given[v].tolist(), **self._id
        )
        if self._is_free:
            self._push_base(given[:3], given[3:6])
        before = data.qvel.copy()
        pybullet.stepSimulation(**self._id)
        self._read()
        mujoco.mj_mulM(self._bullet, self._bullet_data, inertial, (data.qvel - before) / dt)
        self._constraint = inertial + self._bullet_data.qfrc_bias - given

    def update(self) -> None:
        """Evaluate kinematics, and what of the equation of motion depends on positions and velocities."""
        own = self._bullet_data
        own.qpos[:], own.qvel[:] = self._data.qpos, self._data.qvel
        for model, data in ((self._model, self._data), (self._bullet, own)):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            mujoco.mj_rne(model, data, 0, data.qfrc_bias)
        _evaluate_mass(self._bullet, own)

    def contacts(self) -> ContactSnapshot:
        """Return the contacts of the step just solved."""
        world, data = self._world, self._data
        rows: List[Any] = []
        for point in pybullet.getContactPoints(world.robot, **self._id):
            if point[8] > 0.0 and point[9] <= 0.0:
                continue  # near, and carries nothing
            first = world.geom_of_body.get(point[2], world.geom_of_link.get(point[4], -1))
            force = (point[9], point[10], point[12], 0.0, 0.0, 0.0)
            second, axes = world.geom_of_link[point[3]], (*point[7], *point[11], *point[13])
            rows.append((first, second, *point[5], *axes, point[8], *force))
        table = np.array(rows).reshape(-1, 21)
        feet = self._ground.foot_bodies
        return ContactSnapshot(
            self._ground, table[:, :2].astype(int), table[:, 2:5], table[:, 5:14], table[:, 14], table[:, 15:],
            data.xpos[feet], data.xmat[feet],
        )  # fmt: skip

    def resume(self, former: BulletEngine) -> None:
        """Go on where another engine was; Bullet begins without the contact forces that it starts from."""
        force, robot = self._data.actuator_force.copy(), self._model.nv - FREE_V * (len(self._free) - self._is_free)
        self.place()
        self._data.actuator_force[:] = force
        self._constraint[:robot] = former._constraint[:robot]

    def __deepcopy__(self, memo: Any) -> BulletEngine:
        """Return an engine of a simulator's copy, in its state."""
        engine = BulletEngine(*(copy.deepcopy(part, memo) for part in (self._model, self._data, self._ground)))
        engine.resume(self)
        return engine

    def _read(self) -> None:
        """Write Bullet's positions and velocities into the data."""
        data, world = self._data, self._world
        states = pybullet.getJointStates(world.robot, world.joints, **self._id)
        table = np.array([state[:2] for state in states]).reshape(-1, 2)
        data.qpos[self._q], data.qvel[self._v] = table.T
        for body, (offset, axes), i, k in self._free:
            place, xyzw = pybullet.getBasePositionAndOrientation(body, **self._id)
            velocity, spin = pybullet.getBaseVelocity(body, **self._id)
            root = rotation(np.array(xyzw)[[3, 0, 1, 2]]) @ axes.T
            arm = root @ offset
            data.qpos[i : i + 3] = place - arm
            mujoco.mju_mat2Quat(data.qpos[i + 3 : i + 7], root.ravel())
            data.qvel[k : k + 3] = velocity - np.cross(spin, arm)
            data.qvel[k + 3 : k + 6] = root.T @ spin

    def _push_base(self, force: np.ndarray, moment: np.ndarray) -> None:
        """Apply force (world) and moment (root's axes) at the root's origin."""
        root = self._data.xmat[1].reshape(3, 3)
        robot, frame = self._world.robot, pybullet.WORLD_FRAME
        pybullet.applyExternalForce(robot, -1, force.tolist(), self._data.xpos[1].tolist(), frame, **self._id)
        pybullet.applyExternalTorque(robot, -1, (root @ moment).tolist(), frame, **self._id)

    def _couple(self) -> None:
        """Couple joints by gears as the equalities of the model do."""
        model, world = self._model, self._world
        of_joint = dict(zip(model.actuator_trnid[:, 0].tolist(), world.joints))
        for index in range(model.neq):
            follower, leader = of_joint[int(model.eq_obj1id[index])], of_joint[int(model.eq_obj2id[index])]
            offset, ratio = model.eq_data[index, :2].tolist()
            gear = pybullet.createConstraint(
                world.robot, leader, world.robot, follower, pybullet.JOINT_GEAR,
                [0, 0, 1], [0, 0, 0], [0, 0, 0], **self._id,
            )  # fmt: skip
            pybullet.changeConstraint(
                gear, gearRatio=-1.0 / ratio, maxForce=_COUPLING_FORCE, erp=_COUPLING_ERP,
                relativePositionTarget=offset, **self._id,
            )  # fmt: skip


def _evaluate_mass(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    mujoco.mj_makeM(model, data) if hasattr(mujoco, "mj_makeM") else mujoco.mj_crb(model, data)


def _with_heavier_links(model: mujoco.MjModel) -> mujoco.MjModel:
    """Return the model that Bullet gets: no rotors, but as much in the links as lets the iteration converge."""
    servoed = copy.copy(model)
    servoed.dof_armature[:] += model.opt.timestep * model.dof_damping
    true = _mass_matrix(servoed)
    for fraction in _FRACTIONS:
        heavy = copy.copy(model)
        heavy.dof_armature[:] = 0.0
        for joint in model.actuator_trnid[:, 0]:
            body, axis = model.jnt_bodyid[joint], model.jnt_axis[joint]
            axes = rotation(model.body_iquat[body])
            tensor = axes * model.body_inertia[body] @ axes.T
            tensor += fraction * servoed.dof_armature[model.jnt_dofadr[joint]] * np.outer(axis, axis)
            heavy.body_inertia[body], axes = main_axes(tensor)
            heavy.body_iquat[body] = np.roll(quaternion(axes), 1)
        if eigh(_mass_matrix(heavy), true, eigvals_only=True)[-1] <= _GREATEST:
            break
    return heavy


def _mass_matrix(model: mujoco.MjModel) -> np.ndarray:
    """Return the mass matrix (nv, nv) in the model's own position."""
    data, columns = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    _evaluate_mass(model, data)
    for column, unit in zip(columns, np.eye(model.nv)):
        mujoco.mj_mulM(model, data, column, unit)
    return columns
