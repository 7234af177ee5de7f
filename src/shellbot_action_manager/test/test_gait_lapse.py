# SPDX-License-Identifier: MIT
"""When a stream of cmd_vel counts as ended."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shellbot_action_manager.config import LapseConfig
from shellbot_action_manager.gait.twist_stream import TwistStream

CONFIG = LapseConfig(periods=4.0, shortest=0.2, quickest=0.015, braking=4.0)


def timeout_after(times, config=CONFIG):
    stream = TwistStream(config, 0.5)
    return [stream.timeout(time) for time in times][-1]


@pytest.mark.parametrize(
    "times, expected",
    [
        ([-math.inf], 0.5),
        ([1.0], 0.5),
        ([1.0, 1.05, 1.05, 1.10], 0.2),
        ([1.0, 1.02, 1.04], 0.2),
        ([1.0, 1.01, 1.02, 1.04, 1.05], 0.5),
        ([1.0, 1.2, 1.4], 0.5),
        ([1.0, 1.05, 1.15], 0.40),
        ([1.0, 1.05, 1.10, 3.0], 0.5),
        ([5.0, 5.05, 1.0], 0.5),
        ([1.0, 1.15, *np.arange(1.2, 1.7, 0.05)], 0.2),
    ],
    ids=[
        "never",
        "single",
        "20 Hz",
        "50 Hz",
        "each tick",
        "5 Hz",
        "late once",
        "after a pause",
        "clock back",
        "late long ago",
    ],
)
def test_a_command_counts_as_long_as_its_stream_has_pauses(times, expected):
    assert timeout_after(times) == pytest.approx(expected)
