# SPDX-License-Identifier: MIT
"""How full a lithium polymer battery is, from its voltage alone."""

from __future__ import annotations

import math
from typing import Tuple

import numpy as np

# Rest voltage of one cell, V, against charge: the usual discharge curve of LiPo cells (estimate, +-10 % of charge).
# Under load a cell reads up to 0.1 V less, so the figure is on the careful side while the robot walks.
CURVE: Tuple[Tuple[float, float], ...] = (
    (3.00, 0.0),
    (3.45, 0.05),
    (3.68, 0.10),
    (3.74, 0.20),
    (3.77, 0.30),
    (3.79, 0.40),
    (3.82, 0.50),
    (3.87, 0.60),
    (3.92, 0.70),
    (3.98, 0.80),
    (4.06, 0.90),
    (4.20, 1.00),
)


def charge_estimate(voltage: float, cells: int = 3) -> float:
    """Return the charge, 0 to 1, of ``cells`` cells in series at ``voltage`` V; NaN if that is not known."""
    if not math.isfinite(voltage):
        return math.nan
    volts, charges = zip(*CURVE)
    return float(np.interp(voltage / cells, volts, charges))
