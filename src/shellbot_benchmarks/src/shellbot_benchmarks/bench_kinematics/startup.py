# SPDX-License-Identifier: MIT
"""From a fresh process to the first solution, with an empty and with a filled cache of compiled kernels."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict

SCRIPT = """
import sys, numpy as np
from robot_mechanics import SerialChain
from shellbot_kinematics import ShellbotModel, packed
model = ShellbotModel(open(sys.argv[1], encoding="utf-8").read())
ask, both, step = packed.LegBlock(), packed.LimbsBlock(), packed.ClikBlock()
ask.point[:] = 0.270, 0.0, -0.1623
assert packed.foot_inverse(model.legs[0], ask.data) < 1e-9
packed.limbs_inverse(model.packed, both.data)
packed.clik_step(model.packed, step.data)
rows = [(0, .12, 0, 0), (-np.pi / 2, .038, 0, -.02425), (0, .066, 0, .02425), (0, .122, 0, 0)]
leg = SerialChain.from_dh(rows).compile()
q, T, J = np.array([0, 0, -.5, 1.8]), np.empty((4, 4)), np.empty((6, 4))
leg.fk(q, T)
leg.jacobian(q, J)
assert leg.ik(T[:3, 3] + .001, q) > 0
"""


def startup_seconds(urdf: Path, work: Path, library: str, repeats: int = 3) -> Dict[str, float]:
    """Return wall seconds of a process that solves one foot, all limbs, a CLIK step and a generated LM.

    Returns
    -------
    dict
        cold_s (empty cache), warm_s (median of `repeats` with the cache filled) by the wall clock, and the same as
        processor time, cold_cpu_s, warm_cpu_s, which other jobs do not change; empty if it fails.
    """
    cache = work / "startup_cache"
    shutil.rmtree(cache, ignore_errors=True)
    # at PATH's first place, as scripts do: the kernels' cache in a folder of this run alone
    variables = dict(os.environ, NUMBA_CACHE_DIR=str(cache), ROBOT_MECHANICS_CACHE=str(cache), PYTHONPATH=library)
    times, busy = [], []
    for _ in range(1 + repeats):
        begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(urdf)],
            env=variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        times.append(time.perf_counter() - begin)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if done.returncode != 0:
            return {}
    warm, warm_busy = sorted(times[1:])[repeats // 2], sorted(busy[1:])[repeats // 2]
    return {"cold_s": times[0], "warm_s": warm, "cold_cpu_s": busy[0], "warm_cpu_s": warm_busy}
