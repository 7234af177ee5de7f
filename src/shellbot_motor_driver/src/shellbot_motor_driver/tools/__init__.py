# SPDX-License-Identifier: MIT
"""Shellbot's own commands of scripts/servo, beside those of ax_tools."""
