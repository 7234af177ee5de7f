# SPDX-License-Identifier: MIT
"""The engine's commands in a recorded walk, as they were when its odometry became a filter."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.engine import WalkingEngine
from humanoid_motion.interface import Feedback
from humanoid_motion.parameters import WalkParameters
from humanoid_motion.robot_core import HumanoidCore

# 2.2 s of the simulator from standing: (220, 45) joints, attitude, rates, wrenches; the commands of every fifth tick
WALK = np.load(Path(__file__).parent / "data" / "walk.npz")
START, PUSH, TWIST = 20, 110, (0.1, 0.03, 0.3)


URDF, PROFILE = humanoid_description.urdf_text(), humanoid_description.profile()


def walked(engine, seen=lambda: None):
    """Return the commands (220, n) of an engine or core that walks as recorded; `seen` is called after each tick."""
    commands = []
    for tick, row in enumerate(WALK["feedback"].astype(float)):
        if tick == START:
            engine.command_twist(TWIST)
        q, attitude, rates, wrenches = np.split(row, [26, 30, 33])
        commands.append(engine.step(Feedback(q, attitude.tolist(), rates, wrenches.reshape(2, 6))))
        seen()
    return np.array(commands)


def test_a_recorded_walk_in_a_turn_with_a_push_has_the_same_commands():
    # a fixed step time and narrower steps, as when the walk was recorded
    former = WalkParameters(time_limits=(0.0, 0.0), fixed_time=0.08, urgent_aside=0.06)
    found = walked(WalkingEngine(URDF, PROFILE, former))[4::5]
    assert np.abs(found - WALK["commands"]).max() < 1e-9
    assert np.ptp(found, axis=0).max() > 0.3  # it did walk


def test_a_push_moves_the_time_of_a_step_and_a_calm_walk_hardly_does():
    engine, times = WalkingEngine(URDF, PROFILE), []
    walked(engine, lambda: times.append(engine._stepping.step_time))
    p = WalkParameters()
    first = p.step_time + p.first_double_support - p.double_support
    calm = np.array(times[START + 1 : PUSH])
    assert np.minimum(np.abs(calm - first), np.abs(calm - p.step_time)).max() < 0.01
    after = np.array(times[PUSH:])
    assert after.min() < p.step_time - 0.02
    assert np.all((after >= p.step_time - p.time_limits[0]) & (after <= p.step_time + p.time_limits[1]))


@pytest.mark.jit
@pytest.mark.parametrize("heading", ["imu", "feet"])
def test_a_warm_core_compiles_nothing_as_it_walks_and_has_not_moved(heading):
    core = HumanoidCore(URDF, PROFILE, heading=heading)
    core.warm_up()
    assert core.engine.state().mode == "stand" and np.all(core.engine.state().base == 0.0)
    modules = [module for name, module in sys.modules.items() if name.startswith("humanoid_motion.")]
    kernels = {f for module in modules for f in vars(module).values() if hasattr(f, "signatures")}
    assert kernels
    before = {f.py_func.__qualname__: len(f.signatures) for f in kernels}
    walked(core)
    assert core.engine.state().mode == "walk"
    assert {f.py_func.__qualname__: len(f.signatures) for f in kernels} == before
