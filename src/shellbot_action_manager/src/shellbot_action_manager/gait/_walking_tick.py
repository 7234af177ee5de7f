# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Kernels of `walking.advance`: feet that the ground carries along, and feet in the air."""

from __future__ import annotations

import math

from robot_mechanics.native.jit import kernel
from shellbot_action_manager.gait import planar_motion, swing

_TARGET_FROZEN_FROM = 0.7  # fraction of the path through the air after which the foothold stays where it is
_exp_twist = kernel(planar_motion.exp_twist)
_travel, _lift = kernel(swing.travel_profile), kernel(swing.lift_profile)


@kernel
def carry(twist, dt, idle, p_feet, p_lift, p_target):
    """Move feet (6, 3), but those of idle legs, and points (6, 2), (6, 2) along with the ground, in W."""
    x, y, yaw = _exp_twist(twist, dt)
    c, s = math.cos(yaw), math.sin(yaw)
    for k in range(6):
        for points in (p_feet, p_lift, p_target):
            px, py = points[k, 0] - x, points[k, 1] - y
            if not (idle[k] and points.shape[1] == 3):
                points[k, 0], points[k, 1] = c * px + s * py, c * py - s * px


@kernel
def fly(
    swinging, lifting, fraction, before, times, gait, dwell, lift_height, neutral, other_circle, planned,
    p_feet, p_lift, p_target, a_feet,
):  # fmt: skip
    """Move the feet in the air on; all arrays by leg.

    Parameters
    ----------
    swinging, lifting : (6,) bool
        Feet in the air, and those of them that lift now.
    fraction, before : (6,)
        Of the swing that is over, now and a tick before.
    times : (2,)
        Of a swing and of a stance, s.
    gait : (3,)
        lift_dwell, ramp, lift_peak.
    dwell, lift_height : (6,)
        Of the present swing.
    neutral, other_circle : (6, 2), bool
        Rest points, m, and whether they are others than at the tick before.
    planned : (3,)
        Twist for which footholds are planned.
    p_feet, p_lift, p_target, a_feet : (6, 3), (6, 2), (6, 2), (6, 3)
        Changed; m, m/s^2.
    """
    swing_time, stance_time = times
    lift_dwell, ramp, lift_peak = gait
    for k in range(6):
        if not swinging[k]:
            continue
        travelled = 0.0 if lifting[k] else _travel(before[k], lift_dwell, dwell[k], ramp)[0]
        if travelled < _TARGET_FROZEN_FROM:
            x, y, yaw = _exp_twist(planned, (1.0 - fraction[k]) * swing_time + 0.5 * stance_time)
            c, s = math.cos(yaw), math.sin(yaw)
            p_target[k, 0] = c * neutral[k, 0] - s * neutral[k, 1] + x
            p_target[k, 1] = s * neutral[k, 0] + c * neutral[k, 1] + y
            if other_circle and not lifting[k]:
                # The foothold jumps: the start of the swing goes along, so that the foot in the air does not.
                for i in range(2):
                    p_lift[k, i] = (p_feet[k, i] - travelled * p_target[k, i]) / (1.0 - travelled)
        travel, acceleration = _travel(fraction[k], lift_dwell, dwell[k], ramp)
        for i in range(2):
            stride = p_target[k, i] - p_lift[k, i]
            p_feet[k, i] = p_lift[k, i] + travel * stride
            a_feet[k, i] = acceleration / swing_time**2 * stride
        lift, acceleration = _lift(fraction[k], lift_peak)
        p_feet[k, 2] = lift_height[k] * lift
        a_feet[k, 2] = acceleration / swing_time**2 * lift_height[k]
