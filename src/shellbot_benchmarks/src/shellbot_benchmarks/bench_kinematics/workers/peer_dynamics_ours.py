# SPDX-License-Identifier: MIT
"""Our dynamics: the kernels, called from Python as a control loop calls them."""

from __future__ import annotations

import platform
from typing import Any, Dict

import numba
import numpy as np
from worker import Case, cycle

from robot_mechanics.dynamics import DynamicModel
from robot_mechanics.native import rigid_body as rb

VERSIONS = {"numba": numba.__version__, "numpy": np.__version__, "python": platform.python_version()}


def cases(options: Dict[str, Any]) -> Dict[str, Case]:
    """Return what is timed of each robot, with its forces and accelerations at one state as facts."""
    made: Dict[str, Case] = {}
    for name, robot in options["robots"].items():
        model = DynamicModel.from_urdf(robot["urdf"], floating=robot["floating"])
        q, v, a = (np.array(x) for x in robot["state"])
        rows, work = model.table.rows, np.empty((len(model.bodies), rb.WORK))
        tau, M = np.empty(model.nv), np.empty((model.nv, model.nv))  # noqa: N806
        forces = model.inverse(q, v, a)
        made.update(_forward(name, model, q, v, forces))
        made[f"{name}_rnea"] = Case(
            cycle(rb.inverse_dynamics, [(rows, q, v, a, tau, work)] * 100), facts={"answer": forces.tolist()}
        )
        made[f"{name}_crba"] = Case(
            cycle(rb.mass_matrix, [(rows, q, M, work)] * 100), facts={"answer": model.mass_matrix(q).ravel().tolist()}
        )
    return made


def _forward(name: str, model: DynamicModel, q: np.ndarray, v: np.ndarray, forces: np.ndarray) -> Dict[str, Case]:
    M, a = np.empty((model.nv, model.nv)), forces.copy()  # noqa: N806
    work, none = np.empty((len(model.bodies), rb.WORK)), np.zeros((0, 6))

    def forward() -> None:
        a[:] = forces  # the kernel puts the accelerations in their place
        rb.forward_dynamics(model.table.rows, model.table.above, q, v, none, a, M, work)

    facts = {"answer": model.forward(q, v, forces).tolist()}
    return {f"{name}_forward": Case(cycle(forward, [()] * 100), facts=facts)}
