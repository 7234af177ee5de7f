# SPDX-License-Identifier: MIT
"""The variables of the snake: one checked file, of which a build may change what it likes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Tuple, Union

from shellbot_common import Settings, SettingsError, number, package_file

Colour = Tuple[float, float, float, float]


class DescriptionError(SettingsError):
    """A variable of the snake is wrong; the sentence names it, its range and what to do."""


@dataclass(frozen=True)
class SnakeServo(Settings, error=DescriptionError):
    """A servo and the mass that it drives; units are in the comment of ``config/snake.yaml``."""

    mass: float = number(0.001, 20.0, "kg")  #: Of a module
    effort: float = number(0.001, 500.0, "N m")  #: Stall torque
    velocity: float = number(0.01, 100.0, "rad/s")  #: No-load speed
    stiffness: float = number(0.01, 1e5, "N m/rad")  #: P gain
    armature: float = number(0.0, 10.0, "kg m^2")  #: Rotor inertia
    velocity_gain: float = number(0.0, 1000.0, "1/s")  #: Above 0: velocity-limited P servo

    @property
    def damping(self) -> float:
        """N m s/rad: the torque-speed line; none where the servo's own loop limits the speed."""
        return 0.0 if self.velocity_gain else self.effort / self.velocity


@dataclass(frozen=True)
class SnakeVariables(Settings, error=DescriptionError):
    """Validated variables; meaning and unit of each are in ``config/snake.yaml``."""

    modules: int = number(1, 128)
    servo: str = "ax"
    length: float = number(0.005, 2.0, "m", default=0.072)
    width: float = number(0.005, 2.0, "m", default=0.052)
    height: float = number(0.005, 2.0, "m", default=0.052)
    joint_limit_deg: float = number(1.0, 175.0, "deg", default=90.0)
    friction: float = number(0.01, 5.0, default=0.8)
    pitch_rgba: Colour = number(0.0, 1.0, default=(1.0, 1.0, 0.0, 1.0))
    yaw_rgba: Colour = number(0.0, 1.0, default=(1.0, 0.0, 0.0, 1.0))
    servos: Optional[Mapping[str, SnakeServo]] = None

    def conflict(self) -> str:
        """Return that the servo is none of the table, if so."""
        if not self.servos or self.servo not in self.servos:
            return f"servo is {self.servo!r}; choose from {', '.join(self.servos or ()) or 'servos, which is empty'}"
        return ""

    @property
    def chosen_servo(self) -> SnakeServo:
        """The servo of every module."""
        assert self.servos is not None  # conflict() has checked it
        return self.servos[self.servo]


def load_variables(file: Optional[Union[str, Path]] = None, **changes: Any) -> SnakeVariables:
    """Return the variables of a file with some of them changed.

    Parameters
    ----------
    file : str or Path, optional
        ``config/snake.yaml`` of the package if not given.
    **changes
        Names to values, such as ``modules=8, servo="source"``.

    Raises
    ------
    DescriptionError
        If the file cannot be read or a value is wrong.
    """
    variables = SnakeVariables.load(file or package_file("snake_description", "config/snake.yaml"))
    return variables.replace(**changes) if changes else variables
