# SPDX-License-Identifier: MIT
"""What a tool refuses."""

from __future__ import annotations

from ax_bus.errors import ServoError


class ToolError(ServoError):
    """A tool refuses: the message says why and what to do."""
