# SPDX-License-Identifier: MIT
"""Tools of experiments with any robot: runs, journals, reports, plots, bags, step responses."""
