# SPDX-License-Identifier: MIT
"""The whole chain in one process, and the emulated robot: rigid bodies behind emulated servos."""
