# SPDX-License-Identifier: MIT
"""The way of a foot through the air: closed forms that start and end at rest relative to the ground."""

from __future__ import annotations

from typing import Tuple

import numpy as np


def smooth_step(share: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Return the minimum-jerk step 10 u^3 - 15 u^4 + 6 u^5 and its derivative, for `share` clipped to 0..1.

    Value, first and second derivative are those of a point at rest at both ends.
    """
    u = np.clip(share, 0.0, 1.0)
    return u * u * u * (10.0 + u * (6.0 * u - 15.0)), 30.0 * u * u * (1.0 - u) * (1.0 - u)


def lift_profile(share: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Return the height 0..1 of the foot and its derivative at a share 0..1 of the swing.

    h(u) = 16 u^2 (1 - u)^2: height and vertical speed are zero at both ends, the top is 1 at u = 1/2. The foot leaves
    the ground with an acceleration (h'' = 32), on purpose: the leg first takes back its sag under load, and the sooner
    it does the less the foot drags.
    """
    u = np.clip(share, 0.0, 1.0)
    return 16.0 * u * u * (1.0 - u) * (1.0 - u), 32.0 * u * (1.0 - u) * (1.0 - 2.0 * u)


def travel_profile(share: np.ndarray, dwell: float) -> np.ndarray:
    """Return how far along its way over the ground, 0..1, the foot is at a share 0..1 of the swing.

    Parameters
    ----------
    share : array
        Share of the swing that is over.
    dwell : float
        Share at each end in which the foot stays over its point on the ground, 0..0.5.
    """
    return smooth_step((np.asarray(share) - dwell) / (1.0 - 2.0 * dwell))[0]
