# SPDX-License-Identifier: MIT
"""General kinematics of serial and parallel chains on numpy and numba, and the server that turns limb references into joint targets."""
