# SPDX-License-Identifier: MIT
"""Robots as data: joints, chains, trees, sets of limbs; from DH tables, URDF and YAML."""
