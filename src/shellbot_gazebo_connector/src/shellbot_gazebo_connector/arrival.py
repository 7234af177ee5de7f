# SPDX-License-Identifier: MIT
"""How far the joints are behind their targets: shellbot_control's, which the motor driver uses as well."""

from shellbot_control.arrival import ArrivalStatus, arrival_status

__all__ = ["ArrivalStatus", "arrival_status"]
