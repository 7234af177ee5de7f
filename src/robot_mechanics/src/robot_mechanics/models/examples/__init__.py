# SPDX-License-Identifier: MIT
"""Models that come with the package, as data; `model_path` finds them."""
