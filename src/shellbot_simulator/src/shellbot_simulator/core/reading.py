# SPDX-License-Identifier: MIT
"""What makes a true value the reading of a sensor: seeded noise and steps."""

from __future__ import annotations

from typing import Optional

import numpy as np

from shellbot_common.seed_streams import seeded


def noise(seed: Optional[int], stream: int, tick: int, count: int) -> np.ndarray:
    """Return standard normal noise (count,); zeros without a seed.

    It follows from seed, stream and tick alone: who reads a sensor, and how often, changes no other reading.
    """
    return np.zeros(count) if seed is None else seeded(seed, stream, tick).standard_normal(count)


def stepped(values: np.ndarray, resolution: float) -> np.ndarray:
    """Return values rounded to whole steps; a resolution of 0 leaves them as they are."""
    return np.round(values / resolution) * resolution if resolution else values
