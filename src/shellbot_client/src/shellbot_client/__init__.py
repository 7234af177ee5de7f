# SPDX-License-Identifier: MIT
"""Drive Shellbot from Python: the running robot, or the whole chain in one process, by the same calls."""

from .robot import Shellbot

__all__ = ["Shellbot"]
