# SPDX-License-Identifier: MIT
"""How fast the whole chain runs in one process, without ROS."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Callable, Dict, List, Sequence

from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig
from shellbot_chain.errors import DefinitionError


@dataclass(frozen=True)
class ChainSpeed:
    """Speed of one situation over `simulated_s` seconds of simulated time, on one core."""

    situation: str
    simulated_s: float
    wall_s: float
    cpu_s: float
    times_real_time: float
    times_real_time_cpu: float
    physics_steps_per_s: float
    tick_ms: float


def measure(situation: str, run: Callable[[float], None], seconds: float, timestep_s: float) -> ChainSpeed:
    """Time `run(seconds)`; a step of the physics is `timestep_s` long."""
    wall, cpu = time.perf_counter(), time.process_time()
    run(seconds)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return ChainSpeed(
        situation,
        seconds,
        wall,
        cpu,
        seconds / wall,
        seconds / cpu,
        seconds / timestep_s / wall,
        1e3 * wall / (seconds / 0.01),
    )


def bench_chain(seconds: float = 10.0, timestep_s: float = 0.002) -> List[ChainSpeed]:
    """Measure walking, standing, and the simulator alone (walking targets held).

    Parameters
    ----------
    seconds : float
        Simulated seconds of each situation.
    timestep_s : float
        Step of the physics, s.
    """
    if not seconds >= 0.1:
        raise DefinitionError(f"seconds is {seconds}; measure at least 0.1 s")
    chain = Chain(ChainConfig(timestep=timestep_s, record=False))
    chain.stand_up()
    chain.walk((0.15, 0.0, 0.0), seconds=1.0)  # compile and warm up
    results = [
        measure(
            "chain, walking 0.15 m/s",
            lambda s: chain.walk((0.15, 0.0, 0.0), seconds=s, settle=False),
            seconds,
            timestep_s,
        ),
        measure(
            "chain, walking 0.40 m/s",
            lambda s: chain.walk((0.40, 0.0, 0.0), seconds=s, settle=False),
            seconds,
            timestep_s,
        ),
    ]
    chain.run(2.0)
    results.append(measure("chain, standing", chain.run, seconds, timestep_s))

    def physics(s: float) -> None:
        for _ in range(int(round(s / 0.01))):
            chain.simulator.step_tick()

    results.append(measure("simulator alone, standing", physics, seconds, timestep_s))
    return results


REQUIRED_TIMES_REAL_TIME = 8.0  # of the walking chain at a 2 ms step, by CPU time, as other jobs do not count


def fast_enough(results: Sequence[ChainSpeed]) -> bool:
    """Whether the chain reaches the required speed in every situation that has the whole chain in it."""
    return all(r.times_real_time_cpu >= REQUIRED_TIMES_REAL_TIME for r in results if r.situation.startswith("chain"))


COLUMNS: Dict[str, str] = {
    "situation": "situation",
    "times_real_time": "× real time",
    "times_real_time_cpu": "× real time (CPU time)",
    "physics_steps_per_s": "physics steps/s",
    "tick_ms": "ms per tick",
}
DIGITS = {"times_real_time": 1, "times_real_time_cpu": 1, "physics_steps_per_s": 0, "tick_ms": 3}
