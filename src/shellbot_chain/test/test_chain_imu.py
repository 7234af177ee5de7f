# SPDX-License-Identifier: MIT
"""The chain with an IMU as real ones are: no orientation, biases, late readings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_evaluation.errors import DefinitionError
from shellbot_chain.chain import Chain


def attitude_error(chain):
    """Return by how much the estimated "up" is off, and the heading against the true one, deg."""
    found = Rotation.from_quat(chain.imu.read(chain.imu._time).orientation)
    true = Rotation.from_quat(chain.state.quat_world_base)
    up, down = found.inv().apply([0.0, 0.0, 1.0]), true.inv().apply([0.0, 0.0, 1.0])
    heading = np.degrees((found * true.inv()).as_rotvec()[2])
    return np.degrees(np.arccos(min(up @ down, 1.0))), heading


@pytest.mark.parametrize("rest", [3.0, 0.0])
def test_walks_as_straight_as_the_bias_of_the_gyroscope_allows(rest):
    chain = Chain(seed=7, raw_imu=True, gyro_bias_std_deg=0.5)
    bias = np.degrees(chain.simulator._imu._gyroscope_bias)
    assert abs(bias[2]) > 0.3, "about the vertical"
    chain.stand_up()
    chain.run(rest)
    tilt, before = attitude_error(chain)
    start, heading = chain.state.p_world_base, Rotation.from_quat(chain.state.quat_world_base)
    chain.walk((0.15, 0.0, 0.0), seconds=5.0)
    forward, left, _ = heading.inv().apply(chain.state.p_world_base - start)
    assert forward == pytest.approx(0.74, abs=0.04)
    drift = attitude_error(chain)[1] - before
    if rest:
        assert tilt < 0.2
        assert abs(drift) < 0.3, "the bias was learned at rest"
        assert abs(left) < 0.02
        assert chain.odom[0] == pytest.approx(forward, abs=0.05)
    else:
        assert 0.3 < abs(drift / (6.5 * bias[2])) < 1.1


def test_closes_and_opens_by_a_gyroscope_and_an_accelerometer():
    chain = Chain(seed=1, raw_imu=True, gyro_bias_std_deg=0.5, accelerometer_bias_std=0.1, imu_latency=1, record=False)
    chain.stand_up()
    for mode in ("shell", "hexapod"):
        accepted, text = chain.request_mode(mode)
        assert accepted, text
        start = chain.time
        while not (chain.mode == chain.target == mode and not chain.step):
            chain.tick()
            assert attitude_error(chain)[0] < 3.0
            assert chain.time - start < 12.0, f"not in mode {mode}: {chain.output.mode}"
        chain.run(1.0)
        assert chain.mode == mode
    assert chain.state.p_world_base[2] == pytest.approx(0.1623, abs=0.003)


def test_the_imu_is_as_the_configuration_says():
    plain = Chain(seed=2, record=False)
    raw = Chain(seed=2, record=False, raw_imu=True, gyro_bias_std_deg=1.0, accelerometer_bias_std=0.2, imu_latency=3)
    assert plain.state.imu.orientation is not None and raw.state.imu.orientation is None
    assert plain.simulator.config.imu_latency == 0 and raw.simulator.config.imu_latency == 3
    off = raw.state.imu.angular_velocity - plain.state.imu.angular_velocity
    assert 0.0 < np.degrees(np.abs(off)).max() < 4.0
    assert np.abs(raw.state.imu.specific_force - plain.state.imu.specific_force).max() < 0.8
    assert plain.imu._latency == 0.0 and Chain(attitude_latency=0.02, record=False).imu._latency == 0.02
    with pytest.raises(DefinitionError, match="imu_latency is 99; give a whole number from 0 to 20 ticks"):
        Chain(imu_latency=99)
