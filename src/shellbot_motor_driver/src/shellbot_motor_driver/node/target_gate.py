# SPDX-License-Identifier: MIT
"""Which joint targets reach the driver: names, numbers and age; what jumps is the driver's own business."""

from __future__ import annotations

import math
from typing import Optional, Sequence, Tuple

import numpy as np

from shellbot_common import GAP, Level, Notice, Stamp, classify_stamp
from shellbot_control import EffortOffset, JointOrder, TargetsError

Array = np.ndarray


class TargetGate:
    """Check messages of joint targets. Time is that of their stamps, s.

    Parameters
    ----------
    joint_names : sequence of str
        The driven joints in their order.
    timeout : float
        s; targets with an older stamp are refused.
    efforts : EffortOffset, optional
        Turns torques that come with targets into angles; without it they are ignored.
    """

    def __init__(self, joint_names: Sequence[str], timeout: float, efforts: Optional[EffortOffset] = None) -> None:
        self._efforts = efforts
        self._order = JointOrder(joint_names)
        self._timeout = timeout
        self._newest = -math.inf
        self._refusing = False
        self.requested: Optional[Array] = None
        self.text = ""

    def age(self, now: float) -> float:
        """Return the s since the last good targets; infinite before the first, and if the clock was set back."""
        since = now - self._newest
        return max(since, 0.0) if since >= -self._timeout else math.inf

    def pass_on(
        self,
        stamp: float,
        names: Sequence[str],
        position: Sequence[float],
        now: float,
        effort: Sequence[float] = (),
    ) -> Tuple[Optional[Array], Tuple[Notice, ...]]:
        """Take one message.

        Parameters
        ----------
        stamp : float
            Its stamp, s; 0: none, taken as now (typed by hand).
        names, position : sequences
            Joint names in any order, and rad.
        now : float
            Present time, s.
        effort : sequence, optional
            Torques that the joints are to give there, N·m.

        Returns
        -------
        (n,) array or None
            What to give to the driver; None if the message is refused, which then holds, or late, which is nothing.
        tuple of Notice
            Why.
        """
        stamp = stamp if stamp > 0.0 else now
        try:
            picked = self._order.pick(names, position)
        except TargetsError as error:
            return None, (self._refuse("invalid", Level.ERROR, f"joint_targets refused: {error}"),)
        if now - stamp > self._timeout:
            text = (
                f"joint_targets refused: they are {now - stamp:.2f} s old on arrival (at most {self._timeout:g}); "
                "is the machine too busy, or do two clocks differ?"
            )
            return None, (self._refuse("stale", Level.WARN, text),)
        if stamp - now > self._timeout:
            text = f"joint_targets refused: their stamp is {stamp - now:.2f} s ahead; is use_sim_time true somewhere?"
            return None, (self._refuse("ahead", Level.WARN, text),)
        kind = classify_stamp(self._newest, stamp)
        if kind is Stamp.LATE:
            return None, ()
        notices: Tuple[Notice, ...] = ()
        if self._refusing:
            self._refusing = False
            notices = (Notice("resumed", Level.INFO, "joint_targets are valid again"),)
        self.text = ""
        if kind is Stamp.RESET:  # the clock was set back
            self._newest = stamp
        dt = min(max(stamp - self._newest, 0.0), GAP)
        self.requested, self._newest = picked, max(self._newest, stamp)
        if self._efforts is None:
            return picked, notices
        offset, ignored = self._efforts.step(dt, names, effort)
        return picked if offset is None else picked + offset, (*notices, *ignored)

    def _refuse(self, key: str, level: Level, text: str) -> Notice:
        self._refusing, self.text = True, text
        return Notice(key, level, text)
