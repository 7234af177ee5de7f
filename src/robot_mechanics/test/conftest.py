# SPDX-License-Identifier: MIT
"""Fixtures of the library's tests."""

from __future__ import annotations

import sys
from pathlib import Path

import robot_mechanics  # noqa: F401

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for mechanics_chains
from mechanics_fixtures import kernels, pytest_collection_modifyitems, rng  # noqa: E402,F401


def pytest_configure(config):
    words = "jit: about the compiler or its cache, long runs of what shorter tests interpret; skipped where it is off"
    config.addinivalue_line("markers", words)
