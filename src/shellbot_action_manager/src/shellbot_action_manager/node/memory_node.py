# SPDX-License-Identifier: MIT
"""What outlives a node: numbers in a private parameter, from which the next process of its name goes on."""

from __future__ import annotations

import contextlib
from typing import List

import rospy


class NodeMemory:
    """Numbers in a parameter.

    Parameters
    ----------
    name : str
        Of the parameter.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.before: List[float] = rospy.get_param(name, [])  #: What the process before this one stored last

    def store(self, numbers: List[float]) -> None:
        """Store numbers; a master that is away gets them the next time."""
        with contextlib.suppress(OSError):
            rospy.set_param(self._name, numbers)
