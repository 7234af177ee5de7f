# SPDX-License-Identifier: MIT
"""Joint space, common to all backends: gains, limits, watchdog, the backend contract and its perfect mock."""
