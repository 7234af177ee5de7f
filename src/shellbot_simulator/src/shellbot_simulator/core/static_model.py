# SPDX-License-Identifier: MIT
"""A robot at rest: which of its parts are near each other, and the torques that hold it on its contacts."""

from __future__ import annotations

import threading
from typing import Dict, Tuple

import mujoco
import numpy as np

from shellbot_common import RobotProfile
from shellbot_common.rotations import quaternion_from_rpy

from .config import load_config
from .model_builder import build_model
from .urdf_tree import link_bodies

_NONE = np.zeros(3)
_ALOFT = 10.0  # m: so high over the floor that nothing meets it


class StaticModel:
    """Shapes, masses and exclusions of the simulator's own model of a robot with a free base. Thread safe.

    Parameters
    ----------
    urdf_text : str
        The robot description.
    profile : RobotProfile
        What the URDF cannot say.
    seen : float
        Distance within which pairs of links are found, m; 0: those that overlap.

    Raises
    ------
    ModelError
        If the text is no usable URDF; names the link, joint or mesh.
    """

    def __init__(self, urdf_text: str, profile: RobotProfile, seen: float = 0.0) -> None:
        model = build_model(urdf_text, profile, load_config())
        model.geom_margin[:] = model.body_margin[:] = seen
        self._model, self._data, self._seen = model, mujoco.MjData(model), seen
        self._lock = threading.Lock()
        joints = [model.joint(name).id for name in profile.joints]
        self._q_index, self._v_index = model.jnt_qposadr[joints], model.jnt_dofadr[joints]
        self._contacts = [model.body(name).id for name in profile.contacts]
        self._link = link_bodies(model)
        self._base = int(model.jnt_bodyid[0])
        self._mass, self._g = float(model.body_mass.sum()), -float(model.opt.gravity[2])
        #: Greatest torque of each joint, (n,), N m
        self.effort_limits = np.array(model.actuator_forcerange[:, 1])
        # A coupled joint carries its fraction of the load, whichever of them it acts on
        self._shared = np.eye(len(joints))
        names = list(profile.joints)
        for coupling in profile.couplings:
            members = [names.index(name) for name in (coupling.leader, *coupling.followers)]
            ratios = np.array([1.0] + [coupling.ratio] * len(coupling.followers))
            self._shared[np.ix_(members, members)] = np.outer(ratios, ratios) / (ratios @ ratios)

    def __deepcopy__(self, memo: object) -> StaticModel:
        """Return itself: nothing is kept from one call to the next."""
        return self

    def near(self, q: np.ndarray) -> Dict[Tuple[str, str], float]:
        """Return the distances of the pairs of links that are near, m; negative: how deep they overlap.

        Parameters
        ----------
        q : (n,) array
            All driven joints, rad.
        """
        with self._lock:
            self._put(q)
            mujoco.mj_collision(self._model, self._data)
            found: Dict[Tuple[str, str], float] = {}
            for geoms, distance in zip(self._data.contact.geom, self._data.contact.dist):
                if distance < self._seen:
                    one, other = sorted(self._model.body(self._link[geom]).name for geom in geoms)
                    found[one, other] = min(found.get((one, other), np.inf), float(distance))
        return found

    def holding_torque(
        self, q: np.ndarray, rpy: np.ndarray, stands: np.ndarray, payload: float = 0.0, p_base: np.ndarray = _NONE
    ) -> np.ndarray:
        """Return the torques that hold the robot against gravity, (n,), N m.

        The ground pushes straight up, with the least squares of forces that carry weight and centre of mass: servos
        that hold their angles also push feet against each other, which cancels out over the robot but not in a leg.

        Parameters
        ----------
        q : (n,) array
            All driven joints, rad.
        rpy : (3,) array
            Attitude of the base: roll, pitch, yaw, rad.
        stands : (c,) array of bool
            Which of the profile's contacts carry the robot; at least three that are not in line.
        payload : float
            Mass of what lies on the base, kg.
        p_base : (3,) array
            Where its centre of mass is, in the base frame, m.
        """
        with self._lock:
            model, data = self._model, self._data
            self._put(q, *rpy)
            torque = np.zeros(model.nv)
            mujoco.mj_rne(model, data, 0, torque)
            bodies = [body for body, carries in zip(self._contacts, stands) if carries]
            mass, place = self._mass + payload, data.xpos[self._base] + data.xmat[self._base].reshape(3, 3) @ p_base
            places, centre = data.xpos[bodies], (self._mass * data.subtree_com[0] + payload * place) / mass
            balance, down = np.ones((3, len(bodies))), np.zeros((len(bodies), 3))
            balance[1:] = (places - centre)[:, :2].T
            down[:, 2] = -balance.T @ np.linalg.solve(balance @ balance.T, (self._g * mass, 0.0, 0.0))
            for body, place, load in zip(bodies, places, down):
                mujoco.mj_applyFT(model, data, load, _NONE, place, body, torque)
        return np.asarray(self._shared @ torque[self._v_index])

    def _put(self, q: np.ndarray, roll: float = 0.0, pitch: float = 0.0, yaw: float = 0.0) -> None:
        x, y, z, w = quaternion_from_rpy(roll, pitch, yaw)
        self._data.qpos[:7] = (0.0, 0.0, _ALOFT, w, x, y, z)
        self._data.qpos[self._q_index] = q
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
