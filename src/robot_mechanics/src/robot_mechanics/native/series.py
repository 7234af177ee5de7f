# SPDX-License-Identifier: MIT
"""Numbers with which `angles` and `lanes` compute sines and cosines, each in the form that its callers need."""

from __future__ import annotations

import math

# pi/2 in three parts (Cody and Waite), the first two of 33 bits: products with a whole number below 2^20 are exact
HALF_PI_1 = float.fromhex("0x1.921fb54400000p+0")
HALF_PI_2 = float.fromhex("0x1.0b4611a600000p-34")
HALF_PI_3 = float.fromhex("0x1.3198a2e037073p-69")
PER_QUARTER = 2.0 / math.pi  # quarter turns in a rad
FARTHEST = 1.0e5  # rad: beyond, the reduction loses digits
TAN_EIGHTH = math.tan(math.pi / 8.0)
