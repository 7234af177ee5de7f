# SPDX-License-Identifier: MIT
"""The body over its feet: geometry, poses, postures, limb references."""
