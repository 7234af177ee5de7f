# SPDX-License-Identifier: MIT
"""Dynamics of a tree of rigid bodies on a fixed or a floating base."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from robot_mechanics.arguments import flag, from_zero, vector
from robot_mechanics.dynamics.bodies import JointFriction, load_bodies
from robot_mechanics.dynamics.table import BodyTable, make_table
from robot_mechanics.errors import DynamicsError, InvalidChainError, InvalidConfigError, ShapeError, UnknownNameError
from robot_mechanics.models.chain import SerialChain
from robot_mechanics.models.inertia import Inertia
from robot_mechanics.models.tree import KinematicTree
from robot_mechanics.models.urdf import load_urdf
from robot_mechanics.native import rigid_body as rb
from robot_mechanics.native.articulated import articulated, has_own_coordinates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robot_mechanics.codegen.compiled_dynamics import CompiledDynamics

GRAVITY = (0.0, 0.0, -9.81)
_NO_FORCES = np.zeros((0, 6))


class Energy(NamedTuple):
    """Energies of a robot, J."""

    kinetic: float
    potential: float  #: 0 where the centre of mass is at the origin of the world


class DynamicModel:
    """Immutable equations of motion M(q) a + c(q, v) + g(q) + friction(v) = tau + sum of J^T f.

    On a fixed base q, v, a and tau have one element per coordinate of the tree, in the order of `joint_names`: rad,
    rad/s, rad/s^2, N m, or m, m/s, m/s^2, N. On a floating base there stand before them, in q: position (3, m) and
    quaternion (4: x, y, z, w) of the root link in the world; in v and a: linear and angular velocity of the root
    link in its own axes (m/s, rad/s) and their derivatives; in tau: force and moment (N, N m) on the root link in
    its own axes.

    Joints that mimic another share its coordinate: the equations are those of the drives.

    Parameters
    ----------
    tree : KinematicTree or SerialChain
        A chain becomes a tree (`KinematicTree.from_chain`): the links of a Denavit-Hartenberg table have the names of
        their joints, and their frames stand behind the rows.
    inertias : mapping of str to Inertia
        By link, in the frame of the link. Links that are missing have no mass; fixed joints are merged.
    friction : mapping of str to JointFriction, optional
        By joint; it counts in every algorithm, as does the armature.
    floating : bool
        Whether the root link moves freely; otherwise it is the world.
    gravity : (3,) array_like
        In the world, m/s^2.

    Attributes
    ----------
    tree : KinematicTree
    floating : bool
    n : int
        Number of coordinates of joints.
    nq, nv : int
        Lengths of q and v: n, or n + 7 and n + 6.
    joint_names : tuple of str
    bodies : tuple of str
        Names of the bodies that move: the root link, then the child link of each moving joint.
    table : BodyTable
        What the kernels of `native.rigid_body` take.

    Raises
    ------
    UnknownNameError
        If an inertia or friction names no link or joint.
    InvalidInertiaError, InvalidConfigError
        If one is no Inertia or JointFriction.
    """

    def __init__(
        self,
        tree: Union[KinematicTree, SerialChain],
        inertias: Mapping[str, Inertia],
        friction: Optional[Mapping[str, JointFriction]] = None,
        floating: bool = False,
        gravity: ArrayLike = GRAVITY,
    ) -> None:
        if isinstance(tree, SerialChain):
            tree = KinematicTree.from_chain(tree)
        if not isinstance(tree, KinematicTree):
            raise InvalidChainError(
                f"tree is {tree!r}; expected a KinematicTree or SerialChain (DynamicModel.from_urdf reads a URDF)"
            )
        g = vector(gravity, 3, "gravity")
        self.tree, self.floating = tree, flag(floating, "floating")
        self.table: BodyTable = make_table(tree, inertias, {} if friction is None else friction, self.floating, g)
        self.inertias: Mapping[str, Inertia] = dict(inertias)
        self.n, self.joint_names = tree.n, tree.joint_names
        self.nq, self.nv = (tree.n + 7, tree.n + 6) if self.floating else (tree.n, tree.n)
        self.bodies = (tree.root, *(joint.child for joint in tree.evaluation_order if joint.kind != "fixed"))
        self.gravity_vector = g
        self.mass = float(sum(inertia.mass for inertia in self.table.inertias))
        self._compiled: Optional[CompiledDynamics] = None
        odd = self._odd()
        if odd:
            warnings.warn(f"robot '{tree.name}': {'; '.join(odd)}", RuntimeWarning, stacklevel=2)

    @classmethod
    def from_urdf(
        cls,
        source: object,
        armature: Optional[Mapping[str, float]] = None,
        floating: bool = False,
        gravity: ArrayLike = GRAVITY,
    ) -> DynamicModel:
        """Return the model of a URDF given as text or path.

        Parameters
        ----------
        source : str or path
            As in `load_urdf`: masses from <inertial>, friction from <dynamics damping friction>.
        armature : mapping of str to float, optional
            By joint: inertia of the rotor behind its gear, kg m^2 (or kg), for which URDF has no place.
        floating, gravity
            As in the constructor.

        Raises
        ------
        InvalidUrdfError, InvalidConfigError, UnknownNameError
            Naming the link, joint or armature that cannot be used.
        """
        bodies = load_bodies(source)
        friction = dict(bodies.friction)
        if not isinstance(armature, (Mapping, type(None))):
            raise InvalidConfigError(f"armature is {armature!r}; expected a mapping, {{'joint_1': 0.01}}, kg m^2")
        for name, value in (armature or {}).items():
            from_zero(value, f"armature of joint '{name}'")
            friction[name] = replace(friction.get(name, JointFriction()), armature=value)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            model = cls(load_urdf(source), bodies.inertias, friction, floating, gravity)
        odd = model._odd()
        if model.nv and not model.table.rows[0 if floating else 1 :, rb.MASS].any():
            odd.insert(0, "nothing that moves has a mass; give the links an <inertial>")
        if odd:
            warnings.warn(f"robot '{model.tree.name}': {'; '.join(odd)}", RuntimeWarning, stacklevel=2)
        return model

    def compile(self) -> CompiledDynamics:
        """Return kernels that are written for this robot alone: for control loops, and for many states at once."""
        from robot_mechanics.codegen.compiled_dynamics import CompiledDynamics  # noqa: PLC0415 - only where they serve

        if self._compiled is None:
            self._compiled = CompiledDynamics(self)
        return self._compiled

    # -- equations of motion -------------------------------------------------------------------------------------------

    def inverse(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, forces: Optional[Mapping[str, ArrayLike]] = None
    ) -> np.ndarray:
        """Return tau (nv,) for the accelerations a: recursive Newton-Euler.

        Parameters
        ----------
        q, v, a : (nq,), (nv,), (nv,) array_like
        forces : mapping of str to (6,) array_like, optional
            External wrenches on links: force (N) and moment about the origin of the link (N m), in axes of the link.
        """
        tau, rows = np.empty(self.nv), self.table.rows
        motion = self._q(q), self._v(v), self._v(a, "a")
        wrenches = self._forces(forces)
        if len(wrenches):
            rb.inverse_dynamics_against(rows, *motion, wrenches, tau, self._work())
        else:
            rb.inverse_dynamics(rows, *motion, tau, self._work())
        return tau

    def forward(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, forces: Optional[Mapping[str, ArrayLike]] = None
    ) -> np.ndarray:
        """Return the accelerations a (nv,) for the generalized forces tau.

        Parameters
        ----------
        q, v, tau : (nq,), (nv,), (nv,) array_like
        forces : mapping of str to (6,) array_like, optional
            As of `inverse`.

        Raises
        ------
        DynamicsError
            If the mass matrix is singular; the message names the coordinate.
        """
        a, M = self._v(tau, "tau"), np.empty((self.nv, self.nv))
        table, wrenches = self.table, self._forces(forces)
        solve = articulated if has_own_coordinates(table.rows, self.nv) else rb.forward_dynamics
        at = solve(table.rows, table.above, self._q(q), self._v(v), wrenches, a, M, self._work())
        self._refuse_singular(at)
        return a

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """Return the symmetric mass matrix M (nv, nv), armature included: composite rigid bodies.

        Parameters
        ----------
        q : (nq,) array_like
        """
        M = np.empty((self.nv, self.nv))
        rb.mass_matrix(self.table.rows, self._q(q), M, self._work())
        return M

    def check_mass_matrix(self, M: np.ndarray) -> np.ndarray:  # noqa: N803
        """Return M, if it can be inverted.

        Parameters
        ----------
        M : (nv, nv) array
            Of this robot, with or without damping on its diagonal.

        Raises
        ------
        DynamicsError
            If it is singular; the message names the coordinate.
        """
        self._refuse_singular(rb.solve_positive(np.array(M), self.table.above, np.zeros(self.nv)))
        return M

    def bias(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return c + g + friction (nv,): the generalized forces that give no acceleration.

        Parameters
        ----------
        q, v : (nq,), (nv,) array_like
        """
        return self.inverse(q, v, np.zeros(self.nv))

    def gravity(self, q: ArrayLike) -> np.ndarray:
        """Return g (nv,): the generalized forces that hold the robot at rest.

        Parameters
        ----------
        q : (nq,) array_like
        """
        return self.inverse(q, np.zeros(self.nv), np.zeros(self.nv))

    def coriolis(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return c (nv,): Coriolis and centrifugal forces, without gravity and friction.

        Parameters
        ----------
        q, v : (nq,), (nv,) array_like
        """
        v = self._v(v)
        return self._without_friction(q, v) - self._without_friction(q, np.zeros(self.nv))

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return C (nv, nv) with C v = c.

        c is a quadratic form in v, so its polarization gives the elements exactly; on a fixed base they are the
        Christoffel symbols' (dM/dt - 2 C is skew).

        Parameters
        ----------
        q, v : (nq,), (nv,) array_like
        """
        v = self._v(v)
        still = self._without_friction(q, np.zeros(self.nv))
        own = self._without_friction(q, v) - still
        C = np.empty((self.nv, self.nv))
        for k, unit in enumerate(np.eye(self.nv)):
            alone = self._without_friction(q, unit) - still
            C[:, k] = (self._without_friction(q, v + unit) - still - own - alone) / 2.0
        return C

    # -- energy and momentum -------------------------------------------------------------------------------------------

    def energy(self, q: ArrayLike, v: ArrayLike) -> Energy:
        """Return kinetic (rotors included) and potential energy.

        Parameters
        ----------
        q, v : (nq,), (nv,) array_like
        """
        v = self._v(v)
        kinetic = 0.5 * float(v @ self.mass_matrix(q) @ v)
        return Energy(kinetic, -self.mass * float(self.gravity_vector @ self.centre_of_mass(q)))

    def body_poses(self, q: ArrayLike) -> np.ndarray:
        """Return the poses (bodies, 4, 4) of the bodies' frames, which stand behind their joints, in the world.

        Parameters
        ----------
        q : (nq,) array_like
        """
        work = self._work()
        rb.place(self.table.rows, self._q(q), work)
        poses = np.zeros((len(work), 4, 4))
        poses[:, 3, 3] = 1.0
        for i, row in enumerate(work):
            poses[i, :3, :3], poses[i, :3, 3] = row[:9].reshape(3, 3), row[rb.ORG : rb.ORG + 3]
            if i:
                poses[i] = poses[int(self.table.rows[i, rb.PARENT])] @ poses[i]
        return poses

    def centre_of_mass(self, q: ArrayLike) -> np.ndarray:
        """Return the centre of mass (3,) in the world, m.

        Parameters
        ----------
        q : (nq,) array_like

        Raises
        ------
        DynamicsError
            If the robot has no mass.
        """
        if self.mass == 0.0:
            raise DynamicsError(f"robot '{self.tree.name}' has no mass; give its links inertias")
        com = np.zeros(3)
        for T, inertia in zip(self.body_poses(q), self.table.inertias):
            com += inertia.mass * (T[:3, :3] @ inertia.com + T[:3, 3])
        return com / self.mass

    def centroidal_momentum(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return linear momentum (3, kg m/s) and angular momentum about the centre of mass (3, N m s), world axes.

        Parameters
        ----------
        q, v : (nq,), (nv,) array_like
        """
        momentum = self._momentum_matrix(q) @ self._v(v)
        momentum[3:] -= np.cross(self.centre_of_mass(q), momentum[:3])
        return momentum

    def centre_of_mass_jacobian(self, q: ArrayLike) -> np.ndarray:
        """Return J (3, nv) with d com / dt = J v.

        Parameters
        ----------
        q : (nq,) array_like
        """
        self.centre_of_mass(q)
        return self._momentum_matrix(q)[:3] / self.mass

    def jacobian(self, link: str, q: ArrayLike, point: ArrayLike = (0.0, 0.0, 0.0)) -> np.ndarray:
        """Return J (6, nv): linear velocity of a point of a link, and angular velocity, in world axes, are J v.

        Parameters
        ----------
        link : str
        q : (nq,) array_like
        point : (3,) array_like
            In the frame of the link, m.
        """
        if link not in self.table.body_of:
            raise UnknownNameError(f"there is no link '{link}'; there are {', '.join(self.tree.links)}")
        poses, body = self.body_poses(q), self.table.body_of[link]
        T = poses[body] @ self.table.pose_in_body[link]
        return self._velocity_map(poses, body, T[:3, :3] @ vector(point, 3, "point") + T[:3, 3])

    def _velocity_map(self, poses: np.ndarray, body: int, p_world: np.ndarray) -> np.ndarray:
        """Return J (6, nv) of a point that moves with a body; the point is given in the world."""
        J = np.zeros((6, self.nv))
        first = self.nv - self.n
        while body > 0:
            row = self.table.rows[body]
            axis, at = poses[body, :3, 2], first + int(row[rb.COLUMN])
            if row[rb.KIND] == rb.REVOLUTE:
                J[:3, at] += row[rb.RATIO] * np.cross(axis, p_world - poses[body, :3, 3])
                J[3:, at] += row[rb.RATIO] * axis
            else:
                J[:3, at] += row[rb.RATIO] * axis
            body = int(row[rb.PARENT])
        if self.floating:
            R, lever = poses[0, :3, :3], p_world - poses[0, :3, 3]
            J[:3, :3] = J[3:, 3:6] = R
            J[:3, 3:6] = np.cross(R.T, lever).T
        return J

    def _momentum_matrix(self, q: ArrayLike) -> np.ndarray:
        """Return A (6, nv): momentum, and its moment about the origin of the world, are A v."""
        poses, A = self.body_poses(q), np.zeros((6, self.nv))
        for body, (T, inertia) in enumerate(zip(poses, self.table.inertias)):
            com = T[:3, :3] @ inertia.com + T[:3, 3]
            J = self._velocity_map(poses, body, com)
            A[:3] += inertia.mass * J[:3]
            A[3:] += np.cross(com, inertia.mass * J[:3], axisb=0, axisc=0)
            A[3:] += T[:3, :3] @ inertia.tensor @ T[:3, :3].T @ J[3:]
        return A

    # -- what is inside ------------------------------------------------------------------------------------------------

    def warnings(self) -> List[str]:
        """Return what is odd about the masses, in words: links without inertia at a tip, tensors that no body has."""
        found = self._odd()
        still = () if self.floating else (self.bodies[0],)  # of a fixed base nothing is computed
        without = [link for link in self.tree.links if link not in self.inertias and link not in still]
        if without:
            count = "1 link counts" if len(without) == 1 else f"{len(without)} links count"
            heavy = "give those that weigh anything an <inertial>"
            found.append(f"{count} as massless; {heavy}: {', '.join(without)}")
        return found

    def _odd(self) -> List[str]:
        found, rows = self._impossible(), self.table.rows
        for body in range(1, len(self.bodies)):
            carries = (rows[:, rb.PARENT] == body).any()
            if self.table.inertias[body].mass == 0.0 and not carries and rows[body, rb.ARMATURE] == 0.0:
                found.append(
                    f"link '{self.bodies[body]}' hangs on a joint and has no mass: the mass matrix is singular there;"
                    " give it an inertia, fix the joint, or give the joint an armature"
                )
        return found

    def _impossible(self) -> List[str]:
        return [f"link '{link}': {text}" for link, inertia in self.inertias.items() for text in inertia.problems()]

    def explain(self) -> str:
        """Return a table of the links' masses, the total, the centre of mass at zero, and `warnings`, as text."""
        lines = [f"robot '{self.tree.name}', {self.n} coordinates on a {'floating' if self.floating else 'fixed'} base"]
        head = ("link", "mass / kg", "centre of mass / m", "principal moments / kg m^2")
        lines.append(f"{head[0]:28}{head[1]:>12}  {head[2]:28}{head[3]}")
        for link in self.tree.links:
            inertia = self.inertias.get(link)
            if inertia is None:
                lines.append(f"{link:28}{'-':>12}")
                continue
            com = " ".join(f"{x:.4f}" for x in inertia.com)
            moments = " ".join(f"{x:.3e}" for x in np.linalg.eigvalsh(inertia.tensor))
            lines.append(f"{link:28}{inertia.mass:12.4f}  {com:28}{moments}")
        lines.append(f"{'total':28}{self.mass:12.4f}")
        if self.mass > 0.0:
            zero = np.zeros(self.nq)
            if self.floating:
                zero[6] = 1.0
            com = " ".join(f"{x:.4f}" for x in self.centre_of_mass(zero))
            lines.append(f"centre of mass at zero: {com} m")
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings())])

    def __repr__(self) -> str:
        """Return one line."""
        base = "floating" if self.floating else "fixed"
        return f"DynamicModel('{self.tree.name}', {self.n} coordinates, {base} base, {self.mass:.3f} kg)"

    def position_rate(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Return dq/dt (nq,) at the velocities v: on a fixed base v itself.

        Parameters
        ----------
        q, v : (nq,), (nv,) array_like
        """
        q, v = self._q(q), self._v(v)
        if not self.floating:
            return v
        x, y, z, w = q[3:7]
        R = self.body_poses(q)[0, :3, :3]
        wx, wy, wz = v[3:6] / 2.0
        turn = [w * wx + y * wz - z * wy, w * wy + z * wx - x * wz, w * wz + x * wy - y * wx, -x * wx - y * wy - z * wz]
        return np.concatenate([R @ v[:3], turn, v[6:]])

    def check(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return q, v and a as float arrays of their own; ShapeError if one has another length or is not finite.

        Parameters
        ----------
        q, v, a : (nq,), (nv,), (nv,) array_like
            As of `inverse`.
        """
        return self._q(q), self._v(v), self._v(a, "a")

    # -- arguments -----------------------------------------------------------------------------------------------------

    def _work(self) -> np.ndarray:
        return np.empty((len(self.table.rows), rb.WORK))

    def _without_friction(self, q: ArrayLike, v: np.ndarray) -> np.ndarray:
        tau = np.empty(self.nv)
        rb.inverse_dynamics(self.table.frictionless, self._q(q), v, np.zeros(self.nv), tau, self._work())
        return tau

    def _q(self, q: ArrayLike) -> np.ndarray:
        values = vector(q, self.nq, "q")
        if self.floating and not abs(float(values[3:7] @ values[3:7]) - 1.0) < 1e-3:
            raise ShapeError(f"q[3:7] is {values[3:7].tolist()}; expected a quaternion (x, y, z, w) of length 1")
        return values

    def _v(self, values: ArrayLike, name: str = "v") -> np.ndarray:
        return vector(values, self.nv, name)

    def _forces(self, forces: Optional[Mapping[str, ArrayLike]]) -> np.ndarray:
        if forces is None:
            return _NO_FORCES
        if not isinstance(forces, Mapping):
            raise InvalidConfigError(f"forces are {forces!r}; expected wrenches (6,) by link, {{'hand': [...]}}")
        if not forces:
            return _NO_FORCES
        made = np.zeros((len(self.bodies), 6))
        for link, wrench in forces.items():
            if link not in self.table.body_of:
                raise UnknownNameError(f"there is no link '{link}'; there are {', '.join(self.tree.links)}")
            w, T = vector(wrench, 6, f"the wrench on '{link}'"), self.table.pose_in_body[link]
            force = T[:3, :3] @ w[:3]
            body = self.table.body_of[link]
            made[body, :3] += force
            made[body, 3:] += T[:3, :3] @ w[3:] + np.cross(T[:3, 3], force)
        return made

    def _refuse_singular(self, at: int) -> None:
        """Raise DynamicsError at a coordinate that moves no mass of its own; -1 is none."""
        if at >= 0:
            first = self.nv - self.n
            where = "the base" if at < first else f"joint '{self.joint_names[at - first]}'"
            odd = self._impossible()
            if odd:
                raise DynamicsError(f"the mass matrix is not positive definite at {where}: {'; '.join(odd)}")
            raise DynamicsError(
                f"the mass matrix is singular at {where}: no mass moves with it, or none that other joints do not move"
                " alike in this pose; give its links inertias, or its joint an armature"
            )
