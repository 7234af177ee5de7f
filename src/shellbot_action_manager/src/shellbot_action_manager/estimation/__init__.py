# SPDX-License-Identifier: MIT
"""What the robot makes of its measurements: contacts and odometry."""
