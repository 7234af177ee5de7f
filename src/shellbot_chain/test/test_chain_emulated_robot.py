# SPDX-License-Identifier: MIT
"""The simulator's bodies driven by emulated servos: everything passes the byte protocol, in virtual time."""

from __future__ import annotations

import numpy as np
import pytest

from ax_bus import Bus, SyncWriter, Timeouts
from ax_bus.registers import RAD_PER_STEP
from ax_emulator import Fault, VirtualPort
from robot_evaluation.errors import DefinitionError
from shellbot_chain.emulated_robot import EmulatedRobot
from shellbot_description import named_pose_array


class Rig:
    """An emulated robot and a bus to it."""

    def __init__(self, **options):
        self.robot = EmulatedRobot(**options)
        self.port = VirtualPort(self.robot.chain)
        self.bus = Bus(self.port, Timeouts(link_latency=1e-4))
        self.ids = self.robot.servo_map.servo_ids
        self.writer = SyncWriter(self.bus, 30, self.ids, words=2)

    def torque_on(self):
        for servo_id in self.ids:
            self.bus.write(servo_id, 24, b"\x01")

    def go(self, q, seconds):
        goals = self.robot.servo_map.goals(self.robot.servo_map.reduce(q))
        for _ in range(round(seconds / 0.01)):
            end = self.port.now() + 0.01
            self.writer(np.stack([goals, np.zeros_like(goals)], axis=1))
            self.port.sleep(end - self.port.now())


def test_it_stands_up_through_bytes():
    rig = Rig(seed=None, charge=0.4)
    rig.torque_on()
    start, stand = rig.robot.state().q, named_pose_array("stand", "walker")
    for a in np.linspace(0.0, 1.0, 100):
        rig.go(start + a * (stand - start), 0.01)
    rig.go(stand, 0.5)
    state = rig.robot.state()
    assert np.degrees(np.abs(state.q - stand)).max() < 2.0  # quantised goals, dead band, weight
    assert state.contacts.foot_contact.all() and not state.contacts.other_links
    assert state.p_world_base[2] > 0.15
    position = [int.from_bytes(rig.bus.read(i, 36, 2).data, "little") for i in rig.ids]
    measured = rig.robot.servo_map.to_joints(position)
    assert np.degrees(np.abs(measured - rig.robot.state().q)).max() < 0.3
    assert rig.robot.battery.voltage < rig.robot.battery.open_voltage  # it sags
    volts = rig.bus.read(1, 42, 1).data[0] / 10.0
    assert volts == pytest.approx(rig.robot.battery.voltage, abs=0.06)
    assert rig.robot.chain.time - rig.robot.simulator.time < 0.002 + 1e-9


def test_without_torque_it_lies_down():
    rig = Rig(seed=None, pose="stand")
    rig.port.sleep(1.5)
    assert rig.robot.state().p_world_base[2] < 0.14


def test_one_servo_turns_all_fans_through_its_gear():
    rig = Rig(seed=None)
    rig.torque_on()
    q = rig.robot.state().q.copy()
    fans = [i for i, name in enumerate(rig.robot.joint_names) if name.endswith("_fan")]
    # feet off the ground would be better, but a little way is possible with them on it
    q[fans] = -0.15
    rig.go(q, 1.0)
    turned = rig.robot.state().q[fans]
    assert np.ptp(turned) < 0.01
    assert turned.mean() == pytest.approx(-0.15, abs=0.05)
    steps = int.from_bytes(rig.bus.read(0, 36, 2).data, "little")
    entry = rig.robot.servo_map.entries[0]
    assert (steps - entry.zero) * np.radians(300) / 1023 == pytest.approx(2.0 * turned.mean(), abs=0.01)


def test_a_servo_that_reboots_gives_way():
    rig = Rig(seed=None)
    rig.torque_on()
    rig.go(rig.robot.state().q, 0.3)
    rig.robot.add_faults([Fault("reboot", servo=2)])
    rig.go(rig.robot.state().q, 0.3)
    assert not rig.robot.bank.is_on[2] and rig.robot.bank.output[2] == 0.0
    assert rig.robot.bank.is_on.sum() == len(rig.ids) - 1


def test_full_has_31_servos_for_36_joints():
    rig = Rig(seed=None, variant="full")
    rig.torque_on()
    rig.go(rig.robot.state().q, 0.2)
    assert len(rig.ids) == 31 and rig.robot.state().q.shape == (36,)
    assert rig.robot.chain.oversize_packets == 0
    assert rig.robot.bank.is_on.all()


def test_the_same_seed_gives_the_same_run():
    def run(seed):
        rig = Rig(seed=seed)
        rig.torque_on()
        rig.go(rig.robot.state().q, 0.3)
        return rig.robot.state().q

    np.testing.assert_array_equal(run(3), run(3))
    assert np.abs(run(3) - run(4)).max() > 1e-4


def test_servos_show_where_the_bodies_are_after_the_step():
    rig = Rig(seed=None)
    rig.torque_on()
    rig.go(rig.robot.state().q + 0.2, 0.1)
    robot = rig.robot
    q, dq = robot.simulator.joint_position, robot.simulator.joint_velocity
    one_joint = [i for i, entry in enumerate(robot.servo_map.entries) if "fan" not in entry.joint]
    joints = robot.servo_map.joint_of_servo[one_joint]
    assert np.abs(dq[joints]).min() > 0.05, "all move: a step of physics before they were elsewhere"
    assert robot.servo_map.angles(robot.bank.position / RAD_PER_STEP)[one_joint] == pytest.approx(q[joints], abs=1e-9)


def test_a_slow_machine_skips_time_instead_of_racing():
    robot = EmulatedRobot(seed=None)
    robot.chain.is_paced = True
    robot.chain.advance(0.02)
    assert robot.lost_time == 0.0
    robot.chain.advance(1.0)
    assert robot.lost_time == pytest.approx(0.778)
    assert robot.simulator.time == pytest.approx(0.222, abs=0.003)


@pytest.mark.parametrize(
    "change, word",
    [({"variant": "simulation"}, "choose from walker, full"), ({"friction": -1.0}, "a number of at least 0.001"),
     ({"charge": 2.0}, "0 to 1"), ({"seed": -1}, "None for no noise")],
)  # fmt: skip
def test_bad_settings_are_named(change, word):
    with pytest.raises(DefinitionError, match=word):
        EmulatedRobot(**change)
