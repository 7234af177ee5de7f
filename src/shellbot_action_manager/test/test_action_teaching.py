# SPDX-License-Identifier: MIT
"""What was recorded becomes an action that does the same: fits, noise, slowing, files, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

from shellbot_action_manager.actions.library import ActionLibrary
from shellbot_action_manager.actions.planning import Planner
from shellbot_action_manager.actions.postures import Postures, feet_in_walk_axes
from shellbot_action_manager.actions.recording import Recording
from shellbot_action_manager.actions.teacher import Teacher
from shellbot_action_manager.actions.teaching import Tolerance, teach
from shellbot_action_manager.body.body_pose import feet_in_base
from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.config import load_config
from shellbot_action_manager.errors import ActionError
from shellbot_action_manager.gait.walking import neutral_feet
from shellbot_common import TICK
from shellbot_common.rotations import quaternion_from_rpy
from shellbot_description import named_pose_array

CONFIG, GEOMETRY = load_config(), load_geometry()
PLANNER = Planner(CONFIG, GEOMETRY)
GAIT = CONFIG.gaits[CONFIG.gait]
FOOTHOLDS = np.hstack((neutral_feet(GAIT.rest_radius), np.zeros((6, 1))))
TEACHER = Teacher(CONFIG, GEOMETRY)
ENCODER = np.radians(0.29)  # a step of the servos' encoders


def planned(name, library=CONFIG.actions, **parameters):
    return PLANNER.plan(library, name, parameters, FOOTHOLDS, GAIT.stance_height).parts[0].postures


def joints(postures):
    """Joints of a robot that takes these postures exactly."""
    p_walk = feet_in_walk_axes(postures.feet, FOOTHOLDS)
    q = []
    for pose, feet, upper in zip(postures.pose, p_walk, postures.upper):
        legs = GEOMETRY.legs.solve(feet_in_base(feet, pose, GAIT.stance_height)[:, None])[:, 0]
        q.append(np.concatenate((np.insert(legs, 0, 0.0, axis=1).ravel(), upper.ravel())))
    return np.array(q)


def recorded(postures, noise=0.0):
    q = joints(postures)
    if noise:
        q = np.round(q / noise) * noise
    return Recording(TICK * np.arange(len(q)), q)


def performed(**actions):
    return recorded(planned(**actions))


def repeated(action, saved, file):
    """Postures of an action that was saved."""
    assert saved.duration > 0.0
    return planned(action, ActionLibrary([file.parent]))


def farthest(taught, original, slack):
    """Return by how much, in tolerances, a posture of one is from the nearest of the other in `slack` ticks."""
    a, b = (np.hstack((lengths(p) / 3e-3, np.degrees(angles(p)))) for p in (taught, original))
    near = (a[max(i - slack, 0) : i + slack + 1] for i in range(len(b)))
    return max(np.abs(row - others).max(axis=1).min(initial=99.0) for row, others in zip(b, near))


def lengths(postures):
    return np.hstack((postures.pose[:, :3], postures.feet.reshape(len(postures.pose), -1)))


def angles(postures):
    return np.hstack((postures.pose[:, 3:], postures.upper.reshape(len(postures.pose), -1)))


@pytest.mark.parametrize("noise", [0.0, ENCODER])
@pytest.mark.parametrize("name", ["wave", "dance", "bow", "greet", "step_over", "stretch", "idle"])
def test_an_action_that_is_recorded_does_the_same_with_few_waypoints(tmp_path, name, noise):
    original = planned(name)
    file = tmp_path / "mine.yaml"
    saved = TEACHER.save(recorded(original, noise), "again", file)
    action = saved.action
    taught = repeated("again", saved, file)
    slack = 80 + int(0.1 * len(original.pose))  # ticks: pauses at both ends are left out, and it may be slowed a little
    assert farthest(taught, original, slack) < 1.0  # 3 mm and 1 deg
    assert farthest(original, taught, slack) < 1.0
    assert action.off_mm <= 3.0 and action.off_deg <= 1.0 and action.slowed < 1.1
    assert action.waypoints < 3.0 * len(re.findall("move", text_of(name))) + 45
    lifted = (original.feet[..., 2] > 0.01).any(axis=0)
    assert ((taught.feet[..., 2] > 0.01).any(axis=0) == lifted).all()
    assert (taught.feet[:, ~lifted] == 0.0).all()


def text_of(name):
    return str(CONFIG.actions.actions[name].steps)


def test_all_limbs_stay_together_when_a_motion_is_too_fast(tmp_path):
    """A hand that is twice too fast: the whole is slowed where it must be, path and order stay."""
    original = planned("wave", times=1)
    fast = Recording(0.5 * TICK * np.arange(len(original.pose)), joints(original))
    file = tmp_path / "mine.yaml"
    saved = TEACHER.save(fast, "fast", file, tolerance=Tolerance(mm=5.0, deg=1.0))
    assert saved.action.slowed > 1.6 and "times as long as recorded" in saved.action.text
    taught = repeated("fast", saved, file)
    assert taught.feet[:, 0, 2].max() == pytest.approx(0.06, abs=0.006)
    assert taught.feet[:, 0, 1].max() == pytest.approx(0.04, abs=0.008)
    assert taught.pose[taught.feet[:, 0, 2] > 0.01, 0].max() < -0.02, "it still leans before it lifts"


def test_a_posture_is_gone_to_and_held(tmp_path):
    original = planned("wave", leg=2)
    file = tmp_path / "mine.yaml"
    saved = TEACHER.save(recorded(original[int(2.1 / TICK)]), "pose", file)
    assert [re.findall(r"name: ([a-z ]+)", saved.action.text)] == [["go there", "lift", "hold"]]
    taught = planned("pose", ActionLibrary([tmp_path]), hold=4)
    still = int(
        np.flatnonzero((np.diff(taught.feet[:, 1], axis=0) == 0.0).all(axis=1) & (taught.feet[1:, 1, 2] > 0.0))[0]
    )
    assert taught.feet[still + 50, 1] == pytest.approx(original.feet[int(2.1 / TICK), 1], abs=2e-3)
    assert taught.pose[still + 50, :3] == pytest.approx(original.pose[int(2.1 / TICK), :3], abs=2e-3)


def test_a_relaxed_robot_is_taught_with_legs_and_shells_by_hand(tmp_path):
    """It sits; a hand lifts leg 2 outwards and opens two shells alike; the body of the action stays at rest."""
    sit, leg = named_pose_array("sit", "simulation"), slice(4, 8)
    start = GEOMETRY.legs.forward(GEOMETRY.q_lower(sit))
    s = np.concatenate((np.zeros(60), 0.5 - 0.5 * np.cos(np.linspace(0.0, 2.0 * np.pi, 400)), np.zeros(60)))
    q = np.repeat(sit[None], len(s), axis=0)
    for row, part in zip(q, s):
        p = start.copy()
        p[1] += part * np.array([0.05 * np.cos(np.pi / 3.0), 0.05 * np.sin(np.pi / 3.0), 0.05])
        row[leg][1:] = GEOMETRY.legs.solve(p[:, None])[1, 0]
        row[24:28] = GEOMETRY.up_upper[:2].ravel() - np.radians([8.0, 10.0, 8.0, 10.0]) * part
        row[28:] = GEOMETRY.up_upper[2:].ravel()
    file = tmp_path / "mine.yaml"
    saved = TEACHER.save(Recording(TICK * np.arange(len(q)), np.round(q / ENCODER) * ENCODER), "lift", file)
    taught = repeated("lift", saved, file)
    assert saved.action.moves == ("foot of lower_2", "shell of upper_1, 2") and saved.action.waypoints < 12
    assert taught.feet[:, 1].max(axis=0) == pytest.approx([0.05, 0.0, 0.05], abs=3e-3) and not taught.pose.any()
    away = np.degrees(taught.upper[:, :2] - GEOMETRY.up_upper[:2])
    assert away.min(axis=0) == pytest.approx(np.array([[-8.0, -10.0]] * 2), abs=1.5)
    assert "the robot did not stand" in saved.action.notes[0]


def test_sagging_servos_and_a_wide_stance_do_not_lean_the_action(tmp_path):
    """A body 3 mm low all along is at rest; feet that stand 12 mm wide are mentioned, and the body moves alike."""
    original = planned("bow")
    low = Postures(original.pose - [0, 0, 0.003, 0, 0, 0], original.feet, original.upper)
    saved = TEACHER.save(recorded(low), "bow_low", tmp_path / "mine.yaml")
    assert "z:" not in saved.action.text
    wide = Postures(original.pose, original.feet + [0.012, 0.0, 0.0], original.upper)
    saved = TEACHER.save(recorded(wide), "bow_wide", tmp_path / "mine.yaml")
    assert "stood 12 mm from its place" in saved.action.notes[0]
    taught = planned("bow_wide", ActionLibrary([tmp_path]))
    assert np.degrees(taught.pose[:, 4]).max() == pytest.approx(8.0, abs=0.6)


def changed(change):
    found = performed(name="bow")
    return change(found.t.copy(), found.q.copy())


def with_nan(t, q):
    q[7, 5] = np.nan
    return Recording(t, q)


def elbow_in(t, q):
    q[:, 24] = np.radians(150.0)
    return Recording(t, q)


def stepping(t, q):
    postures = planned("wave", leg=3)
    feet = postures.feet.copy()
    feet[len(feet) // 2 :, 2, 0] += 0.03
    return recorded(Postures(postures.pose, feet, postures.upper))


def rising(t, q):
    part = np.linspace(0.0, 1.0, len(t))[:, None]
    return Recording(t, (1.0 - part) * named_pose_array("sit", "simulation") + part * q[0])


def tipped(t, q):
    return Recording(t, q, np.repeat([quaternion_from_rpy(0.8, 0.0, 0.0)], len(t), axis=0))


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda t, q: Recording(t[:0], q[:0]), "the recording is empty; does anything publish joint_states"),
        (lambda t, q: Recording(t, q[:, :24]), r"24 joints at \d+ times, .*; give the 36 driven joints"),
        (with_nan, "lower_2_coxa is nan after 0.07 s; look at joint_states"),
        (lambda t, q: Recording(np.where(t > 0.5, t + 1.0, t), q), "no joint positions from 0.50 s to 1.51 s"),
        (lambda t, q: Recording(-t, q), "the time goes from .*; give increasing times"),
        (lambda t, q: Recording(5.0 * t, q[:1].repeat(len(t), axis=0)), "nothing moves by more than 3 mm or 1 deg"),
        (lambda t, q: Recording(t[:1], q[:1]), "nothing moves by more than 3 mm or 1 deg from the rest stance"),
        (elbow_in, "the elbow of upper_1 points inwards after 0.00 s"),
        (stepping, "lower_3 stands 2[0-9] mm from where it began after .* put feet down within 15 mm"),
        (rising, "the robot stands up or is lifted after .*; record it either standing or sitting"),
        (tipped, "tilted by 46 deg after 0.00 s; an action is performed upright, within 34 deg"),
    ],
)
def test_recordings_that_are_none_are_refused_in_words(tmp_path, change, message):
    with pytest.raises(ActionError, match=message):
        TEACHER.save(changed(change), "mine", tmp_path / "mine.yaml")
    assert list(tmp_path.iterdir()) == []


def test_walking_is_no_action_of_postures(tmp_path):
    """Tripods that stand by turns while the body goes on: 40 mm a step."""
    rest = GEOMETRY.legs.forward(GEOMETRY.stand_lower)
    q = []
    for k in range(240):
        p = rest.copy()
        for leg in range(6):
            phase = (k / 80.0 + 0.5 * (leg % 2)) % 1.0
            p[leg, 0] += 0.04 * (0.5 - 2.0 * phase if phase < 0.5 else 2.0 * phase - 1.5)
            p[leg, 2] += 0.03 * max(-np.sin(2.0 * np.pi * phase), 0.0)
        joint = np.insert(GEOMETRY.legs.solve(p[:, None])[:, 0], 0, 0.0, axis=1)
        q.append(np.concatenate((joint.ravel(), GEOMETRY.up_upper.ravel())))
    with pytest.raises(ActionError, match="fewer than three feet stand after|stands .* from where it began"):
        TEACHER.save(Recording(TICK * np.arange(240), np.array(q)), "mine", tmp_path / "mine.yaml")


def test_what_the_robot_cannot_do_is_refused_and_the_file_stays(tmp_path):
    """Two neighbouring legs lifted: the robot that was recorded was held by a hand."""
    original = planned("wave", leg=1)
    feet = original.feet.copy()
    feet[:, 1] = feet[:, 0]
    file = tmp_path / "mine.yaml"
    TEACHER.save(performed(name="bow"), "first", file)
    before = file.read_text()
    with pytest.raises(ActionError, match="mine, step 1 .*: the stability margin is .* mm"):
        TEACHER.save(recorded(Postures(original.pose, feet, original.upper)), "mine", file)
    assert file.read_text() == before and [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_a_body_that_was_led_to_the_edge_of_the_reach_is_taught_a_little_smaller(tmp_path):
    """The window lets it go exactly there, which the action with its margin cannot; it was refused."""
    pitch = max(
        angle
        for angle in np.linspace(0.05, 0.3, 251)
        if GEOMETRY.legs.reachable(feet_in_base(FOOTHOLDS, np.array([0, 0, 0.02, 0, angle, 0]), GAIT.stance_height))
    )
    there = np.sin(np.linspace(0.0, np.pi, 400))[:, None] * np.array([0, 0, 0.02, 0, pitch, 0])
    led = recorded(Postures(there, np.zeros((400, 6, 3)), np.repeat(PLANNER.rest.upper, 400, axis=0)))
    whole = teach("nod", "nods", led, GEOMETRY, CONFIG, PLANNER, Tolerance()).text
    with pytest.raises(ActionError, match="out of reach"):
        TEACHER._planned_in(tmp_path / "whole.yaml", "", "nod", whole)
    saved = TEACHER.save(led, "nod", tmp_path / "mine.yaml")
    assert any("less than it was recorded" in note for note in saved.action.notes)
    assert repeated("nod", saved, tmp_path / "mine.yaml").pose[:, 4].max() > 0.85 * pitch


def test_a_file_keeps_its_other_actions_and_comments(tmp_path):
    file = tmp_path / "mine.yaml"
    theirs = "# about nod\nnod:  # by hand\n  text: nods\n  steps: [{do: [{move: body, to: {pitch_deg: 4}}]}]\n"
    after = "\n# about sway\nsway: {text: sways, steps: [{do: [{move: body, to: {y: 0.02}}]}]}\n"
    file.write_text(theirs + after)
    recording = performed(name="bow")
    TEACHER.save(recording, "bow_again", file, text='says "hi": 1 # 2')
    assert file.read_text().startswith(theirs + after)
    assert ActionLibrary([tmp_path]).find("bow_again").text == 'says "hi": 1 # 2'
    with pytest.raises(ActionError, match="has an action 'nod'; give another name, or force"):
        TEACHER.save(recording, "nod", file)
    TEACHER.save(recording, "nod", file, force=True)
    text = file.read_text()
    assert text.startswith("# about nod\nnod:\n  text: ") and after in text and "by hand" not in text
    assert set(ActionLibrary([tmp_path]).actions) - set(CONFIG.actions.actions) == {"nod", "sway", "bow_again"}


@pytest.mark.parametrize(
    "name, file, content, message",
    [
        ("bow", "mine.yaml", None, "action 'bow' is in .*basic.yaml, too"),
        ("on", "mine.yaml", None, "'on' is no name of an action"),
        ("2_bows", "mine.yaml", None, "'2_bows' is no name of an action"),
        ("mine", "mine.yml", None, "is no .yaml file"),
        ("mine", "nowhere/mine.yaml", None, "the folder .*nowhere does not exist"),
        ("mine", "mine.yaml", "{a: {text: a, steps: [{wait: 1}]}}", "one mapping in braces"),
        ("mine", "mine.yaml", "a: [1, 2", "not valid YAML in line 2"),
        ("mine", "mine.yaml", "a: {text: a}\n", "steps"),
    ],
)
def test_files_that_cannot_take_it_stay_as_they_are(tmp_path, name, file, content, message):
    if content is not None:
        (tmp_path / file).write_text(content)
    with pytest.raises(ValueError, match=message):
        TEACHER.save(performed(name="bow"), name, tmp_path / file)
    assert [path.read_text() for path in tmp_path.iterdir()] == [content] * (content is not None)


def test_joints_are_picked_by_name_and_a_walker_has_no_shells(tmp_path):
    recording = performed(name="bow")
    names = ["wheel", *reversed(GEOMETRY.joint_names)]
    q = np.hstack((np.ones((len(recording.t), 1)), recording.q[:, ::-1]))
    assert TEACHER.recording(recording.t, names, q).q == pytest.approx(recording.q)
    with pytest.raises(ActionError, match="lacks the joint lower_1_fan and 35 more; record all driven joints"):
        TEACHER.recording(recording.t, ["wheel"], q[:, :1])
    walker = Teacher.for_joints(names[-24:])
    saved = walker.save(walker.recording(recording.t, GEOMETRY.joint_names, recording.q), "b", tmp_path / "b.yaml")
    assert saved.action.moves == ("body",)
