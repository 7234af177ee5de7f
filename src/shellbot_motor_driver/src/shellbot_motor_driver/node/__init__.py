# SPDX-License-Identifier: MIT
"""The ROS node, and its parts that need no ROS."""
