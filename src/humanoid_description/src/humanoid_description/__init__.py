# SPDX-License-Identifier: MIT
"""The humanoid as data: URDF text and profile."""

from humanoid_description.description import profile, urdf_text

__all__ = ["profile", "urdf_text"]
