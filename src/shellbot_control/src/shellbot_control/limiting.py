# SPDX-License-Identifier: MIT
"""Clamp joint targets to their range and limit how fast they may move: pure functions on arrays."""

from __future__ import annotations

from typing import Tuple

import numpy as np

from shellbot_common import Level, Notice
from shellbot_control.errors import TargetsError
from shellbot_control.joint_limits import JointLimits
from shellbot_control.joint_order import shorten

Array = np.ndarray

_ROUNDING = 1e-9  # rad


def clamp_targets(targets: Array, limits: JointLimits) -> Array:
    """Bring each target into the position range of its joint.

    Parameters
    ----------
    targets : (n,) array
        Wanted joint positions in rad, in the order of ``limits.names``.
    limits : JointLimits
        Limits of the n joints.

    Returns
    -------
    (n,) array
        ``min(max(target, lower), upper)``; applying it twice changes nothing more.

    Raises
    ------
    TargetsError
        If the shape is wrong or a target is not finite (a NaN would pass a clamp unnoticed).
    """
    targets = np.asarray(targets, dtype=np.float64)
    if targets.shape != (len(limits),):
        raise TargetsError(f"targets have shape {targets.shape}, ({len(limits)},) is needed: one value per joint")
    finite = np.isfinite(targets)
    if not finite.all():
        joints = ", ".join(name for name, good in zip(limits.names, finite) if not good)
        raise TargetsError(f"the target of {joints} is not a finite number; check the node that publishes it")
    return np.minimum(np.maximum(targets, limits.lower), limits.upper)


def clamped_notice(targets: Array, clamped: Array, limits: JointLimits) -> Tuple[Notice, ...]:
    """Return which targets (n,), rad, `clamp_targets` has changed, if any."""
    beyond = np.abs(targets - clamped)
    worst = beyond.argmax()
    if beyond[worst] <= _ROUNDING:
        return ()
    names = shorten(limits.names[i] for i in np.flatnonzero(beyond > _ROUNDING))
    text = (
        f"targets of {names} are out of range and were clamped; worst {limits.names[worst]}: {targets[worst]:.3f} rad, "
        f"allowed {limits.lower[worst]:.3f} to {limits.upper[worst]:.3f}"
    )
    return (Notice("clamped", Level.WARN, text),)


def rate_limit(targets: Array, previous: Array, max_velocity: Array, dt: float) -> Array:
    """Move from ``previous`` towards ``targets`` no faster than ``max_velocity``.

    Parameters
    ----------
    targets : (n,) array
        Wanted positions in rad, finite.
    previous : (n,) array
        Positions commanded before, in rad.
    max_velocity : (n,) array or float
        Greatest speed in rad/s, not negative.
    dt : float
        Time since ``previous`` was commanded, in s; negative counts as 0.

    Returns
    -------
    (n,) array
        ``previous + clip(targets - previous, -max_velocity dt, max_velocity dt)``; exactly ``targets`` where they are
        within reach.
    """
    step = np.maximum(max_velocity, 0.0) * max(dt, 0.0)  # (n,) rad
    return np.minimum(np.maximum(targets, previous - step), previous + step)
