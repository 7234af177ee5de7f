# SPDX-License-Identifier: MIT
"""The arm in the embedded simulator follows its reference by each law; bad input changes nothing."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from arm_control import ArmMotion, MotionPage
from robot_mechanics import model_path
from robot_mechanics.dynamics import DynamicModel
from robot_mechanics.dynamics.laws import Reference
from shellbot_common import RobotProfile, SettingsError
from shellbot_simulator import Simulator

FOLDER = Path(__file__).resolve().parents[2] / "arm_description"
PROFILE = RobotProfile.load(FOLDER / "config" / "profile.yaml")
URDF = (FOLDER / "urdf" / "arm.urdf").read_text(encoding="utf-8")
LEANING = {"arm_joint_1": 0.4, "arm_joint_2": 0.7, "arm_joint_3": 0.5, "arm_joint_4": 0.3}


def make(**page):
    classes = [PROFILE.classes[PROFILE.joints[name]] for name in PROFILE.joint_names]
    model = DynamicModel.from_urdf(URDF, {n: c.armature for n, c in zip(PROFILE.joint_names, classes)})
    motion = ArmMotion(model, [c.stiffness for c in classes])
    motion.page = MotionPage(**page)
    return motion


def run(motion, seconds, simulator=None):
    """Return the simulator, the measured joints and the references of each tick (commands less what is fed forward)."""
    simulator = simulator or Simulator(URDF, PROFILE)
    places, commands = [], []
    for _ in range(round(seconds / 0.01)):
        state = simulator.state()
        command = motion.step(state.time, state.q, state.dq)
        simulator.command(command)
        simulator.step_tick()
        places.append(state.q)
        commands.append(command)
    return simulator, np.array(places), np.array(commands)


def test_masses_and_joints_are_those_of_the_model_of_the_library():
    ours, theirs = DynamicModel.from_urdf(URDF), DynamicModel.from_urdf(model_path("arm4"))
    assert {k: v.parameters.tolist() for k, v in ours.inertias.items()} == {
        k: v.parameters.tolist() for k, v in theirs.inertias.items()
    }
    for a, b in zip(ours.tree.evaluation_order, theirs.tree.evaluation_order):
        assert (a.name, a.kind, a.lower, a.upper) == (b.name, b.kind, b.lower, b.upper)
        np.testing.assert_array_equal(a.origin, b.origin)
        np.testing.assert_array_equal(a.axis, b.axis)


@pytest.mark.parametrize("feed_forward", [0.0, 1.0])
def test_fed_forward_gravity_does_not_make_the_arm_sag(feed_forward):
    motion = make(amplitude=0.0, feed_forward=feed_forward)
    simulator, _, _ = run(motion, 0.1)
    assert motion.aim(LEANING) == ""
    run(motion, 6.0, simulator)
    error = np.abs(simulator.state().q - list(LEANING.values())).max()
    assert error < 2e-4 if feed_forward else 0.02 < error < 0.2


@pytest.mark.parametrize("followed", [False, True])
def test_the_stiffness_in_force_is_followed(followed):
    soft = {kind: replace(c, stiffness=0.5 * c.stiffness) for kind, c in PROFILE.classes.items()}
    motion, simulator = make(amplitude=0.0), Simulator(URDF, replace(PROFILE, classes=soft))
    if followed:
        for name, kind in PROFILE.joints.items():
            motion.set_stiffness(name, soft[kind].stiffness)
            motion.set_stiffness(name, 0.0)  # limp: no torque can be held, whatever the angle
    run(motion, 0.1, simulator)
    assert motion.aim(LEANING) == ""
    run(motion, 6.0, simulator)
    error = np.abs(simulator.state().q - list(LEANING.values())).max()
    assert error < 2e-4 if followed else 0.02 < error < 0.2


def test_fed_forward_torques_cut_the_error_of_a_moving_arm():
    errors = {}
    for feed_forward in (0.0, 1.0):
        motion = make(amplitude=0.8, period=3.0, feed_forward=feed_forward)
        references = []
        inverse = motion._model.inverse

        def noted(q, v, a, inverse=inverse, references=references):
            references.append(np.array(q))
            return inverse(q, v, a)

        motion._model.inverse = noted
        _, places, _ = run(motion, 9.0)
        # whatever the delay of a tick or two between a command and the joints
        reference = np.array(references)[300:-3]
        lagged = [places[300 + lag : len(places) - 3 + lag] for lag in range(4)]
        errors[feed_forward] = min(np.sqrt(np.mean((place - reference) ** 2)) for place in lagged)
    assert errors[1.0] < 0.25 * errors[0.0], errors


# greatest RMS error of a joint, deg, swinging by 0.6 rad in 3 s
@pytest.mark.parametrize(
    ("page", "low", "high"),
    [
        ({"law": "computed_torque"}, 0.3, 2.0),
        ({"law": "computed_torque", "kp_inside": 50.0, "kd_inside": 14.0}, 2.5, 8.0),
        ({"law": "pd_outside"}, 0.3, 1.6),
        ({"law": "pd_outside", "kd_outside": 0.1}, 9.0, 90.0),  # unstable
        ({"law": "gravity_pd"}, 1.7, 3.0),
        ({"law": "gravity_pd", "kp_outside": 5.0, "kd_outside": 0.3}, 3.0, 8.0),
        ({"law": "open_loop"}, 9.0, 90.0),  # as nothing brings it back
        # torques in place of the servos; two ticks old
        ({"law": "computed_torque", "interface": "effort"}, 0.2, 2.0),
        ({"law": "pd_outside", "interface": "effort"}, 0.2, 1.6),
        ({"law": "pd_outside", "interface": "effort", "kd_outside": 0.0}, 1.7, 90.0),
        ({"law": "gravity_pd", "interface": "effort"}, 1.7, 3.0),
        ({"law": "open_loop", "interface": "effort"}, 9.0, 90.0),
    ],
)
def test_laws_follow_the_measured_state_and_their_gains(page, low, high, monkeypatch):
    references, places, waiting = [], [], []

    class Noted(Reference):
        def __new__(cls, q, v, a):
            references.append(q)
            return super().__new__(cls, q, v, a)

    monkeypatch.setattr("arm_control.motion.Reference", Noted)
    motion, simulator = make(amplitude=0.6, period=3.0, **page), Simulator(URDF, PROFILE)
    for _ in range(800):
        state = simulator.state()
        places.append(state.q)
        waiting.append(motion.step(state.time, state.q, state.dq))
        if len(waiting) > 1:  # a tick later, as on the wire
            give = simulator.command if motion.page.interface == "position" else simulator.command_torque
            give(waiting.pop(0))
        simulator.step_tick()
    error = np.degrees(np.sqrt(np.mean((np.array(places) - references)[300:] ** 2, axis=0)).max())
    assert low < error < high, (page, error)


def test_moves_and_changes_of_the_page_are_without_a_jump():
    motion = make(amplitude=0.5, period=4.0)
    simulator, _, first = run(motion, 2.0)
    motion.page = MotionPage(amplitude=1.2, period=2.0, feed_forward=1.0)
    assert motion.aim({"arm_joint_2": 1.0}) == ""
    _, _, second = run(motion, 1.0, simulator)
    assert motion.aim({"arm_joint_2": -1.0, "arm_joint_4": 0.5}) == ""
    _, _, third = run(motion, 4.0, simulator)
    steps = np.abs(np.diff(np.concatenate([first, second, third]), axis=0))
    assert steps.max() < 0.08


def test_targets_that_cannot_be_are_refused_in_words():
    motion = make(amplitude=0.0)
    assert "the joints are not measured yet" in motion.aim({"arm_joint_2": 0.5})  # which the first tick would forget
    _, _, before = run(motion, 0.5)
    assert "there is no joint 'hand'" in motion.aim({"hand": 0.0})
    assert "target 2.0 rad of arm_joint_2 is not within -1.57 .. 1.57 rad" in motion.aim({"arm_joint_2": 2.0})
    assert "target nan rad" in motion.aim({"arm_joint_2": math.nan})
    np.testing.assert_array_equal(motion.step(0.51, before[-1], np.zeros(4)), before[-1])
    with pytest.raises(SettingsError, match="amplitude"):
        MotionPage(amplitude=3.0)
    with pytest.raises(SettingsError, match="law .*servo, open_loop, pd_outside, computed_torque, gravity_pd"):
        MotionPage(law="lqr")
    with pytest.raises(
        SettingsError, match="law servo needs the servos, interface position; for effort choose open_loop"
    ):
        MotionPage(interface="effort")
    with pytest.raises(SettingsError, match="stiffness is"):
        ArmMotion(DynamicModel.from_urdf(URDF), [1.0, 0.0, 1.0, 1.0])


def test_a_reset_of_the_time_starts_from_where_the_arm_is():
    motion = make(amplitude=1.0, feed_forward=0.0)
    run(motion, 3.0)
    here = [0.1, -0.2, 0.3, 0.05]
    np.testing.assert_allclose(motion.step(0.0, here, np.zeros(4)), here, atol=1e-12)


@pytest.mark.parametrize("law", ["servo", "computed_torque"])
@pytest.mark.parametrize("when", ["at the start", "while stopped"])
def test_joints_that_are_not_finite_for_a_tick_change_nothing(when, law):
    disturbed, calm = make(law=law), make(law=law)
    here, still = np.array([0.1, -0.2, 0.3, 0.05]), np.zeros(4)
    for tick in range(8):
        disturbed.stopped = calm.stopped = when == "while stopped" and tick == 4
        if disturbed.stopped or (tick == 0 and when == "at the start"):
            for measured in ((here * math.nan, still), (here, still + math.inf)):
                with pytest.raises(SettingsError, match="expected finite ones"):
                    disturbed.step(0.01 * tick, *measured)
        found = disturbed.step(0.01 * tick, here, still)
        np.testing.assert_array_equal(found, calm.step(0.01 * tick, here, still))


@pytest.mark.parametrize("interface", ["position", "effort"])
def test_after_an_emergency_stop_it_goes_slowly_from_where_it_was_held(interface):
    motion = make(amplitude=0.0, law="computed_torque", interface=interface)
    held, still = np.array([-0.4, -0.3, 0.1, -0.8]), np.zeros(4)
    motion.step(0.0, np.zeros(4), still)
    motion.stopped = True
    for tick in range(1, 300):
        motion.step(0.01 * tick, held, still)
        if tick == 100:
            assert motion.aim(LEANING) == ""
    holds = motion.step(3.0, held, still)
    motion.stopped = False
    simulator = Simulator(URDF, PROFILE)
    simulator.reset(held)
    places, waiting = [], [holds]
    for tick in range(1, 600):
        state = simulator.state()
        waiting.append(motion.step(3.0 + 0.01 * tick, state.q, state.dq))
        np.testing.assert_allclose(waiting[-1], holds, atol=0.2 if tick < 3 else 9.0)
        give = simulator.command if interface == "position" else simulator.command_torque
        give(waiting.pop(0))  # a tick later, as on the wire
        simulator.step_tick()
        places.append(state.q)
    assert np.abs(np.diff(places, axis=0)).max() < 0.03, "a third of the joints' speed"
    np.testing.assert_allclose(places[-1], list(LEANING.values()), atol=0.02)


@pytest.mark.parametrize("interface", ["position", "effort"])
@pytest.mark.parametrize(
    ("law", "kp", "kd", "grows"),  # whether errors do: by position, by effort
    [
        ("pd_outside", 10.0, 0.3, (False, False)),
        ("pd_outside", 10.0, 0.7, (False, True)),  # without the latency, ticks of 12.8 ms were stable
        ("pd_outside", 10.0, 1.0, (True, True)),
        ("pd_outside", 10.0, 0.0, (True, True)),  # takes the servos' own damping away
        ("pd_outside", 20.0, 0.5, (False, False)),
        ("pd_outside", 20.0, 0.2, (True, True)),
        ("gravity_pd", 10.0, 0.4, (False, False)),
        ("gravity_pd", 10.0, 0.6, (False, True)),
        ("gravity_pd", 1.0, 0.0, (False, False)),
        ("computed_torque", 400.0, 10.0, (False, False)),
        ("computed_torque", 400.0, 3.0, (True, True)),
    ],
)
def test_gains_under_which_errors_grow_are_named_and_do_in_the_simulator(law, kp, kd, grows, interface):
    where = "inside" if law == "computed_torque" else "outside"
    motion = make(law=law, interface=interface, amplitude=0.0, **{f"kp_{where}": kp, f"kd_{where}": kd})
    simulator, waiting, speeds = Simulator(URDF, PROFILE), [], []
    simulator.reset(list(LEANING.values()))
    for _ in range(500):
        state = simulator.state()
        waiting.append(motion.step(state.time, state.q, state.dq))
        if len(waiting) > 1:  # a tick later, as on the wire
            (simulator.command if interface == "position" else simulator.command_torque)(waiting.pop(0))
        simulator.step_tick()
        speeds.append(np.abs(state.dq).max())
    expected = grows[interface == "effort"]
    assert (max(speeds[-60:]) > 0.5) == expected, "rad/s, after the first error of not 0.2"
    motion.step(5.0, list(LEANING.values()), np.zeros(4))
    assert (f"law {law} with kp_{where} {kp:g} and kd_{where} {kd:g} lets errors grow" in motion.warning()) == expected


def test_a_warning_names_the_greatest_tick_and_gains_that_do():
    def warning(**page):
        motion = make(interface="effort", **page)
        motion.step(0.0, list(LEANING.values()), np.zeros(4))
        return motion.warning()

    assert warning(law="pd_outside", kd_outside=1.0) == (
        "law pd_outside with kp_outside 10 and kd_outside 1 lets errors grow in this pose: the tick is 10 ms, "
        "stable are 5.9 ms at most; choose kd_outside from 0.15 to 0.65"
    )
    assert "no tick is short enough; choose kd_outside from 0.15" in warning(law="pd_outside", kd_outside=0.0)
    assert warning(law="pd_outside", kp_outside=0.0, kd_outside=0.0) == warning(law="open_loop") == ""
