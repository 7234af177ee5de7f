# SPDX-License-Identifier: MIT
"""Combine what the processes of `scripts/test --coverage` counted: a table by package, pages for each file."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

import coverage
from tabulate import tabulate

from robot_evaluation.tables import write_between_markers


def main(folder: Path, command: str = "", page: str = "") -> int:
    """Print the table and write the pages of the files; with a command, the table into a page, too."""
    measured = coverage.Coverage(data_file=str(folder / "data"))
    measured.combine()
    lines: Counter = Counter()
    missed: Counter = Counter()
    for file in measured.get_data().measured_files():
        package = Path(file).relative_to(Path.cwd()).parts[1]
        _, statements, _, missing, _ = measured.analysis2(file)
        for name in (package, "all"):
            lines[name] += len(statements)
            missed[name] += len(missing)
    names = [*sorted(set(lines) - {"all"}), "all"]
    rows = [(name, f"{lines[name]:,}", f"{1 - missed[name] / max(lines[name], 1):.1%}") for name in names]
    heads, align = ("package", "statements", "run"), ("left", "right", "right")
    print(tabulate(rows, heads, colalign=align))
    if page:
        made = f"Made by `{command}` on {datetime.now(timezone.utc):%d %B %Y}."
        table = tabulate(rows, heads, "github", colalign=align)
        write_between_markers(Path(page), "coverage", f"{table}\n\n{made}")
    measured.html_report(directory=str(folder / "html"))
    print(f"pages: {folder}/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
