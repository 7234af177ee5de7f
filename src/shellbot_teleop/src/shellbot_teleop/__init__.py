# SPDX-License-Identifier: MIT
"""Operator side: a Qt window and a terminal on one key map and command model."""
