# SPDX-License-Identifier: MIT
"""What the tests of both kinematics libraries begin with: seeded random numbers, kernels jitted or interpreted."""

from __future__ import annotations

import sys
import types

import numba
import numpy as np
import pytest


def pytest_collection_modifyitems(items):
    if numba.config.DISABLE_JIT:
        for item in items:
            if item.get_closest_marker("jit"):
                item.add_marker(pytest.mark.skip(reason="the compiler is switched off"))


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
