# SPDX-License-Identifier: MIT
"""The joint rates of one lower leg, by the kernels of the solver."""

from shellbot_kinematics._lower_leg import lower_pose, rates_of_pose


def lower_rates(P, o, tip, q, j, fan_rate, vx, vy, vz, dq):
    """Write coxa, femur, tibia rates into dq[j + 1 : j + 4]; see rates_of_pose."""
    *pose, s, _ = lower_pose(P, o, tip, q, j)
    dq[j + 1 : j + 4] = rates_of_pose(P, o, tip, *pose, s, fan_rate, vx, vy, vz)
