# SPDX-License-Identifier: MIT
"""The action library: what is shipped is performable, what is wrong is refused by file, line, step and figure."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os

import numpy as np
import pytest

from shellbot_action_manager.actions import library as module
from shellbot_action_manager.actions import steps as step_module
from shellbot_action_manager.actions.expressions import evaluate
from shellbot_action_manager.actions.library import ActionLibrary
from shellbot_action_manager.actions.plan import Again, Guided, ModeChange, Performance, While
from shellbot_action_manager.actions.planning import Planner
from shellbot_action_manager.actions.postures import stability
from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.config import load_config
from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.errors import ActionError, ConfigError
from shellbot_action_manager.gait.walking import neutral_feet
from shellbot_common import TICK, package_file

CONFIG, GEOMETRY = load_config(), load_geometry()
PLANNER = Planner(CONFIG, GEOMETRY)
GAIT = CONFIG.gaits["tripod"]
FOOTHOLDS = np.hstack((neutral_feet(GAIT.rest_radius), np.zeros((6, 1))))
SHIPPED = sorted(CONFIG.actions.actions)
TRAVELLING = {"sit", "stand", "stroll", "visit"}


def whole_plan(name, library=CONFIG.actions, planner=PLANNER, **parameters):
    return planner.plan(library, name, parameters, FOOTHOLDS, GAIT.stance_height)


def plan(*arguments, **parameters):
    """Return the only part of an action on the spot."""
    (part,) = whole_plan(*arguments, **parameters).parts
    return part


def performances(name, **parameters):
    return [part for part in whole_plan(name, **parameters).parts if isinstance(part, Performance)]


def library_of(tmp_path, text):
    (tmp_path / "mine.yaml").write_text(text)
    return ActionLibrary([tmp_path])


def steps_of(tmp_path, *steps, parameters=""):
    rows = "".join(f"    - {step}\n" for step in steps)
    return library_of(tmp_path, f"mine:\n  text: mine\n{parameters}  steps:\n{rows}")


@pytest.mark.parametrize("name", [name for name in SHIPPED if name != "lead_leg"])  # that ends where it is led
def test_shipped_actions_can_be_performed_with_all_their_parameters(name):
    """With defaults, and at every corner of the ranges; they begin and end at rest, and keep the limits of speed."""
    parameters = CONFIG.actions.actions[name].parameters
    corners = itertools.product(
        *((p.low, p.default, min(p.high, 12) if p.is_whole else p.high) for p in parameters.values())
    )
    for values in corners:
        found = performances(name, **dict(zip(parameters, values)))
        assert len(found) == 1 or name in TRAVELLING
        for performance in found:
            check_performance(performance, values)


def check_performance(performance, values):
    postures, rest = performance.postures, PLANNER.rest
    for part, at_rest in zip(vars(postures).values(), vars(rest).values()):
        assert part[0] == pytest.approx(at_rest[0], abs=1e-9)
        assert part[-1] == pytest.approx(at_rest[0], abs=1e-9)
    body = np.abs(np.diff(postures.pose, axis=0)).max(axis=0) / TICK
    assert (body <= CONFIG.body.rate * 1.001).all(), values
    assert np.abs(np.diff(postures.feet, axis=0)).max() / TICK <= CONFIG.action.foot_velocity * 1.001
    assert np.abs(np.diff(postures.upper, axis=0)).max() / TICK <= CONFIG.upper.joint_rate * 1.001


@pytest.mark.parametrize("name", SHIPPED)
def test_the_way_back_is_free_from_anywhere(name):
    found = [part.postures for part in performances(name)]
    for postures, i in ((p, i) for p in found for i in range(0, len(p.pose), 23)):
        back = PLANNER.back(postures[i])
        assert PLANNER.check.refusal(back, FOOTHOLDS, GAIT.stance_height) is None, i
        for part, at_rest in zip(vars(back).values(), vars(PLANNER.rest).values()):
            assert part[-1] == pytest.approx(at_rest[0], abs=1e-9)


def test_parameters_scale_repeat_and_choose_the_leg():
    low, high = plan("wave", leg=3, height=0.03, times=1), plan("wave", leg=3, height=0.08, times=4)
    assert low.postures.feet[..., 2].max() == pytest.approx(0.03)
    assert high.postures.feet[..., 2].max() == pytest.approx(0.08)
    moved = np.abs(high.postures.feet).max(axis=(0, 2))
    assert moved[2] > 0.07 and np.delete(moved, 2).max() == 0.0
    assert high.steps.count("wave") == 4
    lean = high.postures.pose[high.ends[0], :2]  # away from leg 3, which points to 120 degrees
    assert lean == pytest.approx([-0.03 * np.cos(np.radians(120)), -0.03 * np.sin(np.radians(120))])


def test_a_motion_of_higher_priority_takes_its_limbs_from_the_others(tmp_path):
    everyone = "{move: upper, legs: all, to: {height: 0.0764, opening_deg: 20}}"
    one = "{move: upper, legs: [4], to: {height: 0.0764, opening_deg: 5}, priority: 1}"
    upper = plan("mine", steps_of(tmp_path, f"{{do: [{everyone}, {one}], wait: 1}}")).postures.upper
    widest = np.abs(upper - upper[0]).max(axis=(0, 2))
    assert widest[3] < 0.3 * widest[0] and widest[0] == pytest.approx(np.delete(widest, 3), rel=1e-9)
    with pytest.raises(ActionError, match="two motions move leg 4 at the same time; give one a higher priority"):
        plan("mine", steps_of(tmp_path, f"{{do: [{everyone}, {one.replace(', priority: 1', '')}]}}"))


def test_guards_and_times(tmp_path):
    parameters = "  parameters: {high: {default: 0, range: [0, 1]}}\n"
    library = steps_of(
        tmp_path,
        "{name: always, do: [{move: body, to: {z: 0.01}, time: 2}], wait: 1}",
        "{name: seldom, when: high > 0, do: [{move: body, to: {z: 0.02}}]}",
        parameters=parameters,
    )
    assert plan("mine", library).steps == ("always", "back to rest")
    assert plan("mine", library).ends[0] == 300
    assert plan("mine", library, high=1).steps == ("always", "seldom", "back to rest")


@pytest.mark.parametrize(
    "step, reason",
    [
        ("{do: [{move: body, to: {z: 0.2}}]}", r"lower_1_\w+ would go to|out of reach"),
        (
            "{do: [{move: foot, legs: 2, to: {z: 0.06}}, {move: foot, legs: 3, to: {z: 0.06}}]}",
            "the stability margin is",
        ),
        ("{do: [{move: foot, legs: 2, to: {x: 0.05}}]}", "the foot of lower_2 stands away from its foothold; lift it"),
        ("{do: [{move: body, to: {pitch_deg: 12, x: 0.02}}]}", r"lower_1_tibia would go to 2.5\d rad, limits -2.55 to"),
        ("{do: [{move: foot, legs: 2, to: {z: -0.02}}]}", "the foot of lower_2 goes into the ground"),
        (
            "{do: [{move: upper, legs: all, to: {height: 0.0764, opening_deg: -5}}]}",
            r"upper_\d_gore_link and upper_\d_gore_link would overlap by \d.\d mm",
        ),
        ("{do: [{move: foot, legs: 2, to: {x: 0.5, z: 0.1}}]}", "the foot of lower_2 would be out of reach"),
        ("{do: [{move: body, to: {z: 0.02}, time: 0.05}]}", r"time 0.05 s of body is too short; give 0.\d+ s at least"),
        ("{do: [{move: upper, legs: all, to: {height: 0.9, opening_deg: 0}}]}", "do not reach a height of 0.9 m"),
        ("{do: [{move: body, to: {z: .nan}}]}", "nan is no finite number"),
        ("{do: [{move: body, to: {z: hight}}]}", "there is no parameter 'hight'"),
        ("{do: [{move: body, to: {heigth: 0.1}}]}", "heigth does not exist; there are x, y, z, roll_deg"),
        ("{do: [{move: arm, to: {z: 0.1}}]}", "move is 'arm'; choose from body, foot, upper"),
        ("{do: [{move: foot, legs: 7, to: {z: 0.1}}]}", "legs is 7; give a whole number from 1 to 6"),
        ("{do: [{move: foot, to: {z: 0.1}}]}", "legs is missing"),
        ("{do: [{move: body}]}", "give either to"),
        ("{do: 3}", "do is no list"),
        ("{wait: -1}", "wait is -1 s"),
        ("{repeat: 1000, wait: 1}", "repeat is 1000"),
        ("{repeat: 400, wait: 2}", "longer than 600 s"),
        ("{name: idle}", "nothing to do"),
        ("{action: wavve}", "there is no action 'wavve'; is wave meant"),
        ("{action: wave, with: {leg: 9}}", "leg of wave is 9; give a whole number from 1 to 6"),
        ("{action: mine}", "a loop of references: mine > mine"),
        (
            "{do: [{move: body, to: {z: 0.01}, at: [0.1, 0.2]}]}",
            "at has 2 times for 1 waypoints; give one for each",
        ),
        ("{do: [{move: body, through: [{z: 0.01}, {z: 0}], at: [2, 1]}]}", "give seconds that increase from 0"),
        ("{do: [{move: body, to: {z: 0.01}, at: [1], time: 1}]}", "give either time or at"),
        ("{do: [{move: body, to: rest, at: [1]}]}", "at is for waypoints"),
        (
            "{do: [{move: body, to: {z: 0.04}, at: [0.2]}]}",
            "or acceleration; multiply them by 3.8",
        ),
        ("{wait: __import__('os').getpid()}", "is not understood|no parameter"),
        ("{wait: 1/0}", "cannot be computed"),
        ("{mode: fly}", "mode is 'fly'; choose from sit, stand, hexapod, shell, relax"),
        ("{mode: sit, wait: 1}", "a step with mode has no wait; give the wait a step of its own"),
        ("{mode: sit, walk: {x: 1}}", "a step has either mode or walk; split it in two"),
        ("{walk: {}}", "walk leads nowhere; give x"),
        ("{walk: 3}", "3 is no mapping"),
        ("{walk: {x: 100}}", "x of walk is 100 m; give -50 to 50"),
        ("{walk: {x: 1, speed: 2}}", "speed of walk is 2 m/s; give 0.02 to 0.5"),
        ("{turn: {angle_deg: 0}}", "angle_deg of turn is 0; give the angle to turn by"),
        ("{turn: {angle_deg: 90, rate_deg: 1}}", "rate_deg of turn is 1 deg/s; give 6 to 120"),
        ("{by_hand: 2}", "the foot of lower_2 stands; lift it before"),
        ("{by_hand: 7}", "by_hand is 7; give a whole number from 1 to 6"),
        ("{while: elapsed < 1, by_hand: 2}", "by_hand is no part of a loop"),
        ("{wait: 1, while: tild_deg > 3}", "while: there is no parameter 'tild_deg'; there are elapsed, tilt_deg"),
        (
            "{while: tilt_deg > 3, do: [{move: body, to: {z: 0.01}}]}",
            "while a condition holds ends elsewhere than it began; let it end as it began",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_with_file_line_and_step(tmp_path, step, reason):
    with pytest.raises(ActionError, match=reason) as caught:
        plan("mine", steps_of(tmp_path, "{name: first, wait: 0.1}", step))
    assert f"{tmp_path}/mine.yaml, line 5: mine, step 2" in str(caught.value)


def test_a_posture_in_which_a_leg_meets_the_chassis_is_refused():
    feet = np.zeros((1, 6, 3))
    feet[0, 4] = (0.0, 0.0, 0.22)
    high = dataclasses.replace(PLANNER.rest, feet=feet)
    reason = PLANNER.check.refusal(high, FOOTHOLDS, GAIT.stance_height)
    assert reason is not None and "chassis and lower_5_gore_link would overlap by 1." in reason[1]


def test_a_posture_that_takes_nearly_all_the_torque_is_refused_where_it_begins(tmp_path):
    lean = "{name: lean, do: [{move: body, to: {x: 0.06, y: 0.05, yaw_deg: -9}}]}"
    lift = "{name: lift, do: [{move: foot, legs: [5, 6], to: {z: 0.04}}]}"
    reason = r"lower_4_femur would need 8\d% of its torque, allowed are 80%; lift fewer feet"
    with pytest.raises(ActionError, match=reason) as caught:
        plan("mine", steps_of(tmp_path, lean, lift))
    assert f"{tmp_path}/mine.yaml, line 5: mine, step 2" in str(caught.value)
    stronger = Planner(dataclasses.replace(CONFIG, action=dataclasses.replace(CONFIG.action, effort=0.95)), GEOMETRY)
    assert plan("mine", ActionLibrary([tmp_path]), planner=stronger).duration > 1.0


@pytest.mark.parametrize(
    "text, reason",
    [
        ("mine: {steps: []}", "mine.yaml, line 1: mine: text is missing"),
        ("wave: {text: again, steps: [{wait: 1}]}", "action 'wave' is in .*basic.yaml, too"),
        ("mine: {text: a, steps: {}}", "steps is no list"),
        ("mine: {text: a, steps: []}", "no step is left"),
        (
            "\nmine:\n  text: a\n  parameters: {p: {default: 3, range: [0, 1]}}\n  steps: []",
            "line 2: mine: default 3 is outside",
        ),
        ("mine: [1, 2", "mine.yaml is not valid YAML in line 2"),
        ("mine: 3", "line 1: mine: 3 is no mapping"),
        ("mine: {text: a, cancel: later, steps: []}", "cancel is 'later'; choose from now, step, never"),
        (
            "mine: {text: a, parameters: {walked: {default: 0, range: [0, 1]}}, steps: []}",
            "walked is what the robot measures; give the parameter another name",
        ),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(tmp_path, text, reason):
    with pytest.raises(ValueError, match=reason):
        library_of(tmp_path, text)


def test_the_schema_for_editors_knows_the_keys_that_the_library_takes():
    schema = json.loads(package_file("shellbot_action_manager", "config/actions/schema.json").read_text())
    action = schema["additionalProperties"]["properties"]
    step = schema["$defs"]["step"]["properties"]
    motions = {row["properties"]["move"]["const"]: row["properties"] for row in step["do"]["items"]["anyOf"]}
    assert set(action) == set(module._ACTION_KEYS)
    assert set(action["parameters"]["additionalProperties"]["properties"]) == set(module._PARAMETER_KEYS)
    assert set(step) == set(step_module._STEP_KEYS)
    assert set(step["walk"]["properties"]) == set(step_module._WALK_KEYS)
    assert set(step["turn"]["properties"]) == set(step_module._TURN_KEYS)
    assert (
        tuple(step["mode"]["enum"]) == step_module.REQUESTED_MODES and tuple(action["cancel"]["enum"]) == module.CANCELS
    )
    assert all(name in step["while"]["description"] for name in step_module.MEASURED)
    assert set().union(*motions.values()) == set(step_module._MOTION_KEYS)
    for kind, keys in step_module.COORDINATES.items():
        assert tuple(motions[kind]["through"]["items"]["properties"]) == keys


def test_modes_walks_and_conditions_are_parts_of_the_plan(tmp_path):
    library = steps_of(
        tmp_path,
        "{name: lean, do: [{move: body, to: {x: 0.01}}]}",
        "{name: nod, while: elapsed < 9, repeat: 3, do: [{move: body, through: [{z: 0.01}, {z: 0}]}]}",
        "{name: go, walk: {x: 3, y: 4, speed: 0.1, gait: wave}}",
        "{name: there, while: walked < 1, action: stroll, with: {distance: 2}}",
        "{mode: sit}",
    )
    found = whole_plan("mine", library)
    assert [type(part) for part in found.parts] == [
        *(Performance, While, Performance, Again, Performance, Guided),
        *(While, Guided, Guided, Guided, Guided, Again, ModeChange),
    ]
    assert [part.steps for part in found.parts if isinstance(part, Performance)] == [
        ("lean",),
        ("nod",),
        ("back to rest",),
    ]
    assert (found.parts[1].most, found.parts[1].end, found.parts[3].begin) == (3, 4, 1)
    walk = found.parts[5]
    assert walk.motion.distance == pytest.approx(5.0) and walk.motion.direction == pytest.approx((0.6, 0.8))
    assert (walk.gait, found.parts[-1].mode, found.step_count) == ("wave", "sit", 9)


def test_after_sitting_down_it_has_to_stand_up_first(tmp_path):
    with pytest.raises(ActionError, match=r"line 5: mine, step 2 \(nod\): the robot is in mode sit here; give a step"):
        whole_plan("mine", steps_of(tmp_path, "{mode: sit}", "{name: nod, do: [{move: body, to: {z: 0.01}}]}"))
    whole_plan("mine", steps_of(tmp_path, "{mode: sit}", "{mode: stand}", "{do: [{move: body, to: {z: 0.01}}]}"))


def test_nothing_follows_a_foot_led_by_hand(tmp_path):
    lead = "{action: lead_leg}"
    with pytest.raises(ActionError, match="line 5: mine, step 2: by_hand is the last step of an action; leave out"):
        whole_plan("mine", steps_of(tmp_path, lead, "{wait: 1}"))


def test_an_error_in_an_action_that_is_referred_to_names_its_own_file(tmp_path):
    library = library_of(
        tmp_path,
        "far:\n  text: a\n  parameters: {x: {default: 0.0, range: [0, 1]}}\n  steps:\n"
        "    - {name: reach, do: [{move: body, to: {x: x}}]}\n"
        "mine:\n  text: b\n  steps:\n    - {action: bow}\n    - {action: far, with: {x: 0.5}}\n",
    )
    with pytest.raises(ActionError, match=r"mine.yaml, line 5: far, step 1 \(reach\): "):
        whole_plan("mine", library)


def test_waypoints_are_passed_when_at_says_so_and_what_is_equal_holds(tmp_path):
    do = "{move: foot, legs: 2, through: [{z: 0}, {z: 0.05}, {z: 0.05}, {z: 0}], at: [0.5, 1, 2, 2.5]}"
    lift = plan("mine", steps_of(tmp_path, f"{{do: [{do}, {{move: body, to: {{x: -0.02}}, at: 0.8}}]}}"))
    z = lift.postures.feet[: int(2.5 / TICK) + 1, 1, 2]
    assert (z[:51] == 0.0).all() and z[100:201] == pytest.approx(0.05) and z[-1] == pytest.approx(0.0)
    assert lift.postures.pose[80, 0] == pytest.approx(-0.02) and lift.postures.pose[79, 0] > -0.02


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ActionError, match=r"the folder of actions .*nowhere does not exist; create it or correct"):
        ActionLibrary([tmp_path / "nowhere"])


@pytest.mark.parametrize(
    "given, reason",
    [
        ({"height": 0.5}, "height of wave is 0.5 m; give a number from 0.02 to 0.08 m"),
        ({"height": float("nan")}, "height of wave is nan m"),
        ({"leg": 1.5}, "leg of wave is 1.5; give a whole number from 1 to 6"),
        ({"legg": 1}, "wave has no parameter 'legg'; is leg meant"),
    ],
)
def test_parameters_are_checked(given, reason):
    with pytest.raises(ActionError, match=reason):
        plan("wave", **given)


def test_expressions():
    names = {"a": 2, "b": 0.5}
    for text, value in (("a * b + 1", 2.0), ("-a", -2), ("max(a, 3) % 2", 1), ("a > b", True), ("a == 3", False)):
        assert evaluate(text, names) == value
    for text in ("a.real", "[1]", "'x'", "lambda: 1", "a if b else 0", "open(1)", "9 ** 9 ** 9", "a and", "(" * 200):
        with pytest.raises(ActionError):
            evaluate(text, names)


def test_stability_is_the_distance_to_the_edge_of_those_that_stand():
    feet, everything = FOOTHOLDS[None], np.ones((1, 6), dtype=bool)
    radius = GAIT.rest_radius
    assert stability(feet, everything, np.zeros((1, 2)))[0] == pytest.approx(radius * np.cos(np.pi / 6))
    tripod = np.array([[True, False] * 3])
    assert stability(feet, tripod, np.zeros((1, 2)))[0] == pytest.approx(0.5 * radius)
    assert stability(feet, tripod, np.array([[-0.6 * radius, 0.0]]))[0] < 0.0
    two = np.array([[True, False, False, True, False, False]])
    assert stability(feet, two, np.zeros((1, 2)))[0] == -np.inf


def test_a_robot_without_upper_legs_refuses_what_needs_them():
    walker = Planner(CONFIG, load_geometry("walker"))
    assert plan("wave", planner=walker).postures.upper.shape[1] == 0
    with pytest.raises(ActionError, match="this robot has no upper legs"):
        plan("greet", planner=walker)


def test_limits_make_an_action_slower():
    slow = dataclasses.replace(CONFIG, action=dataclasses.replace(CONFIG.action, foot_velocity=0.05))
    assert plan("wave", planner=Planner(slow, GEOMETRY)).duration > 1.5 * plan("wave").duration


@pytest.mark.parametrize(
    ("through", "passes"),
    [
        ("[{x: 0.02}, {y: 0.02}, {x: 0, y: 0}]", {"x": 0.02, "y": 0.02}),
        ("[{x: 0.01}, {y: 0.01}]", {"x": 0.01, "y": 0.01}),
        ("[{x: 0.01}, {x: 0.01, y: 0.01}]", {"x": 0.01, "y": 0.01}),
        ("[{x: 0.01}, {y: 0.01}, {z: 0.01}]", {"x": 0.01, "y": 0.01, "z": 0.01}),
        ("[{x: 0.01}, {y: 0.01}, {y: -0.01}]", {"x": 0.01, "y": 0.01}),
    ],
)
def test_waypoints_of_different_coordinates_are_all_passed(tmp_path, through, passes):
    """A coordinate that is left out goes smoothly through those that are given: none is dropped."""
    pose = plan("mine", steps_of(tmp_path, f"{{do: [{{move: body, through: {through}}}]}}")).postures.pose
    for axis, value in passes.items():
        column = pose[:, "xyz".index(axis)]
        assert np.abs(column - value).min() < 2e-4, axis
        assert column.max() < value + 0.004, axis


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("{do: [{move: body, to: {x: 1.0e+3}}]}", "x of body is 1000 m; give -1 to 1"),
        ("{do: [{move: body, to: {yaw_deg: 1.0e+300}}]}", "yaw_deg of body is 1e\\+300 deg; give -360 to 360"),
        ("{do: [{move: foot, legs: 1, through: [{x: 1.7e+308}, {x: -1.7e+308}]}]}", "x of foot is 1.7e\\+308 m"),
        ("{do: [{move: body, through: [{x: 0.01}, {x: 0.02}], at: [400, 800]}]}", "to 600"),
        ("{do: [{move: foot, legs: [], to: {z: 0.03}}]}", "legs is empty"),
        ("{do: [{move: [body], to: {x: 0.01}}]}", "move is \\['body'\\]; choose from"),
        ("{do: [{move: body, to: {x: %s}}]}" % ("9" * 401), "is no finite number|cannot be computed"),
        ('{do: [{move: body, to: {x: "%s1"}}]}' % ("-" * 100000), "give an expression of 200 at most"),
        ("{wait: 1, with: {leg: 2}}", "with gives the parameters of another action"),
        ("{action: wave, with: [1]}", "with is \\[1\\]; give parameters of wave by name"),
        ("{action: wave, with: {1: 33}}", "wave has no parameter '1'"),
        ("{action: [wave]}", "there is no action \\['wave'\\]"),
        ("{name: [a, b], wait: 1}", "name is \\['a', 'b'\\]; give a text"),
        ("{do: [{move: foot, legs: [1, 2, 3, 4], to: {z: 0.03}}]}", "2 feet stand, which three at least must"),
    ],
)
def test_nonsense_is_refused_before_it_costs_memory_or_a_traceback(tmp_path, step, reason):
    with pytest.raises(ActionError, match=reason):
        plan("mine", steps_of(tmp_path, step))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("on: {text: a, steps: [{wait: 1}]}", "an action is named True; give a text, in quotes"),
        ("1: {text: a, steps: [{wait: 1}]}", "an action is named 1"),
        ("? [a]\n: {text: a, steps: [{wait: 1}]}", "a key is a list or a mapping"),
        ("a: {text: 2020-99-99, steps: [{wait: 1}]}", "holds a value that cannot be read"),
        ("a: {text: !!int x, steps: [{wait: 1}]}", "holds a value that cannot be read"),
        ("a: {text: !!bool x, steps: [{wait: 1}]}", "holds a value that cannot be read"),
        ("a: {text: a, parameters: [1], steps: [{wait: 1}]}", "parameters is \\[1\\]; give a mapping"),
        (
            "a: {text: a, parameters: {p q: {default: 1, range: [0, 2]}}, steps: [{wait: 1}]}",
            "named 'p q'; give a name of",
        ),
        (
            "a: {text: a, parameters: {speed: {default: 1, range: [0, 2]}}, steps: [{wait: 1}]}",
            "speed is a keyword",
        ),
        ("a: " + 100000 * "[" + 100000 * "]", "has 100000 nested brackets; give at most 200"),
        ("a: {text: a, steps: []}", "line 1: a: no step is left"),
    ],
)
def test_a_file_of_nonsense_is_refused_in_a_sentence(tmp_path, text, reason):
    with pytest.raises((ActionError, ConfigError), match=reason):
        library_of(tmp_path, text)


def test_references_that_double_at_every_level_are_refused_at_once(tmp_path):
    twice = "{action: c%d, while: elapsed < 0, repeat: 0}"
    rows = [f"c{i}: {{text: t, steps: [{twice % (i + 1)}, {twice % (i + 1)}, {{wait: 0.1}}]}}" for i in range(18)]
    with pytest.raises(ActionError, match="its references expand to more than 5000 steps"):
        library_of(tmp_path, "\n".join([*rows, "c18: {text: t, steps: [{wait: 0.1}]}"]))
    deep = [f"d{i}: {{text: t, steps: [{{action: d{i + 1}}}]}}" for i in range(1000)]
    with pytest.raises(ActionError, match="nested deeper than 20"):
        library_of(tmp_path, "\n".join([*deep, "d1000: {text: t, steps: [{wait: 0.1}]}"]))


def test_a_plan_of_hours_is_refused(tmp_path):
    library = library_of(
        tmp_path,
        "mine: {text: t, steps: [{action: b, repeat: 60}]}\nb: {text: t, steps: [{wait: 600}, {walk: {x: 0.1}}]}",
    )
    with pytest.raises(ActionError, match="longer than 3600 s together"):
        plan("mine", library)


def test_a_step_of_hours_is_refused_before_its_postures_are_made(tmp_path):
    there_and_back = ", ".join(["{x: 1}, {x: -1}"] * 100)
    with pytest.raises(ActionError, match="a step may take 600 s"):
        plan("mine", steps_of(tmp_path, f"{{do: [{{move: body, through: [{there_and_back}]}}]}}"))


@pytest.mark.parametrize("use", ["wait: *l7", "name: *l7", "do: *l7", "wait: 1, with: *l7"])
def test_aliases_that_multiply_are_refused_in_a_short_sentence(tmp_path, use):
    """Ten aliases at each of eight levels: what YAML shares must not be written out."""
    levels = ["l0: &l0 [1]", *(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 8))]
    text = "mine: {text: {" + ", ".join(levels) + "}, steps: [{" + use + "}]}"
    with pytest.raises(ActionError) as caught:
        library_of(tmp_path, text.replace("text: {", "text: a, cancel: {", 1))
    assert len(str(caught.value)) < 1000
    with pytest.raises(ActionError) as caught:
        library_of(tmp_path, "mine: {text: a, parameters: {" + ", ".join(levels) + "}, steps: [{" + use + "}]}")
    assert len(str(caught.value)) < 1000


def test_folders_that_cannot_be_used_are_named(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("mine: {text: t, steps: [{wait: 1}]}")
    with pytest.raises(ActionError, match="mine.yaml is a file; give the folder that it is in"):
        ActionLibrary([file])
    with pytest.raises(ActionError, match="does not exist"):
        ActionLibrary([tmp_path / "nowhere"])
    with pytest.raises(ActionError, match="cannot be read"):
        ActionLibrary(["x" * 5000])
    os.mkfifo(tmp_path / "pipe.yaml")
    with pytest.raises(ConfigError, match="it is no regular file"):
        ActionLibrary([tmp_path])


def test_a_file_that_changes_after_it_was_read_does_not_change_what_is_said(tmp_path):
    parameters = "  parameters: {h: {default: 0.01, range: [0, 5]}}\n"
    library = steps_of(tmp_path, "{do: [{move: body, to: {z: h}}]}", parameters=parameters)
    for change in (lambda file: file.write_bytes(b"\xff\x00"), lambda file: file.unlink()):
        change(tmp_path / "mine.yaml")
        with pytest.raises(ActionError, match="mine.yaml, line 5: mine, step 1"):
            plan("mine", library, h=0.3)


@pytest.mark.parametrize("leg", ["3", [3], None, {}, b"3", 3 + 0j, True, 10**400])
def test_a_parameter_of_another_type_is_refused_in_words(leg):
    core = ActionManagerCore.from_description()
    accepted, reason = core.perform("wave", {"leg": leg})
    assert not accepted and "leg of wave is" in reason and "from 1 to 6" in reason
    assert core.perform("wave", {}, speed="fast")[1].startswith("speed is fast")
    assert core.perform(None, {})[1].startswith("there is no action None")
