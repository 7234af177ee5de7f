# SPDX-License-Identifier: MIT
"""Print one closing line over the JUnit files: N passed, N failed, N skipped, N of them also interpreted."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Iterable, Tuple

from run_rostests import OF_ROSTEST


def counts(files: Iterable[Path]) -> Tuple[int, int, int]:
    """Return how many tests passed, failed and were skipped."""
    total = failed = skipped = 0
    for file in files:
        if not file.exists():
            continue
        for suite in ElementTree.parse(str(file)).getroot().iter("testsuite"):
            bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
            total += bad if file.name.startswith(OF_ROSTEST) else int(suite.get("tests", 0))
            failed += bad
            skipped += int(suite.get("skipped", suite.get("skip", 0)) or 0)
    return total - failed - skipped, failed, skipped


def main() -> int:
    """Sum up; arguments: the results folder, and unit, ros or all."""
    folder, what = Path(sys.argv[1]), sys.argv[2]
    files = [folder / "unit.xml"] if what in ("unit", "all") else []
    files += sorted((folder / "ros").rglob("*.xml")) if what in ("ros", "all") else []
    passed, failed, skipped = counts(files)
    text = f"{passed} passed, {failed} failed, {skipped} skipped"
    again = 0
    if what in ("unit", "all"):
        passed, again, _ = counts([folder / "interpreted.xml"])
        text += f"; {passed + again} of them also interpreted, {again} failed there"
    print(text)
    return 1 if failed or again else 0


if __name__ == "__main__":
    sys.exit(main())
