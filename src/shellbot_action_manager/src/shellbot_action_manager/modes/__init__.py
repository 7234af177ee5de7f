# SPDX-License-Identifier: MIT
"""Which mode the robot is in, where a request leads, and what is said about it."""
