# SPDX-License-Identifier: MIT
"""Position, speed and effort limits of the driven joints, read from the URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from typing import Iterable, Tuple

import numpy as np

from shellbot_control.errors import ConfigurationError

Array = np.ndarray


def read_only(values: Iterable[float]) -> Array:
    """Return a read-only float64 copy of ``values``.

    Parameters
    ----------
    values : iterable of float
        Any shape that numpy can make an array of.

    Returns
    -------
    numpy.ndarray
        The copy; writing into it raises.
    """
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


@dataclass(frozen=True)
class JointLimits:
    """Limits of n joints, in the order of ``names``.

    Raises
    ------
    ConfigurationError
        If shapes differ, names repeat, a bound is not finite (a position: NaN) or lower is above upper.
    """

    names: Tuple[str, ...]  #: Joint names, unique
    #: lower, upper: (n,) Position limits in rad; infinite for a continuous joint
    lower: Array
    upper: Array
    velocity: Array  #: (n,) Greatest speed in rad/s, positive
    effort: Array  #: (n,) Greatest torque in N·m, positive

    def __post_init__(self) -> None:
        """Copy the arrays and check them."""
        if not self.names or len(set(self.names)) != len(self.names):
            raise ConfigurationError(
                f"joint names {self.names} are empty or repeat; give each driven joint once, in the controller's order"
            )
        for field in ("lower", "upper", "velocity", "effort"):
            values = read_only(getattr(self, field))
            usable = ~np.isnan(values) if field in ("lower", "upper") else np.isfinite(values)
            if values.shape != (len(self.names),) or not np.all(usable):
                raise ConfigurationError(
                    f"{field} limits have shape {values.shape} or are not finite; "
                    f"{len(self.names)} finite values are needed, check the <limit> elements of the URDF"
                )
            object.__setattr__(self, field, values)
        for bad, what in (
            (self.lower > self.upper, "lower limit above the upper one"),
            (self.velocity <= 0.0, "a velocity limit that is not positive"),
            (self.effort <= 0.0, "an effort limit that is not positive"),
        ):
            if np.any(bad):
                joints = ", ".join(name for name, flag in zip(self.names, bad) if flag)
                raise ConfigurationError(f"{joints}: {what}; correct the <limit> elements of the URDF")

    @classmethod
    def from_urdf(cls, urdf_text: str, names: Iterable[str]) -> JointLimits:
        """Read the limits of the joints ``names`` from a URDF.

        Parameters
        ----------
        urdf_text : str
            Text of the URDF (the parameter ``robot_description``).
        names : iterable of str
            The driven joints, in the order of the result.

        Returns
        -------
        JointLimits
            Limits in the order of ``names``.

        Raises
        ------
        ConfigurationError
            If the text is not XML, or a joint or its ``<limit>`` is missing.
        """
        try:
            root = ElementTree.fromstring(urdf_text)
        except ElementTree.ParseError as error:
            raise ConfigurationError(
                f"robot_description is not XML ({error}); include the launch file of a description"
            ) from error
        joints = {str(joint.get("name")): joint for joint in root.findall("joint")}
        limits = {name: joint.find("limit") for name, joint in joints.items()}
        names = tuple(names)
        unknown = [name for name in names if limits.get(name) is None]
        if unknown:
            raise ConfigurationError(
                f"the URDF has no joint with a <limit> called {', '.join(unknown)}; "
                "controllers.yaml and robot_description must be of the same variant"
            )
        columns = {}
        for field, unlimited in (("lower", "-inf"), ("upper", "inf"), ("velocity", "nan"), ("effort", "nan")):
            missing = {name: unlimited if joints[name].get("type") == "continuous" else "nan" for name in names}
            try:
                columns[field] = read_only([float(limits[name].get(field, missing[name])) for name in names])  # type: ignore[union-attr]
            except ValueError as error:
                raise ConfigurationError(f"a joint's {field} limit in the URDF is not a number: {error}") from error
        return cls(names=names, **columns)

    def __len__(self) -> int:
        """Return the number of joints."""
        return len(self.names)
