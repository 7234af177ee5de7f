# SPDX-License-Identifier: MIT
"""Ways to move: what the limbs are commanded to do."""
