# SPDX-License-Identifier: MIT
"""The motion of a snake."""
