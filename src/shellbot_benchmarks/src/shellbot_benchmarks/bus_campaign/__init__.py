# SPDX-License-Identifier: MIT
"""Campaigns on a bad bus: a million reads, minutes of walking with random faults, times of recovery; virtual time."""
