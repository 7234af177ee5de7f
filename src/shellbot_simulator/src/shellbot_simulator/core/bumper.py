# SPDX-License-Identifier: MIT
"""Bumpers: switches that are pressed by what a link of the robot runs into."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from shellbot_common.robot_profile import Bumper

from .ground import ContactSnapshot

_FACING = math.cos(math.radians(45.0))  # a floor under the link does not press, nor does friction


class BumperSwitch:
    """One switch.

    Parameters
    ----------
    model : mujoco.MjModel
        From `build_model`.
    link : str
        Whose x axis points out of the robot; the switch is pressed against it.
    bumper : Bumper
        The profile's.
    """

    def __init__(self, model: mujoco.MjModel, link: str, bumper: Bumper) -> None:
        self._bumper, self._body = bumper, model.body(link).id
        self._shapes = np.flatnonzero(model.body_weldid[model.geom_bodyid] == model.body_weldid[self._body])

    def is_pressed(self, data: mujoco.MjData, contacts: ContactSnapshot) -> bool:
        """Return whether the contacts of the step just solved press it."""
        own = np.isin(contacts.geoms, self._shapes)
        rows = np.flatnonzero(own[:, 0] != own[:, 1])
        # a normal points from the first shape to the second
        inwards = np.where(own[rows, 1], -1.0, 1.0) * (contacts.frames[rows, :3] @ data.xmat[self._body][::3])
        near = np.linalg.norm(contacts.p_world_contacts[rows] - data.xpos[self._body], axis=1) <= self._bumper.radius
        return bool(contacts.wrenches[rows, 0][near & (inwards > _FACING)].sum() >= self._bumper.force)
