# SPDX-License-Identifier: MIT
"""Views of the operator's window; they know Qt and the pure modules, not ROS."""
