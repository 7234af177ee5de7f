# SPDX-License-Identifier: MIT
"""Errors of shellbot_common."""

from __future__ import annotations


class SettingsError(ValueError):
    """A setting is missing, unknown, of the wrong kind or out of range; packages derive their own from it."""


class PackageFileError(SettingsError):
    """A file of a package is not found."""


class ImageError(ValueError):
    """A camera picture cannot be decoded."""
