# SPDX-License-Identifier: MIT
"""Walk through the emulated bus while faults of all kinds come and go; watch falls, steps of the joints, memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import numpy as np
import psutil

from robot_evaluation.errors import DefinitionError, EvaluationError
from shellbot_chain.chain_config import ChainConfig
from shellbot_chain.onboard_chain import OnboardChain
from shellbot_common import TICK, Level, Settings, number
from shellbot_common.rotations import tilt_from_quaternion
from shellbot_motor_driver.driving.driver_state import Condition

from .operator import Operator
from .schedule import Slot, random_schedule, repair_servos

TWIST = (0.12, 0.0, 0.25)  # a circle of half a metre
_FALL_TILT_DEG = 25.0
_FALL_HEIGHT = 0.6  # fraction of the standing height
_ANNOUNCED_FOR = 3.0  # s that an announcement counts for what follows it


@dataclass(frozen=True)
class FaultWalk(Settings, error=DefinitionError):
    """One campaign."""

    seconds: float = number(TICK, math.inf, "s", default=600.0)  #: Length, after standing up
    seed: int = 0  #: Of the robot and of the schedule


class FaultRecord(NamedTuple):
    """Effect of one fault: s until the driver first reported it, and until the robot followed targets again."""

    kind: str
    servo: Optional[int]
    start: float
    reported_after: float
    text: str
    stopped: bool
    back_after: float


@dataclass
class FaultWalkResult:
    """What was observed; m and s."""

    seconds: float
    seed: int
    walked: float = 0.0
    moving_fraction: float = 0.0
    stops: int = 0
    rearmings: int = 0
    falls: int = 0
    unannounced_falls: List[str] = field(default_factory=list)
    greatest_step_fraction: float = 0.0  # of what the speed limit allows
    greatest_joint_speed: float = 0.0  # rad/s, true
    memory_growth_mb: float = 0.0
    records: List[FaultRecord] = field(default_factory=list)
    struck: Dict[str, int] = field(default_factory=dict)
    refusals: Dict[str, int] = field(default_factory=dict)
    ends_walking: bool = False


def run_fault_walk(campaign: FaultWalk) -> FaultWalkResult:
    """Stand up, then walk in a circle through the schedule."""
    chain = OnboardChain(ChainConfig(variant="walker", seed=campaign.seed, record=False))
    chain.stand_up()
    slots = random_schedule(campaign.seconds, chain.robot.emulated.servo_map.servo_ids, campaign.seed)
    return _Walk(chain, campaign, slots).run()


class _Walk:
    """State of one campaign."""

    def __init__(self, chain: OnboardChain, campaign: FaultWalk, slots: Sequence[Slot]) -> None:
        self.chain, self.campaign = chain, campaign
        self.start = chain.time
        self.operator = Operator(chain, TWIST)
        self.result = FaultWalkResult(campaign.seconds, campaign.seed)
        self.repairs = sorted(slot.repair for slot in slots)
        self.slots = list(slots)
        chain.robot.add_faults([slot.fault for slot in slots])
        self.standing_height = float(chain.state.p_world_base[2])
        self.announced_until = -np.inf
        self.is_down = False
        self.goals: Optional[np.ndarray] = None
        self.usable = np.zeros(len(chain.robot.driver.limits.velocity), dtype=bool)
        self.goal_stamps = np.zeros(len(chain.robot.driver.limits.velocity))  # of each joint's last goal
        self.record: Optional[FaultRecord] = None  # of the present fault
        self.originals = [servo.table.as_dict() for servo in chain.robot.emulated.chain.servos]

    def run(self) -> FaultWalkResult:
        result, chain = self.result, self.chain
        place, memory = chain.state.p_world_base[:2].copy(), 0.0
        while chain.time - self.start < self.campaign.seconds:
            self.operator.step()
            try:
                chain.tick()
            except EvaluationError as error:
                result.unannounced_falls.append(f"{chain.time - self.start:.1f} s: {error}")
                break
            t = chain.time - self.start
            result.walked += float(np.linalg.norm(chain.state.p_world_base[:2] - place))
            place = chain.state.p_world_base[:2].copy()
            self._look(t)
            if not memory and t > 0.25 * self.campaign.seconds:
                memory = _resident_mb()
        result.memory_growth_mb = _resident_mb() - memory if memory else 0.0
        self._close_record()
        result.moving_fraction = self.operator.moving_time / max(chain.time - self.start, 1e-9)
        result.stops, result.rearmings = self.operator.stops, self.operator.rearmings
        result.refusals = self.operator.refusals
        result.struck = dict(chain.robot.emulated.chain.faults.struck)
        result.ends_walking = chain.robot.driver.ladder().may_move and not self.is_down
        return result

    def _look(self, t: float) -> None:
        chain = self.chain
        state = chain.robot.driver.state()
        loud = [notice for notice in chain.robot.notices if notice.level is not Level.INFO]
        chain.robot.notices.clear()
        if chain.robot.is_announced or not state.ladder.may_move:
            self.announced_until = t + _ANNOUNCED_FOR
        self._watch_fault(t, loud[0].text if loud else "", state.ladder.may_move)
        self._watch_fall(t)
        self._watch_steps(state)
        while self.repairs and self.repairs[0] <= t:
            self.repairs.pop(0)
            repair_servos(chain.robot.emulated.chain.servos, self.originals, chain.robot.port.baud)

    def _watch_fault(self, t: float, text: str, may_move: bool) -> None:
        if self.slots and self.slots[0].fault.start <= t:
            self._close_record()
            fault = self.slots.pop(0).fault
            self.record = FaultRecord(fault.kind, fault.servo, fault.start, math.nan, "", False, math.nan)
        record = self.record
        if record is None:
            return
        since = t - record.start
        if text and not record.text:
            record = record._replace(reported_after=since, text=text)
        if not may_move:
            record = record._replace(stopped=True, back_after=math.nan)
        elif record.stopped and math.isnan(record.back_after):
            record = record._replace(back_after=since)
        self.record = record

    def _close_record(self) -> None:
        if self.record is not None:
            self.result.records.append(self.record)
            self.record = None

    def _watch_fall(self, t: float) -> None:
        state = self.chain.state
        tilt = float(np.degrees(tilt_from_quaternion(state.quat_world_base)))
        low = state.p_world_base[2] < _FALL_HEIGHT * self.standing_height
        is_down = tilt > _FALL_TILT_DEG or low
        if is_down and not self.is_down:
            self.result.falls += 1
            if t > self.announced_until:
                self.result.unannounced_falls.append(
                    f"{t:.1f} s: tilt {tilt:.0f} deg, height {state.p_world_base[2]:.3f} m"
                )
        self.is_down = is_down

    def _watch_steps(self, state: Any) -> None:
        """Look at the goals of servos whose torque is on and that were not just brought back to where they are.

        A servo that missed replies gets no goals until it is checked; its next one may be as far as its speed limit
        allows in the time since its last.
        """
        chain = self.chain
        expand = chain.robot.emulated.servo_map.expand
        usable = expand(
            np.array([s.torque_on and s.condition in (Condition.GOOD, Condition.SUSPECT) for s in state.servos])
        )
        # by the driver's clock: a stall of the host makes its next tick longer
        duration = state.stamp - self.goal_stamps
        looked = usable & self.usable & (duration > 0.0)
        if self.goals is not None and looked.any():
            allowed = chain.robot.driver.limits.velocity * duration
            fraction = np.abs(state.command - self.goals)[looked] / allowed[looked]
            self.result.greatest_step_fraction = max(self.result.greatest_step_fraction, float(fraction.max()))
        gets_goals = expand(np.array([s.condition == Condition.GOOD for s in state.servos]))
        self.goal_stamps = np.where(gets_goals | ~usable, state.stamp, self.goal_stamps)
        self.goals, self.usable = state.command, usable
        fastest = float(np.abs(chain.state.dq).max())
        self.result.greatest_joint_speed = max(self.result.greatest_joint_speed, fastest)


def _resident_mb() -> float:
    return psutil.Process().memory_info().rss / 1e6
