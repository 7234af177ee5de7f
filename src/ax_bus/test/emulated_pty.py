# SPDX-License-Identifier: MIT
"""An emulated chain in its own process, as a user starts it, behind a pty."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading

PATIENT_MS = "80"  # tests share the machine with others: nothing here depends on how fast a reply is


@contextlib.contextmanager
def emulated(*options, module="ax_tools.cli", environment=None):
    """Yield the port's name and, once it has ended, a function for what the process said."""
    command = [sys.executable, "-m", module, "emulate", "--relaxed", *map(str, options)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    # an emulator that does not come up must end the test, not hang it
    watch = threading.Timer(60.0, process.kill)
    watch.start()
    try:
        port = process.stdout.readline().strip()
        assert port, process.stderr.read()
        watch.cancel()
        yield port
    finally:
        process.terminate()
        process.communicate(timeout=600)
        watch.cancel()
