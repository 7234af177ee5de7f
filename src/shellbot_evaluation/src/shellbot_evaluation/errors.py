# SPDX-License-Identifier: MIT
"""The exception of this package; those of chain and definitions (shellbot_chain.errors) have the same base."""

from __future__ import annotations

from shellbot_chain.errors import ChainError


class EvaluationError(ChainError):
    """An experiment, a benchmark or a report could not be carried out as requested."""
