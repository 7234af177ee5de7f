# SPDX-License-Identifier: MIT
"""Ctrl-C works in tests that run in the background, too: there SIGINT is ignored, and programs inherit that. And the
shipped robot is expanded once per process, not by every test that needs one (0.4 s each). The garbage collector, which
took an eighth of the time, leaves what was imported alone and looks less often. Hypothesis measures no time: machines
are shared.
"""

from __future__ import annotations

import gc
import signal

try:
    from hypothesis import HealthCheck, settings

    settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("shared")
except ImportError:  # as for xacro
    pass

try:
    import xacro
except ImportError:  # the tests of scripts that run before the set-up
    xacro = None

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    """Take what was imported out of the collector's sight."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


_expansions = {}


def expanded_once(process_file):
    """Return xacro's function with a memory, but for variables of a test's own."""

    def process(file, mappings):
        if "variables" in mappings:
            return process_file(file, mappings=mappings)
        key = (file, *sorted(mappings.items()))
        if key not in _expansions:
            _expansions[key] = process_file(file, mappings=mappings)
        return _expansions[key]

    return process


if xacro is not None:
    xacro.process_file = expanded_once(xacro.process_file)
