# SPDX-License-Identifier: MIT
"""What cannot be emulated."""

from __future__ import annotations

from ax_bus.errors import ServoError


class EmulationError(ServoError, ValueError):
    """An emulated chain or fault that cannot be set up."""
