# SPDX-License-Identifier: MIT
"""The driver: servo states, scheduled reads, goals, torque, one tick."""
