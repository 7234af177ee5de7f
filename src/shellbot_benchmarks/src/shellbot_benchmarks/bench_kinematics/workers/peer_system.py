# SPDX-License-Identifier: MIT
"""What the workspace's own interpreter has: PyKDL of Debian, MuJoCo."""

from __future__ import annotations

import contextlib
import importlib.metadata
import math
from typing import Any, Dict, List, Sequence

import numpy as np
import problem
from numpy_loops import clik
from worker import Case, cycle

_alive: List[Any] = []
VERSIONS: Dict[str, str] = {"numpy": np.__version__}


def cases(_options: Dict[str, Any]) -> Dict[str, Case]:
    """Return what is timed of the libraries that are there; names begin with kdl_ and mujoco_."""
    made: Dict[str, Case] = {}
    with contextlib.suppress(ImportError):
        made.update(_kdl())
    with contextlib.suppress(ImportError):
        made.update(_mujoco())
    return made


def _kdl() -> Dict[str, Case]:
    import PyKDL as kdl

    VERSIONS["PyKDL"] = "1.5.1" if not hasattr(kdl, "__version__") else str(kdl.__version__)

    def frame(T: np.ndarray) -> Any:  # noqa: N803
        return kdl.Frame(kdl.Rotation(*T[:3, :3].ravel()), kdl.Vector(*T[:3, 3]))

    def chain(base: problem.Row, rows: Sequence[problem.Row]) -> Any:
        made = kdl.Chain()
        made.addSegment(kdl.Segment("base", kdl.Joint("base", kdl.Joint.Fixed), frame(problem.row_transform(base))))
        for j, row in enumerate(rows):
            made.addSegment(kdl.Segment(f"s{j}", kdl.Joint(f"j{j}", kdl.Joint.RotZ), frame(problem.row_transform(row))))
        return made

    def array(q: np.ndarray) -> Any:
        values = kdl.JntArray(len(q))
        for j, value in enumerate(q):
            values[j] = value
        return values

    found: Dict[str, Case] = {}
    all_solvers: List[Any] = []  # solvers refer to their chain, but do not keep it alive
    for name, base, rows, home in problem.ARMS:
        links = chain(base, rows)
        all_solvers.append(links)
        forward, jacobian = kdl.ChainFkSolverPos_recursive(links), kdl.ChainJntToJacSolver(links)
        out, J = kdl.Frame(), kdl.Jacobian(len(rows))  # noqa: N806
        qs = home + np.random.default_rng(1).uniform(-0.5, 0.5, (500, len(rows)))
        arrays, error = [array(q) for q in qs], 0.0
        for q, given in zip(qs[:50], arrays):
            forward.JntToCart(given, out)
            T = np.array([[out[r, c] for c in range(4)] for r in range(3)])  # noqa: N806
            error = max(error, np.abs(T - problem.forward(base, rows, q)[0, :3]).max())
        found[f"kdl_{name}_fk"] = Case(cycle(forward.JntToCart, [(a, out) for a in arrays]), facts={"error": error})
        found[f"kdl_{name}_jacobian"] = Case(cycle(jacobian.JntToJac, [(a, J) for a in arrays]))
        weights = np.ones((6, 1)) if name == "arm" else np.array([[1.0], [1], [1], [0], [0], [0]])
        solver, start = kdl.ChainIkSolverPos_LMA(links, weights, problem.TOLERANCE, 500, 1e-15), array(home)
        answer = kdl.JntArray(len(rows))
        sets = [("lm_w", problem.leg_targets("W")), ("lm_f", problem.leg_targets("F"))]
        for kind, targets in sets if name == "leg" else [("arm_pose", problem.ur5_targets())]:
            frames: List[Any] = []
            for target in targets:
                frames.append(frame(target) if target.ndim == 2 else kdl.Frame(kdl.Vector(*target)))
            joints = np.empty((2000, len(rows)))
            for i, goal in enumerate(frames[:2000]):
                solver.CartToJnt(start, goal, answer)
                joints[i] = [answer[j] for j in range(len(rows))]
            good = problem.reached(base, rows, joints, targets[:2000])
            run = cycle(solver.CartToJnt, [(start, goal, answer) for goal in frames])
            found[f"kdl_{kind}"] = Case(run, facts={"success": int(good.sum()), "of": 2000})
    _alive.extend(all_solvers)
    return found


def _mujoco() -> Dict[str, Case]:
    import mujoco

    VERSIONS["mujoco"] = importlib.metadata.version("mujoco")

    def body(row: problem.Row, inner: str, joint: str) -> str:
        T = problem.row_transform(row)  # noqa: N806
        w = math.sqrt(max(0.0, 1.0 + T[0, 0] + T[1, 1] + T[2, 2])) / 2.0
        if w > 1e-6:
            x, y, z = (T[2, 1] - T[1, 2]) / (4 * w), (T[0, 2] - T[2, 0]) / (4 * w), (T[1, 0] - T[0, 1]) / (4 * w)
        else:
            x, y, z = 1.0, 0.0, 0.0
        place = f'pos="{T[0, 3]:.17g} {T[1, 3]:.17g} {T[2, 3]:.17g}" quat="{w:.17g} {x:.17g} {y:.17g} {z:.17g}"'
        return f'<body {place}>{joint}<inertial pos="0 0 0" mass="0.1" diaginertia="1e-4 1e-4 1e-4"/>{inner}</body>'

    def leg(base: problem.Row, rows: Sequence[problem.Row], k: int) -> str:
        inner = body(rows[-1], f'<site name="tip_{k}"/>', "")
        for j in reversed(range(len(rows))):
            inner = body(base if j == 0 else rows[j - 1], inner, f'<joint name="j_{k}_{j}" axis="0 0 1"/>')
        return inner

    def model_of(legs: Sequence[str]) -> Any:
        return mujoco.MjModel.from_xml_string(
            f'<mujoco><compiler angle="radian"/><worldbody>{"".join(legs)}</worldbody></mujoco>'
        )

    found: Dict[str, Case] = {}
    for name, base, rows, home in problem.ARMS:
        model = model_of([leg(base, rows, 0)])
        data, error = mujoco.MjData(model), 0.0
        for q in home + np.random.default_rng(1).uniform(-0.5, 0.5, (50, len(rows))):
            data.qpos[:] = q
            mujoco.mj_kinematics(model, data)
            error = max(error, np.abs(data.site_xpos[0] - problem.forward(base, rows, q)[0, :3, 3]).max())
        found[f"mujoco_{name}_fk"] = Case(cycle(mujoco.mj_kinematics, [(model, data)]), facts={"error": error})
    model = model_of([leg(problem.LEG_BASE, problem.LEG, k) for k in range(6)])
    data = mujoco.MjData(model)
    feet, rates, start = problem.gait()
    J, full = np.empty((6, 3, 4)), np.empty((3, 24))  # noqa: N806

    def evaluate(q: np.ndarray) -> Any:
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        for k in range(6):
            mujoco.mj_jacSite(model, data, full, None, k)
            J[k] = full[:, 4 * k : 4 * k + 4]
        return data.site_xpos, J

    found["mujoco_clik_tick"] = Case(cycle(clik(evaluate, feet, rates, start), [()]))
    return found
