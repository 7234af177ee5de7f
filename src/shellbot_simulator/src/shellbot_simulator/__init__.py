# SPDX-License-Identifier: MIT
"""The embedded simulator: MuJoCo physics behind the names of gazebo_ros and ros_control."""
