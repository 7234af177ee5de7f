# SPDX-License-Identifier: MIT
"""The spring study: theory and simulation agree on what is stable, and the map is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from robot_evaluation.tuning.spring_study import Foot, damping_needed, growth, simulate, tick_matrix, wander
from shellbot_common import SettingsError
from shellbot_evaluation import plot_cli
from shellbot_evaluation.spring_figure import FRICTION, MASS, STIFFNESS

FOOT = Foot(MASS)
QUIET = Foot(MASS, joint_noise=0.0, foot_noise=0.0)


def test_a_small_deviation_grows_in_the_simulation_as_the_matrix_says():
    """From the same noise-free start; the foot stays pressed on the ground, where the spring is linear."""
    start, gains = -9.81 * QUIET.mass / QUIET.ground, (STIFFNESS, 25.0, 0.5)
    _, z = simulate(*(np.array(g) for g in gains), QUIET, 0.05, 0, height=start + 1e-5)
    state = np.array([0.0, 0.0, 0.0])  # from where it begins: the reference
    matrix = tick_matrix(*gains, QUIET, stands=True)
    free = -(9.81 * QUIET.mass + QUIET.ground * (start + 1e-5)) / QUIET.mass  # acceleration that the offset leaves
    one = np.eye(3) + QUIET.timestep * np.array(
        [[0, 1, 0], [-(STIFFNESS + QUIET.ground) / QUIET.mass, -25.0 / QUIET.mass, STIFFNESS / QUIET.mass], [0, 0, 0]]
    )
    for height in z:
        for _ in range(QUIET.steps):
            state = one @ state + [0.0, QUIET.timestep * free, 0.0]
        assert height - (start + 1e-5) == pytest.approx(state[0], abs=1e-12)
        state[2] = 0.5 * state[0]
    loop = np.array([[1, 0, 0], [0, 1, 0], [0.5, 0, 0]])
    np.testing.assert_allclose(matrix, np.linalg.matrix_power(one, QUIET.steps) @ loop, atol=1e-9)


def test_stable_and_unstable_gains_are_told_apart_by_both():
    cases = [(d, k) for d in (8.0, 12.0, 25.0, 60.0) for k in (0.1, 0.5, 1.0, 1.8)]
    radius = {case: growth(STIFFNESS, *case, FOOT) for case in cases}
    off = {case: 1e3 * float(wander(np.array(STIFFNESS), *case, FOOT)) for case in cases}
    assert min(radius.values()) < 0.97 and max(radius.values()) > 1.03
    assert all(off[case] < 0.15 for case in cases if radius[case] < 0.985), off
    assert all(off[case] > 0.15 for case in cases if radius[case] > 1.015), off
    assert growth(STIFFNESS, FRICTION, 0.1, FOOT) > 1.0 > growth(STIFFNESS, 25.0, 0.1, FOOT)
    assert growth(STIFFNESS, 25.0, 1.8, FOOT) > 1.0, "the loop's gain has a limit, too"


def test_the_damping_that_is_needed_follows_step_and_stiffness():
    for timestep in (0.001, 0.002):
        foot = Foot(MASS, timestep=timestep)
        needed = float(damping_needed(np.array(STIFFNESS), foot))
        assert needed == pytest.approx((STIFFNESS + foot.ground) * timestep)
        held = [np.linalg.eigvals(tick_matrix(STIFFNESS, f * needed, 1.0, foot, True)[:2, :2]) for f in (0.9, 1.1)]
        assert np.abs(held[0]).max() > 1.0 > np.abs(held[1]).max()


def test_backward_euler_needs_no_damping_of_its_own():
    foot = Foot(MASS, implicit=True)
    grid = [(p, d, k) for p in (300.0, STIFFNESS, 8000.0) for d in (FRICTION, 50.0) for k in (0.1, 0.5, 1.0)]
    assert max(growth(*case, foot) for case in grid) < 1.0
    assert float(wander(np.array(STIFFNESS), FRICTION, 0.5, foot)) < 1e-4
    assert float(wander(np.array(STIFFNESS), FRICTION, 0.5, FOOT)) > 5e-4


def test_the_map_is_drawn_and_a_step_that_does_not_fit_is_refused(tmp_path, capsys):
    out = tmp_path / "map.png"
    assert plot_cli.main(["stability", "--out", str(out)]) == 0
    with Image.open(out) as picture:
        assert picture.width > 800
    assert plot_cli.main(["stability", "--timestep", "0.003", "--out", str(out)]) == 2
    assert "does not divide the tick" in capsys.readouterr().err
    with pytest.raises(SettingsError, match="mass is -1"):
        Foot(-1.0)
