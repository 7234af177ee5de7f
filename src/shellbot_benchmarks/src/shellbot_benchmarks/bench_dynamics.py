# SPDX-License-Identifier: MIT
"""Dynamics beside Pinocchio from Python, in one run: medians of rounds that alternate between the two."""

from __future__ import annotations

import re
import statistics
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

from shellbot_evaluation.console import say
from shellbot_evaluation.errors import EvaluationError

from .bench_kinematics.clients import Worker
from .bench_kinematics.environments import ENVIRONMENTS, Environment, interpreter

CASES = ("rnea", "crba", "forward")
# ratio: case, what is asked of it
RATIOS = {
    "rnea_vs_pinocchio_python": ("arm_rnea", 3.5),
    "crba_vs_pinocchio_python": ("arm_crba", 2.5),
    "fd_vs_pinocchio_python": ("arm_forward", 3.5),
    "hexapod_rnea_vs_pinocchio_python": ("hexapod_rnea", 2.5),
    "hexapod_aba_vs_pinocchio_python": ("hexapod_forward", 2.5),
}
_AGREEMENT = 1e-9


def robots() -> Dict[str, Dict[str, Any]]:
    """Return the robots, without friction (Pinocchio's algorithms leave it out), and a state of each."""
    from robot_mechanics import model_path
    from robot_mechanics.dynamics import DynamicModel
    from shellbot_description import expand

    made = {}
    rng = np.random.default_rng(4)
    for name, urdf, floating in (
        ("arm", model_path("arm4").read_text(encoding="utf-8"), False),
        ("hexapod", expand("simulation"), True),
    ):
        text = re.sub(r"<dynamics[^>]*/>", "", urdf)
        model = DynamicModel.from_urdf(text, floating=floating)
        q = np.concatenate([[0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0] if floating else [], rng.uniform(-1.0, 1.0, model.n)])
        state = [q.tolist(), rng.normal(size=model.nv).tolist(), rng.normal(size=model.nv).tolist()]
        made[name] = {"urdf": text, "floating": floating, "state": state, "joints": list(model.joint_names)}
    return made


def bench_dynamics(folder: Path, rounds: int, seconds: float) -> Tuple[List[Dict[str, Any]], Dict[str, float], str]:
    """Return a row per case (medians, us), the ratios, and what could not be measured, in words.

    Parameters
    ----------
    folder : Path
        Where the peer's environment is, or is made; the one of `scripts/bench kinematics` serves.
    rounds : int
    seconds : float
        Processor time of one round of a case.
    """
    peer = next(environment for environment in ENVIRONMENTS if environment.name == "pin")
    python, reason = interpreter(peer, folder, say)
    folder.mkdir(parents=True, exist_ok=True)
    options = {"robots": robots()}
    environments = [Environment("dynamics ours", "dynamics_ours")]
    if python is not None:
        environments.append(Environment("dynamics pin", "dynamics_pin", peer.packages))
    workers: List[Worker] = []
    answers: List[Dict[str, Any]] = []
    times: List[Dict[str, List[float]]] = []
    try:
        for environment in environments:
            own = python if environment.packages else interpreter(environment, folder, say)[0]
            workers.append(Worker(environment, str(own), [], folder / f"{environment.module}.log"))
            answer = workers[-1].ask(do="prepare", options=options, seconds=seconds)
            if "error" in answer:
                raise EvaluationError(f"{environment.name}: {answer['error']}")
            answers.append({key: np.array(facts["answer"]) for key, facts in answer["cases"].items()})
            times.append({key: [] for key in answer["cases"]})
        for _ in range(rounds):
            for key in times[0]:
                for worker, found in zip(workers, times):
                    found[key].append(worker.ask(do="time", case=key)["us"])
    finally:
        for worker in workers:
            worker.close()
    rows, ratios = [], {}
    for key in times[0]:
        row: Dict[str, Any] = {"case": key, "ours_us": statistics.median(times[0][key])}
        if len(times) == 2:
            error = np.abs(answers[0][key] - answers[1][key]).max() / max(1.0, np.abs(answers[1][key]).max())
            if error > _AGREEMENT:
                raise EvaluationError(f"{key}: ours and Pinocchio's answers differ by {error:.1e}; nothing is compared")
            row["pinocchio_us"] = statistics.median(times[1][key])
            row["ratio"] = row["pinocchio_us"] / row["ours_us"]
        rows.append(row)
    if len(times) == 2:
        by_case = {row["case"]: row["ratio"] for row in rows}
        ratios = {name: by_case[case] for name, (case, _) in RATIOS.items()}
    return rows, ratios, "" if python is not None else f"Pinocchio: {reason}"
