# SPDX-License-Identifier: MIT
"""The ROS nodes and their conversions."""
