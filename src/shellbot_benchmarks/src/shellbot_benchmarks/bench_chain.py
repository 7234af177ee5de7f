# SPDX-License-Identifier: MIT
"""How fast the whole chain runs in one process, without ROS."""

from __future__ import annotations

import functools
import math
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Sequence

import numpy as np

from robot_evaluation.errors import DefinitionError
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig
from shellbot_common import TICK
from shellbot_description import named_pose_array
from shellbot_simulator import Simulator

_PUSH_N, _PUSH_S, _PUSH_EVERY_S = 20.0, 0.4, 3.0


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
        1e3 * wall / (seconds / TICK),
    )


def bench_chain(seconds: float = 10.0, timestep_s: float = 0.002) -> List[ChainSpeed]:
    """Measure walking, standing, and the simulator alone: standing, as a closed ball at rest, and rolling.

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
            f"chain, walking {speed:.2f} m/s",
            functools.partial(chain.walk, (speed, 0.0, 0.0), settle=False),
            seconds,
            timestep_s,
        )
        for speed in (0.15, 0.40)
    ]
    chain.run(2.0)
    results.append(measure("chain, standing", chain.run, seconds, timestep_s))

    simulator = chain.simulator
    results.append(measure("simulator alone, standing", lambda s: _step(simulator, s), seconds, timestep_s))
    simulator.reset(named_pose_array("closed", chain.config.variant))
    _step(simulator, 1.0)
    results.append(measure("simulator alone, ball at rest", lambda s: _step(simulator, s), seconds, timestep_s))
    results.append(measure("simulator alone, rolling", lambda s: roll(simulator, s), seconds, timestep_s))
    return results


def _timed(owner: object, method: str) -> List[float]:
    """Replace a method of an object by one that also appends how long it takes, us, to the list that is returned."""
    call, times_us = getattr(owner, method), []

    def timed(*arguments: Any) -> Any:
        begun = time.perf_counter()
        answer = call(*arguments)
        times_us.append(1e6 * (time.perf_counter() - begun))
        return answer

    setattr(owner, method, timed)
    return times_us


def feed_forward_us(seconds: float = 10.0) -> Dict[str, float]:
    """Return by how much torques that are fed forward lengthen a tick of a walking robot, us, by medians.

    Parameters
    ----------
    seconds : float
        Simulated time with and without each, in turns of half a second.

    Returns
    -------
    dict of str to float
        ``manager``: tick of the action manager; ``all``: of all that computes joint targets.
    """
    chains = [Chain(ChainConfig(feed_forward=fed, record=False)) for fed in (0.0, 1.0)]
    for chain in chains:
        chain.stand_up()
        chain.walk((0.15, 0.0, 0.0), seconds=1.0)
    times = [[_timed(c, "tick"), _timed(c.robot, "advance"), _timed(c.manager, "step")] for c in chains]
    for _ in range(max(1, round(2.0 * seconds))):
        for chain in chains:
            chain.walk((0.15, 0.0, 0.0), seconds=0.5, settle=False)
    whole = [float(np.median(np.subtract(tick, advance))) for tick, advance, _ in times]
    manager = [float(np.median(step)) for _, _, step in times]
    return {"manager": manager[1] - manager[0], "all": whole[1] - whole[0]}


def roll(simulator: Simulator, seconds: float) -> None:
    """Keep a closed ball rolling: each 3 s it is pushed the other way, before it comes to rest."""
    for push in range(math.ceil(seconds / _PUSH_EVERY_S - 1e-9)):
        simulator.push((-_PUSH_N if push % 2 else _PUSH_N, 0.0, 0.0), _PUSH_S)
        _step(simulator, min(_PUSH_EVERY_S, seconds - push * _PUSH_EVERY_S))


def _step(simulator: Simulator, seconds: float) -> None:
    for _ in range(int(round(seconds / TICK))):
        simulator.step_tick()


# × real time by CPU time, as other jobs do not count, by the beginning of the situation's name
REQUIRED_TIMES_REAL_TIME = {"chain": 8.0, "simulator alone, ball at rest": 10.0, "simulator alone, rolling": 6.0}

FEED_FORWARD_US = 15.0  # by which torques fed forward may lengthen a tick of the action manager


def fast_enough(results: Sequence[ChainSpeed]) -> bool:
    """Whether each situation reaches what `REQUIRED_TIMES_REAL_TIME` demands of it."""
    return all(
        result.times_real_time_cpu >= required
        for result in results
        for situation, required in REQUIRED_TIMES_REAL_TIME.items()
        if result.situation.startswith(situation)
    )


COLUMNS: Dict[str, str] = {
    "situation": "situation",
    "times_real_time": "× real time",
    "times_real_time_cpu": "× real time (CPU time)",
    "physics_steps_per_s": "physics steps/s",
    "tick_ms": "ms per tick",
}
DIGITS = {"times_real_time": 1, "times_real_time_cpu": 1, "physics_steps_per_s": 0, "tick_ms": 3}
