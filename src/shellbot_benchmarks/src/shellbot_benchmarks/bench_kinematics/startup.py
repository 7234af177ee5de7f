# SPDX-License-Identifier: MIT
"""From a fresh process to the first solution, with an empty and a filled cache of kernels; how long one compiles."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, Sequence, Tuple

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

COMPILE = """
import time
from numba.core import event
from robot_mechanics import SerialChain, model_path
from robot_mechanics.dynamics import DynamicModel

class Compilations(event.Listener):
    def __init__(self):
        self.begun, self.seconds = [], {}
    def on_start(self, _):
        self.begun.append([time.process_time(), 0.0])
    def on_end(self, done):
        begin, inner = self.begun.pop()
        whole = time.process_time() - begin
        name = done.data["dispatcher"].py_func.__name__
        self.seconds[name] = max(whole - inner, self.seconds.get(name, 0.0))
        if self.begun:
            self.begun[-1][1] += whole

listener = Compilations()
event.register("numba:compile", listener)
for name in "ur5", "puma560":
    SerialChain.from_yaml(model_path(name)).compile().warm_up()
arm = DynamicModel.from_urdf(model_path("arm4"))
arm.compile().inverse, arm.compile().mass_matrix, arm.compile().forward
arm.forward(*[[0.0] * 4] * 3)  # the loops, for any robot
print(*max((seconds, name) for name, seconds in listener.seconds.items()))
"""


def slowest_kernel(work: Path, library: Sequence[str]) -> Tuple[float, str]:
    """Return the processor time (s) in which the slowest kernel of two arms compiles, without what it calls; its name.

    Parameters
    ----------
    work : Path
        Folder for an empty cache.
    library : sequence of str
        Folders of our packages.
    """
    done = subprocess.run(
        [sys.executable, "-c", COMPILE],
        env=_empty_cache(work, library),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    seconds, name = done.stdout.decode().split() if done.returncode == 0 else ("nan", "not measured")
    return float(seconds), name


def _empty_cache(work: Path, library: Sequence[str]) -> Dict[str, str]:
    cache = work / "startup_cache"
    shutil.rmtree(cache, ignore_errors=True)
    # at PATH's first place, as scripts do: the kernels' cache in a folder of this run alone
    return dict(
        os.environ, NUMBA_CACHE_DIR=str(cache), ROBOT_MECHANICS_CACHE=str(cache), PYTHONPATH=os.pathsep.join(library)
    )


_REPEATS = 3  # with the cache filled


def startup_seconds(urdf: Path, work: Path, library: Sequence[str]) -> Dict[str, float]:
    """Return wall seconds of a process that solves one foot, all limbs, a CLIK step and a generated LM.

    Returns
    -------
    dict
        cold_s (empty cache), warm_s (median of three with the cache filled) by the wall clock, and the same as
        processor time, cold_cpu_s, warm_cpu_s, which other jobs do not change; empty if it fails.
    """
    variables = _empty_cache(work, library)
    times, busy = [], []
    for _ in range(1 + _REPEATS):
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
    warm, warm_busy = sorted(times[1:])[_REPEATS // 2], sorted(busy[1:])[_REPEATS // 2]
    return {"cold_s": times[0], "warm_s": warm, "cold_cpu_s": busy[0], "warm_cpu_s": warm_busy}
