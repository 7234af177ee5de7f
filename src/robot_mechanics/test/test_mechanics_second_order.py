# SPDX-License-Identifier: MIT
"""The written second-order term of a chain and the turned sines, beside differences and the C library."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from mechanics_chains import PUMA, UR5, dh_chain, known_chains, random_chains

from robot_mechanics import InverseConfig, InverseKinematics, Joint, Mimic, SerialChain
from robot_mechanics.codegen.chain_source import write_motions, write_pose
from robot_mechanics.codegen.chain_tables import chain_tables, whole_turns
from robot_mechanics.codegen.compiled_chain import compile_chain
from robot_mechanics.codegen.expressions import Writer, code
from robot_mechanics.codegen.lane_source import lanes_source
from robot_mechanics.codegen.options import KernelOptions
from robot_mechanics.codegen.second_order_source import prepare_second_order, write_second_order
from robot_mechanics.codegen.turning_source import (
    GREATEST,
    SHORT_ENOUGH,
    TURN_SINE,
    ConstantWriter,
    plan_changes,
    write_changes,
    write_turned,
)
from robot_mechanics.native.lm_kernels import second_order
from robot_mechanics.native.table_kernels import table_pose


def term(chain, q, d, rows=6):
    """The written half of f''[d, d], run by the interpreter, and the lines that it takes once d is known."""
    p, w = chain.parameters(), Writer("")
    motions = write_motions(w, write_pose(w, p, [f"q{i}" for i in range(p.n)], rotation=rows == 6), second=True)
    parts = prepare_second_order(w, motions, rows)
    before = len(w.lines)
    made = write_second_order(w, parts, [f"d{i}" for i in range(p.n)], rows)
    names = {f"q{i}": float(x) for i, x in enumerate(q)}
    names.update({f"d{i}": float(x) for i, x in enumerate(d)})
    names["sincos"] = lambda a: (math.sin(a), math.cos(a))
    exec("\n".join(w.lines), names)
    return np.array([eval(code(x), names) for x in made]), w.lines[before:]


def check(chain, rng, count=4):
    for _ in range(count):
        q, d = rng.uniform(-3.0, 3.0, chain.n), rng.uniform(-1.0, 1.0, chain.n)
        h = 1e-5  # the twist J d changes along q + t d at the rate f''[d, d]
        expected = 0.5 * (chain.jacobian(q + h * d) - chain.jacobian(q - h * d)) @ d / (2.0 * h)
        size = 1.0 + np.abs(expected).max()
        np.testing.assert_allclose(term(chain, q, d)[0], expected, atol=1e-8 * size, rtol=0)
        np.testing.assert_allclose(term(chain, q, d, 3)[0], expected[:3], atol=1e-8 * size, rtol=0)


@pytest.mark.parametrize("mimics", [0, 3])
def test_second_order_of_random_chains(mimics, rng):
    for chain in random_chains(31 + mimics, 24, mimics):
        if chain.n:
            check(chain, rng)


def test_second_order_of_known_chains(rng):
    for chain in known_chains():
        check(chain, rng)


def shifted(x, y, z):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


@pytest.mark.parametrize("back", [-1.0, 1.0])
def test_second_order_of_parallel_and_opposite_axes_with_sliders_between(back, rng):
    """Turns about z and -z with prismatic joints before, between and behind them, and one that follows another."""
    chain = SerialChain([
        Joint("lift", "prismatic", axis=(0, 0, 1)),
        Joint("slide", "prismatic", axis=(1, 0.2, 0)),
        Joint("a", axis=(0, 0, 1), after=shifted(0.3, 0.1, 0.0)),
        Joint("b", axis=(0, 0, back), after=shifted(0.2, 0.0, 0.1)),
        Joint("out", "prismatic", axis=(0.3, 1, 0.5)),
        Joint("c", axis=(0, 0, 1), after=shifted(0.1, 0.4, 0.0), mimic=Mimic("b", -1.5, 0.2)),
        Joint("d", axis=(0, back, 0), after=shifted(0.3, 0.1, 0.2)),
        Joint("e", axis=(0, -back, 0), after=shifted(0.1, 0.1, 0.0)),
        Joint("f", "prismatic", axis=(0, 0, 1)),
    ])  # fmt: skip
    check(chain, rng, 10)


def test_the_term_is_what_a_step_is_off_by(rng):
    """Not only the rate of J d: the pose behind q + d itself, to third order."""
    chain = dh_chain(PUMA, "puma")
    q, d = rng.uniform(-2.0, 2.0, 6), rng.uniform(-1.0, 1.0, 6)
    half, J = term(chain, q, d)[0], chain.jacobian(q)
    from scipy.spatial.transform import Rotation

    for h, bound in ((1e-2, 1e-6), (1e-3, 1e-9)):
        before, behind = chain.fk(q), chain.fk(q + h * d)
        turn = Rotation.from_matrix(behind[:3, :3] @ before[:3, :3].T).as_rotvec()
        moved = np.concatenate([behind[:3, 3] - before[:3, 3], turn])
        off = moved - J @ (h * d)
        assert np.abs(off).max() > 10.0 * bound  # first order alone is far from it
        np.testing.assert_allclose(off, h * h * half, atol=bound, rtol=0)


def test_sliders_alone_and_a_single_turn(rng):
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "oblique": (1, 1, 1)}
    three = SerialChain([Joint(name, "prismatic", axis=axis) for name, axis in axes.items()])
    made, lines = term(three, rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3))
    assert not made.any() and lines == []  # nothing to compute, nothing written
    one = SerialChain([Joint("turn", axis=(0, 0, 1), after=shifted(0.5, 0.0, 0.0))])
    np.testing.assert_allclose(term(one, [0.0], [0.2])[0], [-0.5 * 0.5 * 0.04, 0, 0, 0, 0, 0], atol=1e-15)


def test_parallel_joints_cost_a_square_each(rng):
    """Once the step is known a planar chain takes two sums, three squares and two sums of products."""
    chain = dh_chain([(0, 0.3, 0, 0), (0, 0.2, 0, 0), (0, 0.1, 0, 0)], "planar")
    made, lines = term(chain, [0.1, 0.2, 0.3], [0.1, 0.1, 0.1], 3)
    assert len(lines) == 7 and made[2] == 0.0


@pytest.mark.parametrize("mimics", [0, 3])
def test_second_order_from_tables_is_the_same(mimics, rng):
    for chain in random_chains(51 + mimics, 12, mimics):
        if not chain.n:
            continue
        tables, q, d = chain_tables(chain.parameters()), rng.uniform(-3, 3, chain.n), rng.uniform(-1, 1, chain.n)
        pose, axes, off = np.empty((3, 4)), np.empty((len(tables.kind), 6)), np.empty((6, 1))
        table_pose(*tables, q, pose, axes)
        second_order(tables.kind, tables.column, tables.ratio, *pose[:, 3], axes, d, off)
        np.testing.assert_allclose(off[:, 0], term(chain, q, d)[0], atol=1e-12, rtol=1e-12)


def test_weighted_errors_to_second_order(rng):
    """The solver of all chains takes the same steps, whatever rows count: fewer than first order needs."""
    chain = dh_chain(UR5, "ur5")
    cases = (
        ((1, 1, 1, 1, 1, 1), "world", 4.2),
        ((1, 1, 1, 1, 0.3, 0.1), "world", 4.5),
        ((1, 1, 1, 1, 0, 0.1), "target", 4.7),
        ((1, 0, 1, 0, 0, 0), "world", 3.5),
    )
    for weights, frame, most in cases:
        inverse, steps = InverseKinematics(chain, InverseConfig(weights=weights, orientation_frame=frame)), []
        for _ in range(20):
            q = np.array([0.3, -1.2, 1.4, -0.8, -1.3, 0.2]) + rng.uniform(-0.3, 0.3, 6)
            result = inverse.solve(chain.fk(q + rng.uniform(-0.7, 0.7, 6)), q)
            assert result.converged
            steps.append(result.iterations)
        assert np.mean(steps) <= most, (weights, frame, np.mean(steps))


# ------------------------------------------------------------------------------------------------ turned sines
def turn(angle, change):
    w = Writer("")
    made = write_turned(w, "s", "c", "d")
    names = {"s": math.sin(angle), "c": math.cos(angle), "d": change}
    exec("\n".join(w.lines), names)
    return [eval(code(x), names) for x in made]


def test_turned_sines(rng):
    changes = [*rng.uniform(-GREATEST, GREATEST, 300), GREATEST, -GREATEST, 0.0, 1e-9]
    for angle, change in zip(rng.uniform(-10.0, 10.0, len(changes)), changes):
        s, c = turn(angle, change)
        bound = min(3e-10, 1.3e-8 * abs(change) ** 3) + 3e-16
        assert abs(s - math.sin(angle + change)) <= bound
        assert abs(c - math.cos(angle + change)) <= bound


def test_turned_sines_drift_less_than_their_tolerance_allows(rng):
    for changes in (np.full(40, GREATEST), rng.uniform(-GREATEST, GREATEST, 40)):
        angle, w = 0.3, Writer("")
        made = write_turned(w, "s", "c", "d")
        names = {"s": math.sin(angle), "c": math.cos(angle)}
        program = compile("\n".join(w.lines), "turned", "exec")
        for change in changes:
            names["d"] = float(change)
            exec(program, names)
            names["s"], names["c"] = (eval(code(x), names) for x in made)
            angle += change
        away = math.hypot(names["s"] - math.sin(angle), names["c"] - math.cos(angle))
        assert away <= 0.02 * SHORT_ENOUGH


@pytest.mark.parametrize("steps, turned", [(40, True), (400, False)])
def test_sines_are_computed_anew_where_errors_of_many_steps_would_add_up(steps, turned):
    options = KernelOptions(tolerance=5e-6, angle_tolerance=5e-6, steps=steps)
    chain = dh_chain([(90, 1.0, 0, 0.0), (0, 1.0, 0, 0.0), (0, 2.0, 0, 0.0)], "unit size")
    compiled, p = compile_chain(chain, options), chain.parameters()
    sources = [compiled.source(name) for name in ("ik", "ik_limited", "ik_pose", "ik_pose_limited")]
    for source in [*sources, lanes_source(p, whole_turns(p), False, options)[0]]:
        assert (repr(TURN_SINE[0]) in source) == turned


def test_angles_are_collected_once():
    p, w = dh_chain([(90, 0.1, 0, 0.2), (0, 0.2, 0, 0), (0, 0.1, 30, 0)], "arm").parameters(), ConstantWriter()
    write_pose(w, p, ["q0", "q1", "q2"], rotation=True)
    assert [angle.terms for angle in w.angles] == [(("q0", 1.0),), (("q1", 1.0),), (("q1", 1.0), ("q2", 1.0))]
    assert [round(math.degrees(angle.offset)) for angle in w.angles] == [0, 0, 30]
    assert not any("sin(" in line or "sincos" in line for line in w.lines)
    s, c = w.turned([(-1.0, "q0")])
    assert (s, c) == ("-sin0", "cos0") and len(w.angles) == 3
    assert w.turned([(0.5 * math.pi, 1.0)]) == (1.0, 0.0)
    assert w.angles[2].products({"q1": "a", "q2": "-b"}) == [(1.0, "a"), (1.0, "-b")]


def test_arms_with_kept_sines_are_the_same_arm(rng):
    """The pose from kept sines equals the pose from angles, mimic joints and offsets included."""
    for chain in [*random_chains(7, 8, 2), dh_chain(UR5, "ur5")]:
        p, w = chain.parameters(), ConstantWriter()
        at = write_pose(w, p, [f"q{i}" for i in range(p.n)], rotation=True)
        names = {f"q{i}": float(x) for i, x in enumerate(rng.uniform(-3.0, 3.0, p.n))}
        for k, angle in enumerate(w.angles):
            value = angle.offset + sum(ratio * names[name] for name, ratio in angle.terms)
            names[f"sin{k}"], names[f"cos{k}"] = math.sin(value), math.cos(value)
        exec("\n".join(w.lines), names)
        T = np.array([[eval(code(x), names) for x in column] for column in [*at.columns, at.p]]).T
        np.testing.assert_allclose(T, chain.fk([names[f"q{i}"] for i in range(p.n)])[:3], atol=1e-13, rtol=0)


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("mimics", [0, 3])
def test_steps_are_bounded_and_angles_change_with_the_coordinates(mimics, limited, rng):
    """Whatever step is asked for: no angle beyond its polynomials, none apart from the coordinates, limits kept."""
    for chain in [*random_chains(3, 10, mimics), dh_chain(UR5, "ur5"), dh_chain(PUMA, "puma")]:
        if not chain.n:
            continue
        low, high = np.full(chain.n, -0.7 if limited else -math.inf), np.full(chain.n, 0.9 if limited else math.inf)
        p = replace(chain.parameters(), lower=low, upper=high)
        w = ConstantWriter()
        write_pose(w, p, [f"c{i}" for i in range(p.n)], rotation=True)
        plan = plan_changes(w.angles, p, limited)
        names = {c: f"step{k}" for k, c in enumerate(plan.combinations)}
        lines = compile("\n".join(write_changes(plan, p, limited, names.__getitem__)), "changes", "exec")
        for size in (0.1, 1.0, 30.0):
            step, start = size * rng.uniform(-1.0, 1.0, p.n), rng.uniform(-0.7, 0.7, p.n)
            values = {name: sum(r * step[i] for i, r in c) for c, name in names.items()}
            values.update({f"s{i}": float(x) for i, x in enumerate(start)})
            exec(lines, values)
            moved = np.array([values[f"c{i}"] for i in range(p.n)]) - start
            for k, angle in enumerate(w.angles):
                change = sum(ratio * moved[int(name[1:])] for name, ratio in angle.terms)
                assert abs(values[f"turn{k}"]) <= GREATEST + 1e-12
                assert abs(change - values[f"turn{k}"]) <= 1e-12 * max(1.0, size)
            if limited:
                assert (start + moved >= low - 1e-15).all() and (start + moved <= high + 1e-15).all()
            elif size == 0.1 and not mimics:
                np.testing.assert_allclose(moved, step, atol=1e-14)
