# SPDX-License-Identifier: MIT
"""Print one closing line over the JUnit files: N passed, N failed, N skipped."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def main() -> int:
    """Sum up; arguments: the results folder, and unit, ros or all."""
    folder, what = Path(sys.argv[1]), sys.argv[2]
    files = ([folder / "unit.xml", folder / "interpreted.xml"] if what in ("unit", "all") else []) + (
        sorted((folder / "ros").rglob("*.xml")) if what in ("ros", "all") else []
    )
    total = failed = skipped = 0
    for file in files:
        if not file.exists():
            continue
        for suite in ElementTree.parse(str(file)).getroot().iter("testsuite"):
            total += int(suite.get("tests", 0))
            failed += int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            skipped += int(suite.get("skipped", suite.get("skip", 0)) or 0)
    print(f"{total - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
