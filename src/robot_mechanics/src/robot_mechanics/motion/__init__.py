# SPDX-License-Identifier: MIT
"""Rotations and rigid motions."""
