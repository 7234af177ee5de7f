# SPDX-License-Identifier: MIT
"""Questions and answers of the packed calls: flat arrays for the kernels, with views that name their parts."""

from __future__ import annotations

import numpy as np

from shellbot_kinematics._layout import (
    C_DT,
    C_FAN,
    C_FEET,
    C_GAIN,
    C_JOINTS,
    C_RATES,
    CLIK_BLOCK,
    CLIK_LOOP,
    F_JOINTS,
    F_LIMITED,
    F_NEAREST,
    F_POINT,
    F_TIP,
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
    LEG_BLOCK,
    LIMBS_BLOCK,
    P_TABLE,
    SHELL_BLOCK,
)
from shellbot_kinematics.shellbot_limbs import Frame


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

    Parameters
    ----------
    limited, nearest : bool
        As for `LegBlock`.

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

    Parameters
    ----------
    dt : float
        Step, s.
    gain : float
        1/s, see the attribute.
    fan_rate : float
        At which all fans turn, rad/s.

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
    dt, gain, fan_rate : float
        As for `ClikBlock`.

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
