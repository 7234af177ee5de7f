# SPDX-License-Identifier: MIT
"""Gaits as data, walking, and how fast the legs allow to walk."""
