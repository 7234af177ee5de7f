# SPDX-License-Identifier: MIT
"""Velocity maps: their inverse, their files, and what is refused; waypoints by them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from snake_motion.drive import VelocityDrive
from snake_motion.errors import SnakeMotionError
from snake_motion.families import FAMILIES
from snake_motion.gait_table import load_rows
from snake_motion.odometry import load_slips, slips_file
from snake_motion.velocity_map import VelocityMap, load_maps
from snake_motion.waypoint import WaypointFollower

MODULES = 16


def test_the_maps_of_the_package_are_of_all_families_but_one_in_which_a_long_snake_tips_over():
    for modules, lacks in ((8, ()), (12, ()), (MODULES, ()), (24, ("sideways",))):
        assert set(load_maps(modules)) == set(FAMILIES) - set(lacks)
    with pytest.raises(SnakeMotionError, match="no velocity map of the family sideways for 24 modules"):
        VelocityDrive(load_maps(24), 24).target((0.0, 0.05, 0.0))


@pytest.mark.parametrize("modules, name", [(n, family) for n in (8, 12, MODULES, 24) for family in load_maps(n)])
def test_the_inverse_finds_inputs_whose_step_is_the_commanded_one(name, modules):
    found, rng = load_maps(modules)[name], np.random.default_rng(7)
    kind = found.kind
    for _ in range(10):
        inputs = np.array([[rng.uniform(*limits) for limits in kind.ranges]])
        direction = int(rng.choice((-1, 1)))
        step = found.steps(inputs, direction)[0]
        sign, again, reached = found.inverse(step)
        assert sign == direction and all(low <= x <= high for x, (low, high) in zip(again, kind.ranges))
        assert reached[kind.axis] == pytest.approx(step[kind.axis], abs=2e-3)
        if kind.axis != 2 and not kind.rolls:
            assert reached[2] == pytest.approx(step[2], abs=math.radians(0.2))


def test_a_twist_chooses_its_family_and_is_limited_to_what_it_can():
    drive = VelocityDrive(load_maps(MODULES), MODULES)
    for twist, name, direction in (
        ([0.06, 0.0, 0.05], "forward", 1), ([-0.06, 0.02, 0.0], "forward", -1), ([0.0, 0.4, 0.0], "sideways", 1),
        ([0.1, -0.4, 0.0], "sideways", -1), ([0.0, 0.0, 0.8], "rotation", 1), ([0.0, 0.0, -0.8], "rotation", -1),
    ):  # fmt: skip
        target, _ = drive.target(twist)
        assert (target.name, target.direction) == (name, direction), twist
    assert drive.target([0.0, 0.0, 0.0])[0] is None
    _, velocity = drive.target([9.0, 0.0, 0.0])
    assert velocity[0] == pytest.approx(drive.limits[0], rel=0.02)
    for huge in (1e30, 1e100, 1e160, 1e308):
        target, velocity = drive.target([huge, 0.0, 0.0])
        assert target.name == "forward" and velocity[0] == pytest.approx(drive.limits[0], rel=0.02)
        assert drive.target([0.0, 0.0, -huge])[0].direction == -1
    with pytest.raises(SnakeMotionError, match="no velocity map of the family forward for 8 modules: write one with"):
        VelocityDrive({}, 8).target([0.05, 0.0, 0.0])


def test_sideways_by_rolling_makes_the_cycle_faster_for_more_speed():
    maps = load_maps(MODULES)
    drive = VelocityDrive(maps, MODULES, sideways_by="rolling")
    slow, fast = (drive.target([0.0, -speed, 0.0])[0] for speed in (0.06, 0.15))
    assert {slow.name, fast.name} == {"roll_sideways"} and slow.rolls and slow.direction == -1
    assert slow.shape.period == pytest.approx(2.5 * fast.shape.period, rel=0.1)
    assert drive.limits[1] == pytest.approx(0.2, abs=0.02) and drive.limits[1] < VelocityDrive(maps, MODULES).limits[1]
    assert drive.target([0.05, 0.0, 0.0])[0].name == "forward"
    with pytest.raises(SnakeMotionError, match="sideways_by is 'crawling'; choose from side_winding, rolling"):
        VelocityDrive(maps, MODULES, sideways_by="crawling")


def test_a_map_of_narrower_ranges_is_not_left_by_any_command():
    """Its polynomial is scaled to its own ranges, and outside of these the robot may tip over."""
    whole = load_maps(MODULES)["forward"]
    narrow = whole.replace(amplitude=(0.4, 0.7), steering=(-10.0, 10.0))
    assert narrow.steps([[0.7, 10.0]], 1) == pytest.approx(whole.steps([[1.0, 20.0]], 1))
    drive = VelocityDrive({"forward": narrow}, MODULES)
    assert drive.limits[0] == pytest.approx(float(narrow.steps([[0.7, 0.0]])[0, 0]), rel=0.05)
    assert drive.target([9.0, 0.0, 0.0])[0].fraction == pytest.approx(1.0), "the slip is that of its own greatest one"
    for twist in ([9.0, 0.0, 3.0], [-9.0, 0.0, -3.0], [0.001, 0.0, 0.1], [0.02, 0.0, 0.0]):
        _, (amplitude, steering), _ = narrow.inverse(twist)
        assert 0.4 <= amplitude <= 0.7 and abs(steering) <= 10.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: "", "family, modules, branches are missing"),
        (lambda text: text.replace("family: forward", "family: upward"), "family 'upward' does not exist"),
        (lambda text: text.replace("'-1':", "'2':"), "branches are 2, 1; forward needs 1, -1"),
        (lambda text: text.replace("modules: 16", "modules: 1000"), "modules is 1000"),
        (lambda text: text.replace("forward: [", "forward: [.nan, "), "forward"),
        (lambda text: text.replace("left: [", "left: [0.1, "), "left has 11 coefficients; it needs 10"),
        (lambda text: text + "steering: [5.0, 5.0]\n", "steering is 5 to 5; give it two different ends"),
        (lambda text: text + "amplitude: [0.9, 0.4]\n", "amplitude is .*the first number must not be the greater"),
    ],
)
def test_a_broken_map_file_is_refused_in_words(tmp_path, change, words):
    from shellbot_common import package_file

    good = package_file("snake_motion", "config/maps/forward_16.yaml").read_text(encoding="utf-8")
    file = tmp_path / "forward_16.yaml"
    file.write_text(change(good), encoding="utf-8")
    with pytest.raises(SnakeMotionError, match=words) as caught:
        VelocityMap.load(file)
    assert str(file) in str(caught.value)


def test_a_broken_slip_file_is_refused_in_words(tmp_path):
    file = tmp_path / "odometry.yaml"
    for text, words in (('a: {"1": [-1, 3]}', "scale is -1"), ("a: 3", "give"), ('a: {"2": [1, 0]}', "give")):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(SnakeMotionError, match=words):
            load_slips(file)


def test_a_snake_has_the_slips_of_its_own_number_of_modules():
    own, other = (load_slips(slips_file(modules)) for modules in (8, MODULES))
    assert own["forward", 1] != other["forward", 1]
    assert ("side_winding", 1) in other and ("side_winding", 1) not in own, "8 modules cannot do it"
    assert load_slips(slips_file(9)) == other


def test_waypoints_are_reached_by_a_robot_that_fades_out():
    """It does what it is commanded, but carries on for a quarter of a second; its heading swings while it moves."""
    goal, pose, before, left, swings = (0.6, 0.4, 1.2), np.zeros(3), np.zeros(3), 0.0, 0.0
    follower, axes = WaypointFollower(goal, np.array([0.11, 0.5, 0.9])), []
    for tick in range(6000):
        swings = 0.1 * math.sin(0.02 * math.pi * tick) if left > 0.0 else 0.0
        twist = follower.step((pose[0], pose[1], pose[2] + swings), left <= 0.0)
        if twist is None:
            break
        if twist.any():
            before, left = twist, 0.5
            axes.append(int(np.argmax(np.abs(twist))))
        left -= 0.01
        moving = twist if twist.any() else 0.5 * before if left > 0.0 else np.zeros(3)
        cos, sin = math.cos(pose[2]), math.sin(pose[2])
        pose += 0.01 * np.array([cos * moving[0] - sin * moving[1], sin * moving[0] + cos * moving[1], moving[2]])
    assert twist is None and tick < 1600
    assert np.abs(follower.error(tuple(pose))).max() < 0.035
    assert axes[0] == 2 and {0, 1} <= set(axes)


def test_a_stroke_begins_on_a_straight_body_only():
    follower = WaypointFollower((0.3, 0.0, 0.0), np.array([0.1, 0.5, 0.9]))
    assert not follower.step((0.0, 0.0, 0.0), False).any()
    assert follower.step((0.0, 0.0, 0.0), True)[0] == pytest.approx(0.1)
    assert follower.step((0.0, 0.0, 0.2), False)[2] < 0.0, "a long stroke corrects its heading"
    assert not follower.step((0.295, 0.0, 0.0), False).any(), "fading out does the rest"
    assert follower.step((0.3, 0.0, 0.0), True) is None


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_diagonal_goal_is_gone_to_aslant_and_what_remains_ahead_is_walked(side):
    limits = np.array([0.117, 0.581, 0.92])
    follower = WaypointFollower((1.0, side, 0.0), limits)
    turn = follower.step((0.0, 0.0, 0.0), True)
    assert turn[2] * side < 0.0 and not turn[:2].any(), "its side turns towards the goal"
    for _ in range(300):
        if not follower.step((0.0, 0.0, 0.0), False).any():
            break
    aslant = (0.0, 0.0, -side * 1.03)
    assert follower.step(aslant, True)[1] * side > 0.0
    assert follower.step((0.5, 0.5 * side, aslant[2] + side * 0.3), False)[1] * side > 0.0
    assert not follower.step((0.85, 0.95 * side, aslant[2]), False).any(), "as far to the side as the goal"
    assert follower.step((0.9, side, aslant[2]), True)[2] * side > 0.0, "back to the goal's heading"


def test_a_swinging_heading_does_not_end_a_stroke_aside():
    """Seen from a body that lies 20 deg askew, a goal ahead would be at its side."""
    follower = WaypointFollower((0.1, 1.0, 0.0), np.array([0.117, 0.581, 0.92]))
    assert follower.step((0.0, 0.0, 0.0), True)[1] > 0.0
    assert follower.step((-0.15, 0.84, 0.35), False)[1] > 0.0
    assert not follower.step((-0.2, 0.95, 0.35), False).any()


def test_a_folder_of_maps_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(SnakeMotionError, match="nowhere is no folder; give that into which scripts/snake identify"):
        load_maps(16, tmp_path / "nowhere")


def test_two_maps_of_one_family_and_number_of_modules_are_refused_by_their_names(tmp_path):
    from shellbot_common import package_file

    text = package_file("snake_motion", "config/maps/forward_16.yaml").read_text(encoding="utf-8")
    for name, map_of in (("forward_16", text), ("forward_12", text.replace("modules: 16", "modules: 12"))):
        (tmp_path / f"{name}.yaml").write_text(map_of, encoding="utf-8")
    assert set(load_maps(16, tmp_path)) == {"forward"}
    (tmp_path / "forward_ice.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SnakeMotionError, match="forward_16.yaml and forward_ice.yaml are both maps .* 16 modules"):
        load_maps(16, tmp_path)
    assert set(load_maps(12, tmp_path)) == {"forward"}


@pytest.mark.parametrize(
    ("goal", "limits", "message"),
    [
        ((math.nan, 0.0, 0.0), (0.1, 0.1, 0.1), "goal is"),
        ((1.0, 0.0), (0.1, 0.1, 0.1), "goal is"),
        ((1e300, 0.0, 0.0), (0.1, 0.1, 0.1), "goal is .* within 10000 m"),
        ((1.0, 0.0, 0.0), (0.1, 0.0, 0.1), "scripts/snake identify"),
        ((1.0, 0.0, 0.0), (0.1, 0.1), "scripts/snake identify"),
    ],
)
def test_a_waypoint_that_leads_nowhere_is_refused(goal, limits, message):
    with pytest.raises(SnakeMotionError, match=message):
        WaypointFollower(goal, np.array(limits))


def test_the_name_of_the_engines_own_gait_is_taken(tmp_path):
    file = tmp_path / "gaits.yaml"
    file.write_text("righting: {pitch: {alpha_deg: 20, k: 2}}\n", encoding="utf-8")
    with pytest.raises(SnakeMotionError, match="righting is the engine's own gait"):
        load_rows(file)
