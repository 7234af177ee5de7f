# SPDX-License-Identifier: MIT
"""Geometry, masses, limits, named poses, meshes and xacro of the Shellbot spherical hexapod."""
