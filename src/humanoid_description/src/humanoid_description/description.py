# SPDX-License-Identifier: MIT
"""URDF text and profile of the humanoid, from the package's xacro and YAML files."""

from __future__ import annotations

import xacro

from shellbot_common import RobotProfile, SettingsError, package_file

PACKAGE = "humanoid_description"
MOTORS = ("peak", "rated")
SIMULATORS = ("mujoco", "gazebo")


def urdf_text(motors: str = "peak", simulator: str = "mujoco", friction: float = 0.8) -> str:
    """Return the expanded robot description.

    Parameters
    ----------
    motors : str
        ``peak``: what the motors can do for a moment; ``rated``: the published continuous torque, half of it.
    simulator : str
        ``mujoco``, or ``gazebo``, which adds what Gazebo Classic needs.
    friction : float
        Of all links, in Gazebo.

    Raises
    ------
    SettingsError
        If there are no such motors or simulator.
    """
    if motors not in MOTORS:
        raise SettingsError(f"motors is {motors!r}; choose one of {', '.join(MOTORS)}")
    if simulator not in SIMULATORS:
        raise SettingsError(f"simulator is {simulator!r}; choose one of {', '.join(SIMULATORS)}")
    file = package_file(PACKAGE, "urdf/humanoid.urdf.xacro")
    mappings = {"motors": motors, "simulator": simulator, "friction": str(friction)}
    return str(xacro.process_file(str(file), mappings=mappings).toxml())


def profile() -> RobotProfile:
    """Return the profile of the humanoid."""
    return RobotProfile.load(package_file(PACKAGE, "config/profile.yaml"))
