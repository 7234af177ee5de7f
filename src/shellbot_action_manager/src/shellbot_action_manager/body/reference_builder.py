# SPDX-License-Identifier: MIT
"""Limb references from the commands of groups of limbs, with velocities from one tick to the next."""

from __future__ import annotations

import math
from itertools import repeat
from typing import Any, Dict, Iterable, List, Mapping, Optional

import numpy as np

from shellbot_action_manager.body.limbs import LimbCommand, LimbCommands, LimbGroup
from shellbot_kinematics.references import Kind, LimbReference, LimbReferences

_NO_EFFORTS: Mapping[str, np.ndarray] = {}


class ReferenceBuilder:
    """Remembers the previous command, so that velocities are the differences of what was really sent.

    Parameters
    ----------
    groups : mapping of str to LimbGroup
        The robot's limbs.
    """

    def __init__(self, groups: Mapping[str, LimbGroup]) -> None:
        self._groups = groups
        self._previous: LimbCommands = {}
        self._frames: Dict[str, List[str]] = {}

    def build(
        self, stamp: float, dt: float, limbs: LimbCommands, efforts: Mapping[str, np.ndarray] = _NO_EFFORTS
    ) -> LimbReferences:
        """Return the references of a tick.

        Parameters
        ----------
        stamp, dt : float
            Simulated time and time since the previous references, s; dt <= 0 gives zero velocities.
        limbs : mapping of str to LimbCommand
            Of every group that is commanded; the limbs of the others hold.
        efforts : mapping of str to (m, n) array
            Torques of the joints that are fed forward, N m, of some of these groups.
        """
        references: List[LimbReference] = []
        for name, command in limbs.items():
            previous = self._previous.get(name) if dt > 0.0 else None
            effort = efforts.get(name)
            each = repeat(()) if effort is None else effort.tolist()
            references += self._group(name, command, previous, dt, each)
        self._previous = limbs
        return LimbReferences(stamp, tuple(references))

    def _group(
        self, name: str, command: LimbCommand, previous: Optional[LimbCommand], dt: float, efforts: Iterable[Any]
    ) -> List[LimbReference]:
        limbs = self._groups[name].limbs
        fractions = repeat(math.nan) if command.load_share is None else command.load_share.tolist()
        if command.p_base is None:
            rate = np.zeros_like(command.q) if previous is None else (command.q - previous.q) / dt
            return [
                LimbReference(
                    limb, Kind.JOINTS, joint_position=q, joint_velocity=dq, effort=effort, load_share=fraction
                )
                for limb, q, dq, effort, fraction in zip(limbs, command.q.tolist(), rate.tolist(), efforts, fractions)
            ]
        speed = np.zeros_like(command.p_base)
        if previous is not None and previous.p_base is not None and previous.tip == command.tip:
            speed = (command.p_base - previous.p_base) / dt
        frames = self._frames.get(name + command.tip)
        if frames is None:
            frames = self._frames[name + command.tip] = [f"{limb}_{command.tip}" for limb in limbs]
        return [
            LimbReference(limb, Kind.POSE, frame, position=p, linear=v, effort=effort, load_share=fraction)
            for limb, frame, p, v, effort, fraction in zip(
                limbs, frames, command.p_base.tolist(), speed.tolist(), efforts, fractions
            )
        ]
