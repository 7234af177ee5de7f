# SPDX-License-Identifier: MIT
"""How long it takes: a replugged port, a browned-out servo, a dead one; and whether a lossy line lets it walk."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Callable, List, Tuple

import numpy as np

from ax_emulator import Fault
from shellbot_chain.chain_config import ChainConfig
from shellbot_chain.onboard_chain import OnboardChain
from shellbot_common import TICK
from shellbot_motor_driver.driving.driver_state import Condition, Phase

_LIMIT = 8.0  # s of waiting for a reaction
_SETTLE = 2.5  # s between two faults


@dataclass(frozen=True)
class RecoveryCampaign:
    """How often what is tried."""

    repetitions: int = 10  #: Of each
    seed: int = 0  #: Of victims and times


@dataclass
class RecoveryResult:
    """Times in s; infinite where nothing happened in time."""

    replug: List[float] = field(default_factory=list)
    brown_out: List[float] = field(default_factory=list)
    dead_timeouts_per_half_second: List[float] = field(default_factory=list)
    rejoin: List[float] = field(default_factory=list)


def run_recovery(campaign: RecoveryCampaign) -> RecoveryResult:
    """Let a standing robot suffer one fault after the other."""
    chance = random.Random(f"recovery/{campaign.seed}")
    chain = OnboardChain(ChainConfig(variant="walker", seed=campaign.seed, record=False))
    chain.stand_up()
    result = RecoveryResult()
    ids = list(chain.robot.emulated.servo_map.servo_ids)
    for _ in range(campaign.repetitions):
        result.replug.append(_replug(chain, chance.uniform(0.3, 3.0)))
        result.brown_out.append(_brown_out(chain, chance.choice(ids), chance.uniform(0.0, 0.3)))
        costs, back = _dead(chain, chance.choice(ids))
        result.dead_timeouts_per_half_second.append(costs)
        result.rejoin.append(back)
    return result


def lossy_walk(seed: int, lost: float, seconds: float = 10.0) -> float:
    """Return how far the robot walks at 0.15 m/s when a fraction of the replies is lost; NaN if the driver stops it."""
    chain = OnboardChain(ChainConfig(variant="walker", seed=seed, record=False))
    chain.stand_up()
    if lost > 0.0:
        chain.robot.add_faults([Fault("lost_reply", probability=lost)])
    start, stops = chain.state.p_world_base[:2].copy(), []
    for _ in range(round(seconds / TICK)):
        chain.command_twist((0.15, 0.0, 0.0))
        chain.tick()
        if not chain.robot.driver.ladder().may_move:
            stops.append(chain.time)
    return float("nan") if stops else float(np.linalg.norm(chain.state.p_world_base[:2] - start))


def _replug(chain: OnboardChain, duration: float) -> float:
    """Return how long after the port is there again every servo is read again."""
    chain.robot.add_faults([Fault("port_error", start=0.05, stop=0.05 + duration)])
    chain.run(0.05 + duration)

    def is_back() -> bool:
        state = chain.robot.driver.state()
        return state.ladder.phase is not Phase.BUS_DOWN and bool(state.is_measured.all())

    return _time_until(chain, is_back)


def _brown_out(chain: OnboardChain, servo_id: int, delay: float) -> float:
    """Return how long after it a reboot is noticed: the servo is no longer taken for good."""
    chain.run(delay)
    chain.robot.add_faults([Fault("reboot", servo=servo_id)])
    return _time_until(chain, lambda: not _is_good(chain, servo_id))


def _dead(chain: OnboardChain, servo_id: int) -> Tuple[float, float]:
    """Return the time-outs per 0.5 s that a lost servo costs, and how long after its return it is good again."""
    chain.robot.add_faults([Fault("dead", servo=servo_id, stop=6.0)])
    chain.run(2.0)  # until it counts as lost
    before, start = _timeouts(chain), chain.time
    chain.run(3.5)
    costs = (_timeouts(chain) - before) / ((chain.time - start) / 0.5)
    chain.run(0.5)
    return costs, _time_until(chain, lambda: _is_good(chain, servo_id))


def _is_good(chain: OnboardChain, servo_id: int) -> bool:
    return bool(chain.robot.driver.state().servo(servo_id).condition is Condition.GOOD)


def _time_until(chain: OnboardChain, is_so: Callable[[], bool]) -> float:
    """Return how long it takes until something is so, s, infinite beyond the limit; the robot stands again after it."""
    start, took = chain.time, math.inf
    while math.isinf(took) and chain.time < start + _LIMIT:
        chain.tick()
        took = chain.time - start if is_so() else math.inf
    _settle(chain)
    return took


def _timeouts(chain: OnboardChain) -> float:
    return float(chain.robot.driver.bus.statistics.snapshot()["timeouts"])


def _settle(chain: OnboardChain) -> None:
    """Rearm when it is allowed, and let the robot stand again."""
    end, is_requested = chain.time + _SETTLE, False
    while chain.time < end or chain.robot.driver.ladder().needs_rearm:
        ladder = chain.robot.driver.ladder()
        if ladder.needs_rearm and round(chain.time / TICK) % 50 == 0:
            is_requested = bool(chain.robot.driver.rearm()) or is_requested
        chain.tick()
        if chain.time > end + 30.0:
            break
    if is_requested:
        chain.manager.reset()
        chain.solver.reset()
        chain.stand_up()
