# SPDX-License-Identifier: MIT
"""Errors of the kinematics library: one base, each also a builtin where a builtin says it."""

from __future__ import annotations


class KinematicsError(Exception):
    """Base of every error that this package raises on purpose."""


class InvalidReferenceError(KinematicsError, ValueError):
    """A limb reference is malformed; the message names the limb or field, what was given and what is expected."""


class InvalidChainError(KinematicsError, ValueError):
    """A chain, joint or table cannot be built; the message names the row or joint and what is expected."""


class InvalidUrdfError(InvalidChainError):
    """A robot description cannot be read; the message names the element and what is expected."""


class InvalidConfigError(KinematicsError, ValueError):
    """A parameter is out of its range; the message names it, the value, and the range allowed."""


class UnknownNameError(KinematicsError, ValueError):
    """A limb, joint, frame or solver does not exist; the message lists the names that do."""


class ShapeError(KinematicsError, ValueError):
    """An array has the wrong shape; the message names the argument, the expected and the given shape."""


class InvalidYamlError(InvalidChainError):
    """A model written in YAML cannot be read; the message names the key and what is expected."""


class SingularPoseError(KinematicsError, ValueError):
    """A quantity does not exist at this pose; the message names the angle or measure, and how near it is."""


class InvalidInertiaError(InvalidChainError):
    """A mass, centre of mass or tensor cannot be used; the message names the body, the value and what is expected."""


class DynamicsError(KinematicsError, ValueError):
    """A motion, force or step cannot be computed; the message names the quantity, its value, and the next step."""


class TrajectoryError(KinematicsError, ValueError):
    """Points, weights, times or limits from which no trajectory can be made; the text names the value and the range."""
