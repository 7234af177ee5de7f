# SPDX-License-Identifier: MIT
"""From a chain's constants to straight-line kernels written for that chain alone."""
