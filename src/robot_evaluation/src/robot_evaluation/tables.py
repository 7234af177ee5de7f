# SPDX-License-Identifier: MIT
"""Markdown tables, and putting one between two markers of a page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Mapping, Optional, Sequence, Tuple

from tabulate import tabulate

from shellbot_common import write_file

from .errors import EvaluationError


def format_cell(value: object, digits: int = 3) -> str:
    """Numbers to `digits` decimals (nan as a dash), everything else as text without pipes."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{round(float(value), digits) + 0.0:.{digits}f}"
    return "–" if value is None else str(value).replace("|", "/").replace("\n", " ")


def markdown_table(
    rows: Sequence[Mapping[str, object]],
    columns: Optional[Mapping[str, str]] = None,
    digits: Optional[Mapping[str, int]] = None,
) -> str:
    """Return a Markdown table.

    Parameters
    ----------
    rows : sequence of mappings
        One mapping a row; a missing key becomes a dash.
    columns : mapping, optional
        Key to heading, in the order of the columns; by default the keys of the first row.
    digits : mapping, optional
        Key to number of decimals, 3 where missing.

    Returns
    -------
    str
        Lines ending in a newline; columns padded so that the table reads well as plain text.

    Raises
    ------
    EvaluationError
        If there are no rows.
    """
    if not rows:
        raise EvaluationError("a table needs at least one row; no run has finished")
    heads = dict(columns) if columns is not None else {key: key for key in rows[0]}
    places = digits or {}
    body = [[format_cell(row.get(key), places.get(key, 3)) for key in heads] for row in rows]
    return tabulate(body, list(heads.values()), "github", disable_numparse=True) + "\n"


def split_at_markers(path: Path, name: str) -> Tuple[str, str]:
    """Return a page up to the markers of `name`, and from what follows them.

    The markers are lines of their own: ``<!-- begin: name -->`` and ``<!-- end: name -->``.

    Raises
    ------
    EvaluationError
        If the page or one of the markers is missing, or the markers stand the wrong way round.
    """
    begin, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    try:
        page = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"cannot read {path}: {error}; give an existing page in UTF-8") from error
    head, found_begin, rest = page.partition(begin)
    _, found_end, tail = rest.partition(end)
    if not (found_begin and found_end):
        raise EvaluationError(f"{path} lacks the lines '{begin}' and '{end}' in this order; add them where it belongs")
    return head + begin, end + tail


def write_between_markers(path: Path, name: str, text: str) -> None:
    """Replace what stands between the markers of `name` in a page; raises as `split_at_markers`."""
    head, tail = split_at_markers(path, name)
    write_file(path, f"{head}\n\n{text.strip()}\n\n{tail}")
