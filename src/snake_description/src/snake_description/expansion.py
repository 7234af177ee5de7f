# SPDX-License-Identifier: MIT
"""Expands the xacro file to the URDF of a snake."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Optional, Tuple

from shellbot_common import package_file
from shellbot_common.xacro_file import XacroError, run_xacro
from snake_description.variables import DescriptionError, SnakeVariables, load_variables

SIMULATORS = ("mujoco", "gazebo", "none")


def expand(variables: Optional[SnakeVariables] = None, simulator: str = "mujoco") -> str:
    """Return the URDF of a snake.

    Parameters
    ----------
    variables : SnakeVariables, optional
        Those of the package's file if not given.
    simulator : str
        `mujoco`, `gazebo` (adds transmissions and plugins) or `none`.

    Raises
    ------
    DescriptionError
        If the simulator does not exist or xacro fails.
    """
    if simulator not in SIMULATORS:
        raise DescriptionError(f"simulator {simulator!r} does not exist; choose one of {', '.join(SIMULATORS)}")
    v = variables or load_variables()
    servo = v.chosen_servo
    values = {
        "modules": v.modules,
        "length": v.length,
        "width": v.width,
        "height": v.height,
        "mass": servo.mass,
        "effort": servo.effort,
        "velocity": servo.velocity,
        "damping": servo.damping,
        "limit": math.radians(v.joint_limit_deg),
        "friction": v.friction,
        "pitch_rgba": " ".join(map(str, v.pitch_rgba)),
        "yaw_rgba": " ".join(map(str, v.yaw_rgba)),
        "simulator": simulator,
    }
    return _expanded(tuple((name, str(value)) for name, value in values.items()))


@lru_cache(maxsize=8)
def _expanded(mappings: Tuple[Tuple[str, str], ...]) -> str:
    try:
        return run_xacro(package_file("snake_description", "urdf/snake.urdf.xacro"), dict(mappings))
    except XacroError as error:
        raise DescriptionError(str(error)) from error
