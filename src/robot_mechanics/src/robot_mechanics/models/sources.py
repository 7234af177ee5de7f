# SPDX-License-Identifier: MIT
"""Models are given as text or as path; this tells which, and reads the file."""

from __future__ import annotations

import os
from typing import Callable, Type

from robot_mechanics.errors import InvalidChainError

# characters; the largest robots known are a few megabytes with all their meshes named
LARGEST_TEXT = 50_000_000


def read_source(source: object, what: str, error: Type[InvalidChainError], is_text: Callable[[str], bool]) -> str:
    """Return the text of a model.

    Parameters
    ----------
    source : str or path
        Text where `is_text(source)`, else the path of a file. A text that is neither is returned as it is, for its
        reader to refuse.
    what : str
        How messages call it.
    error : type
        Raised if a file cannot be read, or the source is neither text nor path, or too long.
    """
    if isinstance(source, str) and (is_text(source) or not os.path.isfile(source)):
        text = source
        if len(text) < 1000 and not is_text(text) and text.strip() and "\n" not in text:
            raise error(f"{what} {source!r} is neither text of that kind nor the path of a file; give one of them")
    elif isinstance(source, (str, os.PathLike)):
        try:
            with open(os.fspath(source), encoding="utf-8") as file:
                text = file.read(LARGEST_TEXT + 1)
        except (OSError, ValueError) as problem:  # ValueError: no UTF-8, or a zero byte in the name
            raise error(f"{what} cannot be read from {source!r}: {problem}; give a UTF-8 text file") from None
    else:
        raise error(f"{what} is of type {type(source).__name__}; expected text or a path")
    if len(text) > LARGEST_TEXT:
        raise error(f"{what} has more than {LARGEST_TEXT} characters; expected a model of one robot")
    return text
