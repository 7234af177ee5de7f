# SPDX-License-Identifier: MIT
"""Curves, time laws and rotations: end conditions, derivatives by finite differences, limits, refusals."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_mechanics import KinematicsError, model_path
from robot_mechanics.dynamics import DynamicModel
from robot_mechanics.dynamics.simulation import simulate
from robot_mechanics.trajectories import (
    ArcLength,
    Keyframes,
    Limits,
    Nurbs,
    RotationCurve,
    RotationTrajectory,
    Through,
    Trajectory,
    TrajectoryError,
    fastest,
    quintic,
)


@pytest.mark.parametrize(
    "use",
    [
        lambda: importlib.import_module("robot_mechanics.trajectories"),
        lambda: importlib.import_module("robot_mechanics.dynamics.closed_form"),
        lambda: simulate(
            DynamicModel.from_urdf(model_path("arm4")), lambda t, q, v: 0.0 * q, [0.0] * 4, [0.0] * 4, 0.1, 0.1, "rk45"
        ),
    ],
)
def test_without_scipy_a_sentence_names_what_needs_it(monkeypatch, use):
    for module in ("native.required_scipy", "trajectories", "dynamics.closed_form"):
        monkeypatch.delitem(sys.modules, f"robot_mechanics.{module}", raising=False)
    monkeypatch.delattr("robot_mechanics.native.required_scipy", raising=False)  # it is there from the first import on
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(ImportError, match="scipy cannot be imported .* the integrator rk45, .*: pip install scipy"):
        use()


RNG = np.random.default_rng(4)
POINTS = RNG.normal(size=(7, 3))
INNER = np.linspace(0.013, 0.987, 41)
CURVES = {
    "nurbs": Nurbs(POINTS, weights=RNG.uniform(0.3, 3.0, 7)),
    "nurbs of degree 5": Nurbs(POINTS, weights=RNG.uniform(0.3, 3.0, 7), degree=5),
    "bezier": Nurbs.bezier(POINTS),
    "rational bezier": Nurbs.bezier(POINTS[:4], weights=[1.0, 2.0, 0.5, 1.0]),
    "through": Through(POINTS, degree=5),
    "by arc length": ArcLength(Nurbs(POINTS, degree=5)),
}


def difference(curve, u, order, step=1e-5):
    return (curve.derivatives(u + step)[order] - curve.derivatives(u - step)[order]) / (2.0 * step)


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_derivatives_agree_with_finite_differences(name, order):
    curve = CURVES[name]
    u = INNER[np.abs(INNER[:, None] - np.linspace(0.0, 1.0, 5)).min(axis=1) > 1e-3]  # not across a knot
    analytic = curve.derivatives(u)[order]
    assert analytic == pytest.approx(difference(curve, u, order - 1), rel=1e-4, abs=1e-3 * np.abs(analytic).max())


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_begins_in_its_first_and_ends_in_its_last_point(name):
    curve, last = CURVES[name], POINTS[3] if name == "rational bezier" else POINTS[-1]
    assert curve(0.0) == pytest.approx(POINTS[0])
    assert curve([1.0, 7.0]) == pytest.approx(np.array([last, last]))


def test_a_rational_quadratic_is_an_exact_circle():
    quarter = Nurbs.bezier([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], weights=[1.0, np.sqrt(0.5), 1.0])
    assert np.linalg.norm(quarter(INNER), axis=1) == pytest.approx(1.0, abs=1e-14)
    by_length = ArcLength(quarter)
    assert by_length.length == pytest.approx(np.pi / 2.0, abs=1e-12)
    assert by_length(INNER) == pytest.approx(
        np.column_stack((np.cos(INNER * np.pi / 2.0), np.sin(INNER * np.pi / 2.0))), abs=1e-10
    )


def test_bezier_agrees_with_de_casteljau():
    p, u = POINTS.copy(), 0.37
    while len(p) > 1:
        p = (1.0 - u) * p[:-1] + u * p[1:]
    assert CURVES["bezier"](u) == pytest.approx(p[0])


def test_a_weight_attracts_the_curve():
    far, near = (Nurbs.bezier([[0, 0], [1, 1], [2, 0]], weights=[1, w, 1])(0.5)[1] for w in (0.1, 10.0))
    assert far < 0.1
    assert near > 0.9


def test_through_meets_every_point_and_near_needs_fewer():
    curve = Through(POINTS)
    at = np.concatenate(([0.0], np.cumsum(np.sqrt(np.linalg.norm(np.diff(POINTS, axis=0), axis=1)))))
    assert curve(at / at[-1]) == pytest.approx(POINTS)
    recorded = np.column_stack((np.sin(3.0 * INNER), np.cos(2.0 * INNER)))
    for count, error in ((8, 6e-3), (20, 1e-3)):
        smooth = Nurbs.near(recorded, count)(np.linspace(0.0, 1.0, 5000))
        assert np.linalg.norm(smooth[:, None] - recorded, axis=2).min(axis=0).max() < error


def test_a_coordinate_left_free():
    points = POINTS.copy()
    points[:, 1] = np.nan
    points[[0, 2, 6], 2] = np.nan
    for curve in (Through(points), ArcLength(Through(points), columns=[0, 2]), Nurbs(points[:, :2])):
        values = curve.derivatives(INNER)
        assert np.isnan(values[..., 1]).all()
        assert np.isfinite(values[..., 0]).all()
    at = np.linspace(0.0, 1.0, 7)
    curve = Through(points, at=at)
    assert curve(at[[1, 3, 4, 5]])[:, 2] == pytest.approx(POINTS[[1, 3, 4, 5], 2])
    assert curve(at[[0, 6]])[:, 2] == pytest.approx(POINTS[[1, 5], 2])


def test_by_arc_length_the_speed_is_constant():
    values = CURVES["by arc length"].derivatives(np.linspace(0.0, 1.0, 97))
    assert np.linalg.norm(values[1], axis=1) == pytest.approx(CURVES["by arc length"].length, rel=1e-9)
    assert (values[1] * values[2]).sum(axis=1) == pytest.approx(np.zeros(97), abs=1e-6 * np.abs(values[2]).max())


@pytest.mark.parametrize(
    "limits",
    [
        Limits(velocity=0.5),
        Limits(acceleration=[1.0, 2.0, 0.5]),
        Limits(jerk=10.0),
        Limits(velocity=0.5, acceleration=1.0, jerk=[5.0, 50.0, 50.0]),
    ],
)
def test_the_fastest_trajectory_touches_a_limit_and_passes_none(limits):
    trajectory = fastest(Nurbs(POINTS, degree=5), limits)
    values = np.abs(trajectory.derivatives(np.linspace(0.0, trajectory.duration, 4001))[1:])
    used = [float((v / np.asarray(limit)).max()) for v, limit in zip(values, vars(limits).values())]
    assert max(used) == pytest.approx(1.0, abs=5e-3)


@pytest.mark.parametrize("name", ["velocity", "acceleration", "jerk"])
def test_the_fastest_trajectory_finds_short_peaks(name):
    """Such as where a heavy point pulls the curve, and at a hairpin that is passed at an even speed."""
    heavy = Nurbs([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 2.0]], [1.0, 1.0, 1000.0, 1.0, 0.01], 2)
    hairpin = ArcLength(Through([[0.0, 0.0], [1.0, 0.0], [0.01, 0.01], [1.0, 1.0]]))
    for curve in (heavy, hairpin):
        trajectory = fastest(curve, Limits(**{name: 1.0}))
        values = np.abs(trajectory.derivatives(np.linspace(0.0, trajectory.duration, 100_001)))
        order = ["velocity", "acceleration", "jerk"].index(name) + 1
        assert values[order].max() == pytest.approx(1.0, abs=1e-3), curve


def test_a_trajectory_begins_and_ends_at_rest_and_stands_outside():
    trajectory = Trajectory(CURVES["through"], 1.7)
    ends = trajectory.derivatives([0.0, 1.7])
    assert ends[1:3] == pytest.approx(np.zeros((2, 2, 3)), abs=1e-9)
    outside = trajectory.derivatives([-1.0, 9.0])
    assert outside[0] == pytest.approx(POINTS[[0, -1]])
    assert (outside[1:] == 0.0).all()


def test_a_quintic_fulfils_both_ends():
    start, end = RNG.normal(size=(3, 4)), RNG.normal(size=(3, 4))
    move = quintic(start, end, 0.8)
    for t, state in ((0.0, start), (0.8, end)):
        assert [move(t, nu=k) for k in range(3)] == pytest.approx(state, abs=1e-9)


def test_rotations_pass_through_every_orientation_with_rates_in_the_moving_frame():
    q = Rotation.random(5, random_state=3)
    curve = RotationCurve(q.as_quat())
    angles = (q[:-1].inv() * q[1:]).magnitude()
    at = np.concatenate(([0.0], np.cumsum(angles) / angles.sum()))
    assert (Rotation.from_quat(curve(at)).inv() * q).magnitude() == pytest.approx(np.zeros(5), abs=1e-9)
    trajectory = RotationTrajectory.fastest(curve, velocity=2.0, acceleration=9.0)
    t, h = np.linspace(0.05, 0.95, 37) * trajectory.duration, 1e-6
    before, after = (Rotation.from_quat(trajectory(t + d)) for d in (-h, h))
    omega, alpha = trajectory.rates(t)
    middle = Rotation.from_quat(trajectory(t))
    assert (after * before.inv()).as_rotvec() / (2.0 * h) == pytest.approx(middle.apply(omega), abs=1e-4)
    later, earlier = (trajectory.rates(t + d)[0] for d in (h, -h))
    assert alpha == pytest.approx((later - earlier) / (2.0 * h), abs=1e-2)


@pytest.mark.parametrize(("velocity", "acceleration"), [(2.0, 90.0), (20.0, 9.0)])
def test_the_fastest_rotation_touches_a_limit_and_rests_at_both_ends(velocity, acceleration):
    curve = RotationCurve(Rotation.random(5, random_state=3).as_quat())
    trajectory = RotationTrajectory.fastest(curve, velocity, acceleration)
    omega, alpha = trajectory.rates(np.linspace(0.0, trajectory.duration, 2001))
    used = np.linalg.norm(omega, axis=1).max() / velocity, np.linalg.norm(alpha, axis=1).max() / acceleration
    assert max(used) == pytest.approx(1.0, abs=1e-2)
    assert omega[[0, -1]] == pytest.approx(np.zeros((2, 3)), abs=1e-9)


def test_the_acceleration_of_a_rotation_does_not_jump_at_an_orientation():
    q = Rotation.random(4, random_state=8).as_quat()
    curve = RotationCurve(q, at=[0.0, 0.3, 0.6, 1.0])
    before, after = (curve.rates([0.3 + d, 0.6 + d])[1] for d in (-1e-9, 1e-9))
    assert before == pytest.approx(after, abs=1e-4)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Nurbs([[0.0, 0.0]]), "two at least"),
        (lambda: Nurbs([1.0, 2.0]), "two at least"),
        (lambda: Nurbs(POINTS, degree=7), "give 1 to 6"),
        (lambda: Nurbs(POINTS, weights=[1.0, -1.0]), "give 7 positive numbers"),
        (lambda: Nurbs(POINTS, weights=[0.0] * 7), "give 7 positive numbers"),
        (lambda: Nurbs(POINTS, knots=[0.0, 1.0]), "give 11"),
        (lambda: Nurbs([[0.0, np.nan], [1.0, 1.0]], degree=1), "in all of them, or in none"),
        (lambda: Nurbs([[0.0, np.inf], [1.0, 1.0]], degree=1), "finite"),
        (lambda: Nurbs.near(POINTS, 9), "give 4 to 7"),
        (lambda: Through([[0.0], [0.0], [1.0]]), "points 0 and 1 are equal"),
        (lambda: Through(POINTS, degree=6), "give 1 to 5"),
        (lambda: Through(POINTS, at=[0.0, 1.0]), "of 7 points"),
        (lambda: ArcLength(Nurbs([[1.0], [1.0]], degree=1)), "stands still"),
        (lambda: Trajectory(CURVES["nurbs"], 0.0), "duration 0 s"),
        (lambda: Trajectory(CURVES["nurbs"], float("nan")), "duration nan s"),
        (lambda: fastest(CURVES["nurbs"], Limits()), "no limit is finite"),
        (lambda: fastest(CURVES["nurbs"], Limits(velocity=-1.0)), "velocity -1"),
        (lambda: fastest(CURVES["nurbs"], Limits(jerk=[1.0, 2.0])), "or 3 of them"),
        (lambda: quintic([[0.0]], [[1.0]], 1.0), r"both as \(3, d\)"),
        (lambda: quintic([[0.0]] * 3, [[1.0]] * 3, -1.0), "duration -1 s"),
        (lambda: RotationCurve([[0, 0, 0, 1]]), "two at least"),
        (lambda: RotationCurve([[0, 0, 0, 1], [0, 0, 0, 0]]), "zero"),
        (lambda: RotationCurve([[0, 0, 0, 1], [0, 0, 0, 1]]), "are equal"),
        (lambda: RotationCurve([[0, 0, 0, 1], [0, 0, 1, 0]], at=[0.0, 0.5]), "from 0 to 1"),
        (lambda: RotationTrajectory.fastest(RotationCurve([[0, 0, 0, 1], [0, 0, 1, 0]]), 0.0), "give positive ones"),
        (lambda: RotationTrajectory(RotationCurve([[0, 0, 0, 1], [0, 0, 1, 0]]), -2.0), "duration -2 s"),
    ],
)
def test_what_makes_no_trajectory_is_refused_in_words(make, says):
    assert issubclass(TrajectoryError, KinematicsError)  # the one base of the library
    with pytest.raises(TrajectoryError, match=says):
        make()


def test_keyframes_are_passed_in_time_without_overshoot_and_from_rest_to_rest():
    points = np.array([[0.0, 1.0], [0.0, np.nan], [5.0, 3.0], [5.0, np.nan], [2.0, 2.0]])
    at = [0.0, 0.5, 1.0, 2.0, 2.4]
    curve = Keyframes(points, at)
    passed = curve(at)
    assert passed[np.isfinite(points)] == pytest.approx(points[np.isfinite(points)])
    t = np.linspace(0.0, 2.4, 2001)
    values = curve(t)
    assert (values[t <= 0.5, 0] == 0.0).all(), "equal points hold it"
    assert values[(t >= 1.0) & (t <= 2.0), 0] == pytest.approx(5.0, abs=1e-12)
    assert values[:, 0].min() == 0.0 and values[:, 0].max() == pytest.approx(5.0, abs=1e-12)
    assert curve.derivatives([0.0, 2.4])[1] == pytest.approx(np.zeros((2, 2)), abs=1e-12)
    assert np.diff(values, axis=0) / np.diff(t)[:, None] == pytest.approx(curve.derivatives(t[:-1])[1], abs=0.2)


def test_keyframes_say_where_they_are_too_fast_and_by_how_much():
    curve = Keyframes([[0.0], [1.0], [1.0], [1.1]], [0.0, 1.0, 2.0, 3.0])
    assert curve.stretch(Limits(velocity=0.75)) == pytest.approx([2.0, 1.0, 1.0]), "3/2 of the mean at most"
    assert curve.stretch(Limits(acceleration=1.5)) == pytest.approx([2.0, 1.0, 1.0]), "6 / T^2"
    slower = Keyframes([[0.0], [1.0], [1.0], [1.1]], [0.0, 2.0, 3.0, 4.0])
    assert slower.stretch(Limits(velocity=0.75)) == pytest.approx([1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    "points, at, message",
    [
        ([[0.0]], [0.0], "give two at least"),
        ([[np.nan], [1.0]], [0.0, 1.0], "the first one finite"),
        ([[0.0], [1.0]], [0.0, 0.0], "increasing from 0"),
        ([[0.0], [1.0]], [0.5, 1.0], "increasing from 0"),
        ([[0.0], [1.0]], [0.0, 1.0, 2.0], "give as many"),
    ],
)
def test_keyframes_refuse_what_does_not_fit(points, at, message):
    with pytest.raises(TrajectoryError, match=message):
        Keyframes(points, at)
