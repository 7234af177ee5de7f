# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0), bool(1): numba compiles a kernel anew for every constant it is called with
"""Shellbot's closed forms and closed loop as bare kernels on packed arrays: a call costs little more than its numbers.

The functions are numba dispatchers. They take two contiguous float64 arrays, the packed robot (read-only,
`ShellbotModel.packed`, or one leg of it, `ShellbotModel.legs[i]`) and a block that holds question and answer; the
classes `LegBlock`, `ShellBlock`, `LimbsBlock` and `ClikBlock` name the parts of the blocks as views; `clik_follow`
takes a `ClikLoop` and a task instead. Sizes are checked, values are not: NaN in is NaN out.

Examples
--------
>>> import numpy as np
>>> from shellbot_description import expand
>>> from shellbot_kinematics import ShellbotModel
>>> from shellbot_kinematics.packed import LegBlock, foot_inverse
>>> leg, ask = ShellbotModel(expand("walker")).legs[0], LegBlock()
>>> ask.point[:] = 0.270, 0.0, -0.1623
>>> foot_inverse(leg, ask.data)
0.0
>>> np.degrees(ask.joints).round(1)
array([  0. , -16.8,  -9.4, 110.2])
"""

from __future__ import annotations

import math

import numpy as np

from shellbot_kinematics._angles import sincos
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
from shellbot_kinematics._free_fan import foot_free
from shellbot_kinematics._jit import bare_kernel, stack_floats
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
    F_JOINTS,
    F_LIMITED,
    F_NEAREST,
    F_POINT,
    F_TIP,
    G_SFAN,
    H_JOINTS,
    H_LIMITED,
    H_NEAREST,
    H_POINT,
    K_DT,
    K_FAN,
    K_GAIN,
    K_JOINTS,
    K_TABLE,
    L_FEET,
    L_JOINTS,
    L_LIMITED,
    L_NEAREST,
    L_SHELLS,
    LANES,
    LEG,
    LEG_BLOCK,
    LIMBS_BLOCK,
    P_SHELL,
    P_SHELLS,
    P_TABLE,
    PACKED,
    SHELL,
    SHELL_BLOCK,
)
from shellbot_kinematics._lower_inverse import lower_inverse, lower_inverse_at
from shellbot_kinematics._lower_leg import lower_tip
from shellbot_kinematics._upper_inverse import upper_inverse
from shellbot_kinematics._upper_leg import upper_tip
from shellbot_kinematics.references import Frame


class LegBlock:
    """Question and answer of `foot_inverse` and `foot_inverse_free_fan`, on a lower leg.

    Parameters
    ----------
    limited : bool
        Keep to the joint limits; else angles come in -pi .. pi.
    frame : Frame
        FOOT or SPHERE_CENTRE: the frame that shall meet the point.
    nearest : bool
        Stay on the branch nearest to the joints given, whatever it reaches; else the branch that reaches best.

    Attributes
    ----------
    data : (10,) array
        What the kernels take.
    point : (3,) view
        m, base_link.
    joints : (4,) view
        fan, coxa, femur, tibia, rad: before, where the leg is (of equal branches the nearest is taken); after, the
        answer.
    """

    def __init__(self, limited: bool = False, frame: Frame = Frame.FOOT, nearest: bool = False) -> None:
        self.data = np.zeros(LEG_BLOCK)
        self.point = self.data[F_POINT : F_POINT + 3]
        self.joints = self.data[F_JOINTS : F_JOINTS + 4]
        self.data[F_LIMITED], self.data[F_TIP] = float(limited), float(Frame(frame) == Frame.SPHERE_CENTRE)
        self.data[F_NEAREST] = float(nearest)


class ShellBlock:
    """Question and answer of `shell_inverse`, on an upper leg.

    Parameters
    ----------
    limited, nearest : bool
        As for `LegBlock`.

    Attributes
    ----------
    data : (7,) array
        What the kernel takes.
    point : (3,) view
        Where the sphere centre shall be, m, base_link.
    joints : (2,) view
        shoulder, shell, rad: before, where the leg is; after, the answer.
    """

    def __init__(self, limited: bool = False, nearest: bool = False) -> None:
        self.data = np.zeros(SHELL_BLOCK)
        self.point = self.data[H_POINT : H_POINT + 3]
        self.joints = self.data[H_JOINTS : H_JOINTS + 2]
        self.data[H_LIMITED], self.data[H_NEAREST] = float(limited), float(nearest)


class LimbsBlock:
    """Question and answer of `limbs_inverse` and `limbs_forward`.

    Attributes
    ----------
    data : (74,) array
        What the kernels take.
    feet, centres : (6, 3) views
        Feet of the lower limbs, sphere centres of the upper ones, m, base_link.
    joints : (36,) view
        All driven joints, rad: before, where the robot is, with the fan angles to keep; after, the answer.
    """

    def __init__(self, limited: bool = True, nearest: bool = True) -> None:
        self.data = np.zeros(LIMBS_BLOCK)
        self.feet = self.data[L_FEET : L_FEET + 18].reshape(6, 3)
        self.centres = self.data[L_SHELLS : L_SHELLS + 18].reshape(6, 3)
        self.joints = self.data[L_JOINTS : L_JOINTS + 36]
        self.data[L_LIMITED], self.data[L_NEAREST] = float(limited), float(nearest)


class ClikBlock:
    """Question and answer of `clik_step`.

    Attributes
    ----------
    data : (65,) array
        What the kernel takes.
    feet, velocities : (6, 3) views
        Where the feet shall be (m) and how they shall move (m/s), base_link.
    joints : (24,) view
        Joints of the lower limbs, rad: before, measured; after, one step on.
    gain : (3,) view
        1/s, along base_link's x, y, z. Stable for 0 < gain < 2 / dt.
    """

    def __init__(self, dt: float = 0.01, gain: float = 50.0, fan_rate: float = 0.0) -> None:
        self.data = np.zeros(CLIK_BLOCK)
        self.data[C_DT], self.data[C_FAN] = dt, fan_rate
        self.gain = self.data[C_GAIN : C_GAIN + 3]
        self.gain[:] = gain
        self.feet = self.data[C_FEET : C_FEET + 18].reshape(6, 3)
        self.velocities = self.data[C_RATES : C_RATES + 18].reshape(6, 3)
        self.joints = self.data[C_JOINTS : C_JOINTS + 24]


class ClikLoop:
    """What `clik_follow` keeps from step to step: the robot and its joints, as the kernel needs them.

    Parameters
    ----------
    robot : (PACKED,) array
        `ShellbotModel.packed`.

    Attributes
    ----------
    data : array
        What the kernel takes, beside the task: feet (6, 3), m, then their velocities (6, 3), m/s, base_link.
    joints : (6, 4) view, not contiguous
        Joints of the lower limbs, rad: before, measured; after, one step on.
    gain : (3,) view
        1/s, along base_link's x, y, z. Stable for 0 < gain < 2 / dt.
    """

    def __init__(self, robot: np.ndarray, dt: float = 0.01, gain: float = 50.0, fan_rate: float = 0.0) -> None:
        self.data = np.zeros(CLIK_LOOP)
        self.data[K_DT], self.data[K_FAN] = dt, fan_rate
        self.data[K_TABLE:] = robot[P_TABLE:]
        self.gain = self.data[K_GAIN : K_GAIN + 3]
        self.gain[:] = gain
        self.joints = self.data[K_JOINTS:K_TABLE].reshape(4, LANES)[:, :6].T


@bare_kernel
def foot_inverse(leg, block):
    """Bring the tip to the point with the fan as it is; return the distance left (m), 0 if it is met."""
    if leg.size != LEG or block.size != LEG_BLOCK:
        raise ValueError("expected one row of ShellbotModel.legs and LegBlock().data")
    distance, _ = lower_inverse(
        leg, int(0), int(block[F_TIP]), block[F_POINT], block[F_POINT + 1], block[F_POINT + 2], block, int(F_JOINTS),
        block[F_LIMITED] != 0.0, block[F_NEAREST] != 0.0, block, int(F_JOINTS),
    )  # fmt: skip
    return distance


@bare_kernel
def foot_inverse_free_fan(leg, block):
    """As `foot_inverse`, but turn the fan, as little as it takes, where the point cannot be met otherwise.

    Complete: within the limits, if they are to be kept, every point that can be met is met.
    """
    if leg.size != LEG or block.size != LEG_BLOCK:
        raise ValueError("expected one row of ShellbotModel.legs and LegBlock().data")
    return foot_free(
        leg, int(0), int(block[F_TIP]), block[F_POINT], block[F_POINT + 1], block[F_POINT + 2], block[F_LIMITED] != 0.0,
        block, int(F_JOINTS),
    )  # fmt: skip


@bare_kernel
def foot_forward(leg, block):
    """Write the tip's position for the joints of the block."""
    if leg.size != LEG or block.size != LEG_BLOCK:
        raise ValueError("expected one row of ShellbotModel.legs and LegBlock().data")
    x, y, z = lower_tip(leg, int(0), int(block[F_TIP]), block, int(F_JOINTS))
    block[F_POINT], block[F_POINT + 1], block[F_POINT + 2] = x, y, z
    return 0.0


@bare_kernel
def shell_inverse(shell, block):
    """Bring an upper leg's sphere centre to the point; return the distance left (m), which is at least how far the
    point is from the plane the leg moves in.
    """
    if shell.size != SHELL or block.size != SHELL_BLOCK:
        raise ValueError("expected one row of ShellbotModel.shells and ShellBlock().data")
    x, y, z = block[H_POINT], block[H_POINT + 1], block[H_POINT + 2]
    if not math.isfinite(x + y + z):
        return math.nan
    distance, _ = upper_inverse(
        shell, int(0), x, y, z, math.nan, math.nan, math.nan, block, int(H_JOINTS), block[H_LIMITED] != 0.0,
        block[H_NEAREST] != 0.0, block, int(H_JOINTS),
    )  # fmt: skip
    return distance


@bare_kernel
def limbs_inverse(robot, block):
    """Bring all feet and upper sphere centres to their points, on the branch nearest to the joints given, with the
    fans as they are; return the largest distance left (m).
    """
    if robot.size != PACKED or block.size != LIMBS_BLOCK:
        raise ValueError("expected ShellbotModel.packed and LimbsBlock().data")
    limited, nearest = block[L_LIMITED] != 0.0, block[L_NEAREST] != 0.0
    worst, unknown, turn, sf, cf, tip = 0.0, 0.0, 0.0, 0.0, 1.0, int(0)
    for i in range(6):
        o, p, j = i * LEG, L_FEET + 3 * i, L_JOINTS + 4 * i
        if robot[o + G_SFAN] * block[j] != turn:  # six equal fans as a rule: one sine
            turn = robot[o + G_SFAN] * block[j]
            sf, cf = sincos(turn)
        distance, _ = lower_inverse_at(
            robot, o, tip, block[p], block[p + 1], block[p + 2], sf, cf, block, j, limited, nearest, block, j
        )
        worst = max(worst, distance)
        unknown += distance - distance  # NaN, which max loses
    for i in range(int(robot[P_SHELLS])):
        p, j = L_SHELLS + 3 * i, L_JOINTS + 24 + 2 * i
        distance, _ = upper_inverse(
            robot, P_SHELL + i * SHELL, block[p], block[p + 1], block[p + 2], math.nan, math.nan, math.nan,
            block, j, limited, nearest, block, j,
        )  # fmt: skip
        worst = max(worst, distance)
        unknown += distance - distance
    return worst + unknown


@bare_kernel
def limbs_forward(robot, block):
    """Write all feet and upper sphere centres for the joints of the block."""
    if robot.size != PACKED or block.size != LIMBS_BLOCK:
        raise ValueError("expected ShellbotModel.packed and LimbsBlock().data")
    for i in range(6):
        p, j = L_FEET + 3 * i, L_JOINTS + 4 * i
        block[p], block[p + 1], block[p + 2] = lower_tip(robot, i * LEG, int(0), block, j)
    for i in range(int(robot[P_SHELLS])):
        p, j = L_SHELLS + 3 * i, L_JOINTS + 24 + 2 * i
        block[p], block[p + 1], block[p + 2] = upper_tip(robot, P_SHELL + i * SHELL, block, j)
    return 0.0


@bare_kernel
def clik_step(robot, block):
    """Move the joints of the lower limbs by one Euler step, q += dt J^-1 (v + K (p - p(q))), the fan by its own rate;
    return the largest error (m) before the step.
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
