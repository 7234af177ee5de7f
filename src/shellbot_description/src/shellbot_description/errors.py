# SPDX-License-Identifier: MIT
"""The one exception of the package."""

from __future__ import annotations


class DescriptionError(ValueError):
    """A file or argument of the description is wrong; the message says which one, what is allowed and what to do."""
