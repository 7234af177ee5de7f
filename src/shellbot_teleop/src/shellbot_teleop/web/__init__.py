# SPDX-License-Identifier: MIT
"""The operator's page in a browser: who of several pages drives, what they send and see; no ROS."""
