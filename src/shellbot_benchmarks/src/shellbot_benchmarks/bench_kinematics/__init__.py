# SPDX-License-Identifier: MIT
"""The kinematics library beside its peers: every figure of `scripts/bench kinematics`."""
