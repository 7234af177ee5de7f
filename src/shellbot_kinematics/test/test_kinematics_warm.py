# SPDX-License-Identifier: MIT
"""What set-up compiles is what a robot's first start needs: no public call for a single target compiles in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from shellbot_kinematics import packed

LIB = Path(__file__).resolve().parents[3] / "scripts" / "lib"
COLD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import warm_kernels
from robot_mechanics.native import chain_kernels
from shellbot_kinematics import _tick, packed
if "forget" in sys.argv:
    packed.warm_up = lambda model: None
warm_kernels.main()
calls = {name: getattr(packed, name) for name in packed.__all__}
calls.update({name: value for name, value in vars(chain_kernels).items() if name.startswith("path_")})
calls["solve_tick"] = _tick.solve_tick
print(json.dumps([name for name, call in calls.items() if hasattr(call, "signatures") and not call.signatures]))
"""


def cold_after_warming(*words):
    done = subprocess.run(
        [sys.executable, "-c", COLD, str(LIB), *words], capture_output=True, text=True, timeout=850, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.jit
def test_set_up_compiles_every_public_kernel():
    cold = cold_after_warming()
    assert not cold, f"scripts/lib/warm_kernels.py does not compile {', '.join(cold)}; call them in a warm_up"


@pytest.mark.jit
def test_a_kernel_that_set_up_forgets_is_seen():
    assert {name for name in packed.__all__ if hasattr(getattr(packed, name), "signatures")} == set(
        cold_after_warming("forget")
    )


def test_warming_needs_no_upper_limbs(walker):
    packed.warm_up(walker.model)
