# SPDX-License-Identifier: MIT
"""The library measured: its public calls, at first call compiled, in this process's version of numba."""

from __future__ import annotations

import math
import platform
import sys
import time
from typing import Any, Callable, Dict, List, Tuple

import numba
import numpy as np
import problem
import roofline
from worker import Case, cycle

from robot_mechanics import SerialChain, inverse_batch
from robot_mechanics.codegen.inverse_source import DAMPING
from shellbot_kinematics import Frame, PackedReferences, ShellbotModel, ShellbotSolver, foot_batch, packed

VERSIONS = {"numba": numba.__version__, "numpy": np.__version__, "python": platform.python_version()}
BATCH = 100_000


def cases(options: Dict[str, Any]) -> Dict[str, Case]:
    """Return everything that is timed of our own."""
    sys.setswitchinterval(0.005)
    with open(options["urdf"], encoding="utf-8") as stream:
        urdf = stream.read()
    model = ShellbotModel(urdf)
    leg = SerialChain.from_dh([(*problem.LEG_BASE, "fixed"), *problem.LEG])
    arm = SerialChain.from_dh(problem.UR5)
    made = {**_forward(leg, arm), **_closed_form(model, urdf), **_general(leg), **_arm(arm), **_robot(model, urdf)}
    made.update(_batches(model, leg))
    made.update(roofline.cases())
    if not options["quick"]:
        made["joints"] = Case(lambda k: None, facts={"per_n": _cost_per_joint()})
    return made


def _forward(leg: SerialChain, arm: SerialChain) -> Dict[str, Case]:
    made = {}
    for chain, (name, base, rows, home) in zip((leg, arm), problem.ARMS):
        compiled, T, J = chain.compile(), np.empty((4, 4)), np.empty((6, chain.n))  # noqa: N806
        q = home + np.random.default_rng(1).uniform(-0.5, 0.5, (1000, chain.n))
        error = [0.0, 0.0]
        for row in q[:50]:
            compiled.fk(row, T)
            compiled.jacobian(row, J)
            error[0] = max(error[0], np.abs(T - problem.forward(base, rows, row)[0]).max())
            error[1] = max(error[1], np.abs(J - problem.jacobian(base, rows, row)).max())
        made[f"{name}_fk"] = Case(cycle(compiled.fk, [(row, T) for row in q]), facts={"error": error[0]})
        made[f"{name}_jacobian"] = Case(cycle(compiled.jacobian, [(row, J) for row in q]), facts={"error": error[1]})
    return made


def _restarting(
    function: Callable[..., Any], targets: np.ndarray, starts: np.ndarray
) -> Tuple[Callable[[int], None], np.ndarray]:
    """Return run(k) that calls function(target, q), each q being a start again after every pass; and all q."""
    q = np.tile(starts, (len(targets), 1))
    pairs = list(zip(targets, q))

    def run(k: int) -> None:
        while k > 0:
            q[:] = starts
            for target, row in pairs[:k]:
                function(target, row)
            k -= len(pairs)

    return run, q


def _from_start(function: Callable[..., Any], first: np.ndarray, blocks: np.ndarray) -> Callable[[int], None]:
    """Return run(k) that calls function(first, block), all blocks as they are now before every pass: an answer that is
    left in its block would be a start from the solution.
    """
    start, rows = blocks.copy(), list(blocks)

    def run(k: int) -> None:
        while k > 0:
            blocks[:] = start
            for row in rows[:k]:
                function(first, row)
            k -= len(rows)

    return run


def _closed_form(model: ShellbotModel, urdf: str) -> Dict[str, Case]:
    made = {}
    for name, kind, limited, frame in (
        ("closed_w", "W", False, Frame.FOOT), ("closed_f", "F", False, Frame.FOOT),
        ("closed_inside", "L", True, Frame.FOOT), ("closed_sphere", "L", False, Frame.SPHERE_CENTRE),
    ):  # fmt: skip
        request_block = packed.LegBlock(limited=limited, frame=frame)
        targets = problem.leg_targets(kind)
        if frame == Frame.SPHERE_CENTRE:
            u = np.random.default_rng(20240605).random((len(targets), 4))
            q = problem.LEG_LIMITS[:, 0] + u * (problem.LEG_LIMITS[:, 1] - problem.LEG_LIMITS[:, 0])
            chain = model.chain("lower_1", frame)
            targets = np.array([chain.fk(row)[:3, 3] for row in q])
        request_block.joints[:] = problem.HOME
        request_block.point[:] = 0.0
        blocks = np.tile(request_block.data, (len(targets), 1))
        blocks[:, 0:3] = targets
        leg, function = model.legs[0], packed.foot_inverse_free_fan
        run = _from_start(function, leg, blocks)
        run(len(blocks))
        joints = blocks[:, 3:7]
        if frame == Frame.FOOT:
            good = problem.reached(problem.LEG_BASE, problem.LEG, joints, targets)
        else:
            good = np.array([np.linalg.norm(chain.fk(r)[:3, 3] - t) < 1e-6 for r, t in zip(joints, targets)])
        if limited:
            low, high = problem.LEG_LIMITS[:, 0] - 1e-9, problem.LEG_LIMITS[:, 1] + 1e-9
            good &= ((joints >= low) & (joints <= high)).all(axis=1)
        made[name] = Case(run, facts={"success": int(good.sum()), "of": len(good)})
    solver = ShellbotSolver(urdf)
    q5 = np.random.default_rng(20240606).uniform(-1.2, 1.2, (1000, 2))
    chain = model.chain("upper_1", Frame.SPHERE_CENTRE)
    centres = np.array([chain.fk(row)[:3, 3] for row in q5])
    answers = [solver.inverse("upper_1", Frame.SPHERE_CENTRE, p).q for p in centres]
    good = np.array([np.linalg.norm(chain.fk(q)[:3, 3] - p) < 1e-6 for q, p in zip(answers, centres)])
    request_upper = packed.ShellBlock()
    rows = np.tile(request_upper.data, (len(centres), 1))
    rows[:, 0:3] = centres
    run = _from_start(packed.shell_inverse, model.shells[0], rows)
    run(len(rows))
    met = sum(np.linalg.norm(chain.fk(row[3:5])[:3, 3] - p) < 1e-6 for row, p in zip(rows, centres))
    made["closed_upper"] = Case(run, facts={"success": int(met), "of": len(rows)})
    made["upper_solver"] = Case(
        cycle(lambda p: solver.inverse("upper_1", Frame.SPHERE_CENTRE, p), [(p,) for p in centres]),
        facts={"success": int(good.sum()), "of": len(good)},
    )
    return made


def _general(leg: SerialChain) -> Dict[str, Case]:
    compiled, made = leg.compile(), {}
    for name, kind in (("lm_w", "W"), ("lm_f", "F")):
        targets = problem.leg_targets(kind)
        run, q = _restarting(compiled.ik, targets, problem.HOME)
        q[:] = problem.HOME
        steps = np.array([compiled.ik(t, row) for t, row in zip(targets, q)])
        good = problem.reached(problem.LEG_BASE, problem.LEG, q, targets)
        facts = {
            "success": int(good.sum()), "of": len(good), "iterations": float(np.abs(steps).mean()),
            "iterations_p95": float(np.percentile(np.abs(steps), 95)),
        }  # fmt: skip
        if kind == "W":
            facts.update(_within_one_percent(targets[:2000]))
        made[name] = Case(run, facts=facts)
    made["lm_inside"] = _inside(compiled.ik, problem.leg_targets("W"), problem.HOME)
    made["lm_inside_f"] = _inside(compiled.ik, problem.leg_targets("F"), problem.HOME)
    bounded = SerialChain.from_urdf(
        problem.urdf("leg", problem.LEG_BASE, problem.LEG, problem.LEG_LIMITS), "world", "tip_1"
    )
    targets = problem.leg_targets("L")
    limited = bounded.compile().ik_limited
    run, q = _restarting(limited, targets, np.clip(problem.HOME, bounded.lower, bounded.upper))
    run(len(targets))
    good = problem.reached(problem.LEG_BASE, problem.LEG, q, targets)
    good &= ((q >= bounded.lower) & (q <= bounded.upper)).all(axis=1)
    made["lm_inside_limits"] = Case(run, facts={"success": int(good.sum()), "of": len(good)})
    feet, _, _ = problem.gait()
    q, total = problem.HOME.copy(), 0
    for point in np.concatenate([feet[:, 0]] * 2):
        total += abs(compiled.ik(np.ascontiguousarray(point), q))
    made["lm_w"].facts["iterations_gait"] = total / (2.0 * len(feet))
    return made


def _within_one_percent(targets: np.ndarray) -> Dict[str, float]:
    """Return the fraction of targets with 1 % of the path left after 2, 3, 4 and 5 steps of the kernels' iteration.

    Repeated here in numpy, because the kernels do not tell of their way: d = J'(JJ' + mu E I)^-1 e, and to it
    -J'(JJ' + mu E I)^-1 f''[d, d]/2.
    """
    base, rows, found = problem.LEG_BASE, problem.LEG, {2: 0, 3: 0, 4: 0, 5: 0}
    for target in targets:
        q, mu = problem.HOME.copy(), DAMPING
        e = target - problem.forward(base, rows, q)[0, :3, 3]
        first = np.linalg.norm(e)
        for step in range(1, 6):
            full = problem.jacobian(base, rows, q)
            J, axes = full[:3], full[3:]  # noqa: N806
            inverse = J.T @ np.linalg.inv(J @ J.T + mu * (e @ e) * np.eye(3))
            d = inverse @ e
            turned = np.cumsum(axes * d, axis=1)  # by the joints up to each; twice those before and itself
            second = np.cross(2.0 * turned - axes * d, J * d, axis=0).sum(axis=1)
            trial = q + d - 0.5 * inverse @ second
            f = target - problem.forward(base, rows, trial)[0, :3, 3]
            q, e, mu = (trial, f, 0.25 * mu) if f @ f < e @ e else (q, e, 8.0 * mu)
            if step in found:
                found[step] += np.linalg.norm(e) <= 0.01 * first
    return {f"within_1_percent_after_{step}": count / len(targets) for step, count in found.items()}


def _inside(kernel: Any, targets: np.ndarray, home: np.ndarray) -> Case:
    """Return a case that calls a kernel from jitted code, as a control loop in numba would."""

    @numba.njit
    def loop(targets: np.ndarray, home: np.ndarray, q: np.ndarray, times: int) -> int:
        total = 0
        for _ in range(times):
            for i in range(targets.shape[0]):
                q[:] = home
                total += kernel(targets[i], q)
        return total

    q = home.copy()
    loop(targets[:2], home, q, 1)
    return Case(lambda k: loop(targets, home, q, k), each=len(targets))


def _arm(arm: SerialChain) -> Dict[str, Case]:
    compiled, made = arm.compile(), {}
    poses = problem.ur5_targets()
    free = poses.copy()
    free[:, :3, 3] = math.nan
    for name, targets in (("arm_pose", poses), ("arm_orientation", free)):
        run, q = _restarting(compiled.ik_pose, targets, problem.UR5_HOME)
        run(len(targets))
        if name == "arm_pose":
            good = problem.reached(problem.UR5_BASE, problem.UR5, q, targets)
        else:
            rotations = problem.forward(problem.UR5_BASE, problem.UR5, q)
            rotations[:, :3, 3] = poses[:, :3, 3]
            away = np.linalg.norm(rotations[:, :3, :3] - poses[:, :3, :3], axis=(1, 2))
            good = away <= math.sqrt(2.0) * 1.001e-6
        made[name] = Case(run, facts={"success": int(good.sum()), "of": len(good)})
    return made


def _turned(points: np.ndarray) -> np.ndarray:
    """Return points or vectors (..., 6, 3) of six equal legs in base_link, leg k turned by (k - 1) 60 degrees."""
    turned = points.copy()
    for leg in range(6):
        c, s = math.cos(leg * math.pi / 3), math.sin(leg * math.pi / 3)
        x, y = points[..., leg, 0], points[..., leg, 1]
        turned[..., leg, 0], turned[..., leg, 1] = c * x - s * y, s * x + c * y
    return turned


def _robot(model: ShellbotModel, urdf: str) -> Dict[str, Case]:
    feet, rates, start = problem.gait()
    feet, rates = _turned(feet), _turned(rates)
    ticks = len(feet)
    loop = packed.ClikLoop(model.packed)
    loop.joints[:] = np.reshape(start, (6, 4))
    tasks = np.concatenate([feet.reshape(ticks, 18), rates.reshape(ticks, 18)], axis=1)
    data, robot, step, rows = loop.data, model.packed, packed.clik_follow, list(tasks)

    def run(k: int) -> None:
        whole, rest = divmod(k, ticks)
        for part in [rows] * whole + [rows[:rest]]:
            for row in part:
                step(data, row)

    run(ticks)
    worst = max(step(data, row) for row in rows)
    made = {"clik_tick": Case(run, facts={"worst_error_mm": 1e3 * worst})}

    request_block = packed.LimbsBlock()
    stand = np.concatenate([start, np.tile(np.radians([26.69, 78.31]), 6)])[: model.n]
    request_block.joints[: len(stand)] = stand
    packed.limbs_forward(robot, request_block.data)
    blocks = np.tile(request_block.data, (ticks, 1))
    blocks[:, 0:18] = tasks[:, :18]
    items = [(robot, row) for row in blocks]
    left = max(packed.limbs_inverse(*item) for item in items)
    facts = {"joints": model.n, "worst_error_mm": 1e3 * left, **_spread(packed.limbs_inverse, items, 50_000)}
    made["limbs36"] = Case(cycle(packed.limbs_inverse, items), facts=facts)

    solver = ShellbotSolver(urdf)
    solver.warm_up()
    q = np.zeros(model.n)
    q[: len(stand)] = stand
    references = [PackedReferences.feet(0.01 * i, feet[i % ticks], rates[i % ticks]) for i in range(400)]
    solver.solve(references[0], q, 0.0)
    facts = _spread(solver.solve, [(r, q, 0.01) for r in references], 20_000)
    made["solver_tick"] = Case(cycle(solver.solve, [(r, q, 0.01) for r in references]), facts=facts)
    return made


def _spread(function: Callable[..., Any], items: List[Tuple[Any, ...]], count: int) -> Dict[str, float]:
    """Return median and 99th percentile of single calls by the wall clock, the clock's own price taken off."""
    clock, times = time.perf_counter_ns, np.empty(count)
    overhead = min(-(clock() - clock()) for _ in range(1000))
    for i in range(count):
        arguments = items[i % len(items)]
        begin = clock()
        function(*arguments)
        times[i] = clock() - begin - overhead
    return {"p50_us": 1e-3 * float(np.percentile(times, 50)), "p99_us": 1e-3 * float(np.percentile(times, 99))}


def _batches(model: ShellbotModel, leg: SerialChain) -> Dict[str, Case]:
    u = np.tile(np.random.default_rng(20240601).random((problem.COUNT, 4)), (BATCH // problem.COUNT, 1))
    q = problem.W_RANGE[:, 0] + u * (problem.W_RANGE[:, 1] - problem.W_RANGE[:, 0])
    q[:, 0] = 0.0  # one fan angle for all: the leg's three joints
    points = np.ascontiguousarray(problem.forward(problem.LEG_BASE, problem.LEG, q)[:, :3, 3])
    # the branch in front of the coxa; the 1.5 % of W that lie behind it are replaced by others of W
    front = points[foot_batch(model, "lower_1", points, limits=False).converged]
    points = np.ascontiguousarray(np.concatenate([front, front])[:BATCH])
    made = {}
    for name, given in (("batch_soa", np.ascontiguousarray(points.T)), ("batch_rows", points)):
        out = foot_batch(model, "lower_1", given, limits=False)
        joints = out.q.T if given.shape[0] == 3 else out.q
        answers = np.column_stack([np.zeros(BATCH), joints])
        good = problem.reached(problem.LEG_BASE, problem.LEG, answers, points)
        # one core by its processor time; against two cores by the wall clock, both
        for label, threads, wall in (("1", 1, False), ("1_wall", 1, True), ("2", 2, True)):
            made[f"{name}_{label}"] = Case(
                lambda k, p=given, t=threads, o=out: [
                    foot_batch(model, "lower_1", p, limits=False, threads=t, out=o) for _ in range(k)
                ],
                each=BATCH, facts={"success": int(good.sum()), "of": BATCH}, wall=wall,
            )  # fmt: skip
    for kind in ("W", "F"):
        targets = np.tile(problem.leg_targets(kind), (BATCH // problem.COUNT, 1))
        answer = inverse_batch(leg, targets, problem.HOME, limits=False)
        good = problem.reached(problem.LEG_BASE, problem.LEG, answer.q[: problem.COUNT], targets[: problem.COUNT])
        for threads in (1, 2):
            made[f"batch_lm_{kind.lower()}_{threads}"] = Case(
                lambda k, p=targets, t=threads: [
                    inverse_batch(leg, p, problem.HOME, limits=False, threads=t) for _ in range(k)
                ],
                each=BATCH, facts={"success": int(good.sum()), "of": len(good)}, wall=threads > 1,
            )  # fmt: skip
    return made


def _cost_per_joint() -> Dict[str, Dict[str, float]]:
    """Return us of pose and Jacobian of chains of 4 .. 256 joints."""
    found: Dict[str, Dict[str, float]] = {}
    for n in (4, 8, 16, 32, 64, 128, 256):
        rows = [problem.UR5[i % 6] for i in range(n)]
        chain = SerialChain.from_dh(rows).compile()
        q, T, J = np.full(n, 0.3), np.empty((4, 4)), np.empty((6, n))  # noqa: N806
        fk, jacobian = Case(cycle(chain.fk, [(q, T)])), Case(cycle(chain.jacobian, [(q, J)]))
        found[str(n)] = {}
        for name, case in (("fk_us", fk), ("jacobian_us", jacobian)):
            case.calibrate(0.02)
            found[str(n)][name] = min(1e6 * case.seconds() / case.count for _ in range(5))
    return found
