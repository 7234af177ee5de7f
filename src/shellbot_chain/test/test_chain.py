# SPDX-License-Identifier: MIT
"""The chain in one process: repeatable, with the wire's latency; and planar motion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robot_evaluation.errors import DefinitionError
from robot_evaluation.planar import YawUnwrapper, displacement_in_start_axes
from robot_evaluation.trace import Trace
from shellbot_chain.chain import Chain
from shellbot_chain.errors import ChainError, MissionFailed
from shellbot_common.rotations import yaw_from_quaternion


def short_walk(chain: Chain) -> Trace:
    chain.stand_up()
    chain.walk((0.15, 0.0, 0.1), seconds=1.0)
    return chain.trace()


@pytest.fixture(scope="module")
def reference() -> Trace:
    return short_walk(Chain(seed=3, friction=0.8))


def test_same_seed_gives_identical_numbers(reference):
    again = short_walk(Chain(seed=3, friction=0.8))
    for name in ("t", "p_world_base", "joint_position", "joint_target", "odom", "contact_truth"):
        np.testing.assert_array_equal(getattr(again, name), getattr(reference, name))


def test_reset_gives_the_numbers_of_a_new_chain(reference):
    chain = Chain(seed=7, friction=0.8)
    short_walk(chain)
    chain.reset(seed=3)
    np.testing.assert_array_equal(short_walk(chain).p_world_base, reference.p_world_base)


@pytest.mark.parametrize("change", [{"seed": 4, "friction": 0.8}, {"seed": 3, "friction": 0.6}])
def test_another_seed_or_friction_gives_another_run(reference, change):
    other = short_walk(Chain(**change))
    assert not np.array_equal(other.p_world_base[-1], reference.p_world_base[-1])


def test_command_of_a_tick_acts_one_tick_later():
    chain, sent = Chain(seed=0), []
    for _ in range(120):
        chain.tick()
        sent.append(None if chain.robot.filter.applied is None else chain.robot.filter.applied.copy())
    assert sent[0] is not None and np.abs(sent[60] - sent[59]).max() > 1e-6, "the robot should be standing up"
    applied = chain.trace().joint_target
    for k in range(60, 119):
        np.testing.assert_array_equal(applied[k + 1], sent[k])


def test_robot_keeps_standing_when_the_operator_falls_silent():
    chain = Chain(seed=0)
    chain.stand_up()
    chain.command_twist((0.15, 0.0, 0.0))
    chain.run(3.0)
    mark = chain.state.p_world_base[:2].copy()
    chain.run(1.0)
    assert 0.02 < np.linalg.norm(mark) < 0.2, "walked on until the command was half a second old"
    assert np.linalg.norm(chain.state.p_world_base[:2] - mark) < 1e-3


def test_robot_that_is_stopped_does_not_stand_up_and_it_is_said_why():
    chain = Chain(seed=0)
    chain.run(0.1)
    chain.manager.emergency_stop()
    with pytest.raises(MissionFailed, match="not standing after 2 s: mode stopped.*call the service rearm"):
        chain.stand_up(limit_s=2.0)


def test_unusable_arguments_are_refused():
    with pytest.raises(DefinitionError, match="friction is nan"):
        Chain(friction=math.nan)
    with pytest.raises(DefinitionError, match="gallop"):
        Chain(gait="gallop")
    with pytest.raises(DefinitionError, match="variant.*biped|biped.*variant"):
        Chain(variant="biped")
    with pytest.raises(DefinitionError, match="seed is -1"):
        Chain(seed=-1)
    with pytest.raises(DefinitionError, match="give seconds or until"):
        Chain(seed=0).walk((0.1, 0.0, 0.0))
    with pytest.raises(ChainError, match="does not record"):
        Chain(record=False).trace()


def test_yaw_and_planar_axes():
    angles = np.array([-3.0, -0.4, 0.0, 2.5])
    quaternions = np.stack((0 * angles, 0 * angles, np.sin(angles / 2), np.cos(angles / 2)), axis=1)
    assert yaw_from_quaternion(quaternions) == pytest.approx(angles)
    assert displacement_in_start_axes(np.array([0.0, 1.0]), math.pi / 2) == pytest.approx((1.0, 0.0))
    unwrap = YawUnwrapper()
    assert [unwrap.update(a) for a in (3.0, -3.0, 3.0, -3.1)] == pytest.approx(
        [3.0, 2 * math.pi - 3.0, 3.0, 2 * math.pi - 3.1]
    )
