# SPDX-License-Identifier: MIT
"""Which sole the heading is taken from: one that carries load during the tick; of two that slide, the slower one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.base_estimator import _turn
from humanoid_motion.engine import WalkingEngine
from humanoid_motion.parameters import WalkError

LEVEL = (0.0, 0.0, 0.0)
STANDS, NEW, NONE = 40.0, 0.01, 0.0  # trusts, N: of a sole that has stood for long, has just landed, is in the air


def about_z(deg):
    c, s = math.cos(math.radians(deg)), math.sin(math.radians(deg))
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def turn(degrees, before, now, apart_deg):
    """Return what the soles tell and how far they turned apart, deg, when each turned so far against the base."""
    old, new = np.array([np.eye(3)] * 2), np.array([about_z(angle) for angle in degrees])
    trusts = np.array(before), np.array(now)
    return np.degrees(_turn(np.eye(3), old, new, np.eye(3), LEVEL, *trusts, math.radians(apart_deg)))


def test_the_sole_that_has_stood_for_long_counts_and_not_the_one_that_lands():
    found, apart = turn((-0.5, 0.3), (STANDS, NONE), (STANDS, NEW), 1.0)
    assert found == pytest.approx(-0.5, abs=1e-3) and apart == pytest.approx(0.8)


@pytest.mark.parametrize(("apart_deg", "expected"), [(0.0, 0.3), (0.005, 0.29), (0.5, -0.49), (5.0, -0.5)])
@pytest.mark.parametrize("lifts", [0, 1])
def test_a_sole_that_loses_its_load_in_the_tick_counts_if_the_other_lands_turning(apart_deg, expected, lifts):
    order = slice(None, None, 1 if lifts == 0 else -1)
    found, _ = turn((-0.5, 0.3)[order], (STANDS, NONE)[order], (NONE, NEW)[order], apart_deg)
    assert found == pytest.approx(expected, abs=0.01)


def test_a_sole_that_lifts_alone_still_counts():
    assert turn((-0.5, 0.3), (STANDS, NONE), (NEW, NONE), 0.0)[0] == pytest.approx(-0.5)


def test_a_heading_that_does_not_exist_is_refused():
    with pytest.raises(WalkError, match="heading is 'compass'; choose one of imu, feet"):
        WalkingEngine(humanoid_description.urdf_text(), humanoid_description.profile(), heading="compass")
