# SPDX-License-Identifier: MIT
"""Which servo turns which joint: IDs, zeros, signs, limits, compliance."""
