# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0), bool(1): numba compiles a kernel anew for every constant it is called with
"""The closed loop of six feet on packed arrays, leg by leg in the lanes of SIMD registers. See packed."""

from __future__ import annotations

from robot_mechanics.native.jit import bare_kernel, stack_floats
from shellbot_kinematics._clik_lanes import (
    CLIK_WORK,
    W_FOOT,
    W_JOINT,
    W_RATE,
    W_STEP,
    clik_angles,
    clik_rates,
    clik_worst,
)
from shellbot_kinematics._layout import (
    C_DT,
    C_FAN,
    C_FEET,
    C_GAIN,
    C_JOINTS,
    C_RATES,
    CLIK_BLOCK,
    CLIK_LOOP,
    CLIK_TASK,
    K_DT,
    K_FAN,
    K_GAIN,
    K_JOINTS,
    K_TABLE,
    LANES,
    P_TABLE,
    PACKED,
)


@bare_kernel
def clik_step(robot, block):
    """Move the joints of the lower limbs by one Euler step, q += dt J^-1 (v + K (p - p(q))), the fan by its own rate;
    return the largest error (m) before the step.

    Parameters
    ----------
    robot : (652,) array
        `ShellbotModel.packed`.
    block : (65,) array
        `ClikBlock().data`.
    """
    if robot.size != PACKED or block.size != CLIK_BLOCK:
        raise ValueError("expected ShellbotModel.packed and ClikBlock().data")
    w = stack_floats(CLIK_WORK)
    for i in range(LANES):
        leg = min(i, 5)
        for r in range(3):
            w[W_FOOT + LANES * r + i] = block[C_FEET + 3 * leg + r]
            w[W_RATE + LANES * r + i] = block[C_RATES + 3 * leg + r]
        for r in range(4):
            w[W_JOINT + LANES * r + i] = block[C_JOINTS + 4 * leg + r]
    dt, fan_rate = block[C_DT], block[C_FAN]
    clik_angles(robot, int(P_TABLE), w, int(W_JOINT), w)
    clik_rates(robot, int(P_TABLE), dt, block[C_GAIN], block[C_GAIN + 1], block[C_GAIN + 2], fan_rate, w)
    for i in range(6):
        j = C_JOINTS + 4 * i
        block[j] += dt * fan_rate
        block[j + 1] += w[W_STEP + i]
        block[j + 2] += w[W_STEP + LANES + i]
        block[j + 3] += w[W_STEP + 2 * LANES + i]
    return clik_worst(w)


@bare_kernel
def clik_follow(loop, task):
    """As `clik_step`, for a task (36,) of feet and velocities on the joints that the loop keeps; the faster of the two,
    because nothing is copied.

    Parameters
    ----------
    loop : array
        `ClikLoop(robot).data`.
    task : (36,) array
        Feet (6, 3), m, then their velocities (6, 3), m/s, base_link.
    """
    if loop.size != CLIK_LOOP or task.size != CLIK_TASK:
        raise ValueError("expected ClikLoop(robot).data and a task of 36 numbers, feet and velocities")
    w = stack_floats(CLIK_WORK)
    for i in range(LANES):
        leg = min(i, 5)
        for r in range(3):
            w[W_FOOT + LANES * r + i] = task[3 * leg + r]
            w[W_RATE + LANES * r + i] = task[18 + 3 * leg + r]
    dt, fan_rate = loop[K_DT], loop[K_FAN]
    clik_angles(loop, int(K_TABLE), loop, int(K_JOINTS), w)
    clik_rates(loop, int(K_TABLE), dt, loop[K_GAIN], loop[K_GAIN + 1], loop[K_GAIN + 2], fan_rate, w)
    for i in range(6):
        loop[K_JOINTS + i] += dt * fan_rate
        loop[K_JOINTS + LANES + i] += w[W_STEP + i]
        loop[K_JOINTS + 2 * LANES + i] += w[W_STEP + LANES + i]
        loop[K_JOINTS + 3 * LANES + i] += w[W_STEP + 2 * LANES + i]
    return clik_worst(w)
