# SPDX-License-Identifier: MIT
"""The simulator as a ROS node."""
