# SPDX-License-Identifier: MIT
"""Bus faults and host stalls against the real processes in real time; scored by the emulated servos' ground truth."""
