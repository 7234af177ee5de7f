# SPDX-License-Identifier: MIT
"""URDF text and profile of the humanoid, from the package's xacro and YAML files."""

from __future__ import annotations

import xacro

from shellbot_common import RobotProfile, SettingsError, package_file

PACKAGE = "humanoid_description"
MOTORS = ("peak", "rated")


def urdf_text(motors: str = "peak") -> str:
    """Return the expanded robot description.

    Parameters
    ----------
    motors : str
        ``peak``: what the motors can do for a moment; ``rated``: the published continuous torque, half of it.

    Raises
    ------
    SettingsError
        If there are no such motors.
    """
    if motors not in MOTORS:
        raise SettingsError(f"motors is {motors!r}; choose one of {', '.join(MOTORS)}")
    file = package_file(PACKAGE, "urdf/humanoid.urdf.xacro")
    return str(xacro.process_file(str(file), mappings={"motors": motors}).toxml())


def profile() -> RobotProfile:
    """Return the profile of the humanoid."""
    return RobotProfile.load(package_file(PACKAGE, "config/profile.yaml"))
