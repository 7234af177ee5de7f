# SPDX-License-Identifier: MIT
"""Actions of several modes, above the core as an operator is."""
