# SPDX-License-Identifier: MIT
"""The client of a gains page, with dynamic_reconfigure's client and the server played by the test."""

from __future__ import annotations

import queue

import pytest

from shellbot_common.testing import wait_until

WAIT = 60.0  # s


class Clients:
    """Stands for the class `dynamic_reconfigure.client.Client`: notes what becomes of each that is made."""

    def __init__(self):
        self.events = queue.Queue()
        self.failures = []  # what the next ones raise

    def __call__(self, server, **_options):
        if self.failures:
            self.events.put("failed")
            raise self.failures.pop()
        self.events.put("subscribed")
        return self

    config = None

    def update_configuration(self, _values):
        from dynamic_reconfigure import DynamicReconfigureCallbackException

        raise DynamicReconfigureCallbackException("no such gain")

    def close(self):
        self.events.put("left")

    def seen(self, count):
        return [self.events.get(timeout=WAIT) for _ in range(count)]


@pytest.fixture
def clients(monkeypatch):
    pytest.importorskip("dynamic_reconfigure", reason="the client needs dynamic_reconfigure, which is not installed")
    from shellbot_teleop import gains_client_node

    clients = Clients()
    monkeypatch.setattr(gains_client_node, "Client", clients)
    monkeypatch.setattr(gains_client_node.rospy, "wait_for_service", lambda *_, **__: None)
    monkeypatch.setattr(gains_client_node.rospy, "is_shutdown", lambda: False)
    return clients


@pytest.fixture
def page(clients):
    from shellbot_teleop.gains_client_node import GainsClient

    states = []
    client = GainsClient("gains", lambda _groups: None, lambda _values: None, lambda *state: states.append(state))
    client.states = states
    yield client
    client.close()


def test_it_leaves_the_topics_before_it_joins_them_anew_and_when_it_is_closed(clients, page):
    """A restarted master knows no subscription, and rospy registers no topic there that it still has."""
    page.join()
    assert clients.seen(1) == ["subscribed"]
    page.join()
    assert clients.seen(2) == ["left", "subscribed"]
    assert page.states == 2 * [(True, "Connected to gains.")], "the page may have lost the old server meanwhile"
    page.close()
    assert clients.seen(1) == ["left"]


def test_a_server_that_ends_after_it_has_answered_is_looked_for_again(clients, page):
    import rospy

    clients.failures = [rospy.ROSException("timeout exceeded"), ConnectionRefusedError("the master ended")]
    page.join()
    assert clients.seen(3) == ["failed", "failed", "subscribed"]


def test_the_page_comes_back_after_a_change_that_was_refused(clients, page, monkeypatch):
    from shellbot_teleop import gains_client_node

    monkeypatch.setattr(gains_client_node, "_PROBE_PERIOD", 0.05)
    page.join()
    clients.seen(1)
    page.change({"fan_p": 1.0})
    wait_until(lambda: len(page.states) > 2, "a state after the refusal")
    connected = (True, "Connected to gains.")
    assert page.states[0] == page.states[2] == connected
    assert page.states[1] == (False, "gains did not take fan_p: no such gain. Trying to reach it again.")
