# SPDX-License-Identifier: MIT
"""What the robot does: mode machine, gaits, body pose, and odometry from foot contacts."""
