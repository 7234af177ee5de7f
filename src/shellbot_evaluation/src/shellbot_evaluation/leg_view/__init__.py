# SPDX-License-Identifier: MIT
"""A single limb under sliders: limits, offsets and what is measured, in simulation or on a bus."""
