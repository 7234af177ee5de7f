# SPDX-License-Identifier: MIT
"""What a chain reaches."""
