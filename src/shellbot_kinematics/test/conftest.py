# SPDX-License-Identifier: MIT
"""Fixtures of the kinematics tests: Shellbot's URDF per variant, its model, and kernels jitted or interpreted."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import shellbot_description
from robot_mechanics import LimbSet
from shellbot_kinematics import Frame, ShellbotModel, ShellbotSolver

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1] / "robot_mechanics" / "test")]
from mechanics_fixtures import kernels, pytest_collection_modifyitems, rng  # noqa: E402,F401

_urdf = {}


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


@pytest.fixture(scope="session")
def stand():
    """All 36 joints of the stand pose of the study: q2 -16.8, q3 -9.4, q4 110.2 deg, upper shells up."""
    return np.radians([0.0, -16.8, -9.4, 110.2] * 6 + [26.69, 78.31] * 6)
