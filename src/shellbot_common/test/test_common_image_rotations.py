# SPDX-License-Identifier: MIT
"""Camera pictures and rotations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from shellbot_common import ImageError
from shellbot_common.image import rgb_array
from shellbot_common.rotations import (
    is_attitude,
    quaternion_from_rpy,
    rotation_from_rpy,
    rpy_from_quaternion,
    tilt_from_quaternion,
    up_from_quaternion,
    wrap_angle,
    yaw_from_quaternion,
)


@pytest.mark.parametrize(
    "encoding, pixel, expected",
    [
        ("rgb8", (1, 2, 3), (1, 2, 3)),
        ("bgr8", (3, 2, 1), (1, 2, 3)),
        ("rgba8", (1, 2, 3, 9), (1, 2, 3)),
        ("bgra8", (3, 2, 1, 9), (1, 2, 3)),
        ("mono8", (7,), (7, 7, 7)),
    ],
)
def test_pictures_are_decoded_with_padding(encoding, pixel, expected):
    row = bytes(pixel) * 2 + b"\xff\xff"
    pixels = rgb_array(3, 2, encoding, len(row), row * 3)
    assert pixels.shape == (3, 2, 3) and pixels.flags.c_contiguous and (pixels == expected).all()


@pytest.mark.parametrize(
    "arguments",
    [(1, 1, "yuv422", 2, b"00"), (2, 2, "rgb8", 6, b"0" * 11), (1, 2, "rgb8", 3, b"0" * 6), (0, 1, "rgb8", 3, b"")],
)
def test_pictures_that_do_not_fit_are_refused(arguments):
    with pytest.raises(ImageError):
        rgb_array(*arguments)


def test_what_units_send_for_no_attitude_is_none():
    none = ([0.0] * 4, [np.nan] * 4, [0.0, 0.0, np.nan, 1.0], [np.inf, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.4])
    assert not any(is_attitude(np.array(values)) for values in none)
    assert is_attitude(np.array([0.0, 0.0, 0.6, 0.8])) and is_attitude(np.array([0.0, -0.6, 0.0, 0.0]))


def test_rotations_agree_with_scipy_and_each_other():
    random = np.random.default_rng(1)
    for rpy in random.uniform(-1.4, 1.4, (50, 3)):
        expected = Rotation.from_euler("xyz", rpy)
        np.testing.assert_allclose(rotation_from_rpy(*rpy), expected.as_matrix(), atol=1e-12)
        quaternion = quaternion_from_rpy(*rpy)
        np.testing.assert_allclose(Rotation.from_quat(quaternion).as_matrix(), expected.as_matrix(), atol=1e-12)
        np.testing.assert_allclose(rpy_from_quaternion(*quaternion), rpy, atol=1e-12)
        np.testing.assert_allclose(up_from_quaternion(np.array(quaternion)), expected.as_matrix()[2], atol=1e-12)


@pytest.mark.parametrize("quaternion", [(0, 0, 0, 0), (math.nan, 0, 0, 1), (math.inf, 0, 0, 1)])
def test_a_quaternion_that_is_none_gives_nan(quaternion):
    assert all(math.isnan(value) for value in rpy_from_quaternion(*quaternion))


def test_an_angle_is_wrapped_into_one_range_for_all():
    for angle, wrapped in ((math.pi, math.pi), (-math.pi, math.pi), (3 * math.pi, math.pi), (2 * math.pi, 0.0),
                           (3.5 * math.pi, -0.5 * math.pi), (0.1, 0.1), (-3.1, -3.1)):  # fmt: skip
        assert wrap_angle(angle) == wrapped, angle


def test_yaw_and_tilt_of_one_and_of_many_quaternions():
    q = np.array([quaternion_from_rpy(0.0, tilt, yaw) for tilt, yaw in ((0.0, -3.0), (0.4, 2.5))])
    assert yaw_from_quaternion(q) == pytest.approx([-3.0, 2.5])
    assert tilt_from_quaternion(q) == pytest.approx([0.0, 0.4], abs=1e-9)
    assert float(yaw_from_quaternion(q[1])) == pytest.approx(2.5)
