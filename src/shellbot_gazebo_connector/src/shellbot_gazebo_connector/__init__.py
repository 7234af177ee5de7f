# SPDX-License-Identifier: MIT
"""Joint targets into a simulator's controllers, with watchdog and arrival status; Gazebo's launch and world."""
