# SPDX-License-Identifier: MIT
"""Physics, servos and sensors of any robot, without ROS."""
