# SPDX-License-Identifier: MIT
"""Many reads over a bad line: does the driver ever stop, or see a fault that is not there?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List

import numpy as np

from ax_bus import Bus, Timeouts
from ax_emulator import EmulatedChain, Fault, FaultInjector, VirtualPort
from robot_evaluation.errors import DefinitionError
from shellbot_chain.onboard_chain import HOST_TIME
from shellbot_common import TICK, Level, Settings, number
from shellbot_motor_driver.driving.driver_state import Condition, Reaction
from shellbot_motor_driver.driving.motor_driver import MotorDriver
from shellbot_motor_driver.emulated_servos import shellbot_servos
from shellbot_motor_driver.map.servo_map import ServoMap


@dataclass(frozen=True)
class ReadCampaign(Settings, error=DefinitionError):
    """How many reads over how bad a line."""

    reads: int = number(100, 10**12, default=1_000_000)  #: READs that the driver's scheduler books
    #: lost, corrupt: Fraction of replies that are lost, and of those with a flipped bit
    lost: float = 0.01
    corrupt: float = 0.001
    seed: int = 0  #: Of all chances
    variant: str = "walker"  #: walker or full


@dataclass
class ReadResult:
    """What was seen."""

    reads: int = 0
    ticks: int = 0
    lost: int = 0
    corrupt: int = 0
    stops: int = 0
    false_faults: List[str] = field(default_factory=list)
    wrong_values: int = 0
    suspect_ticks: int = 0
    stale_ticks: int = 0
    counters: Dict[str, int] = field(default_factory=dict)

    @property
    def met(self) -> bool:
        """Whether there was no stop, no false fault and no wrong value."""
        return not self.stops and not self.false_faults and not self.wrong_values


def run_reads(campaign: ReadCampaign) -> ReadResult:
    """Tick the driver on servos that sway gently, until enough reads were booked."""
    servo_map = ServoMap.load(campaign.variant)
    faults = FaultInjector(seed=campaign.seed)
    chain = EmulatedChain(shellbot_servos(campaign.variant, seed=campaign.seed), faults=faults)
    port = VirtualPort(chain, HOST_TIME)
    bus = Bus(port, Timeouts(link_latency=1e-3))
    driver = MotorDriver(bus, servo_map)
    driver.start()
    for _ in range(200):  # the torque comes up
        driver.tick(None)
        port.sleep(driver.next_tick - port.now())
    driver.events()
    faults.add(Fault("lost_reply", start=port.now(), probability=campaign.lost))
    faults.add(Fault("bit_flip", start=port.now(), probability=campaign.corrupt))
    base, before = driver.state().position.copy(), dict(bus.statistics.snapshot())
    result, phases = ReadResult(), 2.0 * np.pi * np.random.default_rng(campaign.seed).random(base.size)
    phases = servo_map.expand(servo_map.reduce(np.where(_is_fan(servo_map), 0.0, phases)))
    amplitude = np.where(_is_fan(servo_map), 0.0, 0.2)
    limits = driver.limits
    first = chain.time
    while _booked(driver, before) < campaign.reads:
        sway = amplitude * (np.sin(1.5 * (port.now() - first) + phases) - np.sin(phases))
        driver.tick(np.clip(base + sway, limits.lower, limits.upper))
        _look(driver, chain, result)
        port.sleep(driver.next_tick - port.now())
    result.reads = _booked(driver, before)
    result.lost, result.corrupt = faults.struck.get("lost_reply", 0), faults.struck.get("bit_flip", 0)
    after = bus.statistics.snapshot()
    names = ("retries", "timeouts", "bad_checksums", "bad_lengths", "foreign_ids", "stale_replies", "noise_bytes")
    result.counters = {name: int(after[name] - before[name]) for name in names if name in after}
    return result


def _booked(driver: MotorDriver, before: Dict[str, float]) -> int:
    return int(driver.bus.statistics.snapshot()["exchanges"] - before["exchanges"])


def _look(driver: MotorDriver, chain: EmulatedChain, result: ReadResult) -> None:
    result.ticks += 1
    ladder = driver.ladder()
    for notice in driver.events():
        if notice.level is not Level.INFO:
            result.false_faults.append(notice.text)
    result.stops += not ladder.may_move or ladder.reaction > Reaction.WARN
    if result.ticks % 5:
        return  # the whole state costs more than the tick; readings last for several ticks
    state = driver.state()
    for reading, servo in zip(state.servos, chain.servos):
        result.suspect_ticks += reading.condition is Condition.SUSPECT
        result.stale_ticks += reading.is_stale
        if reading.alarms:
            result.false_faults.append(f"servo {reading.servo_id}: {reading.alarms!r}")
        # slowest sway plus the reading's age: what is farther off cannot have been read
        farthest = 3.0 + 1.0 * (reading.age + TICK) / np.radians(300.0 / 1023.0)
        result.wrong_values += abs(reading.steps - servo.motor.steps) > farthest


def _is_fan(servo_map: ServoMap) -> np.ndarray:
    return np.array([name.endswith("_fan") for name in servo_map.joint_names])
