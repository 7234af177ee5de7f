# SPDX-License-Identifier: MIT
"""Pictures of a robot that is posed and not simulated, with marks and a ghost: what they show is found by colour."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_robot import URDF, profile

from shellbot_common.view import Mark, View
from shellbot_simulator.core.robot_picture import RobotPicture

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
