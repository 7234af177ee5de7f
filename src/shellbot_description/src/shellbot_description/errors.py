# SPDX-License-Identifier: MIT
"""The one exception of the package."""

from __future__ import annotations

from shellbot_common import SettingsError


class DescriptionError(SettingsError):
    """A file or argument of the description is wrong; the message says which one, what is allowed and what to do."""
