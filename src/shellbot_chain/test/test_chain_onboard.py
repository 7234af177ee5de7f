# SPDX-License-Identifier: MIT
"""The chain through driver, bytes, servos and rigid bodies."""

from __future__ import annotations

import numpy as np

from ax_emulator import Fault
from shellbot_chain.onboard_chain import OnboardChain
from shellbot_motor_driver.driving.driver_state import Phase


def test_31_servos_stand_up():
    chain = OnboardChain(variant="simulation", seed=0)
    chain.stand_up()
    assert len(chain.robot.driver.state().servos) == 31 and chain.state.contacts.foot_contact.sum() == 6
    assert chain.robot.driver.state().ladder.phase is Phase.FOLLOWING
    assert np.degrees(np.abs(chain.robot.driver.state().position - chain.state.q)).max() < 2.0
    assert chain.robot.emulated.chain.oversize_packets == 0


def test_the_cores_see_what_the_bus_has_read():
    chain = OnboardChain(seed=2, record=False)
    chain.stand_up()
    steps = (chain.robot.measured(chain.state)[1:4] / np.radians(300.0 / 1023.0)) % 1.0
    assert np.allclose(steps, 0.5)  # whole steps from a zero of 511.5: nothing finer passes the bus
    chain.robot.add_faults([Fault("dead", servo=2)])
    before = chain.robot.measured(chain.state)[2]
    chain.command_body_pose((0.0, 0.0, 0.02, 0.0, 0.0, 0.0))
    chain.run(0.4)
    assert chain.robot.measured(chain.state)[2] == before  # the measurement comes over the bus only
    assert abs(chain.state.q[2] - before) > 0.003


def test_the_same_seed_gives_the_same_run_and_reset_starts_anew():
    chain = OnboardChain(seed=3)
    chain.run(1.0)
    first = chain.state.q
    chain.reset()
    assert chain.robot.driver.state().ladder.phase is Phase.WAITING and chain.mode == "waiting"
    chain.run(1.0)
    np.testing.assert_array_equal(chain.state.q, first)
