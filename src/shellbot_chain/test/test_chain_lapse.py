# SPDX-License-Identifier: MIT
"""An operator who is killed sends no zero: the robot notices by the rhythm of cmd_vel, and is at rest soon."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shellbot_chain.chain import Chain

OPERATOR = 5  # ticks between two commands: 20 Hz
AT_REST = 0.5  # s after the last command


@pytest.fixture(scope="module")
def chain():
    chain = Chain(seed=4)
    chain.stand_up()
    return chain


@pytest.mark.parametrize("twist", [(0.2, 0.0, 0.0), (0.4, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 1.0), (0.2, 0.0, 0.5)])
def test_the_robot_is_at_rest_half_a_second_after_the_last_command(chain, twist):
    for ticks in (201, 214, 227):  # phases of the gait, and of the sender's period
        for tick in range(ticks):
            if tick % OPERATOR == 0:
                chain.command_twist(twist)
                last = chain.time
            chain.tick()
        speed = np.linalg.norm(chain.manager.twist)
        assert speed > 0.9 * np.linalg.norm(twist), "it walks until then"
        while chain.time < last + AT_REST - 1e-6:
            chain.tick()
        assert not chain.manager.twist.any()
        place, heading = chain.state.p_world_base[:2], chain.odom[2]
        for _ in range(100):
            chain.tick()
        assert np.linalg.norm(chain.state.p_world_base[:2] - place) < 0.006
        assert abs(math.remainder(chain.odom[2] - heading, 2.0 * math.pi)) < 0.04
        assert chain.mode == "hexapod"


def test_a_slow_planner_is_not_taken_for_dead(chain):
    for tick in range(300):
        if tick % 20 == 0:
            chain.command_twist((0.2, 0.0, 0.0))
        chain.tick()
        assert tick < 100 or chain.manager.twist[0] == pytest.approx(0.2)
    for _ in range(150):
        chain.tick()
    assert not chain.manager.twist.any()
