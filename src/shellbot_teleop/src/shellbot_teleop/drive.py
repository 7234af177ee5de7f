# SPDX-License-Identifier: MIT
"""From the pushed axes to a twist within the limits."""

from __future__ import annotations

import math
from typing import Iterable, Sequence

from shellbot_teleop.actions import HeldAction
from shellbot_teleop.effects import PublishTwist
from shellbot_teleop.texts import tr


def twist_from_actions(
    actions: Iterable[HeldAction], full_speed: Sequence[float], scale: float, stick: Sequence[float] = (0.0, 0.0, 0.0)
) -> PublishTwist:
    """Twist of the velocity actions that are held, or of the stick while there are none.

    Parameters
    ----------
    actions : iterable of HeldAction
        Held velocity actions; opposite ones cancel, two keys of one action count once.
    full_speed : (3,) sequence of float
        Greatest forward (m/s), sideways (m/s) and turning (rad/s) velocity, each alone.
    scale : float
        Fraction of the full speed, 0 .. 1.
    stick : (3,) sequence of float
        Forward, left, turn left, no longer than 1.

    Returns
    -------
    PublishTwist
        With u the direction (-1, 0, 1 per axis), each axis is ``scale * full_speed * u / |u|``: a mix of two axes has
        the direction of the keys and is not faster than one axis alone. Of the stick each is
        ``scale * full_speed * stick``.
    """
    direction = [0.0, 0.0, 0.0]
    for action in set(actions):
        direction[action.axis] += action.sign
    norm = math.sqrt(sum(value * value for value in direction))
    if norm == 0.0:
        direction, norm = list(stick), 1.0
    x, y, yaw = (scale * limit * value / norm for limit, value in zip(full_speed, direction))
    return PublishTwist(x + 0.0, y + 0.0, yaw + 0.0)  # + 0.0: no negative zero on the wire


# Modes in which cmd_vel is not obeyed; the key publishes all the same (the robot decides), with a notice.
_MODES_AT_REST = ("waiting", "sit", "stand", "halfway", "relax", "stopped")


def why_it_stays(mode: str, limit: float, keys: str) -> str:
    """Return why a robot will not move although a velocity is commanded, or "".

    Parameters
    ----------
    mode : str
        The robot's mode; "" if it is not known.
    limit : float
        Greatest velocity along the commanded axis, m/s or rad/s.
    keys : str
        Keys that request the mode in which it walks.
    """
    if mode in _MODES_AT_REST:
        return tr(
            "The robot is in mode {mode} and does not obey velocities: change to hexapod ({keys}).",
            mode=mode,
            keys=keys,
        )
    return tr("The present limits allow no motion this way; see the mode's text.") if limit == 0.0 else ""
