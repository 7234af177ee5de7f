# SPDX-License-Identifier: MIT
"""Who walks the robot in a campaign: stops when the driver says so, rearms when it may, stands up, walks on."""

from __future__ import annotations

from typing import Dict, Tuple

from shellbot_chain.onboard_chain import OnboardChain

_RETRY = 1.0  # s between two requests to rearm


class Operator:
    """Gives the commands of an operator who watches the driver's state.

    Parameters
    ----------
    chain : OnboardChain
        The robot.
    twist : tuple of float
        What to walk, forward m/s, leftward m/s, turning rad/s.

    Attributes
    ----------
    stops : int
        How often the driver stopped the robot.
    rearmings : int
        How often it was rearmed.
    refusals : dict of str to int
        Why rearming was refused, and how often.
    moving_time : float
        s in which the driver followed targets.
    """

    def __init__(self, chain: OnboardChain, twist: Tuple[float, float, float]) -> None:
        self._chain, self._twist = chain, twist
        self.stops = self.rearmings = 0
        self.refusals: Dict[str, int] = {}
        self.moving_time = 0.0
        self._is_stopped = False
        self._next_try = 0.0
        self._last = chain.time

    def step(self) -> None:
        """Command what the next tick shall do."""
        chain, ladder = self._chain, self._chain.robot.driver.ladder()
        if ladder.may_move:
            self.moving_time += chain.time - self._last
        self._last = chain.time
        if not ladder.may_move:
            if not self._is_stopped:
                self._is_stopped = True
                self.stops += 1
            chain.command_twist((0.0, 0.0, 0.0))
            if ladder.needs_rearm and chain.time >= self._next_try:
                self._rearm()
            return
        if self._is_stopped:
            # the cores take over from the measured joints, as nodes do that were started again
            self._is_stopped = False
            chain.manager.reset()
            chain.solver.reset()
        may_walk = chain.mode == chain.target == "hexapod"
        chain.command_twist(self._twist if may_walk else (0.0, 0.0, 0.0))
        if not may_walk and chain.target not in ("hexapod", "waiting"):
            chain.request_mode("hexapod")

    def _rearm(self) -> None:
        self._next_try = self._chain.time + _RETRY
        accepted, reason = self._chain.robot.driver.rearm()
        if accepted:
            self.rearmings += 1
        else:
            self.refusals[reason] = self.refusals.get(reason, 0) + 1
