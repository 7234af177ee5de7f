# SPDX-License-Identifier: MIT
"""Fixtures of the kinematics tests: Shellbot's URDF per variant, its model, and kernels jitted or interpreted."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import numba
import numpy as np
import pytest

import shellbot_description
from robot_mechanics import LimbSet
from shellbot_kinematics import Frame, ShellbotModel, ShellbotSolver

sys.path.insert(0, str(Path(__file__).resolve().parent))
_urdf = {}


def pytest_collection_modifyitems(items):
    if numba.config.DISABLE_JIT:
        for item in items:
            if item.get_closest_marker("jit"):
                item.add_marker(pytest.mark.skip(reason="the compiler is switched off"))


def urdf_of(variant: str) -> str:
    if variant not in _urdf:
        _urdf[variant] = shellbot_description.expand(variant)
    return _urdf[variant]


@pytest.fixture(scope="session")
def urdf():
    return urdf_of("simulation")


@pytest.fixture(scope="session")
def model(urdf):
    return ShellbotModel(urdf)


@pytest.fixture(scope="session")
def lower_legs(model):
    """The lower legs as a set of limbs on base_link, the six fans on one drive."""
    names = [f"lower_{k}" for k in range(1, 7)]
    limbs = {name: model.chain(name, Frame.FOOT) for name in names}
    return LimbSet(limbs, {"fan": [f"{name}_fan" for name in names]})


@pytest.fixture
def solver(urdf):
    return ShellbotSolver(urdf)


@pytest.fixture
def walker():
    return ShellbotSolver(urdf_of("walker"))


@pytest.fixture
def rng():
    return np.random.default_rng(20240601)


@pytest.fixture(params=["interpreted"] if numba.config.DISABLE_JIT else ["jitted", "interpreted"])
def kernels(request, monkeypatch):
    """Run a test twice: with the compiled kernels and with the same source run by the interpreter."""
    if request.param == "interpreted":
        # functions look their callees up in their module, so replacing the names there interprets the whole call tree
        for name, module in list(sys.modules.items()):
            if name.startswith(("robot_mechanics.", "shellbot_kinematics.")):
                for key, item in list(vars(module).items()):
                    if isinstance(getattr(item, "py_func", None), types.FunctionType):
                        monkeypatch.setattr(module, key, item.py_func)
    return request.param


@pytest.fixture(scope="session")
def stand():
    """All 36 joints of the stand pose of the study: q2 -16.8, q3 -9.4, q4 110.2 deg, upper shells up."""
    return np.radians([0.0, -16.8, -9.4, 110.2] * 6 + [26.69, 78.31] * 6)
