# SPDX-License-Identifier: MIT
"""What a node keeps over a crash, without a master."""

from __future__ import annotations

import threading

import pytest

rospy = pytest.importorskip("rospy")

from shellbot_common.parameters_node import keep_parameter  # noqa: E402


def test_a_value_that_no_master_keeps_is_named_and_no_error(monkeypatch):
    said = []

    def refuse(_name, _value):
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(rospy, "set_param", refuse)
    monkeypatch.setattr(rospy, "logerr", lambda text, *values: said.append(text % values))
    keep_parameter("~stopped_by", lambda: "test")
    assert "~stopped_by 'test' is in force, but not on the parameter server" in said[0] and "refused" in said[0]


def test_the_newest_value_is_kept_last(monkeypatch):
    """A second thread has a newer value while the master still takes the first one's."""
    kept, threads, cause = [], [], ["stopped"]

    def slow(_name, value):
        if not threads:
            cause[0] = ""
            threads.append(threading.Thread(target=keep_parameter, args=("~stopped_by", lambda: cause[0])))
            threads[0].start()
            threads[0].join(0.1)
        kept.append(value)

    monkeypatch.setattr(rospy, "set_param", slow)
    keep_parameter("~stopped_by", lambda: cause[0])
    threads[0].join()
    assert kept == ["stopped", ""]
