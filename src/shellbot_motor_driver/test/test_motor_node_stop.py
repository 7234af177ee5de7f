# SPDX-License-Identifier: MIT
"""A stop that the master does not take, in the driver's node; publishers and subscribers do nothing."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

rospy = pytest.importorskip("rospy")
pytest.importorskip("shellbot_msgs")

from std_srvs.srv import SetBoolRequest  # noqa: E402

from shellbot_common import stop_interface_node  # noqa: E402
from shellbot_common.testing import silence  # noqa: E402
from shellbot_motor_driver.driving.start_report import Answer  # noqa: E402
from shellbot_motor_driver.map.shellbot import shellbot  # noqa: E402
from shellbot_motor_driver.node import motor_driver_node, state_publisher_node  # noqa: E402
from shellbot_motor_driver.node.node_parameters import NodeParameters  # noqa: E402
from shellbot_motor_driver.process.torque_off import TorqueOffStatus  # noqa: E402


def test_a_stop_without_a_master_is_confirmed_and_logged_and_requests_do_not_wait_for_it(monkeypatch):
    log, free = silence(monkeypatch, rospy, motor_driver_node, state_publisher_node, stop_interface_node), []
    node = motor_driver_node.MotorDriverNode(NodeParameters(), shellbot("walker"))
    node._process = node._bus = SimpleNamespace(
        emergency_stop=lambda cause: log.append(f"bus: {cause}"),
        confirm_off=lambda: TorqueOffStatus(requested_at=1.0, confirmed=True, text="torque is off"),
        rearm=lambda: Answer(True, "rearmed"),
        torque=lambda on: Answer(True, f"torque {on}"),
    )

    def try_lock():
        free.append(node._lock.acquire(blocking=False))
        if free[-1]:
            node._lock.release()

    def refuse(_name, _value):
        other = threading.Thread(target=try_lock)
        other.start()
        other.join()
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(rospy, "set_param", refuse)
    assert node._stop("test") == (True, "stopped (test): torque is off; stays so until rearm is called")
    assert log[0] == "bus: test" and "not on the parameter server" in log[1] and "stopped (test)" in log[2]
    assert node._rearm() == (True, "rearmed") and not node._latch.cause
    assert node._on_torque(SetBoolRequest(data=False)).success and node._limp
    assert free == [True] * 3, "the master may hang, and requests need the lock"
