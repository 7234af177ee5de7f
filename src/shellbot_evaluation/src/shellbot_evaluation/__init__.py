# SPDX-License-Identifier: MIT
"""Experiments and the demo: the whole chain in one process or against a live ROS system, scored by ground truth."""
