# SPDX-License-Identifier: MIT
"""The servo bus measured: tick and feedback rates, overhead, CPU; beside dynamixel-sdk on the same emulated chain."""
