# SPDX-License-Identifier: MIT
"""Which mode the robot is in, where a request leads, and the sentence for it."""
