# SPDX-License-Identifier: MIT
"""Benches, peers, campaigns of faults and latency rigs; nothing that runs on board depends on it."""
