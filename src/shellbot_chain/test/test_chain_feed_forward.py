# SPDX-License-Identifier: MIT
"""Torques that are fed forward through the servos' stiffness, in the simulator's physics."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from shellbot_chain.chain import Chain


def commanded(chain: Chain) -> np.ndarray:
    """Coxa, femur, tibia (6, 3) of the feet's references, rad."""
    limbs = chain.output.references.limbs
    feet = np.array([limb.position for limb in limbs if limb.frame.endswith("_foot")])
    return chain.manager.geometry.legs.solve(feet[:, None])[:, 0]


def error_deg(chain: Chain) -> float:
    """Greatest error of a leg's joint."""
    return float(np.degrees(np.abs(chain.state.q[:24].reshape(6, 4)[:, 1:] - commanded(chain))).max())


@pytest.fixture(scope="module")
def standing() -> Chain:
    chain = Chain(seed=5, feed_forward=1.0)
    chain.stand_up()
    chain.run(0.5)
    return chain


def test_standing_joints_are_where_they_are_commanded(standing):
    assert error_deg(standing) < 0.1
    chain = Chain(seed=5, feed_forward=0.0)
    chain.stand_up()
    chain.run(0.5)
    assert error_deg(chain) > 0.4
    assert standing.state.p_world_base[2] - chain.state.p_world_base[2] > 3e-4, "m: the body does not sag"


def test_gains_in_force_count_and_switching_it_live_moves_the_robot_smoothly(standing):
    chain = standing
    femur = chain.joint_names.index("lower_1_femur")
    before = chain.robot.applied[femur] - chain.state.q[femur]
    for joint in chain.joint_names:
        chain.simulator.set_gains(joint, 0.5 * chain.simulator.gains(joint).p)
    chain.run(1.0)
    assert error_deg(chain) < 0.1
    assert chain.robot.applied[femur] - chain.state.q[femur] == pytest.approx(2.0 * before, rel=0.05)
    applied = []
    for fraction in (0.0, 1.0):
        chain.manager.feed(chain.manager.config.feed_forward.replace(gravity=fraction))
        chain.run(1.0, lambda c: applied.append(c.robot.applied))
    assert np.abs(np.diff(applied, axis=0)).max() < 0.005, "rad in a tick"
    assert error_deg(chain) < 0.1


def test_walking_joints_follow_and_nothing_jumps():
    errors = []
    for gravity, motion in ((0.0, 1.0), (1.0, 0.5), (1.0, 1.0)):
        chain = Chain(seed=5, feed_forward=gravity, record=False)
        chain.manager.feed(chain.manager.config.feed_forward.replace(gravity=gravity, motion=motion))
        chain.stand_up()
        chain.walk((0.15, 0.0, 0.0), seconds=1.0, settle=False)
        q, goal = [], []
        for _ in range(100):
            chain.command_twist((0.15, 0.0, 0.0))
            chain.tick()
            q.append(chain.state.q[:24].reshape(6, 4)[:, 1:])
            goal.append(commanded(chain))
        measured, old, new = np.array(q[2:]), np.array(goal[1:-1]), np.array(goal[2:])
        # at the delay that fits best, so that a mere delay is no error
        delayed = [old, 0.5 * (old + new), 2.0 * old - new, 1.5 * old - 0.5 * new]
        errors.append(np.degrees(min(np.sqrt(np.mean((measured - reference) ** 2)) for reference in delayed)))
    assert errors[2] < 0.5 * errors[0], f"deg RMS: {errors}"
    assert errors[2] < errors[1] < 0.8 * errors[0], f"deg RMS: {errors}"


def test_it_survives_closing_and_opening():
    chain = Chain(seed=5, feed_forward=1.0, record=False)
    chain.stand_up()
    for mode in ("shell", "hexapod"):
        accepted, reason = chain.request_mode(mode)
        assert accepted, reason
        end = chain.time + 60.0
        while chain.mode != mode or chain.step:
            assert chain.time < end, f"not {mode}: {chain.output.mode.text}"
            chain.tick()
    chain.run(1.0)
    assert error_deg(chain) < 0.3, "what feet that slid against each other leave"


def test_payload_is_weighed_by_the_legs_and_counts_in_what_they_can_hold():
    for extra in (0.5, 2.0, 9.0):
        chain = Chain(seed=6, feed_forward=1.0, record=False)
        model = chain.simulator.model  # of which the action manager knows nothing
        model.body_mass[model.body("base_link").id] += extra
        mujoco.mj_setConst(model, chain.simulator.data)
        chain.reset(seed=6)
        chain.stand_up()
        chain.run(1.0)
        assert chain.manager.payload.latest.mass == pytest.approx(extra, rel=0.05)
        accepted, reason = chain.manager.perform("dance", {})
        assert accepted == (extra < 9.0), reason
    assert "dance, step 1 (sway): with 9.0 kg on top lower_" in reason and "allowed are 80%" in reason
    chain.commands = replace(chain.commands, body_pose=np.array([0.05, 0.0, 0.0, 0.0, 0.0, 0.0]))
    chain.run(0.1)
    assert chain.output.mode.text.startswith("body pose limited to 60 %: with 9.0 kg on top lower_")
