# SPDX-License-Identifier: MIT
"""Wrenches of the ground, about the soles, of sensors that are under the soles or in the joint of the foot."""

from __future__ import annotations

from typing import Dict, Sequence, Tuple

import numpy as np

from humanoid_motion.body_model import G
from humanoid_motion.parameters import WalkError
from robot_mechanics.models.inertia import inertias_of_urdf
from robot_mechanics.models.urdf import load_urdf


class FootWrenches:
    """Refers what a sensor feels to the sole.

    A sensor in the sole's own frame feels the ground. One in the frame of a link that the sole is fixed to feels what
    this link gives to the joint above it, which is the ground less the link's weight; the sole counts as level, and the
    link's acceleration as none.

    Parameters
    ----------
    urdf_text : str
        The robot description.
    soles : sequence of str
        Link of each sole.
    """

    def __init__(self, urdf_text: str, soles: Sequence[str]) -> None:
        joints = {joint.child: joint for joint in load_urdf(urdf_text).joints.values()}
        inertias = inertias_of_urdf(urdf_text)
        self._sensors: Dict[Tuple[str, str], Tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        for sole in soles:
            T_sole_link, link = np.eye(4), sole
            weight = np.zeros(6)  # of the ground's wrench about the sole that bears the links
            self._sensors[sole, sole] = T_sole_link[:3, :3], T_sole_link[:3, 3], weight
            while link in joints and joints[link].kind == "fixed":
                T_sole_link = T_sole_link @ np.linalg.inv(joints[link].origin)
                link = joints[link].parent
                if link in inertias:
                    com = T_sole_link[:3, :3] @ inertias[link].com + T_sole_link[:3, 3]
                    force = inertias[link].mass * G
                    weight = weight + [0.0, 0.0, force, com[1] * force, -com[0] * force, 0.0]
                self._sensors[sole, link] = T_sole_link[:3, :3], T_sole_link[:3, 3], weight

    def about_sole(self, sole: str, frame: str, wrench: Sequence[float]) -> np.ndarray:
        """Return force and moment of the ground about a sole in its frame, (6,), N and N m.

        Parameters
        ----------
        sole : str
            Its link.
        frame : str
            Link whose frame and origin the sensor's wrench has.
        wrench : (6,) sequence
            Force and moment that the sensor feels.

        Raises
        ------
        WalkError
            If the sole is not fixed to that link.
        """
        if frame == sole:
            return np.asarray(wrench, dtype=float)
        if (sole, frame) not in self._sensors:
            known = ", ".join(link for of, link in self._sensors if of == sole)
            raise WalkError(f"the wrench of {sole} is given in the frame {frame!r}; give it in one of {known}")
        rotation, lever, weight = self._sensors[sole, frame]
        force = rotation @ wrench[:3]
        return np.concatenate((force, rotation @ wrench[3:] + np.cross(lever, force))) + weight


def wrench_of_cells(places: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """Return the ground's wrench, (6,), as the force sensors of a sole have it: normal force, moments in the plane.

    Parameters
    ----------
    places : (c, 3) array
        Of the sensors in the sole's frame, m.
    forces : (c,) array
        Along its z axis, N.
    """
    return np.array([0.0, 0.0, forces.sum(), places[:, 1] @ forces, -places[:, 0] @ forces, 0.0])
