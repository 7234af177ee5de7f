# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
"""Levenberg-Marquardt for any serial chain given as tables, with everything the general inverse offers.

Minimises E = |W e|^2 over the coordinates that are active, within limits. e holds the position's error p* - p in the
axes of the base and the orientation's error log(R* R'), a rotation vector in the axes of the base or of the target.
Rows whose weight is 0 are free. Step: d1 = J' (J J' + mu E I)^-1 e (Sugihara 2011), mu rising and falling with success
(Marquardt 1963), and the geodesic acceleration d2 = -J' (J J' + mu E I)^-1 f''[d1, d1]/2 (Transtrum and Sethna 2012),
as in codegen/inverse_source.py; limits by projection with an active set.
"""

from __future__ import annotations

import math

import numpy as np

from robot_mechanics.errors import ShapeError
from robot_mechanics.native.angles import turn
from robot_mechanics.native.jit import scalar_kernel, stack_array, stack_pointer
from robot_mechanics.native.table_kernels import table_jacobian, table_pose

# how a run ended
REACHED, STATIONARY, OUT_OF_STEPS, NO_DESCENT = 0, 1, 2, 3
_MOST_CURVATURE = 0.75  # of |d1|, that |d2| may have at most (the criterion of Transtrum and Sethna)


@scalar_kernel
def rotation_error(target, pose, error):
    """Write log(R* R') into error[3:6], for poses (3, 4); return its angle in rad. Exact up to half a turn."""
    trace = 0.0
    for r in range(3):
        error[3 + r] = 0.0
        for c in range(3):
            trace += target[r, c] * pose[r, c]
    for c in range(3):
        error[3] += 0.5 * (pose[1, c] * target[2, c] - pose[2, c] * target[1, c])
        error[4] += 0.5 * (pose[2, c] * target[0, c] - pose[0, c] * target[2, c])
        error[5] += 0.5 * (pose[0, c] * target[1, c] - pose[1, c] * target[0, c])
    square = error[3] * error[3] + error[4] * error[4] + error[5] * error[5]
    cosine = 0.5 * (trace - 1.0)
    angle, factor = turn(square, cosine)
    if cosine < -0.99:
        # near half a turn the axis is found from R* R' + its transpose = 2 cos I + 2 (1 - cos) a a'
        best, row = -1.0, 0
        for r in range(3):
            diagonal = 0.0
            for c in range(3):
                diagonal += target[r, c] * pose[r, c]
            if diagonal > best:
                best, row = diagonal, r
        column = stack_array(stack_pointer(3), 3)
        length = 0.0
        for r in range(3):
            column[r] = -2.0 * cosine if r == row else 0.0
            for c in range(3):
                column[r] += target[r, c] * pose[row, c] + target[row, c] * pose[r, c]
            length += column[r] * column[r]
        along = column[0] * error[3] + column[1] * error[4] + column[2] * error[5]
        factor = math.copysign(angle / math.sqrt(length), along)
        for r in range(3):
            error[3 + r] = factor * column[r]
    else:
        for r in range(3, 6):
            error[r] *= factor
    return angle


@scalar_kernel
def weighted_columns(target, weight, in_target, error, angle, J):
    """Turn the plain Jacobian (6, n), or any changes of the errors, into those of the weighted rows, in place.

    The rotation vector e changes by -Jr^-1(e) w with Jr^-1(e) = I + [e]x / 2 + k [e]x^2,
    k = (1 - (angle/2) cot(angle/2)) / angle^2; along e itself that is -w, which is why it may be left out when the
    three rows have the same weight.
    """
    n = J.shape[1]
    if weight[3] != weight[4] or weight[4] != weight[5]:
        half = 0.5 * angle
        k = 1.0 / 12.0 if angle < 1e-3 else (1.0 - half * math.cos(half) / math.sin(half)) / (angle * angle)
        ex, ey, ez = error[3], error[4], error[5]
        for c in range(n):
            x, y, z = J[3, c], J[4, c], J[5, c]
            cx, cy, cz = ey * z - ez * y, ez * x - ex * z, ex * y - ey * x
            J[3, c] = x + 0.5 * cx + k * (ey * cz - ez * cy)
            J[4, c] = y + 0.5 * cy + k * (ez * cx - ex * cz)
            J[5, c] = z + 0.5 * cz + k * (ex * cy - ey * cx)
            if in_target:
                x, y, z = J[3, c], J[4, c], J[5, c]
                for r in range(3):
                    J[3 + r, c] = target[0, r] * x + target[1, r] * y + target[2, r] * z
    for r in range(6):
        for c in range(n):
            J[r, c] *= weight[r]


@scalar_kernel
def weighted_rows(target, weight, in_target, error, angle, J):
    """Turn the plain errors (6,) and Jacobian (6, n) into those of the weighted rows, in place."""
    weighted_columns(target, weight, in_target, error, angle, J)
    if in_target and (weight[3] != weight[4] or weight[4] != weight[5]):
        ex, ey, ez = error[3], error[4], error[5]
        for r in range(3):
            error[3 + r] = target[0, r] * ex + target[1, r] * ey + target[2, r] * ez
    for r in range(6):
        error[r] *= weight[r]


@scalar_kernel
def second_order(kind, column, ratio, px, py, pz, axes, d, off):
    """Write half of f''[d, d], what the tip at p is off by behind the step d (n,), into off (6, 1).

    One pass over the joints: see codegen/second_order_source.py.
    """
    x = y = z = 0.0  # w: the steps of the joints before
    lx = ly = lz = ax = ay = az = 0.0
    for i in range(kind.shape[0]):
        step = ratio[i] * d[column[i]]
        zx, zy, zz = step * axes[i, 0], step * axes[i, 1], step * axes[i, 2]
        vx, vy, vz, wx, wy, wz = zx, zy, zz, x, y, z
        if kind[i] == 0:
            rx, ry, rz = px - axes[i, 3], py - axes[i, 4], pz - axes[i, 5]
            vx, vy, vz = zy * rz - zz * ry, zz * rx - zx * rz, zx * ry - zy * rx
            wx, wy, wz = x + 0.5 * zx, y + 0.5 * zy, z + 0.5 * zz
            ax += y * zz - z * zy
            ay += z * zx - x * zz
            az += x * zy - y * zx
            x, y, z = x + zx, y + zy, z + zz
        lx += wy * vz - wz * vy
        ly += wz * vx - wx * vz
        lz += wx * vy - wy * vx
    off[0, 0], off[1, 0], off[2, 0] = lx, ly, lz
    off[3, 0], off[4, 0], off[5, 0] = 0.5 * ax, 0.5 * ay, 0.5 * az


@scalar_kernel
def task_errors(target, weight, in_target, pose, error):
    """Write the unweighted errors (6,) in the axes in which they are weighted; return the angle of the rotation's."""
    for r in range(3):
        error[r] = target[r, 3] - pose[r, 3] if weight[r] > 0.0 else 0.0
    angle = 0.0
    if weight[3] > 0.0 or weight[4] > 0.0 or weight[5] > 0.0:
        angle = rotation_error(target, pose, error)
    else:
        error[3] = error[4] = error[5] = 0.0
    return angle


@scalar_kernel
def within(error, target, weight, tolerance, in_target):
    """Return whether position and orientation each lie in the ellipsoid of their tolerances (6,)."""
    near = turned = 0.0
    for r in range(3):
        if weight[r] > 0.0:
            near += (error[r] / tolerance[r]) ** 2
        if weight[3 + r] > 0.0:
            e = error[3 + r]
            if in_target:
                e = target[0, r] * error[3] + target[1, r] * error[4] + target[2, r] * error[5]
            turned += (e / tolerance[3 + r]) ** 2
    return near <= 1.0 and turned <= 1.0


@scalar_kernel
def cost(error, target, weight, in_target):
    """Return the weighted sum of squares of errors (6,) given in the axes of the base."""
    total = 0.0
    for r in range(3):
        total += (weight[r] * error[r]) ** 2
        e = error[3 + r]
        if in_target:
            e = target[0, r] * error[3] + target[1, r] * error[4] + target[2, r] * error[5]
        total += (weight[3 + r] * e) ** 2
    return total


@scalar_kernel
def factor_damped(A, damping):
    """Decompose A + damping I, A (6, 6), into L D L', in place."""
    for j in range(6):
        d = A[j, j] + damping
        for k in range(j):
            d -= A[j, k] * A[j, k] * A[k, k]
        A[j, j] = d
        inverse = 1.0 / (d + 1e-300)
        for i in range(j + 1, 6):
            u = A[i, j]
            for k in range(j):
                u -= A[i, k] * A[j, k] * A[k, k]
            A[i, j] = u * inverse


@scalar_kernel
def substitute(A, e, y):
    """Solve for y, with A from `factor_damped`."""
    for i in range(6):
        y[i] = e[i]
        for k in range(i):
            y[i] -= A[i, k] * y[k]
    for i in range(5, -1, -1):
        y[i] /= A[i, i] + 1e-300
        for k in range(i + 1, 6):
            y[i] -= A[k, i] * y[k]


@scalar_kernel
def _clik_row(task, T, r):
    """Return weight, distance, and velocity v + gain (p - x) of a row; zeros where it is free."""
    if not math.isfinite(task[1, r] + task[2, r]) or math.isinf(task[0, r]):
        raise ShapeError("only positions of the task may be NaN (free); all else must be finite")
    if math.isnan(task[0, r]):
        return 0.0, 0.0, 0.0
    away = task[0, r] - T[r, 3]
    return 1.0, away, task[1, r] + task[2, r] * away


@scalar_kernel
def clik_step(task, q, dt, T, J):
    """Move q (n,) by dt J' (J J' + 1e-8 I)^-1 (v + gain (p - x)); return |p - x| of the rows that count.

    task: (3, 3) p (NaN: free), v, gain; T, J: pose and Jacobian at q.
    """
    if not math.isfinite(dt):
        raise ShapeError("dt is NaN or infinite; expected seconds")
    w0, f0, e0 = _clik_row(task, T, 0)
    w1, f1, e1 = _clik_row(task, T, 1)
    w2, f2, e2 = _clik_row(task, T, 2)
    d0 = d1 = d2 = 1e-8
    a10 = a20 = a21 = 0.0
    for i in range(q.shape[0]):
        x, y, z = w0 * J[0, i], w1 * J[1, i], w2 * J[2, i]
        d0, d1, d2 = d0 + x * x, d1 + y * y, d2 + z * z
        a10, a20, a21 = a10 + x * y, a20 + x * z, a21 + y * z
    m00, m10, m20 = d1 * d2 - a21 * a21, a20 * a21 - a10 * d2, a10 * a21 - a20 * d1
    m11, m21, m22 = d0 * d2 - a20 * a20, a10 * a20 - d0 * a21, d0 * d1 - a10 * a10
    scale = dt / (d0 * m00 + a10 * m10 + a20 * m20)
    x = w0 * scale * (m00 * e0 + m10 * e1 + m20 * e2)
    y = w1 * scale * (m10 * e0 + m11 * e1 + m21 * e2)
    z = w2 * scale * (m20 * e0 + m21 * e1 + m22 * e2)
    for i in range(q.shape[0]):
        q[i] += J[0, i] * x + J[1, i] * y + J[2, i] * z
    return math.sqrt(f0 * f0 + f1 * f1 + f2 * f2)


@scalar_kernel
def minimise(
    constants, kind, column, ratio, offset, target, weight, tolerance, in_target, active, low, high, settings,
    q, pose, axes, J, work,
):  # fmt: skip
    """Move q (n,) to where the errors are least; return (steps, how it ended).

    target: (3, 4); weight, tolerance: (6,); active, low, high: (n,), active 1 or 0 and q within the limits at the
    start; settings: mu at the start, its factors on success and on failure, greatest number of steps, slope below which
    a point is stationary. pose (3, 4), axes (2 m, 6), J (6, n), work (2, n): memory; pose is that of q at the end.
    """
    m = kind.shape[0]
    n = q.shape[0]
    mu, success, failure, steps, flat = settings[0], settings[1], settings[2], int(settings[3]), settings[4]
    error, y = stack_array(stack_pointer(6), 6), stack_array(stack_pointer(6), 6)
    normal = stack_array(stack_pointer(36), (6, 6))
    A = stack_array(stack_pointer(36), (6, 6))
    off, plain = stack_array(stack_pointer(6), (6, 1)), stack_array(stack_pointer(6), 6)
    old, first = work[0], work[1]
    table_pose(constants, kind, column, ratio, offset, q, pose, axes)
    angle = task_errors(target, weight, in_target, pose, error)
    E = cost(error, target, weight, in_target)
    step = 0
    while True:
        # here q is the best point so far, pose, axes, error and E are its own
        if within(error, target, weight, tolerance, in_target):
            return step, REACHED
        if step >= steps:
            return step, OUT_OF_STEPS
        table_jacobian(kind, column, ratio, pose, axes, J)
        # the axes of this point, for every step from it
        px, py, pz, at = pose[0, 3], pose[1, 3], pose[2, 3], angle
        for i in range(m):
            for r in range(6):
                axes[m + i, r] = axes[i, r]
        for r in range(6):
            plain[r] = error[r]
        weighted_rows(target, weight, in_target, error, angle, J)
        slope = 0.0
        for i in range(n):
            pull = 0.0
            for r in range(6):
                pull += J[r, i] * error[r]
            stopped = (q[i] <= low[i] and pull < 0.0) or (q[i] >= high[i] and pull > 0.0)
            if active[i] == 0.0 or stopped:
                for r in range(6):
                    J[r, i] = 0.0
            else:
                slope += pull * pull
        trace = 0.0
        for r in range(6):
            for c in range(r + 1):
                total = 0.0
                for i in range(n):
                    total += J[r, i] * J[c, i]
                normal[r, c] = total
            trace += normal[r, r]
            if weight[r] == 0.0:
                normal[r, r] = 1.0
        if slope <= flat * flat * E * trace:
            return step, STATIONARY
        for i in range(n):
            old[i] = q[i]
        while True:
            step += 1
            for r in range(6):
                for c in range(r + 1):
                    A[r, c] = normal[r, c]
            factor_damped(A, mu * E + 1e-15 * trace)
            substitute(A, error, y)
            for i in range(n):
                change = 0.0
                for r in range(6):
                    change += J[r, i] * y[r]
                first[i] = change
            second_order(kind, column, ratio, px, py, pz, axes[m:], first, off)
            weighted_columns(target, weight, in_target, plain, at, off)
            substitute(A, off[:, 0], y)
            one = two = 0.0  # q holds d2 meanwhile; no more of it is taken than leaves the first order in charge
            for i in range(n):
                change = 0.0
                for r in range(6):
                    change += J[r, i] * y[r]
                q[i] = change
                one += first[i] * first[i]
                two += change * change
            reduction = (
                1.0 if two <= _MOST_CURVATURE * _MOST_CURVATURE * one else _MOST_CURVATURE * math.sqrt(one / two)
            )
            for i in range(n):
                change = first[i] - reduction * q[i]
                q[i] = min(max(old[i] + change, low[i]), high[i]) if active[i] != 0.0 else old[i]
            table_pose(constants, kind, column, ratio, offset, q, pose, axes)
            angle = task_errors(target, weight, in_target, pose, A[0])
            trial = cost(A[0], target, weight, in_target)
            if trial < E:
                for r in range(6):
                    error[r] = A[0, r]
                E = trial
                mu *= success
                break
            mu *= failure
            if step >= steps or not mu < 1e30:
                for i in range(n):
                    q[i] = old[i]
                table_pose(constants, kind, column, ratio, offset, q, pose, axes)
                return step, OUT_OF_STEPS if step >= steps else NO_DESCENT


@scalar_kernel
def search(
    constants, kind, column, ratio, offset, target, weight, tolerance, active, low, high, turns, settings, attempts,
    q, pose, axes, J, work,
):  # fmt: skip
    """Run `minimise` from q (n,), then from points spread around it, until the target is reached.

    q becomes the solution without needless whole turns (turns: (n,) 1 where a turn changes nothing), or the best point
    found. Returns the steps in all, negative if the target was not reached. work: (4, n).
    """
    n = q.shape[0]
    start, best = work[2], work[3]
    for i in range(n):
        start[i] = best[i] = q[i] = min(max(q[i], low[i]), high[i])
    least, total, reached = math.inf, 0, False
    error = stack_array(stack_pointer(6), 6)
    for attempt in range(attempts):
        for i in range(n):
            if attempt > 0:
                # multiples of the golden ratio, one multiplier a joint: spread, and the same every time
                u = attempt * (0.6180339887498949 * (i + 1)) + 0.5
                q[i] = start[i] + min(math.pi, 0.7 * attempt) * (2.0 * (u - math.floor(u)) - 1.0)
                q[i] = min(max(q[i], low[i]), high[i])
        steps, end = minimise(
            constants, kind, column, ratio, offset, target, weight, tolerance, False, active, low, high, settings,
            q, pose, axes, J, work,
        )  # fmt: skip
        total += steps
        task_errors(target, weight, False, pose, error)
        away = cost(error, target, weight, False)
        if end == REACHED or away < least:
            least = away
            for i in range(n):
                best[i] = q[i]
        if end == REACHED:
            reached = True
            break
    for i in range(n):
        q[i] = best[i]
    unwind(q, start, low, high, turns)
    return total if reached else -max(total, 1)


@scalar_kernel
def unwind(q, start, low, high, turns):
    """Take whole turns that lead away from the start out of q, (n,), as far as the limits let them go."""
    for i in range(q.shape[0]):
        if turns[i] != 0.0 and abs(q[i] - start[i]) > math.pi:
            near = q[i] - 2.0 * math.pi * math.floor((q[i] - start[i]) / (2.0 * math.pi) + 0.5)
            if low[i] <= near <= high[i]:
                q[i] = near


@scalar_kernel
def finish(
    constants, kind, column, ratio, offset, target, weight, in_target, low, high, turns, start, q, pose, axes, residual,
):  # fmt: skip
    """Unwind q, write its errors (6,) in the axes in which they are weighted, NaN in free rows.

    Returns whether a coordinate stands at a limit.
    """
    unwind(q, start, low, high, turns)
    table_pose(constants, kind, column, ratio, offset, q, pose, axes)
    task_errors(target, weight, in_target, pose, residual)
    x, y, z = residual[3], residual[4], residual[5]
    if in_target:
        for r in range(3):
            residual[3 + r] = target[0, r] * x + target[1, r] * y + target[2, r] * z
    for r in range(6):
        if weight[r] == 0.0:
            residual[r] = math.nan
    stands = False
    for i in range(q.shape[0]):
        stands = stands or q[i] <= low[i] or q[i] >= high[i]
    return stands


@scalar_kernel
def attempt(
    constants, kind, column, ratio, offset, target, weight, tolerance, in_target, active, low, high, turns, settings,
    start, q, residual,
):  # fmt: skip
    """Move start into the limits where it is active, run `minimise` from it, and `finish` q (n,) and residual (6,).

    Returns the steps, how the run ended, and whether a coordinate stands at a limit.
    """
    n, m = q.shape[0], kind.shape[0]
    for i in range(n):
        if active[i] != 0.0:
            start[i] = min(max(start[i], low[i]), high[i])
        q[i] = start[i]
    pose, axes = np.empty((3, 4)), np.empty((2 * m, 6))
    steps, end = minimise(
        constants, kind, column, ratio, offset, target, weight, tolerance, in_target, active, low, high, settings,
        q, pose, axes, np.empty((6, n)), np.empty((2, n)),
    )  # fmt: skip
    stands = finish(
        constants, kind, column, ratio, offset, target, weight, in_target, low, high, turns, start, q, pose, axes,
        residual,
    )  # fmt: skip
    return steps, end, stands
