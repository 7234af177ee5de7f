# SPDX-License-Identifier: MIT
"""When a base counts as at rest, the verdict on operators that were ended, and a network that cannot be made."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robot_evaluation.errors import EvaluationError
from shellbot_benchmarks.bench_teleop import operator_text
from shellbot_benchmarks.network_link import network_link
from shellbot_benchmarks.settling import settling_time

TIMES = np.linspace(0.0, 2.0, 201)


def settled(x, heading=None):
    places = np.column_stack((x, np.zeros_like(x)))
    return settling_time(TIMES, places, np.zeros_like(x) if heading is None else heading, 0.01, 0.05)


def test_it_rests_when_it_is_near_its_end_for_good():
    assert settled(0.2 * np.minimum(TIMES, 0.4)) == pytest.approx(0.36, abs=0.015), "10 mm before the end at 0.2 m/s"
    assert settled(np.zeros_like(TIMES)) == 0.0
    assert settled(0.2 * TIMES) > 1.9, "it still walks"
    passed = np.where(np.abs(TIMES - 1.0) < 0.1, 0.05, 0.0)
    assert settled(passed) == pytest.approx(1.1, abs=0.015), "being near by chance is not rest"
    assert settled(np.where(TIMES < 1.995, 1.0, 0.0)) == math.inf


def test_turning_is_motion_also_over_the_half_turn():
    assert settled(np.zeros_like(TIMES), math.pi - 0.02 + 0.04 * (TIMES > 1.0)) == 0.0, "0.04 rad over the half turn"
    assert settled(np.zeros_like(TIMES), np.minimum(TIMES, 0.5)) == pytest.approx(0.45, abs=0.015)


def test_one_late_stop_fails_the_bench():
    samples = [{"how": "killed", "rest_s": 0.4, "travelled_m": 0.05}] * 3 + [
        {"how": "frozen", "rest_s": 0.5, "travelled_m": 0.06}
    ]
    text, met = operator_text(samples)
    assert met and "| killed | 3 | 3 | 0.40 | 0.40 | 50 |" in " ".join(text.split())
    text, met = operator_text([*samples, {"how": "killed", "rest_s": None, "travelled_m": None}])
    assert met and "dropped before" in text, "who did not drive any longer cannot be late"
    text, met = operator_text([*samples, {"how": "frozen", "rest_s": 0.51, "travelled_m": 0.1}])
    assert not met and "| frozen | 2 | 1 |" in " ".join(text.split())


def test_a_network_that_cannot_be_made_says_what_it_needs(monkeypatch):
    monkeypatch.setenv("PATH", "")  # so there is no program ip, as there is no right to use it for others than root
    with pytest.raises(EvaluationError, match="needs root and the program ip .*without --netns"), network_link():
        raise AssertionError("there is a network")
