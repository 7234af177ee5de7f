# SPDX-License-Identifier: MIT
"""Closing to a ball and opening against perfect joints: steps, turning round, backing out, refusals, restarts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import yaml
from action_echo import LEVEL, EchoRobot, yaw_quaternion

from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.body.levelling import Levelling, opened
from shellbot_action_manager.body.rolling import load_rolling
from shellbot_action_manager.body.transform_path import TransformPath, load_transform
from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.errors import ConfigError
from shellbot_action_manager.interface import Feedback
from shellbot_action_manager.modes.mode_table import Mode
from shellbot_common import TICK, package_file
from shellbot_description import named_pose_array
from shellbot_kinematics import pack_references

SMOOTH = 0.08  # rad per tick
CLOSED, STAND = named_pose_array("closed", "simulation"), named_pose_array("stand", "simulation")
CONFIG = load_transform()
PATH = TransformPath(CONFIG, load_geometry())


def robot(pose="stand", variant="simulation", **config):
    r = EchoRobot(ActionManagerCore.from_description(variant, **config), pose, variant)
    r.run(0.1)
    return r


def request(r, mode):
    accepted, text = r.core.request_mode(mode)
    assert accepted, text


def tilted(degrees):
    return np.array([np.sin(np.radians(degrees) / 2.0), 0.0, 0.0, np.cos(np.radians(degrees) / 2.0)])


def until_text(r, words, seconds=15.0):
    for _ in range(int(seconds / 0.01)):
        if words in r.tick().mode.text:
            return
    raise AssertionError(f"never said {words}: {r.output.mode}")


@pytest.fixture(scope="module")
def path_config():
    return yaml.safe_load(package_file("shellbot_action_manager", "config/transform.yaml").read_text())


def test_closes_and_opens_in_the_steps_of_the_table():
    r = robot()
    for goal, pose, way in (("shell", CLOSED, "closing"), ("hexapod", STAND, "opening")):
        start = r.t
        request(r, goal)
        texts, progress = [], []
        while r.tick().mode.step:
            progress.append(r.output.mode.progress)
            if r.output.mode.text.startswith(way) and r.output.mode.text not in texts:
                texts.append(r.output.mode.text)
        said = [getattr(step, way) for step in (CONFIG.steps if way == "closing" else CONFIG.steps[::-1])]
        assert [text.split(": ")[1] for text in texts] == said
        assert (np.diff(progress) >= 0.0).all()
        assert progress[len(progress) // 2] == pytest.approx(0.5, abs=0.1), "steps count by their duration"
        assert r.output.mode.name == goal
        assert r.q == pytest.approx(pose, abs=2e-3)
        assert r.t - start < 12.0
        r.run(0.5)
        assert r.output.contacts.model == ("rolling" if goal == "shell" else "feet")
    assert r.largest_step() < SMOOTH
    assert r.output.contacts.in_contact.all()
    r.run(1.0, twist=[0.1, 0.0, 0.0])
    assert r.output.mode.step == "walking"


def test_turned_round_at_any_step_it_goes_back_the_way_it_came():
    r = robot()
    for step in CONFIG.steps[::3]:
        request(r, "shell")
        until_text(r, step.closing)
        r.run(0.1)
        request(r, "hexapod")
        assert r.core.request_mode("hexapod")[1].endswith("or on the way there")
        r.until("hexapod", 15.0)
        assert r.q == pytest.approx(STAND, abs=2e-3)
    assert not any(row[2].mode.name == "shell" for row in r.history)
    assert r.largest_step() < SMOOTH
    r = robot("closed")
    for step in CONFIG.steps[::-3]:
        request(r, "stand")
        until_text(r, step.opening)
        r.run(0.05)
        request(r, "shell")
        r.until("shell", 15.0)
        assert r.q == pytest.approx(CLOSED, abs=2e-3)
    assert not any(row[2].mode.name == "stand" for row in r.history)
    assert r.largest_step() < SMOOTH


@pytest.mark.parametrize("later", ["shell", "stand", "hexapod", "sit"])
def test_a_ball_that_lies_tilted_takes_requests_while_it_opens(later):
    r = robot("closed")
    r.orientation = tilted(46)
    r.run(0.1)
    request(r, "sit")
    r.run(0.1)
    assert r.output.mode.step == "open_ball"
    request(r, later)


def test_what_was_not_begun_is_left_out():
    r = EchoRobot(ActionManagerCore.from_description(start_mode="sit"), "spawn")
    r.run(0.1)
    request(r, "shell")
    r.run(0.5)
    assert r.output.mode.step == "stand_up"
    request(r, "stand")
    r.until("stand")
    assert not any(row[2].mode.step in ("close_ball", "open_ball") for row in r.history)


def test_a_walking_robot_stops_before_it_closes_and_sits_down_from_the_ball():
    r = robot()
    r.run(1.0, twist=[0.15, 0.0, 0.2])
    request(r, "shell")
    r.run(0.02)
    assert r.output.mode.step == "stop_walking"
    r.until("shell", 20.0)
    request(r, "sit")
    r.until("sit", 20.0)
    assert r.q == pytest.approx(named_pose_array("sit", "simulation"), abs=2e-3)


def test_refusals_and_requests_made_twice():
    r = robot()
    request(r, "shell")
    assert r.core.request_mode("shell") == (True, "already in mode shell, or on the way there")
    assert r.core.request_mode("relax")[0] is False
    r.until("shell", 15.0)
    assert r.core.request_mode("relax") == (False, "the ball would fall open; request sit first, then relax")
    assert r.core.request_mode("halfway")[1].startswith("there is no request 'halfway'")
    r.orientation = None
    r.tick()
    for goal in ("hexapod", "stand", "sit"):
        accepted, text = r.core.request_mode(goal)
        assert not accepted
        assert text.startswith("no attitude from the IMU: how the ball lies is not known")
    assert robot(variant="walker").core.request_mode("shell") == (
        False,
        "this robot has no upper shells and cannot close; the modes are hexapod, stand, sit, relax",
    )


def test_ground_that_a_ball_would_roll_off_is_refused():
    r = robot()
    for degrees in (9.0, -8.0):
        r.orientation = tilted(degrees)
        r.tick()
        text = f"the ground slopes by {abs(degrees)} deg, more than 7.4: a ball rolls off there; walk"
        assert r.core.request_mode("shell")[1].startswith(text)
    r.orientation = tilted(-7.0)
    r.tick()
    assert r.core.request_mode("shell")[0]
    leaning = robot()
    leaning.run(2.0, body_pose=np.array([0.0, 0.0, 0.0, np.radians(9.0), 0.0, 0.0]))
    leaning.orientation = tilted(9.0)  # the body's own lean is no slope
    leaning.tick()
    assert leaning.core.request_mode("shell")[0]


@pytest.mark.parametrize("goal", ["shell", "hexapod", "stand"])
def test_cmd_vel_during_the_transformation_is_ignored_and_said_once(goal):
    pose = "stand" if goal == "shell" else "closed"
    r = robot(pose)
    request(r, goal)
    r.run(1.0)
    before = len(r.history)
    r.run(1.0)
    alone = np.array([row[1] for row in r.history[before:]])
    other = robot(pose)
    request(other, goal)
    other.run(1.0)
    said = []
    for _ in range(100):
        said.append(other.tick(twist=[0.2, 0.0, 0.0]).notice)
    assert np.array([row[1] for row in other.history[before:]]) == pytest.approx(alone)
    assert sum("cmd_vel does not count" in text for text in said) == 1


class Blocked(EchoRobot):
    """One joint does not move while `blocked`."""

    blocked = -1

    def apply(self, output):
        held = self.q.copy()
        super().apply(output)
        self.commanded = self.q.copy()
        if self.blocked >= 0:
            self.q[self.blocked] = held[self.blocked]


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_joint_that_is_held_up_as_the_ball_rolls_is_commanded_little_farther_than_it_is_and_named(way):
    r, twist = Blocked(ActionManagerCore.from_description(start_mode="shell"), "closed"), np.array([0.14, 0.0, 0.0])
    r.run(1.0, twist=twist)  # too slow for kicks
    joint = int(np.argmax(np.abs(r.q - CLOSED)))
    if way > 0.0:  # shut, with gores that are to open; else open, with gores that are to shut
        r.run(1.0, twist=np.zeros(3))
    r.blocked, leads = joint, []
    while "does not follow" not in r.tick(twist=way * twist).mode.text:
        leads.append(abs(r.commanded[joint] - r.q[joint]))
        assert len(leads) < 700
    config = load_rolling().yielding
    assert max(leads[: round(config.after / TICK)]) > 0.4
    relieved = leads[round((config.after + 0.35) / TICK) : round((config.after + config.relief - 0.05) / TICK)]
    assert max(relieved) == pytest.approx(config.lead, abs=1e-3)
    assert r.core.geometry.joint_names[joint] in r.output.mode.text


def test_a_tibia_whose_femur_is_far_behind_as_the_ball_opens_is_held_back_without_a_jump():
    r = Blocked(ActionManagerCore.from_description(), "closed")
    r.run(0.1)
    names = r.core.geometry.joint_names
    r.blocked, tibia = names.index("lower_3_femur"), names.index("lower_3_tibia")
    r.q[r.blocked] += 0.6
    request(r, "stand")
    held = [r.q[tibia]]
    for _ in range(20):
        r.tick()
        held.append(r.q[tibia])
    assert np.abs(np.diff(held)).max() < 0.15, "more than 0.35 in a tick is refused by the motor driver"
    assert held[-1] < held[0] - 0.25, "by half of what the femur lags"


@pytest.mark.parametrize(("words", "way"), [("outwards, 4 of 4", "stand"), ("legs 1, 3, 5 step inwards", "shell")])
def test_a_blocked_joint_is_named_and_the_robot_backs_out_and_can_be_resumed(words, way):
    r = Blocked(ActionManagerCore.from_description(), "stand" if way == "shell" else "closed")
    r.run(0.1)
    joint = "lower_3_tibia" if way == "shell" else "lower_3_coxa"
    request(r, way)
    until_text(r, words)
    begun = r.q.copy()
    r.blocked = r.core.geometry.joint_names.index(joint)
    until_text(r, "behind")
    assert f"{joint} is " in r.output.mode.text
    assert r.output.mode.mode == Mode.HALFWAY
    r.run(2.0)
    assert r.output.mode.step == ""
    assert np.abs(r.q - begun).max() < 0.05  # back where the step began
    still = r.q.copy()
    r.run(1.0)
    assert (r.q == still).all()
    assert r.core.request_mode("relax")[0] is False
    r.blocked = -1
    request(r, way)
    r.until(way, 15.0)
    assert r.q == pytest.approx(CLOSED if way == "shell" else STAND, abs=2e-3)


@pytest.mark.parametrize(("words", "way"), [("outwards, 4 of 4", "stand"), ("legs 1, 3, 5 step inwards", "shell")])
def test_a_leg_that_is_lost_on_the_way_is_named_and_the_robot_backs_out_and_goes_on(words, way):
    r = robot("stand" if way == "shell" else "closed")
    request(r, way)
    until_text(r, words)
    r.tick(lost_legs=(3,))
    r.run(0.3, lost_legs=(3,))
    assert r.output.mode.text.startswith("lower_3 is lost while ") and "mend it" in r.output.mode.text
    r.run(3.0, lost_legs=(3,))
    assert (r.output.mode.mode, r.output.mode.step) == (Mode.HALFWAY, "")
    request(r, "stand")  # what is known does not end it
    r.until("stand", 15.0)


def test_a_leg_that_is_lost_as_the_ball_shuts_is_named_and_it_shuts():
    r = robot("stand")
    request(r, "shell")
    until_text(r, "coming to rest")
    said = [r.tick(lost_legs=(3,)).notice for _ in range(300)]
    assert sum(text.startswith("lower_3 is lost while the ball shuts") for text in said) == 1
    assert r.output.mode.mode == Mode.SHELL


def test_a_joint_that_stays_blocked_on_the_way_back_ends_it_there():
    r = Blocked(ActionManagerCore.from_description(), "stand")
    r.run(0.1)
    request(r, "shell")
    until_text(r, "fan inwards, 2 of 4")
    r.run(0.2)
    r.blocked = 0  # a fan, of six that are one
    until_text(r, "behind")
    r.q[1] += 0.4  # and somebody bends another
    r.blocked = 1
    r.run(4.0)
    assert (r.output.mode.mode, r.output.mode.step) == (Mode.HALFWAY, "")


@pytest.mark.parametrize(("way", "pose"), [("shell", CLOSED), ("hexapod", STAND)])
def test_stopped_part_of_the_way_it_is_taken_over_there_and_goes_on(way, pose):
    r = robot()
    request(r, "shell")
    until_text(r, "fan inwards, 2 of 4")
    r.orientation = yaw_quaternion(0.6)  # the gores turn the body: the heading stays
    r.core.emergency_stop()
    held = r.q.copy()
    r.run(0.5)
    r.core.rearm()
    r.run(0.5)
    assert r.output.mode.mode == Mode.HALFWAY
    assert r.q == pytest.approx(held)
    assert r.output.contacts.heading == 0.0
    request(r, way)
    r.until(way, 15.0)
    r.tick()
    assert r.output.contacts.heading == (0.0 if way == "shell" else None)
    assert r.q == pytest.approx(pose, abs=2e-3)
    assert r.largest_step() < SMOOTH


def test_a_ball_goes_on_with_its_heading_after_a_restart_however_odom_lies():
    """Odometry begins with yaw 0, whatever the IMU says by then: here 1 rad, as of a robot that was put down so."""

    def run(r, ticks, turned, yaw=1.0):
        for _ in range(ticks):
            r.orientation, r.pose = yaw_quaternion(yaw + turned), np.array([0.3, 0.0, turned])
            r.tick()

    r = EchoRobot(ActionManagerCore.from_description(), "stand")
    run(r, 10, 0.2)
    request(r, "shell")
    run(r, 1500, 0.2)
    assert r.output.mode.name == "shell" and r.output.contacts.heading == pytest.approx(1.2)
    memory = r.core.memory
    assert {type(number) for number in memory} == {float}  # a ROS parameter takes no others
    for after, heading in ((2.0, 1.2), (61.5, 0.2), (-1.0, 0.2)):
        again = EchoRobot(ActionManagerCore.from_description(), "closed")
        again.t = r.t + after
        again.core.resume(memory, again.t)
        run(again, 5, 0.2, yaw=2.0)  # the gores have turned the body
        assert again.output.mode.name == "shell"
        assert again.output.contacts.heading == pytest.approx(heading)


def test_a_node_restarted_in_the_ball_or_half_way_finds_itself():
    r = EchoRobot(ActionManagerCore.from_description(), "closed")
    r.q += np.random.default_rng(2).uniform(-0.03, 0.03, r.q.size)
    r.q[:24:4] = r.q[0]
    r.run(0.1)
    assert r.output.mode.name == "shell"
    assert "found closed" in r.output.mode.text
    r.run(1.0)
    assert r.q == pytest.approx(CLOSED, abs=2e-3)
    request(r, "hexapod")
    r.until("hexapod", 15.0)
    assert r.largest_step() < SMOOTH
    lower, upper = PATH.at(7.4)
    r = EchoRobot(ActionManagerCore.from_description(), "closed")
    r.q = np.concatenate([opened(lower, np.full(6, 0.1)).ravel(), upper.ravel()])
    start = r.q.copy()
    r.run(1.0)
    assert r.output.mode.name == "halfway"
    assert r.q == pytest.approx(start)
    request(r, "shell")
    r.until("shell", 15.0)
    assert r.largest_step() < SMOOTH


def test_a_reset_of_the_simulation_in_the_ball_stands_up_anew():
    r = robot("closed")
    r.t, r.q = 0.0, named_pose_array("spawn", "simulation").copy()
    r.run(0.1)
    assert r.output.mode.name == "sit"
    r.until("hexapod")


def test_a_ball_that_tilts_while_it_opens_shuts_again_and_rolls_upright():
    r = robot("closed")
    request(r, "hexapod")
    until_text(r, "fan outwards, 2 of 4")
    r.orientation = tilted(20.0)
    said = [r.tick().notice for _ in range(50)]
    assert sum("tilted by 20 deg while opening: shut again, rolling upright" in text for text in said) == 1
    assert r.output.mode.text.startswith("rolling upright, try 0: run_up")
    assert r.q[:24].reshape(6, 4)[:, :2] == pytest.approx(CLOSED[:24].reshape(6, 4)[:, :2], abs=0.1)
    r.orientation = LEVEL  # it is pushed upright
    r.until("hexapod", 25.0)
    assert r.q == pytest.approx(STAND, abs=2e-3)


def test_a_ball_that_lies_tilted_and_not_quite_shut_rolls_upright_before_it_opens():
    """As after rolling, when gores that push are near a posture of the path: the robot had not begun to open."""
    lower, upper = PATH.at(PATH.starts[-1] - 1.5)
    r = EchoRobot(ActionManagerCore.from_description(), "closed")
    r.q = np.concatenate([lower.ravel(), upper.ravel()])
    r.orientation = tilted(75.0)
    r.run(0.5)
    request(r, "hexapod")
    notices = [r.tick().notice for _ in range(50)]
    assert r.output.mode.text.startswith("rolling upright, try 0: run_up")
    assert not any(notices)


def test_tipped_over_before_the_fan_closes_it_holds():
    r = robot()
    request(r, "shell")
    until_text(r, "step 3 of")
    r.orientation = tilted(50.0)
    r.run(0.5)
    assert r.output.mode.mode == Mode.HALFWAY
    assert "tipped over by 50 deg" in r.output.mode.text
    still = r.q.copy()
    r.run(1.0)
    assert (r.q == still).all()


def test_levelling_opens_the_legs_to_which_the_body_leans():
    law = Levelling(CONFIG.levelling)
    lean = tilted(3.0)  # rolled about x: towards -y, legs 5 and 6
    for _ in range(30):
        offset = law.step(0.01, 1.0, 0.0, lean, np.zeros(3))
    assert offset[4] == pytest.approx(offset.max())
    assert offset[4] > 0.02
    assert offset[1] < 0.0
    with_rate = Levelling(CONFIG.levelling)
    for _ in range(30):
        faster = with_rate.step(0.01, 1.0, 0.0, lean, np.array([1.0, 0.0, 0.0]))
    assert faster[4] > offset[4]
    for _ in range(500):
        offset = law.step(0.01, 1.0, 0.0, lean, None)
    low, high = CONFIG.levelling.range
    assert (offset >= low).all()
    assert (offset <= high).all()
    kept = law.step(0.01, 1.0, 0.0, None, None)
    assert kept == pytest.approx(offset)
    for _ in range(100):
        offset = law.step(0.01, 0.0, 0.0, lean, None)
    assert (offset == 0.0).all()


def test_the_path_begins_standing_ends_closed_and_finds_itself():
    lower, upper = PATH.at(0.0)
    assert np.concatenate([lower.ravel(), upper.ravel()]) == pytest.approx(STAND)
    lower, upper = PATH.at(PATH.duration + 1.0)
    assert np.concatenate([lower.ravel(), upper.ravel()]) == pytest.approx(CLOSED)
    for time in (0.4, 3.0, 5.3, 7.9, 9.0):
        found, error = PATH.find(*PATH.at(time))
        assert error < 0.03
        assert found == pytest.approx(time, abs=0.03)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["steps"][-1]["keys"][-1].__setitem__(3, 2.2), "misses the pose closed by 0.0"),
        (lambda d: d["steps"][1]["keys"][0].__setitem__(0, 0.0), "time is below 0.01 s"),
        (lambda d: d["steps"][1].update(keys=[]), "keys of gores_down_1 is empty"),
        (lambda d: d["steps"][1]["keys"][0].pop(), "give a list of 10 numbers"),
        (lambda d: d["levelling"].update(gain=50.0), r"levelling.gain is 50.0; give a number from 0 to 5"),
        (lambda d: d.update(timeout="long"), "timeout is 'long'; give a number"),
        (lambda d: d.update(arive=0.1), "is arrived meant"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, path_config, change, message):
    data = yaml.safe_load(yaml.safe_dump(path_config))
    change(data)
    path = tmp_path / "transform.yaml"
    path.write_text(yaml.safe_dump(data))
    with pytest.raises(ConfigError, match=message):
        ActionManagerCore.from_description(transform_path=str(path))


def test_lost_joints_hold_the_path():
    r = robot()
    request(r, "shell")
    until_text(r, "step 6 of")
    lost = r.q.copy()
    lost[5] = np.nan
    held = r.q.copy()
    for _ in range(50):
        r.t = round(r.t + 0.01, 9)
        r.apply(r.core.step(r.t, r.commands, Feedback(lost, LEVEL)))
    assert r.q == pytest.approx(held, abs=0.08)
    r.until("shell", 15.0)
    assert replace(CONFIG, speed=0.5).speed == 0.5


def test_recover_folds_a_fallen_robot_and_is_refused_to_one_that_stands():
    r = robot()
    assert r.core.request_mode("recover") == (
        False,
        "the robot is upright, tilted by 0 deg, less than 34; request stand or hexapod",
    )
    r.orientation = tilted(120.0)
    r.run(0.5)
    assert r.output.mode.name == "sit"
    assert "request recover" in r.output.mode.text
    r.orientation = None
    r.tick()
    assert r.core.request_mode("recover")[1].startswith("no attitude from the IMU")
    r.orientation = tilted(120.0)
    r.tick()
    request(r, "recover")
    r.run(1.0)
    assert r.core.request_mode("recover") == (True, "recover is under way already")
    for _ in range(1500):
        if r.tick().mode.step == "open_ball":
            break
    assert r.q == pytest.approx(CLOSED, abs=2e-3)
    r.tick()
    assert r.output.mode.text.startswith("rolling upright")
    r.orientation = LEVEL
    r.until("stand", 30.0)
    assert robot(variant="walker").core.request_mode("recover")[1].startswith("this robot has no upper shells")


def test_a_joint_that_is_blocked_while_a_fallen_robot_folds_is_commanded_little_farther_than_it_is_and_named():
    r = Blocked(ActionManagerCore.from_description(), "stand")
    r.orientation = tilted(120.0)
    r.run(0.5)
    r.blocked = r.core.geometry.joint_names.index("upper_5_shell")
    request(r, "recover")
    leads = []
    while r.tick().mode.step == "fold_ball":
        leads.append(pack_references(r.output.references).joint_position[10, 1] - r.q[r.blocked])
    assert max(leads) == pytest.approx(CONFIG.fold_lead), "and it is behind by 0.9 rad"
    assert r.output.mode.text.startswith("upper_5_shell is 53 deg behind while closing, step 16 of 16"), r.output.mode
    r.blocked = -1
    request(r, "recover")
    until_text(r, "rolling upright")
    assert r.q == pytest.approx(CLOSED, abs=0.1)


def test_a_leg_that_is_lost_while_a_fallen_robot_folds_is_named_and_it_folds():
    r = robot()
    r.orientation = tilted(120.0)
    r.run(0.5)
    request(r, "recover")
    r.run(1.0)
    said = [r.tick(lost_legs=(3,)).notice for _ in range(1500)]
    assert sum(text.startswith("lower_3 is lost while the robot folds") for text in said) == 1
    assert r.output.mode.text.startswith("rolling upright")


def test_a_ball_that_rolls_upright_shuts_on_request():
    r = robot("closed")
    r.orientation = tilted(80.0)
    r.run(0.2)
    request(r, "stand")
    r.run(0.5)
    assert r.output.mode.text.startswith("rolling upright")
    request(r, "shell")
    r.until("shell", 15.0)
    assert r.q == pytest.approx(CLOSED, abs=2e-3)


def test_a_ball_that_loses_its_attitude_while_its_fan_turns_shuts_without_a_jump():
    r = robot("closed")
    r.orientation = tilted(80.0)
    r.run(0.2)
    request(r, "stand")
    r.run(0.5)
    r.core._behaviours["open_ball"]._righting._begin("loosen")
    r.run(1.8)
    assert np.abs(r.q - CLOSED).max() > 0.3
    r.orientation, r.history = None, r.history[-1:]
    r.run(3.0)
    assert r.output.mode.name == "shell"
    assert any("no attitude from the IMU while rolling upright" in row[2].mode.text for row in r.history)
    assert "no attitude from the IMU: a ball cannot roll without" in r.output.mode.text, "while it lasts"
    assert r.q == pytest.approx(CLOSED, abs=2e-3)
    assert r.largest_step() < SMOOTH


def test_a_ball_folded_without_an_attitude_does_not_open():
    r = robot()
    r.orientation = tilted(120.0)
    r.run(0.5)
    request(r, "recover")
    r.run(1.0)
    r.orientation = None
    r.until("shell", 15.0)
    assert "no attitude from the IMU while rolling upright" in r.output.mode.text
    assert r.q == pytest.approx(CLOSED, abs=2e-3)
