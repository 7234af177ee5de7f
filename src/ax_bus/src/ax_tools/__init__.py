# SPDX-License-Identifier: MIT
"""Tools for servos on a bus: scan, look, set up, move, record. Command line: ``ax-servo``."""
