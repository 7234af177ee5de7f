# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0), bool(1): numba compiles a kernel anew for every constant it is called with
"""The lower sphere centre by the second report's four coordinates: x, y, yaw and pitch.

yaw = q1 + q2 turns the leg plane about the vertical, pitch = alpha + beta + q3 + q4 the sphere frame within it; the
height follows. P, o and q, j as in _lower_leg; fan, coxa axes and the leg plane seen from above, with e the direction
of the plane and e' across it:  p = R(q1) OFF + s e + h e',  s = l2 + l3 cos A + m cos B,  B from the pitch.
"""

from __future__ import annotations

import math

from robot_mechanics.native.angles import angle, sincos
from robot_mechanics.native.jit import bare_kernel
from shellbot_kinematics._axes import carried, in_axes
from shellbot_kinematics._layout import (
    G_A0,
    G_ACROSS,
    G_FAN,
    G_HIGH,
    G_L,
    G_L2,
    G_LOW,
    G_OFF,
    G_OUT,
    G_PITCH,
    G_ROT,
    G_SF,
    G_SFAN,
    G_ST,
    G_TIP,
    STOP_AXIS,
    STOP_FAR,
    STOP_HEADING,
    STOP_NONE,
)
from shellbot_kinematics._lower_leg import lower_pose
from shellbot_kinematics._planar import clamp, divided, wrap

CENTRE = G_TIP + 3


@bare_kernel
def yaw_pitch(P, o, q, j):
    """Return yaw and pitch (rad) of the sphere-centre frame."""
    turn = P[o + G_SF] * q[j + 2] + P[o + G_ST] * q[j + 3]
    return P[o + G_SFAN] * q[j] + q[j + 1], P[o + G_PITCH] + turn


@bare_kernel
def orientation(P, o, roll, pitch, yaw):
    """Return yaw and pitch (rad) of the leg for an orientation of its sphere-centre frame in base_link.

    Exact for the orientations that the leg can have; of others the part about the leg's third axis is left out.
    """
    x, y, _ = carried(P, o + G_ACROSS, o + G_ROT, roll, pitch, yaw)
    heading = angle(-x, y)
    x, y, z = carried(P, o + G_OUT, o + G_ROT, roll, pitch, yaw)
    sh, ch = sincos(heading)
    return heading, P[o + G_PITCH] + angle(-z, x * ch + y * sh)


@bare_kernel
def turn_rates(P, o, q, j, wx, wy, wz):
    """Return the rates of yaw and pitch (rad/s) for an angular velocity in base_link."""
    x, y, z = in_axes(P, o + G_ROT, wx, wy, wz)
    sh, ch = sincos(P[o + G_SFAN] * q[j] + q[j + 1])
    return z, ch * y - sh * x


@bare_kernel
def reach_for(P, o, s, pitch, elbow):
    """Return femur and tibia (rad) for the reach s in the leg plane and the pitch, and the stop.

    elbow: +1 the report's "high" (theta3 > 0, the one that closes the ball), -1 its "low".
    """
    B = P[o + CENTRE + 2] - (pitch - P[o + G_PITCH])
    _, cb = sincos(B)
    cosine = (s - P[o + G_L2] - P[o + CENTRE + 1] * cb) / P[o + G_L]
    stop = STOP_NONE
    if abs(cosine) > 1.0:
        cosine, stop = (1.0 if cosine > 0.0 else -1.0), STOP_FAR
    A = angle(-elbow * math.sqrt((1.0 - cosine) * (1.0 + cosine)), cosine)
    return P[o + G_SF] * (P[o + G_A0] - A), P[o + G_ST] * (P[o + CENTRE + 2] - P[o + G_A0] - (B - A)), stop


@bare_kernel
def sphere_with_fan(P, o, x, y, pitch, side, elbow, q, j):
    """Write coxa, femur, tibia (unlimited) for x, y in the axes of the coxa and the pitch; return the stop."""
    h = P[o + CENTRE]
    s2 = x * x + y * y - h * h
    s, stop = 0.0, STOP_NONE
    if s2 > 0.0:
        s = side * math.sqrt(s2)
    elif s2 < 0.0:
        stop = STOP_AXIS
    q[j + 1] = angle(y * s - x * h, x * s + y * h)
    q[j + 2], q[j + 3], reach = reach_for(P, o, s, pitch, elbow)
    return reach if reach != STOP_NONE else stop


@bare_kernel
def sphere_with_yaw(P, o, x, y, yaw, pitch, side, elbow, q, j):
    """Write all four joints (unlimited) for x, y in the leg's axes from the fan axis, yaw and pitch; return the stop.

    Across the plane  |OFF| sin(q1 + phi - yaw) = (p - h e') e', along it  s = (p - h e') e - |OFF| cos(...); side +1:
    the coxa axis on the near side of its circle (the cosine positive), -1 on the far side.
    """
    sh, ch = sincos(yaw)
    along, across = x * ch + y * sh, y * ch - x * sh - P[o + CENTRE]
    arm = math.sqrt(P[o + G_OFF] * P[o + G_OFF] + P[o + G_OFF + 1] * P[o + G_OFF + 1])
    sine, stop = across / arm, STOP_NONE
    if abs(sine) > 1.0:
        sine, stop = (1.0 if sine > 0.0 else -1.0), STOP_HEADING
    cosine = side * math.sqrt((1.0 - sine) * (1.0 + sine))
    turn = yaw + angle(sine, cosine) - angle(P[o + G_OFF + 1], P[o + G_OFF])
    q[j] = P[o + G_SFAN] * turn
    q[j + 1] = yaw - turn
    q[j + 2], q[j + 3], reach = reach_for(P, o, along - arm * cosine, pitch, elbow)
    return stop if stop != STOP_NONE else reach


@bare_kernel
def sphere_inverse(P, o, px, py, yaw, pitch, free_fan, last, i, limited, nearest, q, j):
    """Write the joints that bring the sphere centre to px, py (m, base_link) with the pitch (rad), and with the yaw if
    the fan is free, else with the fan q[j] given; return the distance (m, seen from above) and the stop.

    Four branches; `limited` and `nearest` as in lower_inverse. Beyond a limit the joints are clamped.
    """
    x0, y0, _ = in_axes(P, o + G_ROT, px - P[o + G_FAN], py - P[o + G_FAN + 1], -P[o + G_FAN + 2])
    last0, last1, last2, last3 = last[i], last[i + 1], last[i + 2], last[i + 3]  # q may be the same array
    fan = q[j]
    best_distance, best_cost, best_stop = math.inf, math.inf, STOP_NONE
    b0, b1, b2, b3 = fan, 0.0, 0.0, 0.0
    for branch in range(4):
        side = 1.0 if branch < 2 else -1.0
        elbow = 1.0 if branch % 2 == 0 else -1.0
        if free_fan:
            stop = sphere_with_yaw(P, o, x0, y0, yaw, pitch, side, elbow, q, j)
        else:
            q[j] = fan
            sf, cf = sincos(P[o + G_SFAN] * fan)
            x, y = cf * x0 + sf * y0 - P[o + G_OFF], cf * y0 - sf * x0 - P[o + G_OFF + 1]
            stop = sphere_with_fan(P, o, x, y, pitch, side, elbow, q, j)
        for r in range(0 if free_fan else 1, 4):
            if limited:
                low, high = P[o + G_LOW + r], P[o + G_HIGH + r]
                value = wrap(q[j + r], 0.5 * (low + high))
                q[j + r] = clamp(value, low, high)
                if q[j + r] != value and stop == STOP_NONE:
                    stop = 1 + 2 * r + (1 if q[j + r] == high else 0)
            else:
                q[j + r] = wrap(q[j + r], 0.0)
        cost = abs(q[j] - last0) if free_fan else 0.0
        for change in (abs(q[j + 1] - last1), abs(q[j + 2] - last2), abs(q[j + 3] - last3)):
            if change > cost:
                cost = change
        if nearest and not cost < best_cost - 1e-9:
            continue
        distance = 0.0
        if stop != STOP_NONE:
            sf, cf, sc, cc, _, _, _, _, s, _ = lower_pose(P, o, int(1), q, j)
            ax, ay = cc * s - sc * P[o + CENTRE] + P[o + G_OFF], sc * s + cc * P[o + CENTRE] + P[o + G_OFF + 1]
            distance = math.sqrt((cf * ax - sf * ay - x0) ** 2 + (sf * ax + cf * ay - y0) ** 2)
            reached_yaw, reached_pitch = yaw_pitch(P, o, q, j)
            off = abs(wrap(reached_pitch - pitch, 0.0))
            if free_fan:
                off += abs(wrap(reached_yaw - yaw, 0.0))
            distance += P[o + CENTRE + 1] * off  # what a wrong angle moves at the tip link's length
        better = distance < best_distance - 1e-9 or (distance < best_distance + 1e-9 and cost < best_cost - 1e-9)
        if nearest or better:
            best_distance, best_cost, best_stop = distance, cost, stop
            b0, b1, b2, b3 = q[j], q[j + 1], q[j + 2], q[j + 3]
    q[j], q[j + 1], q[j + 2], q[j + 3] = b0, b1, b2, b3
    return best_distance, best_stop


@bare_kernel
def sphere_rates(P, o, q, j, free_fan, fan_rate, vx, vy, yaw_rate, pitch_rate):
    """Return the rates of all four joints that move the sphere centre at vx, vy (m/s, base_link), turn it at the
    pitch's rate, and at the yaw's if the fan is free, else with the fan's rate given.

    The inverse of the 4x4 (or 3x3) analytic Jacobian without a matrix; damped near its singular poses: the coxa at a
    right angle to the fan arm (with a given fan: the centre over the coxa axis), the femur level.
    """
    sf, cf, sc, cc, sa, _, sb, _, s, _ = lower_pose(P, o, int(1), q, j)
    x, y, _ = in_axes(P, o + G_ROT, vx, vy, 0.0)
    x, y = cf * x + sf * y, cf * y - sf * x  # in the axes of the coxa at q2 = 0
    along, across = cc * x + sc * y, cc * y - sc * x
    offx, offy = P[o + G_OFF], P[o + G_OFF + 1]
    lever = offx * cc + offy * sc
    if free_fan:
        turn = divided(across - yaw_rate * s, lever, math.sqrt(offx * offx + offy * offy))
        heading = yaw_rate
    else:
        turn = P[o + G_SFAN] * fan_rate
        heading = divided(across - turn * lever, s, P[o + G_L])
    stretch = along - turn * (offx * sc - offy * cc) + P[o + CENTRE] * heading
    dB = -pitch_rate
    dA = -divided((stretch + P[o + CENTRE + 1] * sb * dB) / P[o + G_L], sa, 1.0)
    return P[o + G_SFAN] * turn, heading - turn, -P[o + G_SF] * dA, -P[o + G_ST] * (dB - dA)
