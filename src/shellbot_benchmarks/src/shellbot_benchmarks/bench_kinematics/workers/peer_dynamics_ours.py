# SPDX-License-Identifier: MIT
"""Our dynamics: compiled kernels, called from Python as a control loop calls them, from numba, and on many states."""

from __future__ import annotations

import platform
from typing import Any, Callable, Dict

import numba
import numpy as np
from worker import Case, cycle

from robot_mechanics.codegen import dynamics_source
from robot_mechanics.codegen.compiled_dynamics import CompiledDynamics
from robot_mechanics.dynamics import DynamicModel

VERSIONS = {"numba": numba.__version__, "numpy": np.__version__, "python": platform.python_version()}
_STATES = 1024


def cases(options: Dict[str, Any]) -> Dict[str, Case]:
    """Return what is timed of each robot, with its forces and accelerations at one state as facts."""
    made: Dict[str, Case] = {}
    for name, robot in options["robots"].items():
        model = DynamicModel.from_urdf(robot["urdf"], floating=robot["floating"])
        compiled = model.compile()
        q, v, a = (np.array(x) for x in robot["state"])
        forces = model.inverse(q, v, a)
        for kernel, given in {"inverse": (q, v, a), "mass_matrix": (q,), "forward": (q, v, forces)}.items():
            block, *parts = compiled.block(kernel)
            for part, values in zip(parts, given):
                part[:] = values
            getattr(compiled, kernel)(block)
            facts = {"answer": parts[-1].ravel().tolist()}
            made[f"{name}_{kernel}"] = Case(cycle(getattr(compiled, kernel), [(block,)] * 100), facts=facts)
            made[f"{name}_{kernel}_inside"] = Case(_inside(getattr(compiled, kernel), block.copy()))
            if not robot["floating"]:
                made[f"{name}_{kernel}_loops"] = Case(_inside(_with_loops(model, kernel), block.copy()))
        if not robot["floating"]:
            block, *parts = compiled.block("inverse_batch", _STATES)
            for part, values in zip(parts, (q, v, a)):
                part[:] = values[:, None]
            made[f"{name}_inverse_batch"] = Case(cycle(compiled.inverse_batch, [(block,)]), each=_STATES)
    return made


def _with_loops(model: DynamicModel, kernel: str) -> Any:
    """Return the kernel that calls those for all robots, as for a robot with many bodies."""
    longest, dynamics_source.LONGEST = dynamics_source.LONGEST, 0
    try:
        return getattr(CompiledDynamics(model), kernel)
    finally:
        dynamics_source.LONGEST = longest


def _inside(kernel: Any, block: np.ndarray) -> Callable[[int], None]:
    """Return run(k) that calls the kernel k times in compiled code, each time from a state that differs a little."""

    @numba.njit
    def run(block: np.ndarray, k: int) -> None:
        for _ in range(k):
            block[0] += 1e-12 * block[-1]
            kernel(block)

    run(block, 1)
    return lambda k: run(block, k)
