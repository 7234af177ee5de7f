# SPDX-License-Identifier: MIT
"""The controller's command message."""

from __future__ import annotations

from typing import Optional, Sequence, Tuple

import numpy as np
from std_msgs.msg import Float64MultiArray

from shellbot_common import SettingsError, labelled_stamp
from shellbot_simulator.core.errors import CommandError
from shellbot_simulator.core.joint_arrays import checked_positions


def command_from_message(message: Float64MultiArray, joint_names: Sequence[str]) -> Tuple[np.ndarray, Optional[int]]:
    """Return the positions (n,), rad, or torques, N m, and the stamp, ns, of a command (None for one without).

    Raises
    ------
    CommandError
        For a wrong length, a value that is not finite or a stamp that is no number.
    """
    values = checked_positions(message.data, joint_names)
    label = message.layout.dim[0].label if message.layout.dim else ""
    try:
        return values, labelled_stamp(label)
    except SettingsError as error:
        raise CommandError(f"{error}; it is not executed") from None
