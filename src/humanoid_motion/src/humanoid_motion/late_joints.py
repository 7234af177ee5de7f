# SPDX-License-Identifier: MIT
"""Joints that the full effort of their servos does not bring to the command: blocked, or too weak."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from robot_mechanics.native.jit import bare_kernel

_BEHIND = 0.03  # rad beyond the angle at which a servo has its full effort: it cannot bring the joint there
# ticks of that; in walks, over plates, in pushes and fast moves it is 13 at most, and as it gets up, on its arms, 101
_BEHIND_TICKS, _BEHIND_GET_UP = 40, 200


@bare_kernel
def _count(ticks: np.ndarray, command: np.ndarray, q: np.ndarray, most_offset: np.ndarray) -> None:
    """Count on for each joint that is behind its command, and begin anew for the others."""
    for i in range(len(ticks)):
        ticks[i] = ticks[i] + 1 if abs(command[i] - q[i]) > most_offset[i] + _BEHIND else 0


class LateJoints:
    """Which joints are behind, and for how long.

    Parameters
    ----------
    names : sequence of str
        Of the joints.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._ticks = np.zeros(len(self._names), dtype=np.int64)  # for which each has been behind
        self.begin_motion()

    def begin_motion(self) -> None:
        """Forget which joints were behind in the motion before."""
        self._noted = np.zeros(len(self._names), dtype=bool)

    def update(self, command: np.ndarray, q: np.ndarray, most_offset: np.ndarray) -> None:
        """Take one tick.

        Parameters
        ----------
        command, q : (n,) array
            As commanded and as measured, rad.
        most_offset : (n,) array
            Angle between command and joint at which a servo has its full effort, rad.
        """
        _count(self._ticks, command, q, most_offset)

    def note(self) -> None:
        """Remember which joints are behind in this motion."""
        self._noted |= self._ticks >= _BEHIND_TICKS

    @property
    def in_motion(self) -> str:
        """Names of the joints that were behind in this motion; empty without."""
        return self._names_of(self._noted)

    def text(self, gets_up: bool) -> str:
        """Return a sentence on the joints that are behind, empty without; one that gets up, or lies, has longer."""
        names = self._names_of(self._ticks >= (_BEHIND_GET_UP if gets_up else _BEHIND_TICKS))
        return f" Behind with full effort, blocked or too weak: {names}." if names else ""

    def _names_of(self, chosen: np.ndarray) -> str:
        return ", ".join(name for name, is_chosen in zip(self._names, chosen) if is_chosen)
