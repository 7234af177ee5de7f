# SPDX-License-Identifier: MIT
"""Closed-form inverse of a lower sphere centre by the second report's coordinates: x, y, yaw and pitch.

The height follows. yaw = q1 + q2 turns the leg plane, pitch = alpha + beta + q3 + q4 the sphere frame in it. In the
closed ball x = y = 0, yaw = gamma - 60 deg, pitch = 360 deg.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import Dict, Optional, Tuple

import numpy as np

from robot_mechanics.errors import ShapeError
from robot_mechanics.native.angles import sincos
from shellbot_kinematics._axes import in_axes
from shellbot_kinematics._layout import G_FAN, G_OFF, G_ROT, G_SFAN, LEG, STOP_NONE
from shellbot_kinematics._planar import wrap
from shellbot_kinematics._sphere import orientation, sphere_inverse, sphere_with_fan, sphere_with_yaw, yaw_pitch
from shellbot_kinematics.limb_inverse import closed_form_result
from shellbot_kinematics.reports import InverseResult
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel


class SphereBranch(Enum):
    """The four solutions of a lower leg led by its sphere centre's x, y, pitch and yaw (or fan): (side, elbow).

    Side: with the fan given, the centre in front of the coxa axis or behind it; with the yaw given, the coxa axis on
    the near or the far side of its circle seen along the leg plane. Elbow: the report's "gomito alto" (theta3 > 0, the
    one that closes the ball) and "gomito basso".
    """

    NEAR_ELBOW_HIGH = (1.0, 1.0)
    NEAR_ELBOW_LOW = (1.0, -1.0)
    FAR_ELBOW_HIGH = (-1.0, 1.0)
    FAR_ELBOW_LOW = (-1.0, -1.0)


def sphere_coordinates(model: ShellbotModel, limb: str, q: np.ndarray) -> np.ndarray:
    """Return x, y (m, base_link), yaw and pitch (rad) of a lower limb's sphere centre for its four joints.

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    limb : str
        lower_1 .. lower_6.
    q : (4,) array
        Fan, coxa, femur, tibia, rad.
    """
    o = _offset(model, limb)
    values = model.chain(limb, Frame.SPHERE_CENTRE).check(q)
    x, y = model.chain(limb, Frame.SPHERE_CENTRE).fk(values)[:2, 3]
    return np.array([x, y, *yaw_pitch(model.packed, o, values, 0)])


def sphere_orientation(model: ShellbotModel, limb: str, rpy_base: Tuple[float, float, float]) -> Tuple[float, float]:
    """Return yaw and pitch (rad) of a lower limb for the roll, pitch, yaw (rad) of its sphere-centre frame.

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    limb : str
        lower_1 .. lower_6.
    rpy_base : (3,) tuple of float
        In base_link.
    """
    yaw, pitch = orientation(model.packed, _offset(model, limb), *_numbers("rpy_base", rpy_base))
    return float(yaw), float(pitch)


def sphere_branches(
    model: ShellbotModel,
    limb: str,
    x: float,
    y: float,
    pitch: float,
    yaw: Optional[float] = None,
    fan_position: Optional[float] = None,
) -> Dict[SphereBranch, np.ndarray]:
    """Return all solutions (fan, coxa, femur, tibia), rad in -pi .. pi, joint limits not looked at; empty if there are
    none.

    Parameters
    ----------
    model : ShellbotModel
        The robot.
    limb : str
        lower_1 .. lower_6.
    x, y : float
        Sphere centre in base_link, m.
    pitch : float
        alpha + beta + q3 + q4, rad.
    yaw, fan_position : float
        One of them: q1 + q2, rad, with the fan free (the four joints meet four coordinates), or the fan's angle.

    Raises
    ------
    ShapeError, UnknownNameError
        On numbers that are missing or not finite, or a limb that is no lower one.
    """
    o = _offset(model, limb)
    if (yaw is None) == (fan_position is None):
        raise ShapeError("give yaw or fan_position, not both")
    last = fan_position if yaw is None else yaw
    x, y, pitch, last = _numbers("x, y, pitch and yaw or fan_position", (x, y, pitch, last))
    packed = model.packed
    px, py, _ = in_axes(packed, o + G_ROT, x - packed[o + G_FAN], y - packed[o + G_FAN + 1], -packed[o + G_FAN + 2])
    found: Dict[SphereBranch, np.ndarray] = {}
    for branch in SphereBranch:
        q = np.zeros(4)
        if yaw is None:
            sine, cosine = sincos(packed[o + G_SFAN] * last)
            q[0] = last
            along, across = cosine * px + sine * py - packed[o + G_OFF], cosine * py - sine * px - packed[o + G_OFF + 1]
            stop = sphere_with_fan(packed, o, along, across, pitch, *branch.value, q, 0)
        else:
            stop = sphere_with_yaw(packed, o, px, py, last, pitch, *branch.value, q, 0)
        if stop == STOP_NONE:
            found[branch] = np.array([wrap(angle, 0.0) for angle in q])
    return found


def solve_sphere(
    model: ShellbotModel,
    limb: str,
    x: float,
    y: float,
    pitch: float,
    yaw: Optional[float] = None,
    fan_position: Optional[float] = None,
    seed: Optional[np.ndarray] = None,
) -> InverseResult:
    """Return the joints within their limits that come nearest, of equal branches the one closest to the seed (4,).

    The error of the result (m) is the centre's, seen from above, plus what a
    wrong angle moves at the end of the tip link.

    Parameters
    ----------
    model, limb, x, y, pitch, yaw, fan_position
        As of `sphere_branches`.
    seed : (4,) array, optional
        rad; zeros if not given.
    """
    o = _offset(model, limb)
    if (yaw is None) == (fan_position is None):
        raise ShapeError("give yaw or fan_position, not both")
    free = yaw is not None
    x, y, pitch, other = _numbers("x, y, pitch and yaw or fan_position", (x, y, pitch, yaw if free else fan_position))
    last = np.zeros(4) if seed is None else model.chain(limb, Frame.SPHERE_CENTRE).check(seed)
    where = model.columns(limb)
    q = np.zeros(4)
    if not free:
        q[0] = np.clip(other, model.lower[where][0], model.upper[where][0])
    error, stop = sphere_inverse(model.packed, o, x, y, other if free else 0.0, pitch, free, last, 0, True, False, q, 0)
    return closed_form_result(limb, Frame.SPHERE_CENTRE, q, error, stop, None if free else other)


def _offset(model: ShellbotModel, limb: str) -> int:
    model.chain(limb, Frame.SPHERE_CENTRE)
    if limb not in LOWER_LIMBS:
        raise ShapeError(f"limb {limb} is no lower limb; use one of {', '.join(LOWER_LIMBS)}")
    return LEG * LOWER_LIMBS.index(limb)


def _numbers(what: str, values: Tuple[object, ...]) -> Tuple[float, ...]:
    try:
        numbers = tuple(float(value) for value in values)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        numbers = (math.nan,)
    if not all(math.isfinite(number) for number in numbers):
        raise ShapeError(f"{what} are {values}; expected finite numbers, m and rad")
    return numbers
