# SPDX-License-Identifier: MIT
"""Motion of an arm, with the torques that it needs fed forward."""

from arm_control.motion import ArmMotion, MotionPage

__all__ = ["ArmMotion", "MotionPage"]
