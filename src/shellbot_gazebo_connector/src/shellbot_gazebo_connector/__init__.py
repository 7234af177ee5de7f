# SPDX-License-Identifier: MIT
"""Joint targets into a simulator's controllers, with watchdog and arrival status; Gazebo's launch and world."""

from shellbot_gazebo_connector.connector_core import Command, ConnectorCore, Output
from shellbot_gazebo_connector.parameters import ConnectorParameters
from shellbot_gazebo_connector.spawn_arguments import spawn_arguments

__all__ = [
    "Command",
    "ConnectorCore",
    "ConnectorParameters",
    "Output",
    "spawn_arguments",
]
