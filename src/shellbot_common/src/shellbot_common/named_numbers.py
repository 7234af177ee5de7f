# SPDX-License-Identifier: MIT
"""Words NAME=NUMBER of a command line."""

from __future__ import annotations

import math
from typing import Dict, Iterable

from shellbot_common.errors import SettingsError


def named_numbers(words: Iterable[str], example: str) -> Dict[str, float]:
    """Return names to numbers.

    Parameters
    ----------
    words : iterable of str
        NAME=NUMBER each.
    example : str
        Such a word, for the sentences of errors.

    Raises
    ------
    SettingsError
        If a word is something else, a number not finite, or a name given twice.
    """
    numbers: Dict[str, float] = {}
    for word in words:
        name, _, text = word.partition("=")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not name or not math.isfinite(value):
            raise SettingsError(f"{word!r} is no NAME=NUMBER with a finite number; write for example {example}")
        if name in numbers:
            raise SettingsError(f"{name} is given twice; leave one")
        numbers[name] = value
    return numbers
