# SPDX-License-Identifier: MIT
"""Pictures of a robot that is posed and not simulated, with marks and a ghost: what they show is found by colour.

And what a camera on a robot sees, with the camera_info of its pictures.
"""

from __future__ import annotations

import numpy as np
import pytest
import rospy
from tiny_robot import URDF, profile

from shellbot_common import ProfileError
from shellbot_common.view import Mark, View
from shellbot_simulator.core.config import SimulatorConfig
from shellbot_simulator.core.errors import ModelError, RenderError
from shellbot_simulator.core.render_process import RenderProcess
from shellbot_simulator.core.robot_picture import RobotPicture
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.node.sensor_conversions import camera_info_message

ABOVE = View((0.0, 0.0, 0.0), 2.0, 90.0, -89.0)  # y at the top, x to the right
WIDTH, HEIGHT = 160, 120
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
BLUE = (0.0, 0.0, 1.0, 1.0)


@pytest.fixture(scope="module")
def picture():
    picture = RobotPicture(URDF, profile())
    yield picture
    picture.close()


def draw(picture, place=(0.0, 0.0, 0.1), angles=None, **more):
    base = None if place is None else (np.array(place), LEVEL)
    return picture.render(base, angles or {}, WIDTH, HEIGHT, ABOVE, **more).astype(int)


def seen(pixels, channel):
    """Centre (column, row) and number of the pixels in which one of the three colours is far above the others."""
    others = np.delete(pixels, channel, axis=-1).max(axis=-1)
    rows, columns = np.nonzero(pixels[..., channel] > others + 60)
    return (columns.mean() if len(columns) else np.nan, rows.mean() if len(rows) else np.nan), len(rows)


def test_the_robot_is_drawn_where_it_was_measured(picture):
    (column, row), count = seen(draw(picture), 0)
    assert count > 100 and column == pytest.approx(WIDTH / 2, abs=2) and row == pytest.approx(HEIGHT / 2, abs=2)
    (right, _), _ = seen(draw(picture, (0.3, 0.0, 0.1)), 0)
    assert right > column + 10
    assert seen(draw(picture, None), 0)[0][0] == pytest.approx(right, abs=0.1), "where it was last"
    assert seen(draw(picture, (np.nan, 0.0, 0.1)), 0)[0][0] == pytest.approx(right, abs=0.1)


def test_what_is_no_number_and_unknown_joints_change_nothing(picture):
    before = draw(picture)
    assert (draw(picture, angles={"left": np.nan, "tail": 1.0}) == before).all()


@pytest.mark.parametrize("kind, size", [("disc", 0.2), ("sphere", 0.2), ("arrow", 0.1), ("area", 1.0), ("line", 4.0)])
def test_marks_are_drawn_where_they_are(picture, kind, size):
    points = np.array([[0.5, 0.3, 0.0], [0.6, 0.3, 0.0], [0.5, 0.45, 0.0]]) + [0.0, 0.0, 0.01]
    pixels = draw(picture, marks=[Mark(kind, points[: 2 if kind == "arrow" else 3], size, BLUE)])
    (column, row), count = seen(pixels, 2)
    assert count > 5 and column > 0.6 * WIDTH and row < 0.45 * HEIGHT
    assert seen(draw(picture), 2)[1] == 0
    assert seen(draw(picture, marks=[Mark(kind, np.full((3, 3), np.nan), size, BLUE)]), 2)[1] == 0


def test_text_is_drawn(picture):
    label = Mark("text", np.array([[0.4, 0.3, 0.1]]), 1.0, (1.0, 1.0, 1.0, 1.0), "five")
    assert np.abs(draw(picture, marks=[label]) - draw(picture)).max() > 60


def test_the_ghost_is_the_robot_once_more_and_faint(picture):
    plain, ghost = draw(picture), (np.array([-0.4, 0.0, 0.1]), LEVEL)
    changed = np.abs(draw(picture, ghost=ghost) - plain).max(axis=-1) > 4
    _, columns = np.nonzero(changed)
    assert columns.size > 100 and columns.mean() < 0.4 * WIDTH
    assert seen(draw(picture, ghost=ghost), 0)[1] == seen(plain, 0)[1], "there is one red robot"


def test_more_marks_than_there_is_room_for_are_left_out(picture):
    many = Mark("disc", np.zeros((12000, 3)), 0.01, BLUE)
    assert draw(picture, marks=[many]).shape == (HEIGHT, WIDTH, 3)


CAMERA = {"optical_frame": "left_tip", "field_of_view_deg": 70, "width": WIDTH, "height": HEIGHT}


def test_a_camera_of_the_robot_sees_what_its_camera_info_says():
    """A board of 0.4 x 0.3 m, aside of the axis: where its middle and its edges are in the picture."""
    distance, aside, height, width = 1.5, 0.35, 0.3, 0.4
    cameras, pictures = profile(cameras={"chassis": CAMERA}), []
    for boxes in ((), ((distance + 0.001, aside, 0.002, width, height),)):
        simulator = Simulator(URDF, cameras, SimulatorConfig(boxes=boxes))
        process = RenderProcess(simulator.model, nice=False)
        pictures.append(process.render(simulator.data.qpos, WIDTH, HEIGHT, "chassis").astype(int))
        eye = simulator.state().p_world_base
        process.close()
    rows, columns = np.nonzero(np.abs(pictures[1] - pictures[0]).max(axis=-1) > 4)
    info = camera_info_message(cameras.cameras["chassis"], rospy.Time(1))
    matrix, projection = np.array(info.K).reshape(3, 3), np.array(info.P).reshape(3, 4)
    corners = [
        (-aside - side * width / 2, eye[2] - top, distance - eye[0]) for side in (-1, 1) for top in (0.0, height)
    ]
    points = np.array(corners) @ matrix.T  # x to the right, y down, z ahead
    assert projection[:, :3] == pytest.approx(matrix)
    (left, low), (right, high) = (
        (points[:, :2] / points[:, 2:]).min(axis=0),
        (points[:, :2] / points[:, 2:]).max(axis=0),
    )
    assert [columns.min(), columns.max() + 1] == pytest.approx([left, right], abs=1.5)
    assert [rows.min(), rows.max() + 1] == pytest.approx([low, high], abs=1.5)
    assert (info.header.frame_id, info.width, info.height) == ("left_tip", WIDTH, HEIGHT)


def test_a_camera_nowhere_or_without_a_view_is_refused():
    frame = {"chassis": {**CAMERA, "optical_frame": "nose"}}
    for cameras, key in (({"nose": CAMERA}, "cameras"), (frame, "cameras.chassis.optical_frame")):
        with pytest.raises(ModelError, match=f"{key} names 'nose'; the robot description has the links base_link"):
            Simulator(URDF, profile(cameras=cameras))
    with pytest.raises(
        ProfileError, match=r"cameras.chassis.field_of_view_deg is 180; give a number from 1 to 170 deg"
    ):
        profile(cameras={"chassis": {**CAMERA, "field_of_view_deg": 180}})


def test_pictures_of_several_sizes_take_turns(picture):
    sizes = [(WIDTH, HEIGHT), (80, 60), (64, 64), (48, 32), (WIDTH, HEIGHT), (64, 64)]
    for width, height in sizes:
        pixels = picture.render(None, {}, width, height, ABOVE)
        assert pixels.shape == (height, width, 3) and seen(pixels.astype(int), 0)[1] > 10


def test_a_camera_that_does_not_exist_is_named():
    simulator = Simulator(URDF, profile(cameras={"chassis": CAMERA}))
    with pytest.raises(RenderError, match="no camera at 'nose'; there are: follow, chassis"):
        simulator.render(WIDTH, HEIGHT, "nose")
    simulator.close()
