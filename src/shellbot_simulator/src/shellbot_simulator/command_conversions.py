# SPDX-License-Identifier: MIT
"""The controller's command message."""

from __future__ import annotations

from typing import Optional, Sequence, Tuple

import numpy as np
from std_msgs.msg import Float64MultiArray

from .errors import CommandError

_PREFIX = "stamp:"


def command_from_message(message: Float64MultiArray, joint_names: Sequence[str]) -> Tuple[np.ndarray, Optional[int]]:
    """Return the positions (n,), rad, and the stamp, ns, of a command (None for one without).

    Raises
    ------
    CommandError
        For a wrong length, a value that is not finite or a stamp that is no number.
    """
    position = np.array(message.data, dtype=float)
    if position.size != len(joint_names):
        # the text of effort_controllers/JointGroupPositionController
        raise CommandError(
            f"Dimension of command ({position.size}) does not match number of joints ({len(joint_names)})! Not executing!"
        )
    bad = np.flatnonzero(~np.isfinite(position))
    if bad.size:
        raise CommandError(f"Command for joint {joint_names[bad[0]]} is {position[bad[0]]}, which is not finite! Not executing!")
    label = message.layout.dim[0].label if message.layout.dim else ""
    if not label.startswith(_PREFIX):
        return position, None
    digits = label[len(_PREFIX) :]
    if not (digits.isascii() and digits.isdigit()):
        raise CommandError(f"Label {label!r} of the command must be 'stamp:' and whole nanoseconds! Not executing!")
    return position, int(digits)
