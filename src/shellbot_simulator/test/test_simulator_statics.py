# SPDX-License-Identifier: MIT
"""The robot at rest: overlaps and holding torques against what the physics itself finds."""

from __future__ import annotations

import numpy as np
import pytest

import shellbot_description as description
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.core.static_model import StaticModel

SIMULATOR = Simulator(description.expand("simulation"), description.robot_profile("simulation"))
STATICS = StaticModel(description.expand("simulation"), description.robot_profile("simulation"))
STAND = description.named_pose_array("stand", "simulation")


def settled(q):
    """Return the state of the simulated robot that was led from standing to q within a second, and held for two."""
    SIMULATOR.reset(STAND)
    for fraction in np.linspace(0.0, 3.0, 300):
        SIMULATOR.command(STAND + min(fraction, 1.0) * (q - STAND))
        SIMULATOR.step_tick()
    return SIMULATOR.state()


def test_standing_nothing_overlaps_and_shut_shells_do_by_as_much_as_they_are_turned():
    assert STATICS.near(STAND) == {}
    turned = STAND.copy()
    turned[24 + 1 :: 2] += 0.1  # shells inwards: neighbours meet
    found = STATICS.near(turned)
    pair = ("upper_1_gore_link", "upper_2_gore_link")
    assert -0.02 < found[pair] < 0.0
    further = turned.copy()
    further[24 + 1 :: 2] += 0.02
    assert STATICS.near(further)[pair] < found[pair]


def test_pairs_are_seen_as_far_as_is_asked_and_excluded_ones_never():
    near = StaticModel(description.expand("simulation"), description.robot_profile("simulation"), seen=0.03).near(STAND)
    slits = [distance for distance in near.values() if distance < 0.002]
    assert slits == pytest.approx([0.00126] * 6, abs=2e-5)  # as the upper gores are made
    assert len(near) > 6 and all(0.0 < distance < 0.03 for distance in near.values())
    assert not any("world" in pair or len({name[:7] for name in pair}) == 1 for pair in near)


@pytest.mark.parametrize("lifted", [None, 0, 2])
def test_holding_torques_are_those_of_the_simulated_robot(lifted):
    """All feet standing, and one in the air: apart from feet that push against each other by friction."""
    q, stands = STAND.copy(), np.ones(6, dtype=bool)
    if lifted is not None:
        q[4 * lifted + 2] -= 0.3  # femur up
        stands[lifted] = False
    state = settled(q)
    torque = STATICS.holding_torque(state.q, np.zeros(3), stands)
    assert np.abs(torque).max() > 0.15
    assert torque == pytest.approx(state.effort, abs=0.07)
    if lifted is not None:  # no friction there: the leg's own weight
        leg = slice(4 * lifted + 1, 4 * lifted + 4)
        assert torque[leg] == pytest.approx(state.effort[leg], abs=0.004)


def test_a_payload_counts_as_a_heavier_trunk_does():
    """Off the centre and on a slope: a URDF with the mass fixed to the base."""
    trunk = '<link name="load"><inertial><origin xyz="0.05 -0.03 0.09"/><mass value="2.0"/>'
    trunk += '<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    trunk += '<joint name="load" type="fixed"><parent link="base_link"/><child link="load"/></joint></robot>'
    loaded = StaticModel(
        description.expand("simulation").replace("</robot>", trunk), description.robot_profile("simulation")
    )
    rpy, stands = np.array([0.1, -0.2, 0.3]), np.array([True, True, False, True, True, True])
    expected = loaded.holding_torque(STAND, rpy, stands)
    assert STATICS.holding_torque(STAND, rpy, stands, 2.0, np.array([0.05, -0.03, 0.09])) == pytest.approx(expected)
    assert np.abs(expected - STATICS.holding_torque(STAND, rpy, stands)).max() > 0.1, "N m"


def test_gravity_turns_with_the_base_and_coupled_fans_share_their_load():
    upright = STATICS.holding_torque(STAND, np.zeros(3), np.ones(6, dtype=bool))
    assert upright[0:24:4] == pytest.approx(0.0, abs=1e-9)  # vertical axes carry nothing
    lifted = STAND.copy()
    lifted[1] += 0.4  # leg 1 turned to one side, in the air on a slope: its weight turns the fan, which all six hold
    one = STATICS.holding_torque(lifted, np.array([0.3, 0.0, 0.0]), np.array([False, True, True, True, True, True]))
    assert one[0:24:4] == pytest.approx(np.full(6, one[0])) and abs(one[0]) > 1e-4
