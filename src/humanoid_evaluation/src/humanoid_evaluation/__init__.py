# SPDX-License-Identifier: MIT
"""Walking experiments of the humanoid, scored by ground truth. No ROS."""
