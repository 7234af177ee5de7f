# SPDX-License-Identifier: MIT
"""The walking engine of the humanoid. No ROS outside `walk_node`."""
