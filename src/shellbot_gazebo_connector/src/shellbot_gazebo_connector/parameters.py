# SPDX-License-Identifier: MIT
"""Parameters of the connector, checked when they are read."""

from __future__ import annotations

from dataclasses import dataclass

from shellbot_common import number
from shellbot_control import CommandFilterParameters


@dataclass(frozen=True)
class ConnectorParameters(CommandFilterParameters):
    """What the node reads from its private parameters; meaning and unit of each in ``config/connector.yaml``."""

    arrival_tolerance: float = number(1e-6, 3.2, "rad", default=0.05)
    status_rate: float = number(0.01, 1000.0, "Hz", default=20.0)
