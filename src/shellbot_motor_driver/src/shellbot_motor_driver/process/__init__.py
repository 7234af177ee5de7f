# SPDX-License-Identifier: MIT
"""The bus process: the driver in a process of its own, and its parent's side."""
