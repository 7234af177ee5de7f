# SPDX-License-Identifier: MIT
"""Shellbot's servos behind a pty, in a process of their own."""

from __future__ import annotations

from functools import partial

import emulated_pty

emulated = partial(emulated_pty.emulated, module="shellbot_motor_driver.tools.cli")
