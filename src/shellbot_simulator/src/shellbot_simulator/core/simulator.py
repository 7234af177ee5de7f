# SPDX-License-Identifier: MIT
"""The embedded simulator: one robot on a floor, stepped in ticks of 10 ms."""

from __future__ import annotations

import copy
import functools
import logging
import math
from typing import Dict, Optional, Sequence, Tuple, Union

import mujoco
import numpy as np

from shellbot_common import TICK, RobotProfile
from shellbot_common.view import View

from .bumper import BumperSwitch
from .config import SimulatorConfig, load_config
from .engine import Engine, create_engine
from .errors import ModelError, ObstacleError, SimulationDivergedError
from .ground import GroundSensor
from .imu import ImuSensor
from .joint_arrays import Positions, checked_attitude, checked_positions
from .load_cells import LoadCellArray
from .model_builder import build_model, servo_gains, velocity_limits
from .obstacles import FREE_V, Obstacle, checked_new, first_body, known, overlap, pose_of
from .pushes import Push, PushList
from .range_cone import RangeCone
from .render_process import RenderProcess
from .servo import PidGains, ServoBank
from .servo_effects import ServoEffects
from .shape_points import BodyPoses
from .state import SimState
from .step_log import StepLog
from .urdf_tree import link_bodies

_FATAL_WARNINGS = np.array(
    [mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC], dtype=int
)
# by default MuJoCo prints warnings and writes MUJOCO_LOG.TXT into whatever folder the program was started in
mujoco.set_mju_user_warning(logging.getLogger(__name__).warning)

_ROUNDING = 1e-6  # rad
_BASE_Q = 7  # of a free base: position and quaternion
_ROOT = 1  # the first body after the world


class Simulator:
    """Physics, servos and sensors of a robot, without ROS.

    A command is held for a whole tick. Gains, friction and pushes may change between ticks. Not thread safe: one thread
    steps and reads.

    Parameters
    ----------
    urdf_text : str
        The robot description.
    profile : RobotProfile
        What the URDF cannot say.
    config : SimulatorConfig, optional
        Settings; `config/simulator.yaml` if not given.
    gains : sequence of PidGains, optional
        Of each joint at the start; the servos' own stiffness if not given.
    """

    def __init__(
        self,
        urdf_text: str,
        profile: RobotProfile,
        config: Optional[SimulatorConfig] = None,
        gains: Optional[Sequence[PidGains]] = None,
    ) -> None:
        self.config = config or load_config()
        self.profile = profile
        self._urdf_text = urdf_text
        self._obstacles: Dict[str, Obstacle] = {}
        self.model = build_model(urdf_text, self.profile, self.config)
        self.data = mujoco.MjData(self.model)
        joint_ids = [self.model.joint(name).id for name in profile.joints]
        self._q_index = self.model.jnt_qposadr[joint_ids]
        self._v_index = self.model.jnt_dofadr[joint_ids]
        ranges = self.model.jnt_range[joint_ids].copy()
        ranges[self.model.jnt_limited[joint_ids] == 0] = (-math.inf, math.inf)
        self._lower, self._upper = ranges.T.copy()  # rad
        self._log = StepLog(self.config.steps_per_tick, self._v_index)
        self._is_free = profile.base.kind == "free"
        self._base_body = self.model.body(profile.base.link).id
        self._check_poses()
        self._spawn = np.array(list(profile.pose(profile.base.spawn_pose).values()))
        self._servos = ServoBank(gains or servo_gains(profile), *velocity_limits(urdf_text, profile))
        effort = self.model.actuator_forcerange[:, 1].copy()
        no_load = effort / np.maximum(self.model.dof_damping[self._v_index], 1e-6)  # rad/s
        #: What real servos add, if any of it is on
        self._effects = ServoEffects(self.config, effort, no_load) if ServoEffects.are_on(self.config) else None
        self._effort = effort
        self._imu = ImuSensor(self.model, self.config)
        ground = GroundSensor(self.model, profile.contacts)
        #: Of the contacts that have some, by link; like range sensors they cost nothing unless read
        self._load_cells = {
            link: LoadCellArray(self.model, link, contact.load_cells, index, self.config.load_cell_std)
            for index, (link, contact) in enumerate(profile.contacts.items())
            if contact.load_cells is not None
        }
        self._seed: Optional[int] = None
        self._pushes = PushList(self.model)
        self._set_up_world(ground, create_engine(self.config.engine, self.model, self.data, ground))
        self._renderer: Optional[RenderProcess] = None
        self._damping = self.model.dof_damping[self._v_index].copy()
        self._ticks = 0
        self._substeps = 0  # physics steps since the last whole tick; `step_torque` only
        self._is_torque_driven = False
        self._written: Optional[np.ndarray] = None  # stiffness of the gains that the model has
        self._command = np.zeros(self.joint_count)
        self._torque: Optional[np.ndarray] = None  # N m, commanded in place of positions
        self.reset()

    @property
    def joint_names(self) -> Tuple[str, ...]:
        """Driven joints; the order of all joint arrays."""
        return self.profile.joint_names

    @property
    def joint_count(self) -> int:
        """Number of driven joints, n."""
        return len(self.profile.joints)

    @property
    def time(self) -> float:
        """Simulated time since the reset, s."""
        return self._ticks * TICK + self._substeps * self.config.timestep

    @property
    def tick_count(self) -> int:
        """Ticks since the reset."""
        return self._ticks

    @property
    def applied_command(self) -> np.ndarray:
        """The command in force, after limiting, rad, shape (n,)."""
        return self._command.copy()

    @property
    def mass(self) -> float:
        """Mass of the robot, kg."""
        return float(self.model.body_mass[: first_body(self.model)].sum())

    def reset(
        self, q: Optional[Positions] = None, seed: Optional[int] = None, attitude: Optional[Positions] = None
    ) -> SimState:
        """Put the robot at rest on the ground, time zero, every joint held where it is.

        Parameters
        ----------
        q : (n,) sequence of float, optional
            Joint positions, rad; the profile's spawn pose if not given.
        seed : int, optional
            Seeds small deviations of heading and joints, noise of all sensors and biases of the IMU; none if not given.
        attitude : (4,) sequence of float, optional
            Quaternion x, y, z, w of a free base; upright if not given.

        Returns
        -------
        SimState
            The first state. The lowest point of a robot with a free base is at height zero.

        Raises
        ------
        CommandError
            For positions or an attitude that are none; nothing changes.
        """
        start = checked_positions(self._spawn if q is None else q, self.joint_names)
        attitude = checked_attitude(attitude)
        rng = None if seed is None else np.random.default_rng(seed)
        yaw = 0.0
        if rng is not None:
            yaw = math.radians(self.config.yaw_noise_deg) * rng.standard_normal()
            start = start + math.radians(self.config.joint_noise_deg) * rng.standard_normal(self.joint_count)
            start = self._equalize_coupled(start)
        start = np.clip(start, self._lower, self._upper)
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self._q_index] = start
        self._place_base(yaw, attitude)
        self._ticks = self._substeps = 0
        self._leave_torque_mode()
        self._command, self._torque = start, None
        self._servos.reset()
        if self._effects is not None:
            self._effects.reset()
        self._pushes.clear()
        self._log.clear()
        self._imu.reset(rng, seed)
        self._seed = seed
        self._write_servos(np.zeros(self.joint_count))
        self._engine.place()
        self._snapshot = self._engine.contacts()
        self._imu.rest()
        return self.state()

    def reset_base(self, attitude: Optional[Positions] = None) -> None:
        """Put the base back to its start, at rest, and free obstacles; the rest stays (Gazebo's reset_world).

        Parameters
        ----------
        attitude : (4,) sequence of float, optional
            Quaternion x, y, z, w of a free base; upright if not given.

        Raises
        ------
        CommandError
            For an attitude that is none; nothing changes.
        """
        attitude = checked_attitude(attitude)
        self.data.qvel[:] = 0.0
        robot = _BASE_Q * self._is_free + self.joint_count
        self.data.qpos[robot:] = self.model.qpos0[robot:]
        self._place_base(0.0, attitude)
        self._engine.place()
        self._snapshot = self._engine.contacts()
        self._imu.rest()

    def command(self, position: Positions) -> np.ndarray:
        """Set the joint positions the servos go to from the next tick on.

        Parameters
        ----------
        position : (n,) sequence of float
            rad; clamped to the joint limits.

        Returns
        -------
        (n,) array
            What is applied, rad.

        Raises
        ------
        CommandError
            For a wrong length or a value that is not finite; the former command stays.
        """
        target = checked_positions(position, self.joint_names)
        np.minimum(np.maximum(target, self._lower, out=target), self._upper, out=target)
        former = target if self._is_torque_driven else self._command  # none since the torques began
        self._servos.set_command_rate((target - former) / TICK)
        self._command = target
        self._torque = None
        return target.copy()

    def command_torque(self, torque: Positions) -> np.ndarray:
        """Set the torques that the joints give from the next tick on, in place of their servos, until `command`.

        Of what real servos add, only the torque-speed line acts then.

        Parameters
        ----------
        torque : (n,) sequence of float
            N m; limited to the joints' efforts.

        Returns
        -------
        (n,) array
            What is applied, N m.

        Raises
        ------
        CommandError
            For a wrong length or a value that is not finite; the former command stays.
        """
        self._torque = np.clip(checked_positions(torque, self.joint_names), -self._effort, self._effort)
        return self._torque.copy()

    def hold(self) -> None:
        """Let the servos hold the joints where they are, if they give commanded torques."""
        if self._torque is not None:
            self.command(self.joint_position)

    def step_tick(self) -> None:
        """Advance by one tick (10 ms).

        Raises
        ------
        SimulationDivergedError
            If the physics state became invalid; call `reset`.
        """
        if self._torque is not None:
            for _ in range(self.config.steps_per_tick):
                self.step_torque(self._torque)
            return
        self._leave_torque_mode()
        self._imu.keep(self.data)
        self._log.begin(self.data)
        self._write_servos(self._servos.bias())
        self._pushes.apply(self.data, self.time)
        servos, steps = self._servos, self.config.steps_per_tick
        if servos.has_integral or servos.has_velocity_limit or self._effects is not None:
            for _ in range(steps - 1):
                self._follow_positions()
                self._engine.solve(self._log)
                self._engine.update()
            self._follow_positions()
            steps = 1
        self._engine.solve(self._log, steps)
        # forces belong to the contacts of the step just solved, which are about to be replaced
        self._snapshot = self._engine.contacts()
        self._imu.draw()
        self._engine.update()
        self._ticks += 1
        self._servos.set_command_rate(np.zeros(self.joint_count))
        self._check_state()

    def step_torque(self, torque: np.ndarray, damping_fraction: Optional[np.ndarray] = None) -> None:
        """Advance by one physics step with torques from outside: rigid bodies only, no servo of this simulator acts.

        Parameters
        ----------
        torque : (n,) array
            N m at each joint, without the joints' own damping (the servos' torque-speed line), which stays here because
            it must be integrated implicitly; not limited.
        damping_fraction : (n,) array, optional
            How much of that damping acts, 0 to 1: an unpowered servo turns more easily.

        Raises
        ------
        CommandError
            For a wrong length or a value that is not finite; nothing moves.
        SimulationDivergedError
            If the physics state became invalid; call `reset`.
        """
        self.data.ctrl[:] = checked_positions(torque, self.joint_names)
        if not self._is_torque_driven:
            self.model.actuator_gainprm[:, 0] = 1.0
            self.model.actuator_biasprm[:, :3] = 0.0
            self.model.actuator_forcelimited[:] = 0
            self._is_torque_driven, self._written = True, None
        fraction = 1.0 if damping_fraction is None else damping_fraction
        self.model.dof_damping[self._v_index] = self._damping * fraction
        if self._substeps == 0:
            self._imu.keep(self.data)
            self._log.begin(self.data)
            self._pushes.apply(self.data, self.time)
        self._engine.solve(self._log)
        self._substeps += 1
        if self._substeps == self.config.steps_per_tick:
            self._snapshot = self._engine.contacts()
            self._imu.draw()
            self._ticks, self._substeps = self._ticks + 1, 0
            self._check_state()
        self._engine.update()

    @property
    def joint_position(self) -> np.ndarray:
        """Joint angles now, rad, shape (n,)."""
        return self.data.qpos[self._q_index]

    @property
    def joint_velocity(self) -> np.ndarray:
        """Joint speeds now, rad/s, shape (n,)."""
        return self.data.qvel[self._v_index]

    @property
    def joint_effort(self) -> np.ndarray:
        """Servo torques now, after limiting, N m, shape (n,)."""
        return self.data.actuator_force.copy()

    @property
    def step_effort(self) -> np.ndarray:
        """Servo torques in each physics step of the last tick, N m, shape (s, n)."""
        return self._log.effort

    @property
    def step_velocity(self) -> np.ndarray:
        """Joint speeds in the middle of each physics step of the last tick, rad/s, shape (s, n)."""
        return self._log.velocity

    @property
    def imu_orientation(self) -> Optional[np.ndarray]:
        """Quaternion x, y, z, w as the inertial unit gives it now, shape (4,); None of a unit without orientation."""
        return self._imu.orientation(self.data)

    @property
    def load_cell_places(self) -> Dict[str, np.ndarray]:
        """Contacts that have load cells, and where these are in the frame of the contact's link, (c, 3), m."""
        return {link: array.places for link, array in self._load_cells.items()}

    def load_cells(self) -> Dict[str, np.ndarray]:
        """Return the present readings of the load cells of each contact that has some, (c,), N."""
        wrenches = dict(zip(self.profile.contacts, self._snapshot.contacts.foot_wrench))
        return {link: array.read(wrenches[link], self._seed, self._ticks) for link, array in self._load_cells.items()}

    def range(self, link: str) -> float:
        """Return the present reading of the range sensor at a link, m (infinite: nothing; minus infinite: too near)."""
        return self._ranges[link].read(self.data, self._seed, self._ticks)

    def bumper(self, link: str) -> bool:
        """Return whether the bumper at a link is pressed now."""
        return self._bumpers[link].is_pressed(self.data, self._snapshot)

    def state(self) -> SimState:
        """Return a snapshot of the present tick."""
        data = self.data
        rotation = data.xmat[self._base_body].reshape(3, 3)  # base -> world
        p_base = data.xpos[self._base_body].copy()
        velocity = np.zeros(6)  # turning first
        mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_XBODY, self._base_body, velocity, 1)
        feet = data.xpos[self._ground.foot_bodies]
        return SimState(
            time=self.time,
            tick=self._ticks,
            q=data.qpos[self._q_index].copy(),
            dq=data.qvel[self._v_index].copy(),
            effort=data.actuator_force.copy(),
            step_effort=self._log.effort,
            step_velocity=self._log.velocity,
            p_world_base=p_base,
            quat_world_base=data.xquat[self._base_body][[1, 2, 3, 0]],
            v_base=velocity[3:],
            w_base=velocity[:3],
            imu=self._imu.sample(data),
            step_contacts=self._snapshot,
            p_base_foot=(feet - p_base) @ rotation,
            find_heights=functools.partial(self._ground.foot_heights, BodyPoses(data.xpos.copy(), data.xmat.copy())),
        )

    @property
    def stiffness(self) -> np.ndarray:
        """P gains of all joints, (n,), N m/rad; a new array whenever one changes."""
        return self._servos.stiffness

    def gains(self, joint: str) -> PidGains:
        """Return the gains of a joint."""
        return self._servos.gains(self._index(joint))

    def set_gains(
        self,
        joint: str,
        p: float,
        i: float = 0.0,
        d: float = 0.0,
        i_clamp_min: float = 0.0,
        i_clamp_max: float = 0.0,
        antiwindup: bool = False,
    ) -> None:
        """Change the PID of one joint; acts on the next tick (see `PidGains` for units).

        Raises
        ------
        CommandError
            For a gain out of range or no number; the former gains stay.
        ModelError
            For an unknown joint.
        """
        self._servos.set_gains(self._index(joint), PidGains(p, i, d, i_clamp_min, i_clamp_max, antiwindup))

    def push(
        self, force: Sequence[float], duration: float, link: Optional[str] = None, at: Sequence[float] = (0.0, 0.0, 0.0)
    ) -> None:
        """Push a link from the next tick on.

        Parameters
        ----------
        force : (3,) sequence of float
            N, world frame.
        duration : float
            s of simulated time.
        link : str, optional
            The root link if not given.
        at : (3,) sequence of float
            Where, in the frame of the link, m.
        """
        name = link or self.model.body(self._base_body).name
        self._pushes.add(
            Push(name, tuple(float(f) for f in force), tuple(float(x) for x in at), self.time, float(duration))
        )

    @property
    def obstacles(self) -> Tuple[Obstacle, ...]:
        """What was spawned and not deleted, where it is now."""
        return tuple(pose_of(self.model, self.data, obstacle) for obstacle in self._obstacles.values())

    def spawn_obstacle(self, obstacle: Obstacle) -> None:
        """Put an obstacle beside the robot between two ticks; it stays, also through a reset, until it is deleted.

        The robot goes on as without it until they touch: with MuJoCo to the last bit beside a fixed one.

        Raises
        ------
        ObstacleError
            If the name is taken, there are too many, or it overlaps the robot (or, if free, anything); nothing changes.
        """
        checked_new(obstacle, self._obstacles)
        self._exchange_world({**self._obstacles, obstacle.name: obstacle}, obstacle.name)

    def delete_obstacle(self, name: str) -> None:
        """Remove an obstacle between two ticks.

        Raises
        ------
        ObstacleError
            If there is none of that name; lists those that there are.
        """
        known(name, self._obstacles)
        self._exchange_world({key: obstacle for key, obstacle in self._obstacles.items() if key != name})

    def overlapping_obstacles(self) -> Tuple[str, ...]:
        """Return a sentence on each obstacle that overlaps the robot, as a reset may put it into one."""
        owners, data = link_bodies(self.model), copy.copy(self.data)
        mujoco.mj_collision(self.model, data)  # Bullet leaves no contacts there
        found = (overlap(self.model, data, name, owners) for name in self._obstacles)
        return tuple(sentence for sentence in found if sentence)

    def render(self, width: int = 640, height: int = 480, view: Union[View, str, None] = None) -> np.ndarray:
        """Return a picture (height, width, 3) uint8, from `view` or else from the camera that follows the robot.

        A view may be the name of a link at which the profile has a camera.

        Raises
        ------
        RenderError
            If neither EGL nor OSMesa works here, or there is no such camera.
        """
        if self._renderer is None:
            self._renderer = RenderProcess(self.model)
        return self._renderer.render(self.data.qpos, width, height, view)

    def show(self, state: SimState) -> None:
        """Take the pose of another simulator's state, for pictures of it; nothing is stepped.

        Parameters
        ----------
        state : SimState
            Of a robot with the same joints.
        """
        if self._is_free:
            self.data.qpos[:3] = state.p_world_base
            self.data.qpos[3:7] = state.quat_world_base[[3, 0, 1, 2]]  # x, y, z, w there; w, x, y, z here
        self.data.qpos[self._q_index] = checked_positions(state.q, self.joint_names)
        self._ticks = state.tick
        self._move_root()

    def close(self) -> None:
        """End the rendering process, if one was started."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    @property
    def supply_voltage(self) -> float:
        """Voltage at the servos in the last step, V."""
        return self.config.supply_voltage if self._effects is None else self._effects.voltage

    @property
    def winding_temperature(self) -> np.ndarray:
        """Of the servos' windings, degrees Celsius, shape (n,)."""
        if self._effects is None:
            return np.full(self.joint_count, self.config.ambient_temperature)
        return self._effects.temperature.copy()

    @property
    def overheated_joints(self) -> Tuple[str, ...]:
        """Joints whose servos have shut down by heat, and have no torque until the reset."""
        hot = () if self._effects is None else np.flatnonzero(self._effects.overheated)
        return tuple(self.joint_names[i] for i in hot)

    def _follow_positions(self) -> None:
        """Write what of the servos' law depends on positions in more than the engine's own terms."""
        servos, q = self._servos, self.data.qpos[self._q_index]
        if servos.has_integral:
            servos.integrate(self._command - q, self.config.timestep)
            self.model.actuator_biasprm[:, 0] = servos.bias()
        if servos.has_velocity_limit:
            self.data.ctrl[:] = servos.set_point(self._command, q)
        if self._effects is not None:
            self._apply_effects(self._effects)

    def _apply_effects(self, effects: ServoEffects) -> None:
        """Let the actuators give the torque of the real position law in the coming step."""
        stiffness, q = self._servos.stiffness, self.data.qpos[self._q_index]
        target = self._servos.set_point(self._command, q) if self._servos.has_velocity_limit else self._command
        torque = effects.torque(stiffness, target, q, self.data.qvel[self._v_index], self.config.timestep)
        self.data.ctrl[:] = q + torque / np.where(stiffness > 0.0, stiffness, 1.0)
        self.model.dof_damping[self._v_index] = self._damping * effects.braking
        limit = self._effort * effects.strength
        self.model.actuator_forcerange[:] = np.column_stack([-limit, limit])

    def _set_up_world(self, ground: GroundSensor, engine: Engine) -> None:
        """Take what belongs to one model, and make the rest of it, which has no state of its own."""
        self._warnings = self.data.warning.number  # MuJoCo's own memory; to find it costs more than to read it
        self._ground, self._engine = ground, engine
        self._ranges = {
            link: RangeCone(self.model, self.config.boxes, link, sensor, index, self.config.range_std)
            for index, (link, sensor) in enumerate(self.profile.range_sensors.items())
        }
        self._bumpers = {link: BumperSwitch(self.model, link, one) for link, one in self.profile.bumpers.items()}

    def _exchange_world(self, obstacles: Dict[str, Obstacle], new: str = "") -> None:
        """Go on in a model with other obstacles, of which `new` must not overlap the robot.

        The robot comes first in each array of both models, and its part of the state is copied, with what the solver
        starts from. MuJoCo's own recompilation would do the same where it exists, which differs between its versions.
        """
        old, before = self.model, self.data
        model = build_model(self._urdf_text, self.profile, self.config, obstacles.values())
        data = mujoco.MjData(model)
        _carry_over(old, before, model, data)
        if new:
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_collision(model, data)
            sentence = overlap(model, data, new, link_bodies(model))
            if sentence:
                raise ObstacleError(f"{sentence}; move it away, or make it smaller")
        ground = GroundSensor(model, self.profile.contacts)
        try:
            engine = create_engine(self.config.engine, model, data, ground)
        except (OSError, ModelError) as error:  # Bullet reads meshes from files, and has limits of its own
            raise ObstacleError(f"no world could be made with these obstacles: {error}") from error
        engine.resume(self._engine)
        self.close()  # pictures are of the former model
        self.model, self.data, self._obstacles = model, data, obstacles
        self._imu.model = self._pushes.model = model
        self._set_up_world(ground, engine)

    def _index(self, joint: str) -> int:
        if joint not in self.profile.joints:
            raise ModelError(f"unknown joint {joint!r}; the joints are {', '.join(self.joint_names)}")
        return self.joint_names.index(joint)

    def _place_base(self, yaw: float, attitude: Optional[Positions] = None) -> None:
        """Set a free base on the ground, or as far above it as the profile says, turned by `yaw` (rad)."""
        data = self.data
        if self._is_free:
            data.qpos[:_BASE_Q] = self.model.qpos0[:_BASE_Q]
            turn = np.array([math.cos(yaw / 2.0), 0.0, 0.0, math.sin(yaw / 2.0)])
            start = self.model.qpos0[3:_BASE_Q] if attitude is None else np.asarray(attitude)[[3, 0, 1, 2]]
            mujoco.mju_mulQuat(data.qpos[3:_BASE_Q], turn, start / np.linalg.norm(start))
        self._move_root()
        if self._is_free:
            data.qpos[2] += self.profile.base.position[2] - self._ground.lowest_height(data)

    def _move_root(self) -> None:
        """Evaluate the links' poses, the base being where the root of the model was put."""
        data, base = self.data, self._base_body
        mujoco.mj_kinematics(self.model, data)
        if base == _ROOT:
            return
        root = data.xpos[_ROOT].copy(), data.xquat[_ROOT].copy()
        p_base_root, quat_base_root = np.zeros(3), np.zeros(4)
        mujoco.mju_negPose(p_base_root, quat_base_root, data.xpos[base], data.xquat[base])
        mujoco.mju_mulPose(p_base_root, quat_base_root, p_base_root.copy(), quat_base_root.copy(), *root)
        mujoco.mju_mulPose(data.qpos[:3], data.qpos[3:_BASE_Q], *root, p_base_root, quat_base_root)
        mujoco.mj_kinematics(self.model, data)

    def _leave_torque_mode(self) -> None:
        """Give the joints back to this simulator's servos."""
        if self._is_torque_driven:
            self._is_torque_driven, self._substeps = False, 0
            self.model.actuator_forcelimited[:] = 1
            self.model.dof_damping[self._v_index] = self._damping

    def _write_servos(self, bias: np.ndarray) -> None:
        if self._written is not self._servos.stiffness:  # a new array whenever a gain changes
            coefficients = self._servos.coefficients()  # (n, 2): p, d
            self.model.actuator_gainprm[:, 0] = coefficients[:, 0]
            self.model.actuator_biasprm[:, 1:3] = -coefficients
            self._written = self._servos.stiffness
        self.model.actuator_biasprm[:, 0] = bias
        self.data.ctrl[:] = self._command

    def _check_state(self) -> None:
        if self._warnings[_FATAL_WARNINGS].any() or not math.isfinite(self.data.qpos.sum()):
            raise SimulationDivergedError(
                f"the physics became unstable at t = {self.time:.2f} s; reset the simulation, and lower the gains or "
                "the time step if it happens again"
            )

    def _check_poses(self) -> None:
        """Raise ModelError for a pose of the profile beyond the joints' limits."""
        for name in self.profile.poses:
            for (joint, angle), low, high in zip(self.profile.pose(name).items(), self._lower, self._upper):
                if not low - _ROUNDING <= angle <= high + _ROUNDING:
                    limits = f"{math.degrees(low):.2f} to {math.degrees(high):.2f} deg"
                    raise ModelError(
                        f"pose {name!r} of the profile has {joint} at {math.degrees(angle):.2f} deg; its limits in the "
                        f"robot description are {limits}"
                    )

    def _equalize_coupled(self, q: np.ndarray) -> np.ndarray:
        for coupling in self.profile.couplings:
            followers = [self._index(name) for name in coupling.followers]
            q[followers] = coupling.follow(q[self._index(coupling.leader)])
        return q


def _carry_over(old: mujoco.MjModel, before: mujoco.MjData, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Copy servos and state of the robot, and the state of free obstacles, into a model with other obstacles."""
    for name in ("gainprm", "biasprm", "forcerange", "forcelimited"):
        getattr(model, f"actuator_{name}")[:] = getattr(old, f"actuator_{name}")
    data.time, data.ctrl[:], data.actuator_force[:] = before.time, before.ctrl, before.actuator_force
    bodies = first_body(model)
    data.xfrc_applied[:bodies] = before.xfrc_applied[:bodies]
    for joint in range(model.njnt):
        name = model.joint(joint).name
        former = mujoco.mj_name2id(old, mujoco.mjtObj.mjOBJ_JOINT, name)
        if former < 0:
            continue  # of the new one
        is_free = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE
        q, q_before = int(model.jnt_qposadr[joint]), int(old.jnt_qposadr[former])
        v, v_before = int(model.jnt_dofadr[joint]), int(old.jnt_dofadr[former])
        number = FREE_V if is_free else 1
        model.dof_damping[v : v + number] = old.dof_damping[v_before : v_before + number]
        data.qpos[q : q + number + is_free] = before.qpos[q_before : q_before + number + is_free]
        for key in ("qvel", "qacc", "qacc_warmstart", "qfrc_applied"):
            getattr(data, key)[v : v + number] = getattr(before, key)[v_before : v_before + number]
