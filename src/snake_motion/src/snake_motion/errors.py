# SPDX-License-Identifier: MIT
"""The one base exception of the package."""

from __future__ import annotations

from shellbot_common import SettingsError


class SnakeMotionError(SettingsError):
    """A gait, a map or a request cannot be used; the sentence names the value, its range and the next step."""
