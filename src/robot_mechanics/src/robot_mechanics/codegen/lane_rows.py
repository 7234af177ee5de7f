# SPDX-License-Identifier: MIT
"""Work memory of the inverse of many targets side by side: a row of LANES floats for each quantity of a target."""

from __future__ import annotations

from typing import Dict

from robot_mechanics.native.lane_mask import WIDTH

LANES = WIDTH  # eight SIMD registers of eight; the rows of a chain of four joints take 17 kB


class Rows:
    """Places of rows in the work memory `w`.

    Attributes
    ----------
    size : int
        Floats of all rows.
    """

    def __init__(self) -> None:
        self._places: Dict[str, int] = {}
        self.size = 0

    def place(self, name: str, size: int = LANES) -> int:
        """Return where a row begins."""
        if name not in self._places:
            self._places[name] = self.size
            self.size += size
        return self._places[name]

    def read(self, name: str, lane: str) -> str:
        """Return the expression of one lane of a row."""
        return f"get(w, {self.place(name)}, {lane})"

    def write(self, name: str, value: str, lane: str) -> str:
        """Return the statement that writes one lane of a row."""
        return f"put(w, {self.place(name)}, {lane}, {value})"
