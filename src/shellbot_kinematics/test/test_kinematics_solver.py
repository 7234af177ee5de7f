# SPDX-License-Identifier: MIT
"""The solver of all limbs tick by tick: both solvers, holds, bad references, blending, limits, stability of the closed
loop.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from robot_mechanics.errors import InvalidConfigError, InvalidReferenceError, ShapeError, UnknownNameError
from robot_mechanics.motion.rotations import rotation_from_rpy, rpy_from_rotation
from shellbot_kinematics import LIMBS, Frame, PackedReferences, ShellbotSolver, SolverConfig, Status, solve_limb

DT = 0.01
NO_BLEND = SolverConfig(blend_time=0.0)


def gait(solver, t, q_stand):
    """Feet on ellipses around the stand pose (60 mm stride, 30 mm lift, 1 Hz), upper limbs held; with exact
    velocities.
    """
    feet, w = solver.fk_feet(q_stand), 2 * np.pi
    phase = w * t + np.pi * (np.arange(6) % 2)
    p, v = feet.copy(), np.zeros((6, 3))
    p[:, 0] += 0.03 * np.cos(phase)
    v[:, 0] = -0.03 * w * np.sin(phase)
    p[:, 2] += 0.015 * (1 + np.sin(phase))
    v[:, 2] = 0.015 * w * np.cos(phase)
    return PackedReferences.feet(t, p, v)


def held(stamp=0.0, fan=0.0, **changes):
    return PackedReferences(stamp, fan, 0.0, **changes)


def test_follows_a_gait_exactly(solver, stand):
    solver.set_config(NO_BLEND)
    solver.reset(stand)
    for k in range(100):
        references = gait(solver, k * DT, stand)
        targets = solver.solve(references, stand, DT)
        assert targets.all_reached and targets.names == solver.names
        np.testing.assert_allclose(solver.fk_feet(targets.position), references.p_base[:6], atol=1e-12)


def test_velocities_are_the_derivative_of_positions(solver, stand):
    solver.set_config(NO_BLEND)
    h = 1e-5
    for t in (0.1, 0.37, 0.8):
        before, now, after = (solver.solve(gait(solver, t + s, stand), stand, h) for s in (-h, 0.0, h))
        np.testing.assert_allclose(now.velocity, (after.position - before.position) / (2 * h), atol=1e-5)


def test_moving_fan_is_fed_forward(solver, stand):
    """Feet still while the fan turns: the coxa turns against it, in position and in velocity."""
    solver.set_config(NO_BLEND)
    feet, h = solver.fk_feet(stand), 1e-5
    before, now, after = (
        solver.solve(PackedReferences.feet(0.0, feet, fan_position=-0.3 + 0.5 * s, fan_velocity=0.5), stand, h)
        for s in (-h, 0.0, h)
    )
    assert now.velocity[0] == 0.5 and abs(now.velocity[1]) > 0.1
    np.testing.assert_allclose(now.velocity[:24], ((after.position - before.position) / (2 * h))[:24], atol=1e-5)


def mixed_ticks(urdf, stand):
    """Two CLIK ticks with every kind of frame."""
    solver = ShellbotSolver(urdf, SolverConfig(solver="clik"))
    p = np.full((12, 3), np.nan)
    p[:6] = solver.fk_feet(stand)
    for i in (2, 3):
        p[i] = solver.forward(LIMBS[i], Frame.SPHERE_CENTRE, stand[4 * i : 4 * i + 4])[:3, 3]
    p[6:, 2] = 0.05
    references = held(
        frame=np.array([0, 0, 1, 1, 2, 3] + [1, 1, 2, 3, 1, 1]),
        p_base=p,
        v_base=np.zeros((12, 3)),
        rpy_base=np.zeros((12, 3)),
        w_base=np.zeros((12, 3)),
        joint_position=np.full((12, 3), 0.2),
        joint_velocity=np.zeros((12, 3)),
    )
    first = solver.solve(references, stand, 0.0)
    return first, solver.solve(references, stand + 0.01, DT)


@pytest.fixture(scope="module")
def jitted_ticks(urdf, stand):
    return mixed_ticks(urdf, stand)


def test_jitted_and_interpreted_ticks_agree(jitted_ticks, urdf, stand, kernels):
    ok, held_one = Status.OK, Status.HELD
    for mine, golden in zip(mixed_ticks(urdf, stand), jitted_ticks):
        assert [r.status for r in mine.reports] == [ok] * 5 + [held_one] + [ok] * 3 + [held_one] + [ok] * 2
        np.testing.assert_allclose(mine.position, golden.position, atol=1e-12)
        np.testing.assert_allclose(mine.velocity, golden.velocity, atol=1e-12)


def test_hold_keeps_the_last_targets(solver, stand):
    solver.reset(stand)
    solver.solve(gait(solver, 0.1, stand), stand, DT)
    moved = solver.solve(gait(solver, 0.3, stand), stand, DT)
    kept = solver.solve(held(), stand + 0.3, DT)
    np.testing.assert_array_equal(kept.position, moved.position)
    assert not kept.velocity.any() and {report.status for report in kept.reports} == {Status.HELD} and kept.all_reached


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_reference_holds_that_limb_only(solver, stand, value):
    solver.set_config(NO_BLEND)
    solver.reset(stand)
    good = gait(solver, 0.2, stand)
    p = good.p_base[:6].copy()
    p[2, 1] = value
    targets = solver.solve(PackedReferences.feet(0.2, p, good.v_base[:6]), stand, DT)
    np.testing.assert_array_equal(targets.position[8:12], stand[8:12])
    assert targets.reports[2].status == Status.BAD_REFERENCE and "lower_3" in str(targets.reports[2])
    assert [r.status for r in targets.reports[:6]].count(Status.OK) == 5
    np.testing.assert_allclose(
        solver.fk_feet(targets.position)[[0, 1, 3, 4, 5]], good.p_base[[0, 1, 3, 4, 5]], atol=1e-12
    )


def test_bad_fan_stays_where_it_was(solver, stand):
    solver.set_config(NO_BLEND)
    solver.reset(stand)
    for fan in (np.nan, np.inf):
        targets = solver.solve(PackedReferences.feet(0.0, solver.fk_feet(stand), fan_position=fan), stand, DT)
        np.testing.assert_array_equal(targets.position[:24:4], stand[:24:4])
        assert np.isfinite(targets.position).all() and targets.reports[0].status == Status.BAD_REFERENCE


def test_fan_beyond_its_limit_is_clamped_and_named(solver, stand):
    solver.set_config(NO_BLEND)
    targets = solver.solve(
        PackedReferences.feet(0.0, solver.fk_feet(stand), fan_position=0.4, fan_velocity=1.0), stand, DT
    )
    assert (targets.position[:24:4] == solver.model.upper[0]).all() and not targets.velocity[:24:4].any()
    assert targets.reports[0].status == Status.AT_LIMIT and targets.reports[0].limit == "lower_1_fan at its upper limit"


def test_joint_frame_passes_through_within_limits(solver, stand):
    solver.set_config(NO_BLEND)
    joints, rates = np.full((12, 3), 0.4), np.full((12, 3), 0.1)
    joints[1] = [0.0, 9.0, 0.0]
    targets = solver.solve(held(frame=np.full(12, Frame.JOINT), joint_position=joints, joint_velocity=rates), stand, DT)
    np.testing.assert_array_equal(targets.position[1:4], 0.4)
    np.testing.assert_array_equal(targets.velocity[1:4], 0.1)
    np.testing.assert_array_equal(targets.position[24:], 0.4)
    assert targets.position[6] == solver.model.upper[6] and targets.velocity[6] == 0.0
    assert targets.reports[1].limit == "lower_2_femur at its upper limit" and targets.reports[1].distance > 0.01


def test_unreachable_reference_is_answered_by_the_nearest_point(solver, stand):
    solver.set_config(NO_BLEND)
    solver.reset(stand)
    feet = solver.fk_feet(stand)
    wanted = feet.copy()
    wanted[0] = [0.6, 0.0, -0.15]
    targets = solver.solve(PackedReferences.feet(0.0, wanted), stand, DT)
    report = targets.reports[0]
    reached = solver.fk_feet(targets.position)[0]
    assert report.status == Status.OUT_OF_REACH and not report.reached and not targets.all_reached
    assert report.distance == pytest.approx(np.linalg.norm(reached - wanted[0]), abs=1e-12)
    assert str(report).startswith(f"lower_1 stops {1e3 * report.distance:.1f} mm")
    assert (targets.position <= solver.model.upper).all() and (targets.position >= solver.model.lower).all()


@pytest.mark.parametrize("millimetres, words", [(0.4, ""), (5.0, "out of reach, nearest point taken: lower_1 stops")])
def test_a_miss_smaller_than_a_servo_step_is_no_complaint(solver, stand, millimetres, words):
    solver.set_config(NO_BLEND)
    q = np.concatenate([np.tile([0.0, 0.0, -0.3, solver.model.upper[3]], 6), np.zeros(12)])
    solver.reset(q)
    chain, feet = solver.model.chain("lower_1", Frame.FOOT), solver.fk_feet(q)
    beyond = chain.fk([0.0, 0.0, -0.3, solver.model.upper[3] + 0.05])[:3, 3] - feet[0]
    feet[0] += 1e-3 * millimetres * beyond / np.linalg.norm(beyond)
    targets = solver.solve(PackedReferences.feet(0.0, feet), q, DT)
    assert not targets.all_reached and 0.0 < targets.reports[0].distance <= 1e-3 * millimetres
    assert targets.complaint.startswith(words) and bool(targets.complaint) == bool(words)
    feet[1] = [np.inf, 0.0, 0.0]
    assert "lower_2 holds its last targets" in solver.solve(PackedReferences.feet(0.0, feet), q, DT).complaint


def test_coxa_stops_at_its_limit_and_the_leg_reaches_on(solver):
    """The solver of the ticks keeps to its branch: the coxa is asked for 2.2 rad and stops at 1.9."""
    solver.set_config(NO_BLEND)
    q = np.concatenate([np.tile([0.0, 1.85, -0.3, 0.8], 6), np.zeros(12)])
    solver.reset(q)
    chain, feet = solver.model.chain("lower_1", Frame.FOOT), solver.fk_feet(q)
    feet[0] = chain.fk([0.0, 2.2, -0.3, 0.8])[:3, 3]
    targets = solver.solve(PackedReferences.feet(0.0, feet), q, DT)
    assert targets.position[1] == solver.model.upper[1]
    assert (
        targets.reports[0].limit == "lower_1_coxa at its upper limit" and targets.reports[0].status == Status.AT_LIMIT
    )
    stiff = np.linalg.norm(chain.fk([0.0, 1.9, -0.3, 0.8])[:3, 3] - feet[0])
    assert 0.0 < targets.reports[0].distance < stiff


def test_random_references_never_leave_limits_nor_finite_numbers(solver, stand, rng):
    """Anything goes in; what comes out is finite, within position and speed limits."""
    model = solver.model
    for k in range(500):
        frame = rng.integers(0, 4, 12)
        frame[6:][frame[6:] == 0] = 1
        names = ("p_base", "v_base", "rpy_base", "w_base", "joint_position", "joint_velocity")
        arrays = {name: rng.normal(scale=0.3, size=(12, 3)) for name in names}
        for array in arrays.values():
            array[rng.random((12, 3)) < 0.05] = rng.choice([np.nan, np.inf, -np.inf, 1e300, 0.0])
        references = PackedReferences(k * DT, float(rng.normal()), float(rng.normal()), frame, **arrays)
        solver.set_config(solver.config.replace(solver=["closed_form", "clik"][k // 50 % 2]))
        targets = solver.solve(references, rng.uniform(model.lower, model.upper), float(rng.choice([0.0, DT, 3.0])))
        assert np.isfinite(targets.position).all() and np.isfinite(targets.velocity).all()
        assert (targets.position <= model.upper).all() and (targets.position >= model.lower).all()
        assert (np.abs(targets.velocity) <= model.velocity).all()
        assert all(str(report) for report in targets.reports)


# ---------------------------------------------------------------------------------------------- no jumps
def largest_step(positions):
    return np.abs(np.diff(np.array(positions), axis=0)).max()


def test_first_tick_starts_from_the_measured_joints(solver, stand):
    measured = stand - 0.15
    positions = [measured]
    for k in range(40):
        positions.append(
            solver.solve(PackedReferences.feet(k * DT, solver.fk_feet(stand)), measured, DT if k else 0.0).position
        )
    assert np.abs(positions[1] - measured)[24:].max() == 0.0  # held limbs
    assert largest_step(positions) < 0.15 * 1.5 * DT / 0.2 + 1e-3  # smooth step: 1.5 times the mean speed
    np.testing.assert_allclose(positions[-1][:24], stand[:24], atol=1e-9)


def closed_form_at(model, references):
    """All lower joints by the closed form alone."""
    p = references.p_base
    return np.concatenate(
        [solve_limb(model, LIMBS[i], Frame.FOOT, p[i], seed=[0, -0.3, -0.2, 1.9]).q for i in range(6)]
    )


def test_switch_of_solver_does_not_jump(solver, stand):
    """The measured femurs and tibias sag, so that the two solvers disagree."""
    solver.reset(stand)
    sag = np.tile([0.0, 0.0, 0.01, 0.01], 6)
    positions, usual, last = [], 0.0, stand.copy()
    for k in range(240):
        if k in (80, 160):
            solver.set_config(solver.config.replace(solver="clik" if k == 80 else "closed_form"))
        measured = last.copy()
        measured[:24] += sag
        last = solver.solve(gait(solver, k * DT, stand), measured, DT).position
        positions.append(last)
        if k == 79:
            usual = largest_step(positions[40:])
    assert (
        np.abs(positions[159][:24] - closed_form_at(solver.model, gait(solver, 1.59, stand))).max() > 0.009
    )  # they do disagree
    assert largest_step(positions[40:]) < 1.1 * usual + 0.001
    np.testing.assert_allclose(solver.fk_feet(positions[-1]), gait(solver, 239 * DT, stand).p_base[:6], atol=1e-9)


def test_switch_of_frame_does_not_jump(solver, stand):
    solver.reset(stand)
    feet = PackedReferences.feet(0.0, solver.fk_feet(stand))
    other = stand[:24].reshape(6, 4)[:, 1:] + 0.2
    joints = held(
        frame=[Frame.JOINT] * 6 + [Frame.HOLD] * 6, joint_position=np.concatenate([other, np.full((6, 3), np.nan)])
    )
    positions = [solver.solve(feet if k < 10 else joints, stand, DT).position for k in range(50)]
    assert largest_step(positions) < 0.2 * 1.5 * DT / 0.2 + 1e-3
    np.testing.assert_allclose(positions[-1][1:4], other[0], atol=1e-9)


def test_reset_forgets_the_past(solver, stand):
    solver.reset(stand)
    solver.solve(gait(solver, 0.2, stand), stand, DT)
    solver.reset()
    elsewhere = stand - 0.1
    np.testing.assert_array_equal(solver.solve(held(), elsewhere, 0.0).position, elsewhere)


def test_branch_is_kept_when_the_foot_passes_inside_the_coxa_axis(solver):
    """A straight line of the foot below the coxa axis, beside it by more than h3: no half turn."""
    solver.set_config(NO_BLEND)
    q = np.tile([0.0, 0.2, 0.8, 2.3], 6)
    q = np.concatenate([q, np.tile([0.4, 1.4], 6)])
    solver.reset(q)
    start = solver.fk_feet(q)
    positions = []
    for k in range(60):
        feet = start.copy()
        feet[:, 2] -= 0.0005 * k
        positions.append(solver.solve(PackedReferences.feet(k * DT, feet), q, DT).position)
    assert np.abs(positions[0] - q).max() < 1e-9 and largest_step(positions) < 0.05


# ---------------------------------------------------------------------------------------------- CLIK
def clik_errors(solver, stand, gain, share=1.0, ticks=60):
    """Feet errors (m) per tick for a robot that covers `share` of the way to its targets within a tick."""
    solver.set_config(SolverConfig(solver="clik", clik_gain=gain, blend_time=0.0))
    goal = solver.fk_feet(stand)
    q = stand.copy()
    q[:24].reshape(6, 4)[:, 1:] += 0.02
    solver.reset(q)
    errors = []
    for k in range(ticks):
        errors.append(np.linalg.norm(solver.fk_feet(q) - goal, axis=1).max())
        targets = solver.solve(PackedReferences.feet(k * DT, goal), q, DT)
        q = q + share * (targets.position - q)
    return np.array(errors)


@pytest.mark.parametrize("gain, share", [(10.0, 1.0), (50.0, 1.0), (100.0, 1.0), (190.0, 1.0), (50.0, 0.3)])
def test_clik_error_shrinks_as_documented(solver, stand, gain, share):
    """|e_k+1| = |1 - share gain tick| |e_k|."""
    errors = clik_errors(solver, stand, gain, share, 200)
    factor = abs(1.0 - share * gain * DT)
    small = (errors[1:] > 1e-9) & (errors[:-1] < 2e-3)  # where J is constant enough
    if factor > 0.0 and small.any():
        np.testing.assert_allclose(errors[1:][small] / errors[:-1][small], factor, atol=0.03)
    assert errors[-1] < 1e-6


def test_clik_beyond_the_bound_is_unstable_and_refused(solver, stand):
    with pytest.raises(InvalidConfigError, match="200"):
        SolverConfig(clik_gain=210.0)
    # the same loop with a tick that lies about its length passes the check, and diverges: the bound is sharp
    solver.set_config(SolverConfig(solver="clik", clik_gain=210.0, tick=0.009, blend_time=0.0))
    solver.reset(stand)
    goal = solver.fk_feet(stand)
    q, errors = stand.copy(), []
    q[1] += 1e-4
    for k in range(40):
        errors.append(np.abs(solver.fk_feet(q) - goal).max())
        object.__setattr__(solver.config, "tick", DT)
        q = solver.solve(PackedReferences.feet(k * DT, goal), q, DT).position
    assert errors[-1] > 10 * errors[0]


def test_clik_follows_a_gait_with_feedforward(solver, stand):
    """With velocities fed forward the lag of a perfect robot is of second order in the tick: v' dt / (2 gain), below
    0.3 mm here.
    """
    solver.set_config(SolverConfig(solver="clik", blend_time=0.0))
    q = solver.solve(gait(solver, 0.0, stand), stand, 0.0).position.copy()
    errors = []
    for k in range(200):
        targets = solver.solve(gait(solver, k * DT, stand), q, DT)
        q = targets.position
        if k > 50:
            errors.append(np.abs(solver.fk_feet(q) - gait(solver, (k + 1) * DT, stand).p_base[:6]).max())
    assert max(errors) < 3e-4


def test_clik_long_tick_stays_stable(solver, stand):
    """A message after two seconds must not step two seconds ahead."""
    errors = clik_errors(solver, stand, 50.0, ticks=2)
    q = stand.copy()
    q[1] += 0.1
    targets = solver.solve(PackedReferences.feet(0.0, solver.fk_feet(stand)), q, 2.0)
    assert abs(targets.position[1] - stand[1]) <= 0.1 and errors[0] > 0


# ---------------------------------------------------------------------------------------------- bad input, variants
def test_walker_has_24_joints_and_says_what_is_absent(walker, stand):
    frame = np.array([0] * 6 + [2] * 6)
    p = np.concatenate([walker.fk_feet(stand[:24]), np.full((6, 3), np.nan)])
    targets = walker.solve(held(frame=frame, p_base=p, joint_position=np.zeros((12, 3))), stand[:24], 0.0)
    assert targets.position.shape == (24,) and targets.reports[7].status == Status.ABSENT
    assert "upper_2 is not part of this robot" in str(targets.reports[7])
    with pytest.raises(UnknownNameError, match="no limb 'upper_1'"):
        walker.forward("upper_1", Frame.SPHERE_CENTRE, [0, 0])


@pytest.mark.parametrize(
    "q, dt, words",
    [(np.zeros(35), DT, r"\(36,\)"), ("x", DT, "36"), (np.zeros(36), -0.1, "dt"), (np.zeros(36), np.nan, "dt")],
)
def test_wrong_vectors_are_refused(solver, q, dt, words):
    with pytest.raises(ShapeError, match=words):
        solver.solve(held(), q, dt)


def test_nothing_known_is_said_not_guessed(solver, stand):
    partly = stand.copy()
    partly[30] = np.nan
    with pytest.raises(InvalidReferenceError, match="upper_4_shoulder"):
        solver.solve(held(), partly, 0.0)
    assert np.isfinite(solver.solve(held(), stand, 0.0).position).all()  # and the solver goes on


def test_unknown_joints_do_not_matter_once_targets_exist(solver, stand):
    solver.reset(stand)
    for name in ("closed_form", "clik"):
        solver.set_config(solver.config.replace(solver=name))
        targets = solver.solve(gait(solver, 0.1, stand), np.full(36, np.nan), DT)
        assert np.isfinite(targets.position).all()


@pytest.mark.parametrize(
    "changes", [{"solver": "magic"}, {"tick": 0.0}, {"clik_gain": 0.0}, {"clik_gain": np.nan}, {"blend_time": -1.0}]
)
def test_bad_parameters_are_refused(changes):
    with pytest.raises((InvalidConfigError, UnknownNameError), match="give a number|closed_form"):
        SolverConfig(**changes)


def test_foot_jacobians_are_those_of_the_chains(solver, stand):
    J = solver.foot_jacobians(stand)
    for i in range(6):
        np.testing.assert_allclose(
            J[i], solver.model.chain(LIMBS[i], Frame.FOOT).jacobian(stand[4 * i : 4 * i + 4])[:3], atol=1e-13
        )


def test_six_fold_symmetry(solver, stand):
    feet = solver.fk_feet(stand)
    for k in range(6):
        c, s = np.cos(k * np.pi / 3), np.sin(k * np.pi / 3)
        np.testing.assert_allclose(
            feet[k], [c * feet[0, 0] - s * feet[0, 1], s * feet[0, 0] + c * feet[0, 1], feet[0, 2]], atol=1e-12
        )


@pytest.mark.jit
def test_cache_goes_elsewhere_when_the_source_is_read_only(tmp_path):
    """A private copy of the package, without right to write beside it, is compiled into NUMBA_CACHE_DIR."""
    code = (
        "import os; from shellbot_kinematics import _planar; print(_planar.wrap(7.0, 0.0));"
        "print(_planar.wrap._cache.cache_path)"
    )
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.splitlines()[1].startswith(str(tmp_path)) and list(tmp_path.rglob("*.nbi"))


@pytest.mark.jit
def test_no_place_for_the_cache_is_a_warning_not_the_end(monkeypatch):
    caching = pytest.importorskip("numba.core.caching", reason="numba before 0.49 keeps it elsewhere")
    from robot_mechanics.native.jit import kernel

    monkeypatch.setattr(caching.FunctionCache._impl_class, "_locator_classes", [])
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
        double = kernel(lambda x: 2 * x)
    assert double(3) == 6


def test_joints_too_slow_for_their_foot_are_slowed_down_alike(solver, stand):
    """A foot that is led too fast goes slower, and not somewhere else."""
    solver.set_config(SolverConfig(solver="clik", blend_time=0.0))
    rng, feet = np.random.default_rng(5), solver.fk_feet(stand)
    v = rng.normal(size=(6, 3))
    found = []
    for scale in (0.02, 20.0):
        solver.reset(stand)
        found.append(solver.solve(PackedReferences.feet(0.0, feet, scale * v), stand, DT).velocity[:24].reshape(6, 4))
    slow, fast = (rates[:, 1:] for rates in found)
    limits = solver.model.velocity[:24].reshape(6, 4)[:, 1:]
    np.testing.assert_allclose(np.abs(fast / limits).max(axis=1), 1.0)
    directions = [rates / np.linalg.norm(rates, axis=1, keepdims=True) for rates in (slow, fast)]
    np.testing.assert_allclose(directions[1], directions[0], atol=1e-6)


@pytest.mark.parametrize("p", [[np.nan, 0.0, -0.1], [np.nan] * 3])
def test_a_part_of_the_orientation_that_is_given_counts(solver, p):
    """With yaw left free, roll and pitch are still met, or the answer says that they are not."""
    q = np.array([0.1, 0.2, -0.3, 1.2])
    whole = solver.forward("lower_1", Frame.SPHERE_CENTRE, q)
    rpy = np.array(rpy_from_rotation(whole[:3, :3]))
    found = solver.inverse("lower_1", Frame.SPHERE_CENTRE, [np.nan] * 3, rpy, fan_position=np.nan, seed=q + 0.05)
    assert found.converged
    wrong = solver.inverse("lower_1", Frame.SPHERE_CENTRE, p, [3.14, -0.55, np.nan], fan_position=0.0)
    reached = rpy_from_rotation(solver.forward("lower_1", Frame.SPHERE_CENTRE, wrong.q)[:3, :3])
    off = np.abs((np.array(reached[:2]) - [3.14, -0.55] + np.pi) % (2 * np.pi) - np.pi)
    assert not wrong.converged or off.max() < 1e-6


@pytest.mark.parametrize(
    ("limb", "frame", "q"),
    [
        ("lower_1", Frame.FOOT, [0.0, 0.3, -0.4, 1.5]),
        ("lower_4", Frame.SPHERE_CENTRE, [-0.2, 0.3, -0.4, 1.5]),
        ("upper_3", Frame.SPHERE_CENTRE, [0.3, 1.2]),
    ],
)
def test_an_orientation_beside_a_whole_position_counts(solver, limb, frame, q):
    pose = solver.forward(limb, frame, q)
    p, rpy = pose[:3, 3], np.array(rpy_from_rotation(pose[:3, :3]))
    alone = solver.inverse(limb, frame, p, fan_position=q[0], seed=q)
    assert alone.converged and not alone.reason
    for met in (rpy, [np.nan] * 3, None):
        found = solver.inverse(limb, frame, p, met, fan_position=q[0], seed=q)
        assert found.converged and found.error < 1e-6 and not found.reason
        np.testing.assert_allclose(found.q, q, atol=1e-9)
    for missed in ((0.1, 0.2, 0.3), (3.14, -0.55, np.nan), (np.nan, np.nan, rpy[2] + 1.0), (1e300, 0.0, 0.0)):
        found = solver.inverse(limb, frame, p, missed, fan_position=q[0], seed=q)
        assert not found.converged and f"{limb} stops 0.0 mm and" in found.reason and "deg" in found.reason
        np.testing.assert_array_equal(found.q, alone.q)
    off = solver.inverse(limb, frame, p, rotated_about_z(pose, 0.01), fan_position=q[0], seed=q)
    assert f"and {np.degrees(0.01):.3g} deg from its target" in off.reason
    far = solver.inverse(limb, frame, 3.0 * p, (0.1, 0.2, 0.3), fan_position=q[0], seed=q)
    assert not far.converged and "mm from its target" in far.reason and "deg off" in far.reason
    if limb.startswith("upper"):
        height = solver.inverse(limb, frame, [np.nan, np.nan, p[2]], rpy, seed=q)
        assert height.converged
        np.testing.assert_allclose(height.q, q, atol=1e-9)
        height = solver.inverse(limb, frame, [np.nan, np.nan, p[2]], rotated_about_z(pose, 0.01), seed=q)
        assert not height.converged and "0.573 deg" in height.reason
        assert not solver.inverse(limb, frame, [p[0] + 0.1, np.nan, p[2]], rpy, seed=q).converged


def rotated_about_z(pose, angle):
    return np.array(rpy_from_rotation(rotation_from_rpy(0.0, 0.0, angle) @ pose[:3, :3]))


def test_of_the_branches_of_a_position_the_one_with_the_orientation_is_taken(solver):
    chain, count = solver.model.chain("lower_2", Frame.FOOT), 0
    rng = np.random.default_rng(7)
    for _ in range(40):
        pose = chain.fk(np.r_[0.0, rng.uniform(chain.lower[1:], chain.upper[1:])])
        rpy = rpy_from_rotation(pose[:3, :3])
        found = solver.inverse("lower_2", Frame.FOOT, pose[:3, 3], rpy)
        assert found.converged, found.reason
        np.testing.assert_allclose(chain.fk(found.q), pose, atol=1e-6)
        count += np.abs(found.q - solver.inverse("lower_2", Frame.FOOT, pose[:3, 3]).q).max() > 0.1
    assert count > 3  # the seed would take another branch


@pytest.mark.parametrize("limb", ["lower_1", "upper_2"])
@pytest.mark.parametrize("bad", ["abc", [0.1, 0.2], [np.inf, 0.0, 0.0], 0.3, [[0.0, 0.0, 0.0]]])
def test_a_malformed_pose_is_refused_in_words(solver, limb, bad):
    with pytest.raises(ShapeError, match=r"rpy_base is .*expected roll, pitch, yaw in rad"):
        solver.inverse(limb, Frame.SPHERE_CENTRE, [0.2, 0.0, 0.0], bad)
    with pytest.raises(ShapeError, match=r"p_base is .*expected x, y, z in m"):
        solver.inverse(limb, Frame.SPHERE_CENTRE, bad)
