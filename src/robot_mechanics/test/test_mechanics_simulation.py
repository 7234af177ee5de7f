# SPDX-License-Identifier: MIT
"""Integrators, control laws and step limits, against the figures of the arm's two controllers."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from robot_mechanics import model_path
from robot_mechanics.dynamics import DynamicModel, stops
from robot_mechanics.dynamics.laws import Reference, computed_torque, gravity_pd, open_loop, pd_outside
from robot_mechanics.dynamics.simulation import METHODS, simulate, stability_limit, warn_of_step
from robot_mechanics.errors import DynamicsError, InvalidConfigError, ShapeError, UnknownNameError

REST = np.zeros(4)


@pytest.fixture(scope="module")
def arm():
    return DynamicModel.from_urdf(model_path("arm4"))


def sine(t, amplitude=1.0, rate=0.4 * math.pi):
    """A sine of the last joint."""
    last = np.array([0.0, 0.0, 0.0, amplitude])
    s, c = math.sin(rate * t), math.cos(rate * t)
    return Reference(last * s, last * rate * c, -last * rate**2 * s)


def pulled(model, kp, kd, law=pd_outside):
    return lambda t, q, v: law(model, q, v, sine(t), kp, kd)


def no_torque(t, q, v):
    return REST


@pytest.mark.parametrize(("method", "expected"), [("explicit", 0.032174035), ("semi_implicit", 0.032531008)])
def test_open_loop_of_the_homework(arm, method, expected):
    """A full sine of acceleration: the joint goes one way, to 1.5^2 / 2 pi rad."""

    def law(t, q, v):
        return open_loop(arm, q, v, Reference(q, v, np.array([0.0, 0.0, 0.0, math.sin(2.0 * math.pi / 1.5 * t)])))

    motion = simulate(arm, law, REST, REST, 1.5, 0.0015, method)
    assert motion.q[250, 3] == pytest.approx(expected, abs=1e-9)
    assert motion.q[1000, 3] == pytest.approx(0.358097444, abs=1e-9) and (np.diff(motion.q[:, 3]) >= 0.0).all()
    if method == "explicit":
        np.testing.assert_allclose(motion.tau[249, 1:], (0.003985177, -0.000028510, -0.002586127), atol=1e-9)
    np.testing.assert_allclose(motion.q[:, :3], 0.0, atol=1e-12)


def test_feedback_outside_the_mass_matrix(arm):
    motion = simulate(arm, pulled(arm, 1.0, 2.0), REST, REST, 0.15, 1e-4, "explicit")
    np.testing.assert_allclose(motion.q[75, 1:], (-0.000372570, -0.000803111, 0.008930033), atol=1e-9)
    np.testing.assert_allclose(motion.q[1500, 1:], (-0.004452589, -0.002228405, 0.186596200), atol=1e-9)
    assert np.abs(motion.tau).max() == pytest.approx(2.513, abs=1e-3)  # the reference moves at once, the arm rests


def test_as_printed_it_diverges_and_the_limit_is_named_before(arm):
    with pytest.raises(DynamicsError, match="diverges: arm_joint_4 .* after 5 steps of 1.5 ms by 'explicit'") as caught:
        simulate(arm, pulled(arm, 1.0, 2.0), REST, REST, 1.5, 0.0015, "explicit")
    motion = caught.value.motion
    assert motion.q.shape == motion.v.shape == (6, 4) and motion.tau.shape == (5, 4)
    assert (np.abs(motion.v).max(axis=1) > 1e4).tolist() == [False] * 5 + [True]
    with pytest.warns(RuntimeWarning, match="take 0.276 ms or less"):
        warn_of_step(arm, REST, 1.0, 2.0, 0.0015, "explicit")
    assert warn_of_step(arm, REST, 1.0, 2.0, 0.00027, "explicit") is None
    assert warn_of_step(arm, REST, 1.0, 2.0, 0.0015, "explicit", inside=True) is None
    inside = simulate(arm, pulled(arm, 100.0, 20.0, computed_torque), REST, sine(0.0).v, 0.6, 0.0015, "explicit")
    assert np.abs(inside.q[-1] - sine(0.6).q).max() < 1e-3


@pytest.mark.parametrize("method", ["explicit", "semi_implicit", "rk4"])
@pytest.mark.parametrize("gains", [(1.0, 2.0), (10.0, 2.0), (100.0, 2.0), (1.0, 0.1)])
@pytest.mark.jit
def test_the_step_limit_is_where_small_errors_begin_to_grow(arm, method, gains):
    """About the upright pose, without gravity, so that the linear analysis is the whole truth."""
    floating = DynamicModel.from_urdf(model_path("arm4"), gravity=(0.0, 0.0, 0.0))
    kp, kd = gains
    limit = stability_limit(floating.mass_matrix(REST), kp, kd, method)
    still = Reference(REST, REST, REST)

    def law(t, q, v):
        return gravity_pd(floating, q, v, still, kp, kd)

    start = 1e-9 * np.array([1.0, 1.0, -2.0, 3.0])
    for factor in (0.95, 1.05):
        try:
            motion = simulate(floating, law, start, REST, 1500 * factor * limit, factor * limit, method, limits=False)
            grown = np.abs(motion.v[-50:]).max() > 10.0 * np.abs(motion.v[:50]).max()
        except DynamicsError:
            grown = True
        assert grown == (factor > 1.0), f"{method}, {gains}: {factor} of {1e3 * limit:.3f} ms"


def test_limit_of_the_speed_gain_alone_is_its_formula(arm):
    for q in (REST, np.array([0.3, -0.5, 0.7, 0.4])):
        M = arm.mass_matrix(q)
        assert stability_limit(M, 0.0, 2.0, "explicit") == pytest.approx(np.linalg.eigvalsh(M)[0], rel=1e-6)
    assert stability_limit(np.eye(2), 0.0, 1.0, "implicit_damping") == math.inf


def test_what_is_not_damped_grows_with_every_step_of_explicit_euler(arm):
    for M in (np.eye(1), arm.mass_matrix(REST)):
        assert stability_limit(M, 1.0, 0.0, "explicit") == 0.0
    assert stability_limit(np.eye(2), [1.0, 1.0], [2.0, 0.0], "explicit") == 0.0
    assert stability_limit(np.eye(2), [1.0, 0.0], [2.0, 0.0], "explicit") == pytest.approx(2.0)
    assert stability_limit(np.eye(2), 0.0, 0.0, "explicit") == math.inf
    with pytest.warns(RuntimeWarning, match="no step is short enough .* not damped; raise kd, or take 'semi_implicit'"):
        warn_of_step(arm, REST, 1.0, 0.0, 1e-5, "explicit")


@pytest.mark.parametrize(
    ("method", "step", "least", "most"),
    [
        ("explicit", 1e-3, 0.1, 0.2),
        ("semi_implicit", 1e-3, 0.2, 0.4),
        ("rk4", 1e-3, 0.0, 1e-5),
        ("rk4", 2e-3, 2e-5, 2e-4),
        ("rk45", 2e-2, 0.0, 5e-5),
    ],
)
def test_energy_that_nothing_takes(arm, method, step, least, most):
    q, v = np.array([0.3, 0.4, -0.3, 0.2]), np.array([0.5, 0.0, 0.0, 0.0])
    motion = simulate(arm, no_torque, q, v, 1.0, step, method, limits=False)
    energies = np.array([sum(arm.energy(*state)) for state in zip(motion.q, motion.v)])
    assert energies[0] == pytest.approx(3.53319126633, abs=1e-11)
    assert least <= np.abs(energies - energies[0]).max() <= most
    if most <= 1e-5:
        np.testing.assert_allclose(motion.q[-1], (0.62475403, 4.37799297, -10.67193024, -16.81227423), atol=1e-4)


def test_implicit_damping_is_stable_where_the_others_are_not(arm):
    def law(t, q, v):
        return arm.gravity(q) + 20.0 * (np.array([0.2, 0.1, -0.1, 0.3]) - q)

    motion = simulate(arm, law, REST, REST, 1.5, 0.005, "implicit_damping", damping=2.0)
    np.testing.assert_allclose(motion.q[-1], (0.2, 0.1, -0.1, 0.3), atol=1e-3)


def test_implicit_damping_holds_the_friction_of_the_robot_once():
    inertial = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>'
    text = (
        f'<robot name="r"><link name="w"/><link name="a">{inertial}</link><joint name="j" type="continuous"><parent'
        ' link="w"/><child link="a"/><axis xyz="0 0 1"/><dynamics damping="{}"/></joint></robot>'
    )
    wheel = DynamicModel.from_urdf(text.format(0.1))
    for damping, left in ((0.0, math.exp(-1.0)), (0.1, math.exp(-2.0))):  # of the law, as great as the friction
        motion = simulate(
            wheel, lambda t, q, v: np.zeros(1), [0.0], [1.0], 0.1, 1e-4, "implicit_damping", True, damping
        )
        assert motion.v[-1, 0] == pytest.approx(left, rel=2e-3)
    stiff = DynamicModel.from_urdf(text.format(100.0))  # a step of 1 ms is five times too great for the others
    assert (
        abs(simulate(stiff, lambda t, q, v: np.zeros(1), [0.0], [1.0], 0.1, 1e-3, "implicit_damping").v[-1, 0]) < 1e-9
    )


def test_a_limit_does_not_hide_that_the_motion_diverges(arm):
    with pytest.raises(DynamicsError, match="diverges: arm_joint_. is beyond 10000 rad/s after 1 steps"):
        simulate(arm, lambda t, q, v: np.full(4, 1e6), REST, REST, 0.1, 0.01)


def test_laws_refuse_what_cannot_be_computed(arm):
    for law in (pd_outside, computed_torque, gravity_pd):
        for kp, v, error, words in (
            ([1.0, 2.0, 3.0], REST, ShapeError, r"kp has shape \(3,\); expected \(4,\)"),
            (-1.0, REST, InvalidConfigError, "kp is -1.0; expected numbers from 0"),
            (1.0, [0.0], ShapeError, r"v has shape \(1,\); expected \(4,\)"),
            (1.0, [0.0, 0.0, 0.0, math.nan], ShapeError, "expected finite numbers"),
        ):
            with pytest.raises(error, match=words):
                law(arm, REST, v, sine(0.1), kp, 1.0)
        plain = law(arm, REST, REST, tuple(sine(0.1)), 1.0, 1.0)
        np.testing.assert_array_equal(plain, law(arm, REST, REST, sine(0.1), 1.0, 1.0))
        with pytest.raises(ShapeError, match=r"reference is .*; expected Reference\(q, v, a\)"):
            law(arm, REST, REST, REST, 1.0, 1.0)


def test_a_joint_that_reaches_its_limit_stops(arm):
    motion = simulate(arm, no_torque, np.array([0.0, 0.2, 0.0, 0.0]), REST, 2.0, 0.001, "semi_implicit")
    assert motion.q[:, 1].max() == 1.57 and motion.v[motion.q[:, 1] == 1.57, 1].max() <= 0.0
    free = simulate(arm, no_torque, np.array([0.0, 0.2, 0.0, 0.0]), REST, 2.0, 0.001, "semi_implicit", limits=False)
    assert free.q[:, 1].max() > 2.0


PENDULUM = """<robot name="p"><link name="w"/><link name="a">{inertial}</link><link name="b">{inertial}</link>
<joint name="shoulder" type="revolute"><parent link="w"/><child link="a"/><axis xyz="0 1 0"/>
<limit lower="{lower}" upper="{upper}" effort="9" velocity="9"/></joint>
<joint name="elbow" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 -0.5"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="9" velocity="9"/></joint></robot>"""
ROD = '<inertial><origin xyz="0 0 -0.25"/><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.0001"/></inertial>'


def pendulum(lower, upper):
    return DynamicModel.from_urdf(PENDULUM.format(inertial=ROD, lower=lower, upper=upper))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("lower", "upper", "at"), [(0.5, 1.5, 0.5), (-1.5, -0.5, -0.5), (0.5, 0.5, 0.5)])
def test_what_rests_on_a_stop_stays_at_rest(method, lower, upper, at):
    q = np.array([at, -at])  # the forearm hangs, the shoulder's stop carries both
    motion = simulate(pendulum(lower, upper), lambda t, q, v: np.zeros(2), q, np.zeros(2), 0.2, 0.001, method)
    np.testing.assert_allclose(motion.q, np.tile(q, (201, 1)), atol=1e-12)


def test_a_stop_pushes_but_does_not_hold():
    double, lift = pendulum(0.5, 1.5), np.array([5.0, 0.0])
    motion = simulate(double, lambda t, q, v: lift, [0.5, -0.5], np.zeros(2), 0.1, 0.001, "rk4")
    free = simulate(double, lambda t, q, v: lift, [0.5, -0.5], np.zeros(2), 0.1, 0.001, "rk4", limits=False)
    np.testing.assert_array_equal(motion.q, free.q)
    assert motion.q[-1, 0] > 0.51


@pytest.mark.jit
def test_an_impact_is_felt_by_all_joints_and_loses_energy(arm):
    q, v = np.array([1.57, 0.3, -0.4, 0.5]), np.array([2.0, -1.0, 3.0, 1.0])
    after = v.copy()
    stops.impact(arm, q, after)
    assert after[0] == 0.0
    change = arm.mass_matrix(q) @ (after - v)  # an impulse of the first joint's stop alone
    assert change[0] < 0.0 and np.abs(change[1:]).max() < 1e-12
    assert arm.energy(q, after).kinetic < arm.energy(q, v).kinetic
    motion = simulate(arm, no_torque, [0.3, 1.2, 0.5, 0.3], REST, 3.0, 0.0005, "rk4")
    energies = [sum(arm.energy(*state)) for state in zip(motion.q, motion.v)]
    assert np.diff(energies).max() < 1e-8 and (motion.q[:, 1] == 1.57).any()


def test_stops_of_many_joints_at_once_push_only_where_something_presses():
    rng = np.random.default_rng(3)
    for n in range(1, 9):
        root = rng.normal(size=(n, n + 2))
        W, b, both = root @ root.T, rng.normal(size=n), rng.random(n) < 0.2
        p = stops._complementary(W, b, both)
        left = W @ p + b
        assert (p[~both] >= 0.0).all() and (left[~both] > -1e-9).all() and np.abs(p * left).max() < 1e-9
        assert np.abs(left[both]).max(initial=0.0) < 1e-9


def test_a_free_body_keeps_its_momentum():
    inertial = '<inertial><mass value="2"/><inertia ixx="1" iyy="2" izz="2.5"/></inertial>'
    text = f'<robot name="b"><link name="b">{inertial}</link></robot>'
    body = DynamicModel.from_urdf(text, floating=True)
    q, v = np.array([0, 0, 0, 0, 0, 0, 1.0]), np.array([1.0, 0.5, 2.0, 0.3, 3.0, -0.2])
    motion = simulate(body, lambda t, q, v: np.zeros(6), q, v, 1.0, 0.002, "rk4")
    height = 2.0 - 9.81 / 2.0  # of the start, in axes of the world
    np.testing.assert_allclose(motion.q[-1, :3], (1.0, 0.5, height), atol=1e-8)
    spin = [body.centroidal_momentum(*state)[3:] for state in zip(motion.q[::100], motion.v[::100])]
    np.testing.assert_allclose(spin, [spin[0]] * len(spin), atol=1e-8)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"method": "euler"}, UnknownNameError, f"no integrator 'euler'; there are {METHODS[0]}"),
        ({"step": 0.0}, InvalidConfigError, "step is 0.0 s"),
        ({"step": "a"}, InvalidConfigError, "step is 'a' s; expected a finite number above 0"),
        ({"duration": math.nan}, InvalidConfigError, "duration is nan s"),
        ({"method": "rk45", "tolerance": -1.0}, InvalidConfigError, "tolerance is -1.0; expected a finite number"),
        ({"q": [0.0] * 3}, ShapeError, "q has shape"),
        (
            {"q": [0.0, 2.0, 0.0, 0.0]},
            InvalidConfigError,
            r"q begins with arm_joint_2 at 2, beyond its stop \(-1.57 ..",
        ),
        ({"law": lambda t, q, v: np.zeros(3)}, ShapeError, r"tau of the law at 0 s has shape \(3,\); expected \(4,\)"),
        ({"law": 0.0}, DynamicsError, r"law is 0.0; expected a function \(t, q, v\) -> tau"),
        ({"damping": -1.0}, InvalidConfigError, "damping is -1.0; expected numbers from 0: one, or 4"),
        ({"damping": 0.5}, InvalidConfigError, "damping is 0.5, which 'semi_implicit' leaves out; take 'implicit_damp"),
        ({"limits": "no"}, InvalidConfigError, "limits is 'no'; expected True or False"),
    ],
)
def test_bad_input_is_named(arm, change, error, words):
    given = {"law": no_torque, "q": REST, "v": REST, "duration": 0.01, "step": 0.001, **change}
    with pytest.raises(error, match=words):
        simulate(arm, **given)


@pytest.mark.parametrize(
    ("M", "kp", "kd", "error", "words"),
    [
        (
            -np.eye(2),
            1.0,
            1.0,
            ShapeError,
            "eigenvalue -1; expected a positive definite matrix: give each joint a mass",
        ),
        ([[1.0, 5.0], [0.0, 1.0]], 1.0, 1.0, ShapeError, r"M is \[\[1., 5.\], \[0., 1.\]\]; expected a symmetric"),
        ("x", 1.0, 1.0, ShapeError, "M is 'x'; expected a symmetric"),
        (np.eye(2), math.nan, 1.0, ShapeError, "kp is .*nan.*; expected finite"),
        (np.eye(2), 1.0, [1.0] * 3, ShapeError, r"kd has shape \(3,\); expected \(2,\)"),
        (np.eye(2), 1.0, -1.0, InvalidConfigError, "kd is -1.0; expected numbers from 0"),
    ],
)
def test_step_limits_of_what_is_no_gain_are_refused(arm, M, kp, kd, error, words):  # noqa: N803
    with pytest.raises(error, match=words):
        stability_limit(M, kp, kd)
    for step in (math.nan, "a"):
        with pytest.raises(InvalidConfigError, match=f"step is {step!r}.*; expected a finite number above 0"):
            warn_of_step(arm, REST, 1.0, 1.0, step, "explicit")


def test_a_motion_that_chatters_without_diverging_is_warned_of(arm):
    goal = np.array([0.5, -0.5, 0.5, 0.5])
    words = r"arm_joint_\d moves at up to [\d.]+ rad/s or m/s, its limit is 10: where .* 0.5 ms may be too great"
    with pytest.warns(RuntimeWarning, match=words):
        simulate(arm, lambda t, q, v: goal - q - 2.0 * v, REST, REST, 0.1, 5e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(arm, lambda t, q, v: goal - q - 2.0 * v, REST, REST, 0.1, 2e-4)
