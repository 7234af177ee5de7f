# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0), bool(1): numba compiles a kernel anew for every constant it is called with
"""A foot's inverse over all four joints: the fan turns as little as it takes. Complete: what can be met is met.

For a given point the leg depends on the fan only through the distance of coxa axis and point. The fan angles at which
the point can be met are intervals, and where one ends a joint is at a limit or the knee is stretched or folded. So
these ends are computed, and of those that work the one nearest to the given fan is taken.
"""

from __future__ import annotations

import math

from robot_mechanics.native.angles import angle, sincos
from robot_mechanics.native.jit import bare_kernel, stack_floats
from shellbot_kinematics._axes import in_axes
from shellbot_kinematics._layout import (
    G_A0,
    G_FAN,
    G_HIGH,
    G_L,
    G_L2,
    G_LOW,
    G_OFF,
    G_ROT,
    G_SF,
    G_SFAN,
    G_ST,
    G_TIP,
    G_ZF,
    REACHED,
)
from shellbot_kinematics._lower_inverse import lower_inverse
from shellbot_kinematics._lower_leg import to_coxa
from shellbot_kinematics._planar import wrap

MET = 1e-3 * REACHED
MISSES, UNSURE, MEETS = 0, 1, 2
_EDGE = 1e-9  # of the knee's cosine: at an end of the fan's interval the knee is stretched or folded, to rounding
_SURE = 1e-6  # of the same: too far by more than MET
_ASIDE = 1e-3  # rad beyond a joint's limit: the limit is farther from the target than MET, a stretched knee's too


@bare_kernel
def _add(ends, count, turn):
    ends[count] = turn
    return count + 1


@bare_kernel
def _turns_for(h, s, around, distance, arm, ends, count):
    """Add the two fan turns that bring the coxa axis as far from the point as the reach s says."""
    cosine = (distance * distance + arm * arm - s * s - h * h) / (2.0 * distance * arm)
    if not abs(cosine) <= 1.0 + 1e-9:
        return count
    cosine = max(-1.0, min(1.0, cosine))
    theta = angle(math.sqrt((1.0 - cosine) * (1.0 + cosine)), cosine)
    count = _add(ends, count, around - theta)
    return _add(ends, count, around + theta)


@bare_kernel
def fan_ends(P, o, tip, px, py, pz, limited, ends):
    """Write the fan turns (rad, not yet signed) at which the point may begin or cease to be met; return how many."""
    k = o + G_TIP + 3 * tip
    h, l1, l2 = P[k], P[o + G_L], P[k + 1]
    x, y, z = in_axes(P, o + G_ROT, px - P[o + G_FAN], py - P[o + G_FAN + 1], pz - P[o + G_FAN + 2])
    w = z - P[o + G_OFF + 2] - P[o + G_ZF]
    offx, offy = P[o + G_OFF], P[o + G_OFF + 1]
    arm, distance = math.sqrt(offx * offx + offy * offy), math.sqrt(x * x + y * y)
    if distance == 0.0 or arm == 0.0:
        return 0
    around = angle(y, x) - angle(offy, offx)
    count = _add(ends, 0, around)  # the arm towards the point, and away from it: for points out of reach
    count = _add(ends, count, around + math.pi)
    for end in range(4 if limited else 2):
        if end == 0:
            radius2 = (l1 + l2) ** 2
        elif end == 1:
            radius2 = (l1 - l2) ** 2
        else:
            _, cosine = sincos(P[k + 2] - P[o + G_A0] - P[o + G_ST] * P[o + (G_LOW if end == 2 else G_HIGH) + 3])
            radius2 = l1 * l1 + l2 * l2 + 2.0 * l1 * l2 * cosine
        u2 = radius2 - w * w
        if u2 >= 0.0:
            u = math.sqrt(u2)
            count = _turns_for(h, P[o + G_L2] + u, around, distance, arm, ends, count)
            count = _turns_for(h, P[o + G_L2] - u, around, distance, arm, ends, count)
    # no reach at all: the coxa axis as near to the point as the leg's lateral offset
    count = _turns_for(h, 0.0, around, distance, arm, ends, count)
    if not limited:
        return count
    for end in range(2):
        column = o + (G_LOW if end == 0 else G_HIGH)
        # the femur at its limit: the tip on a circle about the knee
        sa, ca = sincos(P[o + G_A0] - P[o + G_SF] * P[column + 2])
        u2 = l2 * l2 - (w - l1 * sa) ** 2
        if u2 >= 0.0:
            u = math.sqrt(u2)
            count = _turns_for(h, P[o + G_L2] + l1 * ca + u, around, distance, arm, ends, count)
            count = _turns_for(h, P[o + G_L2] + l1 * ca - u, around, distance, arm, ends, count)
        # the coxa at its limit: |OFF + R(q2) (s, h)| is the distance from the fan axis
        sc, cc = sincos(P[column + 1])
        k1, k2 = offx * cc + offy * sc, offy * cc - offx * sc
        root2 = k1 * k1 - (h * h + arm * arm - distance * distance + 2.0 * h * k2)
        if root2 >= 0.0:
            for sign in (-1.0, 1.0):
                s = -k1 + sign * math.sqrt(root2)
                count = _add(ends, count, angle(y, x) - angle(offy + s * sc + h * cc, offx + s * cc - h * sc))
        count = _add(ends, count, P[o + G_SFAN] * P[column])
    return count


@bare_kernel
def _quick(P, o, tip, px, py, pz, last, limited, q, j):
    """Write what `lower_inverse` would, for the fan at q[j], and return MEETS, if a branch comes to the target; MISSES
    if none does, by far; else UNSURE.

    Both bends of the knee share three of their four angles. The coxa of a solution behind its axis is away from the one
    in front by half a turn less twice the angle whose tangent is h / s: mostly too far to be looked at.
    """
    k, lo, hi = o + G_TIP + 3 * tip, o + G_LOW, o + G_HIGH
    h, l1, l2 = P[k], P[o + G_L], P[k + 1]
    sf, cf = sincos(P[o + G_SFAN] * q[j])
    x, y, z = to_coxa(P, o, px, py, pz, sf, cf)
    s2, w = x * x + y * y - h * h, z - P[o + G_ZF]
    if not s2 > 0.0:
        return MISSES if s2 < -_EDGE else UNSURE
    m2 = m3 = m4 = 0.0
    if limited:
        m2, m3, m4 = 0.5 * (P[lo + 1] + P[hi + 1]), 0.5 * (P[lo + 2] + P[hi + 2]), 0.5 * (P[lo + 3] + P[hi + 3])
    per, square = 0.5 / (l1 * l2), w * w - l1 * l1 - l2 * l2
    best, state = math.inf, MISSES
    for side in (1.0, -1.0):
        s = side * math.sqrt(s2)
        u = s - P[o + G_L2]
        cosine = (u * u + square) * per
        if not abs(cosine) <= 1.0 + _EDGE:
            if not abs(cosine) > 1.0 + _SURE:
                state = max(state, UNSURE)
            continue
        cosine = max(-1.0, min(1.0, cosine))
        sine = math.sqrt((1.0 - cosine) * (1.0 + cosine))
        q2 = wrap(angle(y * s - x * h, x * s + y * h), m2)
        beyond2 = max(P[lo + 1] - q2, q2 - P[hi + 1]) if limited else 0.0
        if beyond2 > _ASIDE:
            continue
        gamma, towards, inner = angle(sine, cosine), angle(w, u), angle(l2 * sine, l1 + l2 * cosine)
        turned = abs(q2 - last[1])
        for knee in (-1.0, 1.0):
            q3 = wrap(P[o + G_SF] * (P[o + G_A0] - (towards - knee * inner)), m3)
            q4 = wrap(P[o + G_ST] * (P[k + 2] - P[o + G_A0] - knee * gamma), m4)
            if limited:
                beyond = max(beyond2, P[lo + 2] - q3, q3 - P[hi + 2], P[lo + 3] - q4, q4 - P[hi + 3])
                if beyond > _EDGE:  # at an end of the fan's interval a joint is at its limit, to rounding
                    if not beyond > _ASIDE:
                        state = max(state, UNSURE)
                    continue
            cost = max(turned, abs(q3 - last[2]), abs(q4 - last[3]))
            if cost < best - 1e-9:
                best, state = cost, MEETS
                q[j + 1], q[j + 2], q[j + 3] = q2, q3, q4
        if best + 1e-9 < math.pi - 2.0 * h / abs(s) - turned:
            break
    if limited and state == MEETS:
        for r in range(1, 4):
            q[j + r] = max(P[lo + r], min(P[hi + r], q[j + r]))
    return state


@bare_kernel
def _nearest_turn(P, o, tip, px, py, pz, fan):
    """Return the fan angle nearest to `fan` at which the knee can be bent so that the leg meets a point that it misses
    at `fan`, without limits; NaN if there is none, or the point is in the fan's axis.

    What the leg spans from the coxa axis, |s|, may have two intervals of values; as the fan turns towards the point or
    away from it, the span shrinks or grows until it comes to the nearest end of one.
    """
    k = o + G_TIP + 3 * tip
    h, l1, l2 = P[k], P[o + G_L], P[k + 1]
    x, y, z = in_axes(P, o + G_ROT, px - P[o + G_FAN], py - P[o + G_FAN + 1], pz - P[o + G_FAN + 2])
    w = z - P[o + G_OFF + 2] - P[o + G_ZF]
    offx, offy = P[o + G_OFF], P[o + G_OFF + 1]
    arm2, distance2 = offx * offx + offy * offy, x * x + y * y
    outer2, inner2 = (l1 + l2) ** 2 - w * w, (l1 - l2) ** 2 - w * w
    twice = 2.0 * math.sqrt(arm2 * distance2)
    if not (twice > 0.0 and outer2 >= 0.0):
        return math.nan
    away = wrap(angle(y, x) - angle(offy, offx) - P[o + G_SFAN] * fan, 0.0)  # from the arm to the point
    _, cosine = sincos(away)
    s2 = arm2 + distance2 - twice * cosine - h * h
    s = math.sqrt(s2) if s2 > 0.0 else -1.0
    up, down = math.inf, -math.inf
    outer, inner = math.sqrt(outer2), (math.sqrt(inner2) if inner2 > 0.0 else 0.0)
    for end in (P[o + G_L2] + outer, P[o + G_L2] - outer, P[o + G_L2] + inner, P[o + G_L2] - inner):
        span = abs(end)
        if span > s:
            up = min(up, span)
        else:
            down = max(down, span)
    if s < 0.0 and inner <= P[o + G_L2] and outer >= P[o + G_L2]:
        up = 0.0
    best, side = math.inf, (-1.0 if away < 0.0 else 1.0)
    found = math.nan
    for span in (up, down):
        if abs(span) < math.inf:
            cosine = (arm2 + distance2 - span * span - h * h) / twice
            if abs(cosine) <= 1.0:
                theta = angle(math.sqrt((1.0 - cosine) * (1.0 + cosine)), cosine)
                if abs(theta - abs(away)) < best:
                    best = abs(theta - abs(away))
                    found = fan + P[o + G_SFAN] * (away - side * theta)
    return found


@bare_kernel
def _meeting_end(P, o, tip, px, py, pz, last, q, j):
    """Write the solution within the limits whose fan turns least from q[j], if there is one; return the distance left
    (m), or infinity.
    """
    ends = stack_floats(40)
    start, yes, no = int(0), bool(1), bool(0)
    low, high = P[o + G_LOW], P[o + G_HIGH]
    fan, middle = q[j], 0.5 * (low + high)
    count = fan_ends(P, o, tip, px, py, pz, yes, ends)
    for e in range(count):
        ends[e] = wrap(P[o + G_SFAN] * ends[e] - fan, 0.0)
        value = wrap(fan + ends[e], middle)
        if value < low - 1e-12 or value > high + 1e-12:
            ends[e] = math.inf
    for _ in range(count):
        pick = 0
        for e in range(1, count):
            if abs(ends[e]) < abs(ends[pick]):
                pick = e
        if not abs(ends[pick]) < math.inf:
            break
        q[j] = max(low, min(high, wrap(fan + ends[pick], middle)))
        ends[pick] = math.inf
        state = _quick(P, o, tip, px, py, pz, last, yes, q, j)
        if state == MEETS:
            return 0.0
        if state == UNSURE:
            left, _ = lower_inverse(P, o, tip, px, py, pz, last, start, yes, no, q, j)
            if left <= MET:
                return left
    return math.inf


@bare_kernel
def _free_of_all(P, o, tip, px, py, pz, limited, last, q, j):
    """Write what comes nearest to the target, of all ends of the fan's intervals, nearest first, and of the fan as it
    is at q[j]; return the distance left (m).
    """
    ends = stack_floats(40)
    start, no = int(0), bool(0)  # no constants: they would be compiled into variants of what is called
    low, high = P[o + G_LOW], P[o + G_HIGH]
    fan = q[j]
    best, _ = lower_inverse(P, o, tip, px, py, pz, last, start, limited, no, q, j)
    if best <= MET:
        return best
    b0, b1, b2, b3 = q[j], q[j + 1], q[j + 2], q[j + 3]
    count = fan_ends(P, o, tip, px, py, pz, limited, ends)
    for _ in range(count):
        # the nearest of those that are left
        nearest, pick = math.inf, 0
        for e in range(count):
            turn = abs(ends[e] if not math.isfinite(ends[e]) else wrap(P[o + G_SFAN] * ends[e] - fan, 0.0))
            if turn < nearest:
                nearest, pick = turn, e
        if not math.isfinite(nearest):
            break
        value = fan + wrap(P[o + G_SFAN] * ends[pick] - fan, 0.0)
        ends[pick] = math.inf
        if limited:
            value = wrap(value, 0.5 * (low + high))
            if value < low - 1e-12 or value > high + 1e-12:
                continue
            value = max(low, min(high, value))
        q[j] = wrap(value, 0.0) if not limited else value
        left, _ = lower_inverse(P, o, tip, px, py, pz, last, start, limited, no, q, j)
        if left < best - 1e-9:
            best = left
            b0, b1, b2, b3 = q[j], q[j + 1], q[j + 2], q[j + 3]
            if best <= MET:
                break
    q[j], q[j + 1], q[j + 2], q[j + 3] = b0, b1, b2, b3
    return best


@bare_kernel
def foot_free(P, o, tip, px, py, pz, limited, q, j):
    """Write all four joints; q[j : j + 4] holds where the leg is. Return the distance left (m)."""
    last = stack_floats(4)
    for r in range(4):
        last[r] = q[j + r]
    start, no = int(0), bool(0)  # no constants: they would be compiled into variants of what is called
    if not math.isfinite(px + py + pz):
        return math.nan
    fan = last[0]
    if limited:
        fan = max(P[o + G_LOW], min(P[o + G_HIGH], fan))
    q[j] = fan
    state = _quick(P, o, tip, px, py, pz, last, limited, q, j)
    if state == MEETS:
        return 0.0
    if state == UNSURE:
        left, _ = lower_inverse(P, o, tip, px, py, pz, last, start, limited, no, q, j)
        if left <= MET:
            return left
    if limited:
        left = _meeting_end(P, o, tip, px, py, pz, last, q, j)
        if left <= MET:
            return left
    else:
        turned = _nearest_turn(P, o, tip, px, py, pz, fan)
        if math.isfinite(turned):
            q[j] = wrap(turned, 0.0)
            if _quick(P, o, tip, px, py, pz, last, limited, q, j) == MEETS:
                return 0.0
            left, _ = lower_inverse(P, o, tip, px, py, pz, last, start, limited, no, q, j)
            if left <= MET:
                return left
    q[j] = fan
    return _free_of_all(P, o, tip, px, py, pz, limited, last, q, j)
