# SPDX-License-Identifier: MIT
"""Force sensors between a contact and its link: what each of them carries of the wrench that the physics gives."""

from __future__ import annotations

from typing import Optional

import mujoco
import numpy as np

from shellbot_common.robot_profile import LoadCells
from shellbot_common.seed_streams import Stream

from .errors import ModelError
from .reading import noise, stepped

_BALANCE = 1e3  # weight of the balance of forces against the least sum of squares, which leaves an error of its square


class LoadCellArray:
    """The sensors of one contact.

    Parameters
    ----------
    model : mujoco.MjModel
        From `build_model`.
    contact : str
        Link of the contact.
    cells : LoadCells
        The profile's.
    index : int
        Of the contact: each has noise of its own.
    std : float
        Standard deviation of the noise, N.

    Raises
    ------
    ModelError
        If the description lacks the link of a sensor, or it moves against that of the contact.

    Attributes
    ----------
    places : (c, 3) array
        Of the sensors in the frame of the contact's link, m.
    """

    def __init__(self, model: mujoco.MjModel, contact: str, cells: LoadCells, index: int, std: float) -> None:
        from scipy.optimize import nnls  # 20 MB that a window, which only draws a robot, does not need

        self._nnls = nnls
        self._cells, self._stream, self._std = cells, Stream.LOAD_CELLS + index, std
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        base = model.body(contact).id
        self.places = np.array([_place(model, data, base, frame) for frame in cells.frames])
        middle = self.places.mean(axis=0)
        arms = self.places - middle
        self._middle = middle
        self._size = max(float(np.linalg.norm(arms, axis=1).max()), 1e-3)
        count = len(arms)
        balance = np.vstack([np.ones(count), arms[:, 0] / self._size, arms[:, 1] / self._size])
        self._equations = np.vstack([_BALANCE * balance, np.eye(count)])

    def carried(self, wrench: np.ndarray) -> np.ndarray:
        """Return the force on each sensor, (c,), N.

        The contact is a rigid plate on sensors of equal stiffness that can only be pressed: of all forces that balance
        the wrench and do not pull, those with the least energy. Their sum is the normal force and their centre of
        pressure the true one, as long as that lies between the sensors. Beyond, where the contact presses on its rim
        and would tip over its outermost sensors, these carry the force at the nearest point between them.

        Parameters
        ----------
        wrench : (6,) array
            Force (N) and moment (N m) of the ground about the origin of the contact's link, in its axes.
        """
        fx, fy, normal, mx, my, _ = wrench.tolist()
        if normal <= 0.0:
            return np.zeros(len(self.places))
        x, y, z = self._middle.tolist()  # the moments about it, over the normal force: centre of pressure
        ahead, left = -(my - z * fx) / normal - x, (mx + z * fy) / normal - y
        sought = _BALANCE * np.array([1.0, ahead / self._size, left / self._size])
        forces, _ = self._nnls(self._equations, np.concatenate([sought, np.zeros(len(self.places))]))
        return np.asarray(normal / forces.sum() * forces)

    def read(self, wrench: np.ndarray, seed: Optional[int], tick: int) -> np.ndarray:
        """Return the reading of each sensor at a tick, (c,), N, with the noise of a seed if there is one."""
        true = self.carried(wrench)
        values = stepped(true + self._std * noise(seed, self._stream, tick, len(true)), self._cells.resolution)
        return np.clip(values, 0.0, self._cells.limit)


def _place(model: mujoco.MjModel, data: mujoco.MjData, base: int, frame: str) -> np.ndarray:
    body, name = model.body(frame).id, model.body(base).name
    if model.body_weldid[body] != model.body_weldid[base]:
        raise ModelError(f"link {frame!r} moves against {name}, whose load cell it is; fix it to the same link")
    return np.asarray((data.xpos[body] - data.xpos[base]) @ data.xmat[base].reshape(3, 3))
