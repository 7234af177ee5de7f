# SPDX-License-Identifier: MIT
"""The page of gains as compliance of the servos that a variant has."""

from __future__ import annotations

from typing import Dict, Mapping, Sequence, Tuple

from shellbot_control import GainTable, joint_class
from shellbot_motor_driver.compliance import Compliance, compliance_from_gains


def compliance_of_page(
    page: Mapping[str, float], joint_names: Sequence[str], margin: int, punch: int
) -> Tuple[Dict[str, Compliance], Tuple[str, ...]]:
    """Return the compliance of each joint class that is driven, and what of the page has no place in a servo.

    Parameters
    ----------
    page : mapping
        ``<class>_<p|i|d>`` and ``stiffness``.
    joint_names : sequence of str
        The driven joints.
    margin, punch : int
        Registers that the page does not know.

    Raises
    ------
    shellbot_control.ConfigurationError
        If an entry is missing or not a usable gain.
    """
    driven = {joint_class(name) for name in joint_names}
    whole = GainTable.from_page(page)
    table = GainTable({name: gains for name, gains in whole.classes.items() if name in driven}, whole.stiffness)
    return compliance_from_gains(table, margin, punch)
