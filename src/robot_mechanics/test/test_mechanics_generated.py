# SPDX-License-Identifier: MIT
"""Generated kernels: the same numbers as the chain's tables give, files that survive crowds and accidents."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import types
from pathlib import Path

import numba
import numpy as np
import pytest
from mechanics_chains import PUMA, UR5, dh_chain, known_chains, plain, random_chain, random_chains

import robot_mechanics
from robot_mechanics import Joint, KernelOptions, Mimic, SerialChain, compile_chain
from robot_mechanics.codegen.expressions import Writer
from robot_mechanics.codegen.kernel_source import LONGEST, SIGNATURES
from robot_mechanics.codegen.store import VARIABLE, load
from robot_mechanics.errors import InvalidChainError, InvalidConfigError, ShapeError
from robot_mechanics.native.angles import sincos
from robot_mechanics.native.jit import kernel

INTERPRETED = bool(numba.config.DISABLE_JIT)
LEG = [(0, 0.120, 0, 0), (-90, 0.038, 0, -0.02425), (0, 0.066, 0, 0.02425), (0, 0.122, 0, 0)]


def check_forward(chain, functions, rng, count):
    fk, jacobian, both = functions
    n = chain.n
    for _ in range(count):
        q = rng.uniform(-4.0, 4.0, n)
        T, J, T2, J2 = np.full((4, 4), 7.0), np.full((6, n), 7.0), np.full((4, 4), 7.0), np.full((6, n), 7.0)
        fk(q, T)
        jacobian(q, J)
        both(q, T2, J2)
        size = 1.0 + np.abs(chain.fk(q)[:3, 3]).max()
        np.testing.assert_allclose(T, chain.fk(q), atol=1e-13 * size, rtol=0)
        np.testing.assert_allclose(J, chain.jacobian(q), atol=1e-13 * size, rtol=0)
        assert np.array_equal(T, T2) or np.allclose(T, T2, atol=1e-14 * size, rtol=0)
        np.testing.assert_allclose(J, J2, atol=1e-14 * size, rtol=0)


@pytest.mark.parametrize("mimics", [0, 3])
def test_source_agrees_with_the_tables_on_random_chains(mimics, rng):
    for chain in random_chains(11 + mimics, 24, mimics):
        if chain.n:
            check_forward(chain, [plain(chain, name) for name in ("fk", "jacobian", "fk_jacobian")], rng, 3)


def test_kernels_agree_with_the_tables_on_known_chains(rng):
    for chain in known_chains():
        compiled = compile_chain(chain)
        check_forward(chain, [compiled.fk, compiled.jacobian, compiled.fk_jacobian], rng, 5 if INTERPRETED else 200)


@pytest.mark.parametrize("n", [20, 64] if INTERPRETED else [20, 64, 256])
def test_long_chains_agree_with_the_tables(n, rng):
    rows = [(rng.choice([0, 90, -90, 17]), rng.uniform(0.01, 0.1), rng.uniform(-90, 90), 0.02) for _ in range(n)]
    chain = dh_chain(rows, "snake")
    compiled = compile_chain(chain)
    check_forward(chain, [compiled.fk, compiled.jacobian, compiled.fk_jacobian], rng, 2)


def test_tables_and_straight_line_source_are_the_same_inverse(rng):
    chain = random_chain(np.random.default_rng(5), 9)
    assert chain.n <= LONGEST["ik"]
    from robot_mechanics.codegen import table_source

    tables = types.ModuleType("tables")
    for text in table_source.sources(chain.parameters(), KernelOptions()).values():
        exec(text, tables.__dict__)
    T, J, ik = np.empty((4, 4)), np.empty((6, chain.n)), plain(chain, "ik")
    for _ in range(10):
        q = rng.uniform(-1.0, 1.0, chain.n)
        if INTERPRETED:
            tables.fk_jacobian(q, T, J)
            np.testing.assert_allclose(T, chain.fk(q), atol=1e-12)
            np.testing.assert_allclose(J, chain.jacobian(q), atol=1e-12)
        goal = chain.fk(q + rng.uniform(-0.1, 0.1, chain.n))
        assert ik(goal[:3, 3].copy(), q) >= 0
        np.testing.assert_allclose(chain.fk(q)[:3, 3], goal[:3, 3], atol=1e-6)


def test_parallel_joints_share_sine_and_cosine():
    text = compile_chain(dh_chain(LEG, "leg")).source("ik")
    assert text.count("= sincos_flat(") == 4
    text = dh_chain([(0, 0.1, 0, 0), (0, 0.0, 0, 0.2), (0, 0.1, 0, 0)], "planar").compile().source("fk")
    assert text.count("= sincos(") == 2  # no lever arm behind the second joint


def test_constants_are_folded():
    w = Writer()
    assert w.dot([(0.0, "a"), (2.0, 3.0)]) == 6.0
    assert w.dot([(1.0, "a"), (1e-17, "b")]) == "a"
    assert w.dot([(-1.0, "a")]) == "-a"
    assert w.dot([("a", "-b"), ("b", "a")]) == 0.0
    assert w.dot([("a", "b")]) == w.dot([("b", "a")])
    assert w.lines == ["    t0 = a*b"]


def test_sine_and_cosine_to_the_last_place(rng):
    count = 300 if INTERPRETED else 20_000
    angles = np.concatenate([rng.uniform(-10, 10, count), rng.uniform(-1e5, 1e5, count), np.arange(64) * math.pi / 8])
    for angle in [*angles, 0.0, -0.0, 1e-300, 1e8, -3e12]:
        sine, cosine = sincos(angle)
        assert abs(sine - math.sin(angle)) <= 2.3e-16 and abs(cosine - math.cos(angle)) <= 2.3e-16


def test_mimic_joints_with_one_master():
    joints = [Joint("a", axis=[0, 0, 1]), Joint("b", mimic=Mimic("a", -1.0, 0.3)), Joint("c", mimic=Mimic("a", 2.0))]
    for i, joint in enumerate(joints):
        T = np.eye(4)
        T[:3, 3] = 0.1 + i, 0.2, -0.1
        joints[i] = Joint(joint.name, origin=T, axis=[1, i, 0.5], mimic=joint.mimic)
    chain = SerialChain(joints)
    assert chain.n == 1
    check_forward(
        chain, [plain(chain, name) for name in ("fk", "jacobian", "fk_jacobian")], np.random.default_rng(1), 5
    )


def test_a_chain_without_coordinates_has_no_kernels():
    with pytest.raises(InvalidChainError, match="moves"):
        SerialChain([Joint("flange", "fixed")]).compile()


def test_bad_input_raises_and_leaves_the_arrays():
    compiled = dh_chain(LEG, "leg").compile()
    T, J, q = np.zeros((4, 4)), np.zeros((6, 4)), np.zeros(4)
    for wrong in (np.zeros(3), np.zeros(0), np.full(4, math.nan), np.array([0, 0, 0, math.inf])):
        with pytest.raises(ShapeError):
            compiled.fk(wrong, T)
        with pytest.raises(ShapeError):
            compiled.ik(np.zeros(3), wrong)
    with pytest.raises(ShapeError, match="T"):
        compiled.fk(q, np.zeros((3, 4)))
    with pytest.raises(ShapeError, match=r"J \(6, 4\)"):
        compiled.jacobian(q, np.zeros((6, 5)))
    with pytest.raises(ShapeError, match=r"target \(3,\)"):
        compiled.ik(np.zeros(4), q)
    with pytest.raises(ShapeError, match="infinite"):
        compiled.ik(np.array([0.0, math.inf, math.nan]), q)
    with pytest.raises(ShapeError, match="rotation"):
        compiled.ik_pose(np.zeros((4, 4)), q)
    reflection = np.diag([1.0, 1.0, 1.1, 1.0])
    with pytest.raises(ShapeError, match="rotation"):
        compiled.ik_pose(reflection, q)
    with pytest.raises(ShapeError, match="task"):
        compiled.clik(np.zeros((3, 2)), q, 0.01)
    with pytest.raises(ShapeError, match="NaN"):
        compiled.clik(np.array([[0.1, 0.1, 0.1], [math.nan, 0, 0], [1, 1, 1]]), q, 0.01)
    assert not T.any() and not J.any() and not q.any()
    with pytest.raises(AttributeError, match="fk_jacobian"):
        _ = compiled.forward


@pytest.mark.jit
def test_other_types_are_a_type_error_instead_of_a_silent_compilation():
    compiled, frozen = dh_chain(LEG, "leg").compile(), np.zeros(4)
    frozen.setflags(write=False)
    for q, T, words in (
        (np.zeros(4, dtype=int), np.zeros((4, 4)), r"fk .* not int64; give np.array\(x, dtype=float, order='C'\)"),
        (np.zeros(4, dtype=np.float32), np.zeros((4, 4)), "argument 1 of fk .* not float32"),
        (np.zeros((4, 2))[:, 0], np.zeros((4, 4)), "argument 1 of fk .* not one that is not contiguous by rows"),
        (np.zeros(4), np.zeros((4, 4)).T[:, ::-1], "argument 2 of fk .* not one that is not contiguous by rows"),
        (frozen, np.zeros((4, 4)), "argument 1 of fk .* not read-only"),
        ([0.0] * 4, np.zeros((4, 4)), "argument 1 of fk .* 1-dimensional float64 array.* not a list"),
        (np.zeros(4), np.zeros(16), "argument 2 of fk .* 2-dimensional float64 array.* not 1-dimensional"),
    ):
        with pytest.raises(TypeError, match=words):
            compiled.fk(q, T)


@pytest.mark.jit
@pytest.mark.parametrize("name", ["fk", "ik"])
def test_only_straight_line_kernels_go_without_reference_counts(name):
    long = random_chain(np.random.default_rng(0), 2 * LONGEST[name] + 4)
    for chain, counts in ((dh_chain(LEG, "leg"), False), (long, True)):  # the tables' work memory needs numba's runtime
        assert getattr(chain.compile(), name).targetoptions.get("_nrt", True) == counts, chain.n


@pytest.mark.parametrize("field", ["tolerance", "angle_tolerance", "attempts", "pose_attempts", "steps"])
def test_options_out_of_range_name_the_field(field):
    with pytest.raises(InvalidConfigError, match=field):
        KernelOptions(**{field: 0})


def test_equal_chains_share_one_object():
    one, two = dh_chain(PUMA, "puma"), dh_chain(PUMA, "puma")
    assert one.compile() is two.compile() and compile_chain(one) is one.compile()
    assert dh_chain(PUMA, "other name").compile() is not one.compile()
    assert compile_chain(one, KernelOptions(tolerance=1e-9)) is not one.compile()
    assert one.compile() is not dh_chain(UR5, "ur5").compile()
    assert pickle.loads(pickle.dumps(one.compile())) is one.compile()


def test_kernels_are_called_from_jitted_code():
    compiled = dh_chain(LEG, "leg").compile()
    ik = compiled.ik

    @kernel
    def all_of(targets, q):
        worst = 0
        for k in range(targets.shape[0]):
            worst = max(worst, abs(ik(targets[k], q)))
        return worst

    q = np.array([0.0, 0.0, -0.5, 1.8])
    T = np.empty((4, 4))
    compiled.fk(q + 0.05, T)
    assert 1 <= all_of(np.array([T[:3, 3], T[:3, 3]]), q) <= 5
    if not INTERPRETED:
        assert type(compiled.fk).__name__ == "CPUDispatcher"  # no wrapper in between


def test_clik_follows_a_moving_target():
    compiled = dh_chain(LEG, "leg").compile()
    q, T, dt = np.array([0.0, 0.1, -0.5, 1.8]), np.empty((4, 4)), 0.01
    compiled.fk(q, T)
    centre = T[:3, 3].copy()
    centre[0] -= 0.02
    task, distances = np.zeros((3, 3)), []
    task[2] = 50.0
    for k in range(150):
        angle = 2.0 * math.pi * 0.5 * k * dt
        task[0] = centre + 0.02 * np.array([math.cos(angle), math.sin(angle), 0.0])
        task[1] = 0.02 * math.pi * np.array([-math.sin(angle), math.cos(angle), 0.0])
        distances.append(compiled.clik(task, q, dt))
    assert max(distances[5:]) < 1e-4
    task[0, 2] = math.nan  # free: the other two still converge
    task[1] = 0.0
    for _ in range(60):
        compiled.clik(task, q, dt)
    compiled.fk(q, T)
    np.testing.assert_allclose(T[:2, 3], task[0, :2], atol=1e-8)


@pytest.mark.parametrize("n", [4, 2 * LONGEST["fk_jacobian"]])
def test_clik_is_the_damped_step_for_chains_of_any_length(n, rng):
    chain, dt = random_chain(rng, n), 0.01
    compiled = chain.compile()
    for k in range(20):
        q = rng.uniform(-1.0, 1.0, chain.n)
        x, J = chain.fk(q)[:3, 3], chain.jacobian(q)[:3]
        task = np.array([x + 0.1 * rng.normal(size=3), rng.normal(size=3), rng.uniform(1.0, 50.0, 3)])
        counts = np.arange(3) != k % 4
        v = (task[1] + task[2] * (task[0] - x))[counts]
        J, away = J[counts], np.linalg.norm((task[0] - x)[counts])
        expected = q + dt * J.T @ np.linalg.solve(J @ J.T + 1e-8 * np.eye(len(J)), v)
        task[0, ~counts] = math.nan
        assert compiled.clik(task, q, dt) == pytest.approx(away, abs=1e-12)
        np.testing.assert_allclose(q, expected, rtol=1e-10, atol=1e-12)
    with pytest.raises(ShapeError, match="dt"):
        compiled.clik(task, q, math.nan)


# ------------------------------------------------------------------------------------------------ files
FIRST_CALL = (
    "import warnings, sys, numpy as np; warnings.simplefilter('always');"
    "from robot_mechanics import SerialChain; rng = np.random.default_rng(int(sys.argv[1]));"
    "c = SerialChain.from_dh([(0, rng.uniform(.1, .2), 0, 0), (0, .1, 0, .1)]).compile(); q = np.array([.1, .5]);"
    "print(c.ik(np.array([.15, .05, .1]), q));"
    "print(sum(c.ik.stats.cache_hits.values()) if hasattr(c.ik, 'stats') else -1)"
)


def start(folder, seed=3, **variables):
    path = os.pathsep.join([str(Path(robot_mechanics.__file__).parent.parent), *sys.path])
    code = f"import sys; sys.path[:0] = {path.split(os.pathsep)!r};" + FIRST_CALL
    environment = dict(os.environ, **{VARIABLE: str(folder), "PYTHONDONTWRITEBYTECODE": "1", **variables})
    return subprocess.Popen(
        [sys.executable, "-c", code, str(seed)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )


def finish(process):
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out.split(), err


@pytest.mark.jit
def test_processes_that_start_together_all_get_the_kernel(tmp_path):
    first = [finish(p) for p in [start(tmp_path) for _ in range(3)]]
    assert {out[0] for out, _ in first} == {first[0][0][0]} and int(first[0][0][0]) > 0
    again, _ = finish(start(tmp_path))
    assert again[1] == "1"  # the machine code came from the cache
    assert len(list((tmp_path / "chains").glob("*.py"))) == 1 and not list((tmp_path / "chains").glob("*.tmp"))


def test_a_damaged_file_is_written_anew(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    text = "VALUE = 41\n"
    module = load(text, "damaged")
    file = Path(module.__spec__.origin)
    assert module.VALUE == 41 and file.parent == tmp_path / "chains"
    file.write_bytes(b"\xff\x00 half a fi")
    del sys.modules[module.__name__]
    assert load(text, "damaged").VALUE == 41 and file.read_text() == text


@pytest.mark.jit
def test_without_a_writable_folder_the_source_runs_from_memory_with_a_warning(tmp_path):
    """A private copy of the package in which no folder can be made, whoever asks."""
    package = Path(robot_mechanics.__file__).parent
    copy = tmp_path / "copy" / "robot_mechanics"
    for source in package.rglob("*.py"):
        if "__pycache__" in source.parts:
            continue
        target = copy / source.relative_to(package)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    for folder in [copy, *(path for path in copy.iterdir() if path.is_dir())]:
        (folder / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")
    (tmp_path / "named").write_text("")
    variables = {"NUMBA_CACHE_DIR": str(tmp_path / "named"), "HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": ""}
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **variables, **{VARIABLE: str(tmp_path / "named")})
    code = f"import sys; sys.path[:0] = [{str(copy.parent)!r}, *{sys.path!r}];" + FIRST_CALL
    done = subprocess.run(
        [sys.executable, "-c", code, "3"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 0
    assert done.stderr.count(VARIABLE) == 1 and done.stderr.count("NUMBA_CACHE_DIR") == 1


def test_every_kernel_is_documented():
    from robot_mechanics.codegen.compiled_chain import CompiledChain

    for name in SIGNATURES:
        assert f"{name}(" in CompiledChain.__doc__
