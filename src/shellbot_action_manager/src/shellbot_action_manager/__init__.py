# SPDX-License-Identifier: MIT
"""What Shellbot does: modes, gaits, body pose, and where it is by its own feet. Import from the modules."""
