# SPDX-License-Identifier: MIT
"""Solvers and frames: each switch while walking without a jump, Levenberg-Marquardt in the ticks, upper limbs by the
closed loop, the page of parameters, the node's tick from message to message.
"""

from __future__ import annotations

import itertools
import math

import numba
import numpy as np
import pytest

from robot_mechanics.errors import InvalidConfigError
from shellbot_kinematics import (
    LIMBS,
    SOLVERS,
    Frame,
    PackedReferences,
    ShellbotSolver,
    SolverConfig,
    Status,
    solve_limb,
)
from shellbot_kinematics._layout import G_HIGH, G_LOW
from shellbot_kinematics._limb_lm import LM_FOOT, lm_limb
from shellbot_kinematics._lower_leg import to_coxa
from shellbot_kinematics.cfg import KinematicsConfig
from shellbot_kinematics.node_tick_conversions import answer_references
from shellbot_kinematics.server_core import ServerCore
from shellbot_msgs.msg import LimbReference
from shellbot_msgs.msg import LimbReferences as LimbReferencesMsg

DT = 0.01
FOOT, SPHERE, JOINT, HOLD = Frame.FOOT, Frame.SPHERE_CENTRE, Frame.JOINT, Frame.HOLD
INTERPRETED = bool(numba.config.DISABLE_JIT)
WAYS = list(itertools.product(SOLVERS, (FOOT, SPHERE, JOINT, HOLD)))


def walking(solver, t, q_stand, frame):
    """The same gait (60 mm stride, 30 mm lift, 1 Hz) led by feet, sphere centres or joints; upper limbs likewise."""
    w = 2.0 * np.pi
    phase = w * t + np.pi * (np.arange(6) % 2)
    p, v, joints = np.full((12, 3), np.nan), np.full((12, 3), np.nan), np.full((12, 3), np.nan)
    feet = solver.fk_feet(q_stand)
    feet[:, 0] += 0.03 * np.cos(phase)
    feet[:, 2] += 0.015 * (1.0 + np.sin(phase))
    q = np.concatenate([q_stand[:24].reshape(6, 4), np.zeros((0, 4))])
    for i in range(6):
        q[i] = solve_limb(solver.model, LIMBS[i], FOOT, feet[i], seed=q_stand).q
        if frame == SPHERE:
            p[i] = solver.forward(LIMBS[i], SPHERE, q[i])[:3, 3]
        elif frame == FOOT:
            p[i] = feet[i]
    shells = q_stand[24:].reshape(6, 2) + 0.1 * np.sin(w * t)
    frames = np.array([frame] * 6 + [SPHERE if frame in (FOOT, SPHERE) else frame] * 6)
    for i in range(6, 12):
        p[i] = solver.forward(LIMBS[i], SPHERE, shells[i - 6])[:3, 3]
    joints[:6], joints[6:, :2] = q[:, 1:], shells
    return PackedReferences(t, 0.0, 0.0, frame=frames, p_base=p, v_base=v, joint_position=joints)


@pytest.mark.parametrize("before, after", list(itertools.permutations(WAYS, 2))[:: 40 if INTERPRETED else 2])
def test_no_switch_jumps(urdf, stand, before, after):
    """From any solver and frame to any other, with a robot that reaches short of its targets, within a walk.

    No joint's target moves faster than the joint can (speed limit x dt), nor much faster than the walk and the smooth
    step of the blend together.
    """
    solver = ShellbotSolver(urdf, SolverConfig(solver=before[0]))
    solver.reset(stand)
    sag = np.concatenate([np.tile([0.0, 0.0, 0.06, 0.06], 6), np.tile([0.005, 0.005], 6)])
    positions = [stand]
    for k in range(60):
        if k == 30:
            solver.set_config(solver.config.replace(solver=after[0]))
        frame = before[1] if k < 30 else after[1]
        references = walking(solver, DT * k, stand, frame)
        positions.append(solver.solve(references, positions[-1] + sag, DT).position)
    steps = np.abs(np.diff(positions, axis=0))
    assert (steps <= solver.model.velocity * DT).all()
    around = steps[30:34].max()
    assert around < 0.04, f"{math.degrees(around):.1f} deg in the ticks of the switch"


# ---------------------------------------------------------------------------------------------- Levenberg-Marquardt
def ready(urdf, name, q, **changes):
    solver = ShellbotSolver(urdf, SolverConfig(solver=name, blend_time=0.0, **changes))
    solver.reset(q)
    return solver


@pytest.mark.parametrize("frame", [FOOT, SPHERE])
def test_lm_follows_the_gait_as_the_closed_form_does(urdf, stand, frame):
    lm, closed = ready(urdf, "lm", stand), ready(urdf, "closed_form", stand)
    for k in range(10 if INTERPRETED else 50):
        references = walking(lm, DT * k, stand, frame)
        a, b = (solver.solve(references, stand, DT) for solver in (lm, closed))
        assert a.all_reached
        np.testing.assert_allclose(a.position, b.position, atol=1e-9)


def test_lm_converges_by_itself(model, rng):
    """From the home pose to targets of the working range, with nothing from the closed form."""
    chain = model.chain("lower_1", FOOT)
    low, high = np.radians([0.0, -60.0, -80.0, 10.0]), np.radians([0.0, 60.0, 60.0, 140.0])
    count, met = 40 if INTERPRETED else 400, 0
    for q in rng.uniform(low, high, (count, 4)):
        p = chain.fk(q)[:3, 3]
        found = np.array([0.0, 0.0, -0.5, 1.8])
        x, y, z = to_coxa(model.packed, 0, *p, 0.0, 1.0)
        left = lm_limb(LM_FOOT, model.packed, 0, x, y, z, G_LOW + 1, G_HIGH + 1, found, 0)
        assert left == pytest.approx(np.linalg.norm(chain.fk(found)[:3, 3] - p), abs=1e-12)
        met += left < 1e-9
    assert met >= 0.97 * count


def test_lm_ends_nearer_than_the_closed_form_out_of_reach(urdf, stand, rng):
    """Both name limb, distance and limit; Levenberg-Marquardt is not farther than what lies near."""
    better = 0
    for _ in range(10 if INTERPRETED else 60):
        p = np.full((12, 3), np.nan)
        azimuth = np.arange(6) * np.pi / 3
        reach = rng.uniform(0.1, 0.5, 6)
        p[:6] = np.stack([reach * np.cos(azimuth), reach * np.sin(azimuth), rng.uniform(-0.3, 0.1, 6)], axis=1)
        p[6:] = rng.normal(scale=0.1, size=(6, 3))
        references = PackedReferences(0.0, 0.0, 0.0, frame=[FOOT] * 6 + [SPHERE] * 6, p_base=p)
        found = {}
        for name in ("closed_form", "lm"):
            solver = ready(urdf, name, stand)
            found[name] = solver.solve(references, stand, DT)
            q = found[name].position
            assert (q >= solver.model.lower).all() and (q <= solver.model.upper).all()
            for i, limb in enumerate(LIMBS):
                tip = solver.forward(limb, FOOT if i < 6 else SPHERE, q[solver.model.columns(limb)])[:3, 3]
                assert found[name].distance[i] == pytest.approx(np.linalg.norm(tip - p[i]), abs=1e-9)
                report = found[name].reports[i]
                assert report.reached or (report.limb in str(report) and report.limit and "mm" in str(report))
        change = np.abs(found["closed_form"].position - stand)
        for i, limb in enumerate(LIMBS):
            if change[solver.model.columns(limb)].max() < 0.7:  # farther away would be a jump
                assert found["lm"].distance[i] <= found["closed_form"].distance[i] + 1e-9
        better += np.count_nonzero(found["lm"].distance < found["closed_form"].distance - 1e-4)
    assert better > 0


# ---------------------------------------------------------------------------------------------- closed loop
def test_upper_limbs_follow_the_closed_loop_too(urdf, stand):
    """By position and by height with orientation, each coordinate by its own gain: |e| shrinks by 1 - gain dt."""
    gains = (40.0, 40.0, 120.0, 50.0, 80.0)
    for by_height in (False, True):
        solver = ready(urdf, "clik", stand, clik_gain=gains)
        p, rpy = np.full((12, 3), np.nan), np.full((12, 3), np.nan)
        for i in range(6, 12):
            T = solver.forward(LIMBS[i], SPHERE, stand[24 + 2 * (i - 6) : 26 + 2 * (i - 6)])  # noqa: N806
            p[i] = T[:3, 3]
            if by_height:
                p[i, :2] = np.nan
                rpy[i] = math.atan2(T[2, 1], T[2, 2]), math.asin(-T[2, 0]), math.atan2(T[1, 0], T[0, 0])
        references = PackedReferences(0.0, 0.0, 0.0, [HOLD] * 6 + [SPHERE] * 6, p_base=p, rpy_base=rpy)
        measured = stand.copy()
        measured[24:] += np.tile([2e-4, -1e-4], 6)
        q = solver.solve(references, measured, DT).position
        for k in range(6):
            where = slice(24 + 2 * k, 26 + 2 * k)
            before, after = measured[where] - stand[where], q[where] - stand[where]
            limb = LIMBS[6 + k]
            goal, first, second = (solver.forward(limb, SPHERE, x[where])[:3, 3] for x in (stand, measured, q))
            assert (second - goal)[2] == pytest.approx((1.0 - DT * 120.0) * (first - goal)[2], abs=2e-7)
            if by_height:
                assert after.sum() == pytest.approx((1.0 - DT * 80.0) * before.sum(), abs=2e-7)
            else:
                np.testing.assert_allclose((second - goal)[:2], (1.0 - DT * 40.0) * (first - goal)[:2], atol=2e-7)


@pytest.mark.parametrize("gain", [190.0, 210.0])
def test_both_sides_of_the_bound_coordinate_by_coordinate(urdf, stand, gain):
    """One coordinate of the foot beyond 2 / dt and it alone diverges."""
    for axis in range(3):
        gains = [50.0] * 5
        gains[axis] = gain
        solver = ready(urdf, "clik", stand, clik_gain=gains, tick=0.009)
        object.__setattr__(solver.config, "tick", DT)  # 210 is allowed for 9 ms, and used for 10
        goal, q = solver.fk_feet(stand), stand.copy()
        q[1:4] += 1e-6
        sizes = []
        for _ in range(40):
            sizes.append(np.abs(solver.fk_feet(q) - goal)[0])
            q = solver.solve(PackedReferences.feet(0.0, goal), q, DT).position
        assert (sizes[-1][axis] > 5.0 * sizes[0][axis]) == (gain > 200.0)
        assert (np.delete(sizes[-1], axis) < 1e-6).all()


# ---------------------------------------------------------------------------------------------- parameters
def test_the_page_is_what_the_configuration_says():
    page = SolverConfig().to_page()
    assert KinematicsConfig.defaults == page
    for name, low in KinematicsConfig.min.items():
        if name.startswith("clik_gain"):
            assert 0.0 < low < page[name] < KinematicsConfig.max[name] < 2.0 / SolverConfig().tick
            SolverConfig(clik_gain=KinematicsConfig.max[name])
    choices = eval(
        next(p["edit_method"] for p in KinematicsConfig.config_description["parameters"] if p["name"] == "solver")
    )
    assert tuple(choice["value"] for choice in choices["enum"]) == SOLVERS


def test_gains_by_scalar_list_or_page():
    assert SolverConfig(clik_gain=30.0).clik_gain == (30.0,) * 5
    assert SolverConfig.from_mapping({"clik_gain": [1.0, 2, 3.0, 4.0, 5.0]}).clik_gain == (1.0, 2.0, 3.0, 4.0, 5.0)
    mixed = SolverConfig.from_mapping({"clik_gain": 20, "clik_gain_yaw": 7.0})
    assert mixed.clik_gain == (20.0, 20.0, 20.0, 7.0, 20.0)
    changed = SolverConfig(tick=0.02).with_page({"solver": "lm", "clik_gain_x": 9.0, "groups": {}})
    assert changed.tick == 0.02 and changed.solver == "lm" and changed.clik_gain == (9.0, 50.0, 50.0, 50.0, 50.0)


@pytest.mark.parametrize(
    "given, kind, words",
    [
        ({"clik_gain": [1.0, 2.0]}, InvalidConfigError, "5 numbers"),
        ({"clik_gain": [1.0, 2.0, 3.0, 4.0, 500.0]}, InvalidConfigError, "200"),
        ({"clik_gain": ["a"] * 5}, InvalidConfigError, "number"),
        ({"clik_gain_pitch": -1.0}, InvalidConfigError, r"clik_gain\[4\] is -1.0; give a number of at least 0.001 1/s"),
        ({"clik_gain_roll": 1.0}, InvalidConfigError, "clik_gain_roll"),
        ({"solver": 3}, InvalidConfigError, "choose from"),
        ({"solver": "ccd"}, InvalidConfigError, "closed_form, clik, lm"),
        ({"tick": True}, InvalidConfigError, "number"),
    ],
)
def test_bad_parameters_are_refused(given, kind, words):
    with pytest.raises(kind, match=words):
        SolverConfig.from_mapping(given)


def test_a_refused_page_changes_nothing(solver):
    core = ServerCore(solver)
    now, reason = core.set_page({"solver": "clik", "clik_gain_z": 30.0})
    assert reason == "" and now["solver"] == "clik" and solver.config.clik_gain[2] == 30.0
    now, reason = core.set_page({"solver": "lm", "clik_gain_z": 1e4})
    assert "stable" in reason and now["solver"] == "clik" and solver.config.solver == "clik"


# ---------------------------------------------------------------------------------------------- message to message
def test_a_tick_from_message_to_message(solver, stand):
    core = ServerCore(solver)
    message = LimbReferencesMsg()
    message.header.stamp.secs = 1
    silent = answer_references(core, message)
    assert silent.message is None and "joint_states" in silent.complaint
    core.update_measured(solver.names, stand)
    held = answer_references(core, message)
    assert held.complaint == "" and list(held.message.position) == stand.tolist()
    assert held.message.header.stamp == message.header.stamp
    message.limbs = [LimbReference(limb="fan", kind=LimbReference.JOINTS, joint_position=["far"])]
    odd = answer_references(core, message)
    assert "no number" in odd.complaint and list(odd.message.position) == stand.tolist()


def test_status_ok_is_said_of_all(urdf, stand):
    solver = ready(urdf, "lm", stand)
    targets = solver.solve(walking(solver, 0.0, stand, SPHERE), stand, DT)
    assert {report.status for report in targets.reports} == {Status.OK}


def test_a_foot_that_passed_under_its_coxa_axis_comes_back(urdf, stand):
    """There the leg takes the branch of a foot behind the axis, whose coxa stops at its limit as the foot goes out."""
    solver = ShellbotSolver(urdf)
    solver.reset(stand)
    ticks = [0, 20, 30, 40, 80, 100, 170, 200, 220, 280]
    x = [0.2700, 0.2630, 0.2286, 0.2120, 0.2042, 0.1927, 0.1513, 0.2862, 0.2973, 0.2973]
    y = [0.0, 0.0015, 0.0036, 0.0099, 0.0162, 0.0256, 0.0293, 0.0254, 0.0276, 0.0276]
    z = [-0.1623, -0.1623, -0.1649, -0.1713, -0.1769, -0.1773, -0.1773, -0.1646, -0.1773, -0.1773]
    feet, q, behind = solver.fk_feet(stand), stand, 0.0
    for k in range(281):
        feet[0] = [np.interp(k, ticks, values) for values in (x, y, z)]
        p, joints = np.full((12, 3), np.nan), np.full((12, 3), np.nan)
        p[:6], joints[6:, :2] = feet, stand[24:].reshape(6, 2)
        references = PackedReferences(DT * k, 0.0, 0.0, frame=[FOOT] * 6 + [JOINT] * 6, p_base=p, joint_position=joints)
        answer = solver.solve(references, q, DT)
        if k > 0:
            assert np.abs(answer.position - q)[:4].max() < 0.25, "rad in a tick"
        q, behind = answer.position, min(behind, float(answer.position[1]))
    assert behind < -1.0, "rad: it was on the other branch"
    assert answer.status[0] == Status.OK and solver.fk_feet(q)[0] == pytest.approx(feet[0], abs=1e-5)
