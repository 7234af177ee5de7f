# SPDX-License-Identifier: MIT
"""Step responses of joints in the embedded simulator, and gains proposed from them."""
