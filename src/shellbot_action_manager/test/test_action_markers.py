# SPDX-License-Identifier: MIT
"""What the markers show: support and margin against known geometry, reach, paths, footsteps, other contact models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from shellbot_action_manager.actions.postures import stability
from shellbot_action_manager.body.body_pose import feet_in_base
from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.config import load_config
from shellbot_action_manager.gait.walk_engine import WalkEngine
from shellbot_action_manager.gait.walking import neutral_feet
from shellbot_action_manager.interface import ContactEstimate
from shellbot_action_manager.markers.marker_core import PERIOD, BasePose, MarkerCore
from shellbot_action_manager.markers.reach import GroundReach
from shellbot_action_manager.markers.shapes import GREEN, RED, YELLOW, Kind, margin_colour
from shellbot_action_manager.markers.support import find_support

CONFIG = load_config()
LEGS = replace(load_geometry("walker").legs, shank_min=CONFIG.shank_min)
HEIGHT = 0.16
FEET = np.column_stack((neutral_feet(0.27), np.full(6, -HEIGHT)))  # in base_link
NO_FEET = np.full((6, 3), np.nan)


def contacts(stands=(True,) * 6, model="feet"):
    stands = np.array(stands)
    pressure = np.where(stands[:, None], FEET, np.nan)
    names = tuple(f"lower_{k}_foot" for k in range(1, 7))
    load = stands / max(int(stands.sum()), 1)
    return ContactEstimate(model, names, stands, np.full(6, np.nan), load, FEET, pressure, pressure)


def pose(x=0.0, yaw=0.0):
    c, s = np.cos(yaw), np.sin(yaw)
    T = np.array([[c, -s, 0.0, x], [s, c, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    return BasePose(T, HEIGHT, (0.0, 0.0, 0.0, 1.0))


def picture(core, t, shown=None, place=None, commanded=FEET, footsteps=NO_FEET):
    """Give everything of a tick; return its shapes by layer and number, None if no picture was due."""
    core.receive_contacts(t, contacts() if shown is None else shown)
    core.receive_commanded(t, commanded)
    core.receive_footsteps(t, footsteps)
    core.receive_pose(t, pose() if place is None else place)
    drawn = core.draw()
    return None if drawn is None else {(shape.layer, shape.number): shape for shape in drawn[1]}


def layers(shapes):
    return {layer for layer, _ in shapes}


# ---- support ----


def test_the_margin_of_a_square_is_the_distance_to_its_nearest_side():
    square = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [0.1, 0.2]])  # in no order, one inside
    support = find_support(square, np.array([0.7, 0.1]))
    assert support.margin == pytest.approx(0.3)
    assert support.nearest == pytest.approx([1.0, 0.1])
    x, y = support.corners.T
    assert len(support.corners) == 4
    assert np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)) == pytest.approx(2 * 4.0), "counter-clockwise area"
    outside = find_support(square, np.array([2.0, 2.0]))
    assert (outside.margin, tuple(outside.nearest)) == (pytest.approx(-np.sqrt(2.0)), (1.0, 1.0))


@pytest.mark.parametrize("feet", [[], [[0.1, 0.2]], [[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]])
def test_feet_without_area_are_no_support(feet):
    assert find_support(np.array(feet).reshape(-1, 2), np.zeros(2)) is None


def test_the_margin_is_the_one_that_actions_are_planned_with():
    random = np.random.default_rng(3)
    for trial in range(200):
        stands = random.permutation([True] * 3 + list(random.random(3) < 0.5))
        centre = random.uniform(-0.08, 0.08, 2)
        planned = stability(FEET[None], stands[None], centre[None])[0]
        if planned > 0.0:  # outside, planning measures to the line of an edge, not to the edge
            assert find_support(FEET[stands, :2], centre).margin == pytest.approx(planned), trial


def test_colours_change_at_the_required_margin_and_at_half_of_it():
    required = 0.03
    seen = [margin_colour(margin, required) for margin in (0.0301, 0.0299, 0.0151, 0.0149, -0.1, -np.inf)]
    assert seen == [GREEN, YELLOW, YELLOW, RED, RED, RED]


# ---- reach ----


def test_the_outline_is_where_the_leg_ends_to_reach():
    radius = CONFIG.gaits["tripod"].stance_radius
    reach = GroundReach(LEGS, radius, CONFIG.joint_margin)
    tilt = np.array([0.0, 0.0, 0.0, 0.05, -0.03, 0.0])
    outlines = reach.outlines(HEIGHT, 0.05, -0.03)
    assert outlines.shape == (6, 49, 2) and (outlines[:, 0] == outlines[:, -1]).all()
    rest = neutral_feet(radius)[:, None]

    def free(points):
        p_walk = np.concatenate((points, np.zeros((*points.shape[:2], 1))), axis=2)
        q = LEGS.solve(feet_in_base(p_walk, tilt, HEIGHT))
        return (LEGS.margin(q, stands=True) >= CONFIG.joint_margin).all(axis=-1)

    assert free(rest + 0.999 * (outlines - rest)).all()
    outwards = (outlines - rest) / np.linalg.norm(outlines - rest, axis=2, keepdims=True)
    assert not free(outlines + 0.0025 * outwards).any(), "the next point of the search"


def test_the_reach_is_searched_again_only_when_the_body_moved():
    reach = GroundReach(LEGS, 0.3, CONFIG.joint_margin)
    first = reach.outlines(HEIGHT, 0.0, 0.0)
    assert reach.outlines(HEIGHT + 0.003, 0.02, -0.02) is first
    lower = reach.outlines(HEIGHT - 0.02, 0.0, 0.0)
    assert lower is not first and np.abs(lower - first).max() > 0.002
    assert np.isnan(reach.outlines(0.02, 0.0, 0.0)).all(), "sitting: no foot stands at its rest point"


# ---- the picture ----


def test_a_standing_robot_shows_feet_support_margin_and_reach():
    shapes = picture(MarkerCore(CONFIG), 1.0, place=pose(x=2.0, yaw=np.pi / 2))
    assert {"feet", "load", "support", "margin", "reach"} <= layers(shapes)
    assert "footsteps" not in layers(shapes)
    np.testing.assert_allclose(shapes["feet", 0].points[0, :2], [2.0, 0.27], atol=1e-9)
    assert shapes["load", 0].text == "17%"
    assert len(shapes["support", 1].points) == 7, "a closed hexagon"
    text = shapes["margin", 2]
    assert (text.text, text.colour) == ("margin 234 mm", GREEN)  # 0.27 cos 30 deg
    assert len(shapes["support", 0].points) == 3 * 4


def test_discs_have_areas_like_loads_and_feet_in_the_air_are_spheres():
    core = MarkerCore(CONFIG)
    tripod = picture(core, 1.0, contacts((True, False) * 3))
    hexapod = picture(core, 1.0 + PERIOD)
    assert [tripod["feet", k].kind for k in range(6)] == [Kind.DISC, Kind.SPHERE] * 3
    assert (tripod["feet", 0].size / hexapod["feet", 0].size) ** 2 == pytest.approx(2.0)
    assert len(tripod["support", 1].points) == 4
    assert tripod["margin", 2].text == "margin 135 mm"


def test_two_feet_are_no_support_and_that_is_said():
    shapes = picture(MarkerCore(CONFIG), 1.0, contacts((True, False, False, True, False, False)))
    assert "support" not in layers(shapes)
    assert (shapes["margin", 2].text, shapes["margin", 2].colour) == ("no support", RED)


@pytest.mark.parametrize("model, feet", [("rolling", {0, 1}), ("none", set())])
def test_a_robot_that_is_not_on_its_feet_shows_only_what_touches(model, feet):
    stands = [k in feet for k in range(6)]
    shapes = picture(MarkerCore(CONFIG), 1.0, contacts(stands, model))
    # with the model "none" nothing is known to stand, and feet in the air say nothing
    assert set(shapes) == {("feet", k) for k in feet}


def test_pictures_come_at_their_period_and_need_pose_and_contacts_of_one_tick():
    core = MarkerCore(CONFIG)
    core.receive_pose(1.0, pose())
    assert core.draw() is None
    drawn = [i for i in range(100) if picture(core, 1.0 + 0.01 * i) is not None]
    assert np.diff(drawn).tolist() == [5] * (len(drawn) - 1) and len(drawn) == 20
    core.receive_contacts(2.5, contacts())
    core.receive_pose(2.4, pose())
    assert core.draw() is None, "pose and contacts of different ticks"


def test_a_path_is_what_was_commanded_in_the_last_two_seconds_in_odom():
    core, shapes = MarkerCore(CONFIG), {}
    for i in range(301):
        shapes = picture(core, 1.0 + 0.01 * i, place=pose(x=0.001 * i)) or shapes
    points = shapes["path", 0].points  # the body moves at 0.1 m/s, the feet with it
    assert points[0, 0] == pytest.approx(0.27 + 0.1, abs=0.003)
    assert points[-1, 0] == pytest.approx(0.27 + 0.3, abs=0.003)
    jumped = picture(core, 4.0 + PERIOD, place=pose(x=-5.0))
    assert ("path", 0) not in jumped, "the odometry began again at its origin"
    for i in range(1, 301):
        shapes = picture(core, 4.0 + PERIOD + 0.01 * i, commanded=NO_FEET, place=pose(x=-5.0)) or shapes
    assert "path" not in layers(shapes), "no foot is commanded any more"


def test_footsteps_are_seen_from_the_real_feet_until_they_are_planned_no_more():
    core = MarkerCore(CONFIG)
    planned = NO_FEET.copy()
    planned[1] = FEET[1] + [0.05, 0.0, 0.0]
    behind = np.array([-0.004, 0.0, 0.0])  # all standing feet against their command
    swing = contacts((True, False) * 3)
    shapes = picture(core, 1.0, swing, pose(x=1.0), FEET - behind, planned)
    expected = [1.0 + FEET[1, 0] + 0.05 - 0.004, FEET[1, 1]]
    np.testing.assert_allclose(shapes["footsteps", 1].points[0, :2], expected, atol=1e-9)
    assert [number for layer, number in shapes if layer == "footsteps"] == [1]
    assert "footsteps" not in layers(picture(core, 1.0 + PERIOD))


def test_a_reset_of_the_clock_forgets_everything():
    core = MarkerCore(CONFIG)
    planned = FEET + [0.05, 0.0, 0.0]
    for i in range(100):
        picture(core, 100.0 + 0.01 * i, place=pose(x=0.001 * i), footsteps=planned)
    core.receive_contacts(0.5, contacts())
    core.receive_footsteps(100.99, planned)  # still under way when the clock went back
    for late, x in ((100.98, 0.0), (100.99, 0.05)):
        core.receive_commanded(late, FEET)
        core.receive_pose(late, pose(x))
    core.receive_pose(0.5, pose())
    drawn = core.draw()
    assert drawn[0] == 0.5
    assert not {"footsteps", "path"} & {shape.layer for shape in drawn[1]}


# ---- the plan ----


def test_the_walking_engine_says_where_a_swinging_foot_lands():
    engine = WalkEngine(CONFIG, LEGS)
    assert np.isnan(engine.footsteps).all()
    twist, said, landed = np.array([0.15, 0.0, 0.0]), {}, 0
    for _ in range(400):
        engine.step(0.01, twist, np.zeros(6), None)
        now = {int(k): engine.footsteps[k] for k in np.flatnonzero(np.isfinite(engine.footsteps[:, 0]))}
        assert sorted(now) == np.flatnonzero(~engine.standing).tolist()
        for leg in said.keys() - now.keys():
            p_base = engine.p_walk[leg] - [0.0, 0.0, engine.gait.stance_height]
            # the ground has moved under the body for a tick since it was said
            assert np.linalg.norm(p_base - said[leg]) < 0.003
            landed += 1
        said = now
    assert landed > 12


def test_every_layer_is_named_in_the_saved_configuration():
    core, shown = MarkerCore(CONFIG), set()
    for i in range(10):
        moving = FEET + [0.01 * i, 0.0, 0.0]
        shown |= layers(picture(core, 1.0 + PERIOD * i, commanded=moving, footsteps=FEET))
    folder = Path(__file__).resolve().parents[2] / "shellbot_bringup" / "rviz"
    displays = yaml.safe_load((folder / "shellbot.rviz").read_text(encoding="utf-8"))["Visualization Manager"][
        "Displays"
    ]
    (display,) = [each for each in displays if each.get("Marker Topic") == "markers"]
    assert display["Class"] == "rviz/MarkerArray" and set(display["Namespaces"]) == shown
