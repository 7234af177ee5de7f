# SPDX-License-Identifier: MIT
"""What runs in the peers' environments: numpy and the peer, nothing of this workspace but the library measured."""
