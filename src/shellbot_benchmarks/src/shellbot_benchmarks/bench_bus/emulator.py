# SPDX-License-Identifier: MIT
"""An emulated chain on a pty in a process of its own, with wire time to 10 us: it spins, so it takes a core."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from typing import Iterator

from robot_evaluation.errors import EvaluationError

_START_LIMIT = 60.0  # s


@contextlib.contextmanager
def emulated_chain(variant: str) -> Iterator[str]:
    """Yield the port.

    Parameters
    ----------
    variant : str
        walker (19 servos) or full (31).

    Raises
    ------
    EvaluationError
        If it does not come up.
    """
    command = [sys.executable, "-m", "shellbot_motor_driver.tools.cli", "emulate", "--variant", variant]
    command += ["--return-delay", "0"]  # units of 2 us
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watch = threading.Timer(_START_LIMIT, process.kill)
    watch.start()
    try:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        watch.cancel()
        if not port:
            raise EvaluationError(f"the emulated chain did not come up: {process.communicate()[1].strip()}")
        yield port
    finally:
        watch.cancel()
        process.terminate()
        process.communicate(timeout=30)
