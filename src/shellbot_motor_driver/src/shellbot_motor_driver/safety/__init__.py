# SPDX-License-Identifier: MIT
"""The safety ladder: what is judged, and what follows from it."""
