# SPDX-License-Identifier: MIT
"""Combine what the processes of `scripts/test --coverage` counted: a table by package, pages for each file."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import coverage
from tabulate import tabulate


def main() -> int:
    """Print the table and write the pages; argument: the folder of the data."""
    folder = Path(sys.argv[1])
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
    print(tabulate(rows, headers=("package", "statements", "run"), colalign=("left", "right", "right")))
    measured.html_report(directory=str(folder / "html"))
    print(f"pages: {folder}/html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
