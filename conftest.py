# SPDX-License-Identifier: MIT
"""Ctrl-C works in tests that run in the background, too: there SIGINT is ignored, and programs inherit that."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
