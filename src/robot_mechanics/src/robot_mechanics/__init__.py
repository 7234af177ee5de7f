# SPDX-License-Identifier: MIT
"""Mechanics of any robot, without ROS."""
