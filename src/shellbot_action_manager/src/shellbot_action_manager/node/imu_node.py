# SPDX-License-Identifier: MIT
"""The IMU as a node reads it at its ticks."""

from __future__ import annotations

import threading
from dataclasses import replace

import rospy
from sensor_msgs.msg import Imu

from shellbot_action_manager.config import ActionManagerConfig
from shellbot_action_manager.estimation.attitude import AttitudeConfig, ImuReading
from shellbot_action_manager.estimation.imu_input import ImuInput
from shellbot_action_manager.node.action_manager_conversions import imu_to_arrays
from shellbot_action_manager.node.memory_node import NodeMemory

PATIENCE = 0.1  # s of wall clock, well below that of the simulator's lock-step


def with_imu_latency(config: ActionManagerConfig) -> ActionManagerConfig:
    """Return the settings with the latency of the parameter ``~imu_latency``, if there is one.

    Raises
    ------
    ConfigError
        If it is out of range.
    """
    latency = rospy.get_param("~imu_latency", config.attitude.latency)
    return replace(config, attitude=config.attitude.replace(latency=latency))


class ImuListener:
    """Takes imu/data; at a tick of a simulator it waits for the measurement that belongs to it.

    Parameters
    ----------
    config : AttitudeConfig
        Of the filter for an IMU without orientation.
    """

    def __init__(self, config: AttitudeConfig) -> None:
        self._memory = NodeMemory("~imu_memory")
        self._input = ImuInput(config, self._memory.before)
        self._arrived = threading.Condition()
        self._subscriber = rospy.Subscriber("imu/data", Imu, self.receive, queue_size=200, tcp_nodelay=True)

    def receive(self, message: Imu) -> None:
        """Take a message."""
        with self._arrived:
            self._input.receive(*imu_to_arrays(message))
            self._arrived.notify_all()

    def remember(self) -> None:
        """Store the heading; the process after this one goes on with it."""
        with self._arrived:
            memory = self._input.memory
        self._memory.store(memory)

    def read(self, t: float) -> ImuReading:
        """Return what `ImuInput.read` says at time t (s), after at most `PATIENCE` for what is on its way."""
        with self._arrived:
            self._arrived.wait_for(lambda: not self._input.is_due(t), PATIENCE)
            return self._input.read(t)
