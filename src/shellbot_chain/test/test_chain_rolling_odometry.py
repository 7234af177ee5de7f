# SPDX-License-Identifier: MIT
"""One odom over every change of mode, and a variance that is about as large as the error."""

from __future__ import annotations

import copy
import functools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from shellbot_chain.chain import Chain

STEP = 0.02  # m in a tick: twice the greatest speed
TURN = 0.02  # rad in a tick beyond what the body truly turned: noise of the IMU, and a tick of latency
SEEDS = 8  # a roll is chaotic: of few the mean differs with the rounding of a library


class Watch:
    """Pose of base_link in odom and its greatest steps from tick to tick."""

    def __init__(self, chain):
        self.chain, self.pose = chain, None

    def tick(self):
        chain = self.chain
        truth = Rotation.from_quat(chain.state.quat_world_base)  # of the state that the tick reads
        chain.tick()
        estimate = chain.estimate
        R_odom_base = Rotation.from_euler("z", estimate.yaw) * Rotation.from_quat(estimate.quat_footprint_base)
        p_odom_base = np.array([estimate.x, estimate.y, estimate.height])
        if self.pose is not None and np.isfinite(self.pose[0]).all():
            p, R, before = self.pose
            where = f"at {chain.time:.2f} s, {chain.output.mode}"
            assert np.linalg.norm(p_odom_base - p) < STEP, where
            error = (R.inv() * R_odom_base).as_rotvec() - (before.inv() * truth).as_rotvec()
            assert np.linalg.norm(error) < TURN, where
        self.pose = p_odom_base, R_odom_base, truth

    def go(self, mode):
        assert self.chain.request_mode(mode)[0]
        self.tick()
        end = self.chain.time + 90.0
        while not (self.chain.mode == self.chain.target == mode and not self.chain.step):
            self.tick()
            assert self.chain.time < end, self.chain.output.mode


def test_odom_never_jumps_from_walking_to_rolling_and_back():
    chain = Chain(seed=3, record=False)
    chain.stand_up()
    watch = Watch(chain)
    watch.tick()
    standing = chain.estimate
    watch.go("shell")
    closed = chain.estimate.position_variance
    for _ in range(300):
        chain.command_twist((0.5, 0.2, 0.0))
        watch.tick()
    chain.command_twist((0.0, 0.0, 0.0))
    for _ in range(200):
        watch.tick()
    rolled = chain.estimate
    assert rolled.position_variance > closed + 1e-4
    watch.go("hexapod")
    for _ in range(100):
        chain.command_twist((0.15, 0.0, 0.0))
        watch.tick()
    assert chain.estimate.position_variance > rolled.position_variance
    assert np.hypot(chain.estimate.x - standing.x, chain.estimate.y - standing.y) > 0.5


def test_the_variance_of_rolling_is_as_large_as_the_error():
    chain = Chain(seed=0, friction=0.8, joint_offset_deg=1.0, start_mode="shell", record=False)
    normalised = []
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, 31])
        chain.reset(seed=seed, pose="closed", attitude=Rotation.random(random_state=seed).as_quat())
        chain.run(1.0)
        begun, place = chain.estimate, chain.state.p_world_base[:2].copy()
        turn = chain.output.contacts.heading - begun.yaw  # of odom's axes against the world's
        angle, v = rng.uniform(-np.pi, np.pi), rng.uniform(0.3, 0.8)
        for _ in range(400):
            chain.command_twist((v * np.cos(angle), v * np.sin(angle), 0.0))
            chain.tick()
        chain.command_twist((0.0, 0.0, 0.0))
        chain.run(1.0)
        c, s = np.cos(turn), np.sin(turn)
        own = np.array([[c, -s], [s, c]]) @ np.array([chain.estimate.x - begun.x, chain.estimate.y - begun.y])
        error = own - (chain.state.p_world_base[:2] - place)
        normalised.append(error @ error / (chain.estimate.position_variance - begun.position_variance))
    assert 0.3 < np.mean(normalised) < 4.0, normalised  # 2 for two axes, and 1.2 in the mean of 40 seeds
    assert max(normalised) < 20.0, normalised


def test_a_ball_that_was_stopped_rests_and_odom_sees_how_far_it_creeps():
    seed, bearing, friction = 8000, -2.926221021204457, 0.6508417481696984  # without slack it creeps by 13 mm a second
    chain = Chain(seed=seed, friction=friction, joint_offset_deg=1.0, start_mode="shell", record=False)
    chain.reset(seed=seed, pose="closed", attitude=Rotation.from_rotvec([0.5 * np.pi, 0.0, 0.0]).as_quat())
    chain.run(1.0)
    for _ in range(500):
        chain.command_twist((1.2 * np.cos(bearing), 1.2 * np.sin(bearing), 0.0))
        chain.tick()
    chain.command_twist((0.0, 0.0, 0.0))
    chain.run(3.0)
    begun, place = chain.estimate, chain.state.p_world_base[:2].copy()
    chain.run(5.0)
    crept = np.linalg.norm(chain.state.p_world_base[:2] - place)
    own = np.hypot(chain.estimate.x - begun.x, chain.estimate.y - begun.y)
    assert crept < 0.03
    assert abs(own - crept) < 3.0 * np.sqrt(chain.estimate.position_variance - begun.position_variance)


def test_odom_follows_a_ball_that_rolls_on_after_an_emergency_stop():
    chain = Chain(seed=5, friction=0.8, start_mode="shell", record=False)
    chain.reset(seed=5, pose="closed")
    watch = Watch(chain)
    for _ in range(350):
        chain.command_twist((0.8, 0.0, 0.0))
        watch.tick()
    before, estimate = chain.state.p_world_base[:2], chain.estimate
    chain.manager.emergency_stop()
    for _ in range(200):
        watch.tick()
    rolled = np.linalg.norm(chain.state.p_world_base[:2] - before)
    seen = np.hypot(chain.estimate.x - estimate.x, chain.estimate.y - estimate.y)
    assert rolled > 0.3, "it is not braked"
    assert seen == pytest.approx(rolled, rel=0.1)


@functools.lru_cache(maxsize=None)
def _rolling(speed):
    chain = Chain(seed=4, friction=0.8, joint_offset_deg=1.0, start_mode="shell", record=False)
    chain.reset(pose="closed")
    for _ in range(350):
        chain.command_twist((speed, 0.0, 0.0))
        chain.tick()
    return chain


def blind(chain):
    """The IMU is silent for 3 s."""
    read, kind = chain.imu.read, type(chain.imu.read(chain.time))
    chain.imu.read = lambda t: kind()
    chain.run(3.0)
    chain.imu.read = read


def blind_odometry(chain):
    """The IMU does not reach the odometry for 2 s, but the action manager, which drives on."""
    step, kind = chain.odometry.step, type(chain.imu.read(chain.time))
    chain.odometry.step = lambda t, contacts, imu: step(t, contacts, kind())
    for _ in range(200):
        chain.command_twist((0.6, 0.0, 0.0))
        chain.tick()
    chain.odometry.step = step


def skip(chain, restarts=False):
    """No node ticks for 1 s, and the joints are commanded to where they were."""
    for _ in range(100):
        chain.robot.apply(chain._pending)
        chain.robot.advance()
    chain.state = chain.simulator.state()
    if restarts:
        chain.manager.reset()


def restart(chain):
    skip(chain, restarts=True)


@pytest.mark.parametrize("interrupt", [blind, blind_odometry, skip, restart])
@pytest.mark.parametrize("speed", [0.4, 0.9])
def test_after_a_gap_in_mid_roll_the_error_is_as_the_variance_says(interrupt, speed):
    chain = copy.deepcopy(_rolling(speed))
    begun, place = chain.estimate, chain.state.p_world_base[:2].copy()
    interrupt(chain)
    chain.command_twist((0.0, 0.0, 0.0))
    chain.run(1.0)
    moved = chain.state.p_world_base[:2] - place
    error = np.array([chain.estimate.x - begun.x, chain.estimate.y - begun.y]) - moved
    sigma = np.sqrt(chain.estimate.position_variance)
    assert np.abs(error).max() < 3.0 * sigma
    assert sigma < 0.6 * max(np.hypot(*moved), 1.0 * speed), "and it still says something"
