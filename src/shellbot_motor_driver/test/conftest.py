# SPDX-License-Identifier: MIT
"""Let the tests of this folder import what they share."""

from __future__ import annotations

import sys
from pathlib import Path

for package in ("ax_bus", "shellbot_motor_driver"):  # the driver is tested on the bench of the bus
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / package / "test"))
