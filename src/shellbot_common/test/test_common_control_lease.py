# SPDX-License-Identifier: MIT
"""Who is in control: one operator, by priority, while it shows signs of life."""

from __future__ import annotations

import pytest

from shellbot_common import SettingsError, package_file
from shellbot_common.control_lease import ControlLease, LeaseConfig

CONFIG = LeaseConfig.load(package_file("shellbot_common", "config/operators.yaml"))
PILOT = CONFIG.replace(priorities={"safety_*": 100})


@pytest.fixture
def lease():
    lease = ControlLease(PILOT, lambda name: f"{name} on laptop")
    assert lease.take("window", 0.0) == (True, "window on laptop is in control")
    return lease


def test_a_second_operator_is_refused_and_learns_who_has_control(lease):
    granted, text = lease.take("terminal", 0.1)
    assert not granted and text.startswith("window on laptop is in control")
    assert "window on laptop is" in lease.refusal("terminal", 0.1)
    assert lease.refusal("window", 0.1) == "" and lease.holder == "window"


def test_control_that_was_given_up_is_free(lease):
    assert lease.give_up("terminal") == (False, "terminal on laptop is not in control")
    assert lease.give_up("window")[0] and lease.holder == ""
    assert "no operator is" in lease.refusal("window", 0.2), "also its own commands count only with control"
    assert lease.take("terminal", 0.2)[0] and lease.holder == "terminal"


def test_a_higher_priority_takes_control_and_is_not_taken_from(lease):
    assert lease.take("safety_pilot", 0.1)[0] and lease.holder == "safety_pilot"
    assert not lease.take("window", 0.2)[0]
    assert lease.motion_refusal("window", True, 0.2)


def test_the_velocity_of_a_silent_operator_ends_once_and_control_is_free_later(lease):
    lease.is_alive("window", 1.0)
    assert not lease.motion_refusal("window", True, 1.0) and lease.drives
    assert lease.silence(1.0 + CONFIG.silent_after) == ""
    assert lease.next_check(1.0) == pytest.approx(CONFIG.silent_after, abs=0.002)
    text = lease.silence(1.001 + CONFIG.silent_after)
    assert "no sign of life of window on laptop for 0.2 s: its velocity is zero now" in text
    assert not lease.drives and lease.silence(1.3) == "" and lease.holder == "window"
    assert not lease.take("terminal", 2.9)[0], "it may come back"
    assert "no operator is in control" in lease.silence(3.1) and lease.holder == ""
    assert lease.next_check(3.1) is None


def test_an_operator_that_comes_back_in_time_is_still_in_control(lease):
    assert lease.silence(0.5) == "", "it did not drive: a window that stutters is no news"
    lease.is_alive("terminal", 0.6)
    assert lease.silence(0.6) == "" and not lease.take("terminal", 0.6)[0]
    lease.is_alive("window", 0.6)
    assert lease.silence(0.7) == "" and lease.holder == "window"
    for t in (0.7, 1.0):
        lease.motion_refusal("window", True, t)
        assert "no sign of life" in lease.silence(t + 0.21), "it is said at each silence"


@pytest.mark.parametrize("returns", [0.21, 0.3, 0.39])
def test_a_silence_soon_after_another_is_noticed_as_soon(lease, returns):
    """The watch sleeps as long as it may; the operator stutters, drives on, and is cut off."""
    t, ended = 0.0, 0.0
    while not ended:
        slept_until = t + lease.next_check(t)
        if t < returns <= slept_until:
            assert not lease.motion_refusal("window", True, returns) and lease.drives
        t = slept_until
        ended = t if "its velocity is zero now" in lease.silence(t) else 0.0
    assert ended == pytest.approx(returns + CONFIG.silent_after, abs=0.01)


def test_control_of_a_silent_operator_can_be_taken_without_waiting_for_the_watch(lease):
    granted, text = lease.take("terminal", 2.5)
    assert granted and lease.holder == "terminal" and "window on laptop was silent" in text


def test_programs_drive_while_no_operator_does(lease):
    assert lease.motion_refusal("move_base", True, 1.0) == "" and lease.refusal("client", 1.0) == ""
    lease.motion_refusal("window", True, 2.0)
    assert "window on laptop drives" in lease.motion_refusal("move_base", True, 2.4)
    assert lease.motion_refusal("move_base", True, 2.6) == "" and not lease.drives
    lease.motion_refusal("window", True, 3.0)
    lease.motion_refusal("window", False, 3.1)
    assert lease.motion_refusal("move_base", True, 3.15) == "", "the operator's zero hands over at once"


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(SettingsError, match="free_after is 0.1 s; give at least silent_after"):
        CONFIG.replace(free_after=0.1)
