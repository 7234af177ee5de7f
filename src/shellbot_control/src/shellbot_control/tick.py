# SPDX-License-Identifier: MIT
"""The beat of the chain, see docs/architecture.md, "Time"."""

from __future__ import annotations

TICK = 0.01
"""s of simulated time between two states, and so between two commands."""

GAP = 0.05
"""s of simulated time: ticks farther apart are not compared, and a stamp older by more than this is a reset."""
