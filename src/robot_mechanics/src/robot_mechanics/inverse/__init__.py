# SPDX-License-Identifier: MIT
"""Inverse kinematics of any chain, set of limbs, and many targets at once."""
