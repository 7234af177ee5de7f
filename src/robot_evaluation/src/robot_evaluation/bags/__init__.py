# SPDX-License-Identifier: MIT
"""Runs as bags: what is recorded, what is read from them, and what their plots show."""
