# SPDX-License-Identifier: MIT
# mypy: disallow-untyped-defs=False, check-untyped-defs=False
# ruff: noqa: UP018 - int(0), bool(1): numba compiles a kernel anew for every constant it is called with
"""Closed forms on packed arrays: a foot, an upper sphere centre, all limbs. See packed."""

from __future__ import annotations

import math

from robot_mechanics.native.angles import sincos
from robot_mechanics.native.jit import bare_kernel
from shellbot_kinematics._free_fan import foot_free
from shellbot_kinematics._layout import (
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
    L_FEET,
    L_JOINTS,
    L_LIMITED,
    L_NEAREST,
    L_SHELLS,
    LEG,
    LEG_BLOCK,
    LIMBS_BLOCK,
    P_SHELL,
    P_SHELLS,
    PACKED,
    SHELL,
    SHELL_BLOCK,
)
from shellbot_kinematics._lower_inverse import lower_inverse, lower_inverse_at
from shellbot_kinematics._lower_leg import lower_tip
from shellbot_kinematics._upper_inverse import upper_inverse
from shellbot_kinematics._upper_leg import upper_tip


@bare_kernel
def foot_inverse(leg, block):
    """Bring the tip to the point with the fan as it is; return the distance left (m), 0 if it is met.

    Parameters
    ----------
    leg : (47,) array
        A row of `ShellbotModel.legs`.
    block : (10,) array
        `LegBlock().data`.
    """
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

    Parameters
    ----------
    leg, block
        As of `foot_inverse`.
    """
    if leg.size != LEG or block.size != LEG_BLOCK:
        raise ValueError("expected one row of ShellbotModel.legs and LegBlock().data")
    return foot_free(
        leg, int(0), int(block[F_TIP]), block[F_POINT], block[F_POINT + 1], block[F_POINT + 2], block[F_LIMITED] != 0.0,
        block, int(F_JOINTS),
    )  # fmt: skip


@bare_kernel
def foot_forward(leg, block):
    """Write the tip's position for the joints of the block.

    Parameters
    ----------
    leg, block
        As of `foot_inverse`.
    """
    if leg.size != LEG or block.size != LEG_BLOCK:
        raise ValueError("expected one row of ShellbotModel.legs and LegBlock().data")
    x, y, z = lower_tip(leg, int(0), int(block[F_TIP]), block, int(F_JOINTS))
    block[F_POINT], block[F_POINT + 1], block[F_POINT + 2] = x, y, z
    return 0.0


@bare_kernel
def shell_inverse(shell, block):
    """Bring an upper leg's sphere centre to the point; return the distance left (m), which is at least how far the
    point is from the plane the leg moves in.

    Parameters
    ----------
    shell : (28,) array
        A row of `ShellbotModel.shells`.
    block : (7,) array
        `ShellBlock().data`.
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

    Parameters
    ----------
    robot : (652,) array
        `ShellbotModel.packed`.
    block : (74,) array
        `LimbsBlock().data`.
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
    """Write all feet and upper sphere centres for the joints of the block.

    Parameters
    ----------
    robot, block
        As of `limbs_inverse`.
    """
    if robot.size != PACKED or block.size != LIMBS_BLOCK:
        raise ValueError("expected ShellbotModel.packed and LimbsBlock().data")
    for i in range(6):
        p, j = L_FEET + 3 * i, L_JOINTS + 4 * i
        block[p], block[p + 1], block[p + 2] = lower_tip(robot, i * LEG, int(0), block, j)
    for i in range(int(robot[P_SHELLS])):
        p, j = L_SHELLS + 3 * i, L_JOINTS + 24 + 2 * i
        block[p], block[p + 1], block[p + 2] = upper_tip(robot, P_SHELL + i * SHELL, block, j)
    return 0.0
