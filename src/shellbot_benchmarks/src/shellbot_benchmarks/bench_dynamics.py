# SPDX-License-Identifier: MIT
"""Dynamics beside Pinocchio and Robotics Toolbox, in one run: from Python by medians of rounds that alternate between
them, in compiled code by the best round of each.
"""

from __future__ import annotations

import re
import statistics
import sys
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

from robot_evaluation.console import say
from robot_evaluation.errors import EvaluationError

from .bench_kinematics.clients import Worker
from .bench_kinematics.environments import ENVIRONMENTS, Environment, cpp_figures, interpreter
from .bench_kinematics.workers import problem

# ratio: cases of which the worst counts, goal
RATIOS = {
    "rnea_vs_pinocchio_python": (("arm_inverse", "ur5_inverse"), 3.5),
    "crba_vs_pinocchio_python": (("arm_mass_matrix", "ur5_mass_matrix"), 2.5),
    "fd_vs_pinocchio_python": (("arm_forward", "ur5_forward"), 3.5),
    "hexapod_rnea_vs_pinocchio_python": (("hexapod_inverse",), 2.5),
    "hexapod_aba_vs_pinocchio_python": (("hexapod_forward",), 2.5),
    "inside_vs_pinocchio_cpp": (
        tuple(f"{r}_{a}_inside" for r in ("arm", "ur5") for a in ("inverse", "mass_matrix", "forward")),
        1.0,
    ),
}
STRAIGHT = "straight_vs_loops", 1.5  # source that is written for one robot against kernels for all robots
TOOLBOX = "rtb_urdf", ("arm_inverse", "ur5_inverse"), 500.0
BATCH_GOAL = 40.0  # million states a second on one core, inverse dynamics of the UR5
_AGREEMENT = 1e-9
_PEERS = {"pin": "Pinocchio", "rtb": "Robotics Toolbox"}


def robots() -> Dict[str, Dict[str, Any]]:
    """Return the robots, without friction (Pinocchio's algorithms leave it out), and a state of each."""
    from robot_mechanics import model_path
    from robot_mechanics.dynamics import DynamicModel
    from shellbot_description import expand

    made = {}
    rng = np.random.default_rng(4)
    ur5 = problem.urdf("ur5", problem.UR5_BASE, problem.UR5, [(-6.3, 6.3)] * 6)
    for name, urdf, floating in (
        ("arm", model_path("arm4").read_text(encoding="utf-8"), False),
        # masses without any symmetry
        ("ur5", ur5.replace("<inertial>", '<inertial><origin xyz="0.01 -0.02 0.1" rpy="0.1 0.2 0.3"/>'), False),
        ("hexapod", expand("simulation"), True),
    ):
        text = re.sub(r"<dynamics[^>]*/>", "", urdf)
        model = DynamicModel.from_urdf(text, floating=floating)
        q = np.concatenate([[0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0] if floating else [], rng.uniform(-1.0, 1.0, model.n)])
        state = [q.tolist(), rng.normal(size=model.nv).tolist(), rng.normal(size=model.nv).tolist()]
        made[name] = {"urdf": text, "floating": floating, "state": state, "joints": list(model.joint_names)}
    return made


def bench_dynamics(folder: Path, rounds: int, seconds: float) -> Tuple[List[Dict[str, Any]], Dict[str, float], str]:
    """Return a row per case (us: medians, of C++ the best), the ratios, and what could not be measured, in words.

    Parameters
    ----------
    folder : Path
        Where the peers' environments are, or are made; those of `scripts/bench kinematics` serve.
    rounds : int
    seconds : float
        Processor time of one round of a case.
    """
    models = folder / "models"
    models.mkdir(parents=True, exist_ok=True)
    environments = {"ours": (Environment("dynamics ours", "dynamics_ours"), sys.executable)}
    missing = ""
    for peer in ENVIRONMENTS:
        if peer.name in _PEERS:
            python, reason = interpreter(peer, folder, say)
            missing += f"{_PEERS[peer.name]}: {reason}. " if reason else ""
            if python is not None:
                module = f"dynamics_{peer.name}"
                environments[peer.name] = (Environment(f"dynamics {peer.name}", module, peer.packages), python)
    workers: Dict[str, Worker] = {}
    answers: Dict[str, Dict[str, np.ndarray]] = {}
    times: Dict[str, Dict[str, List[float]]] = {}
    options = {"robots": robots(), "models": str(models)}
    try:
        for name, (environment, own) in environments.items():
            workers[name] = Worker(environment, own, [], folder / f"{environment.module}.log")
            answer = workers[name].ask(do="prepare", options=options, seconds=seconds)
            if "error" in answer:
                raise EvaluationError(f"{environment.name}: {answer['error']}")
            answers[name] = {key: np.array(x["answer"]) for key, x in answer["cases"].items() if "answer" in x}
            times[name] = {key: [] for key in answer["cases"]}
        for _ in range(rounds):
            for key in times["ours"]:
                for name, found in times.items():
                    if key in found:
                        found[key].append(workers[name].ask(do="time", case=key)["us"])
    finally:
        for worker in workers.values():
            worker.close()
    rows = {key: _row(key, times, answers) for key in times["ours"]}
    gains = []
    for key, row in rows.items():
        if key.endswith("_loops"):
            row["ratio"] = min(times["ours"][key]) / min(times["ours"][key.replace("_loops", "_inside")])
            gains.append(row["ratio"])
    ratios = {"batch_rnea_m_per_s": 1.0 / rows["ur5_inverse_batch"]["ours"], STRAIGHT[0]: min(gains)}
    if "pin" in times:
        files = [str(models / name) for name in options["robots"]]
        cpp, reason = cpp_figures(folder / "pin", folder, "dynamics", [str(5.0 * seconds), *files], say)
        missing += f"Pinocchio: {reason}. " if reason else ""
        for case, nanoseconds in cpp.items():
            row = rows[f"{case}_inside"]
            row["cpp"] = 1e-3 * nanoseconds
            row["ratio"] = row["cpp"] / min(times["ours"][f"{case}_inside"])
    for name, (cases, _) in RATIOS.items():
        if all("ratio" in rows[case] for case in cases):
            ratios[name] = min(rows[case]["ratio"] for case in cases)
    name, cases, _ = TOOLBOX
    if "rtb" in times:
        ratios[name] = min(rows[case]["toolbox"] / rows[case]["ours"] for case in cases)
    return list(rows.values()), ratios, missing


def _row(
    key: str, times: Dict[str, Dict[str, List[float]]], answers: Dict[str, Dict[str, np.ndarray]]
) -> Dict[str, Any]:
    """Return the medians of a case, us, by library; refuse to compare what differs."""
    row: Dict[str, Any] = {"case": key, "ours": statistics.median(times["ours"][key])}
    if key in times.get("rtb", {}):
        row["toolbox"] = statistics.median(times["rtb"][key])
    if key not in times.get("pin", {}):
        return row
    ours, theirs = answers["ours"][key], answers["pin"][key]
    error = np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())
    if error > _AGREEMENT:
        raise EvaluationError(f"{key}: ours and Pinocchio's answers differ by {error:.1e}; nothing is compared")
    row["pinocchio"] = statistics.median(times["pin"][key])
    row["ratio"] = row["pinocchio"] / row["ours"]
    return row
