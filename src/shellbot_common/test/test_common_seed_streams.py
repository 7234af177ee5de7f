# SPDX-License-Identifier: MIT
"""What draws by one seed draws numbers of its own."""

from __future__ import annotations

import numpy as np

from shellbot_common.seed_streams import Stream, seeded


def test_no_two_streams_of_a_seed_are_alike():
    numbers = sorted({int(stream) for stream in Stream})
    draws = np.array([seeded(5, number).standard_normal(400) for number in (0, *numbers)])
    assert np.array_equal(draws[0], np.random.default_rng(5).standard_normal(400)), "numpy's 0 is the seed alone"
    correlation = np.corrcoef(draws) - np.eye(len(draws))
    assert np.abs(correlation).max() < 0.25
    assert len(Stream.__members__) == len(numbers), "no number twice"
    assert seeded(5, Stream.LOAD_CELLS, 3).random() != seeded(5, Stream.LOAD_CELLS, 4).random()
