# SPDX-License-Identifier: MIT
"""Waiting for a condition: until it holds, and not for ever."""

from __future__ import annotations

import pytest

from shellbot_common.testing import wait_until


def test_it_looks_again_until_the_condition_holds():
    seen = []
    took = wait_until(lambda: len(seen) == 3, meanwhile=lambda: seen.append(1), period=0.001)
    assert len(seen) == 3 and 0.0 < took < 60.0


def test_the_error_says_what_was_waited_for():
    for what, words in (
        ("a walk", "not within 0.01 s: a walk"),
        (lambda: f"a walk, not {'sit'}", "s: a walk, not sit"),
        ("", "s: .*wait_until.lambda: False"),
    ):
        with pytest.raises(AssertionError, match=words):
            wait_until(lambda: False, what, 0.01)
