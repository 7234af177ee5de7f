# SPDX-License-Identifier: MIT
"""The commands of scripts/servo."""
