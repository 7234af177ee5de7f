# SPDX-License-Identifier: MIT
"""Results of `scripts/test versions`: read from JUnit files, written as a table."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence

from version_cases import CASES

from robot_evaluation.tables import markdown_table

SOURCES = Path(__file__).resolve().parents[2] / "src"
KERNELS = ("robot_mechanics", "shellbot_kinematics")  # the packages that numba is for come first
_TESTED = {file.parents[1].name for file in SOURCES.glob("*/test/test_*.py")} - {*KERNELS}
PACKAGES = (*KERNELS, *sorted(name for name in _TESTED if not name.endswith("_bringup")))  # launch files: for ROS
INTERPRETED = ", interpreted"  # behind the name of a package
Results = Dict[str, Dict[str, Dict[str, Any]]]  # case -> suite -> counts


def read_junit(file: Path) -> Dict[str, Any]:
    """Return passed, failed and skipped of a JUnit file, why was skipped, and what failed; no file: one failure."""
    counts: Dict[str, Any] = {"passed": 0, "failed": 0, "skipped": 0, "reasons": {}, "failures": []}
    try:
        cases = list(ElementTree.parse(str(file)).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return dict(counts, failed=1, failures=["the tests did not run to their end"])
    reasons: Counter[str] = Counter()
    for test in cases:
        skipped = test.find("skipped")
        if test.find("failure") is not None or test.find("error") is not None:
            counts["failed"] += 1
            counts["failures"].append(f"{test.get('classname', '').split('.')[-1]}::{test.get('name')}")
        elif skipped is not None:
            counts["skipped"] += 1
            message = skipped.get("message") or "no reason"
            # of a whole file the reason stands in the text: ('path', 1, 'Skipped: reason')
            found = re.search(r"Skipped: (.+?)['\"]\)$", (skipped.text or "").strip())
            reasons[found.group(1) if found and message == "collection skipped" else message] += 1
        else:
            counts["passed"] += 1
    return dict(counts, reasons=dict(reasons))


def cell(suites: Sequence[Mapping[str, Any]]) -> str:
    """Return passed / failed / skipped over some suites, a dash over none."""
    if not suites:
        return "–"
    return " / ".join(str(sum(int(suite[key]) for suite in suites)) for key in ("passed", "failed", "skipped"))


def report(results: Results) -> str:
    """Return the table of all that was run and the words under it: what was not run, what failed, why was skipped."""
    order = {case.name: number for number, case in enumerate(CASES)}
    rows: List[Dict[str, object]] = []
    notes: List[str] = []
    reasons: Counter[str] = Counter()
    for name in sorted(results, key=lambda n: (order.get(n, len(order)), n)):
        suites = results[name]
        python, numba, numpy, scipy = next(iter(suites.values()))["versions"].split()
        jitted = [suites[key] for key in KERNELS if key in suites]
        interpreted = [suite for key, suite in suites.items() if key.endswith(INTERPRETED)]
        others = [suite for key, suite in suites.items() if not key.startswith(KERNELS)]
        rows.append({
            "Python": python, "numba": numba, "numpy": numpy, "scipy": scipy,
            "kernels, jitted": cell(jitted),
            "interpreted": cell(interpreted),
            "other packages": cell(others),
            "s": f"{sum(suite['seconds'] for suite in suites.values()):.0f}",
            "commit": ", ".join(sorted({suite["commit"] for suite in suites.values()})),
        })  # fmt: skip
        left_out = [package for package in PACKAGES if package not in suites]
        if left_out:
            notes.append(f"{name}: not run: {', '.join(left_out)}.")
        for suite, counts in suites.items():
            reasons.update(counts["reasons"])
            if counts["failures"]:
                more = len(counts["failures"]) - 5
                words = ", ".join(counts["failures"][:5]) + (f" and {more} more" if more > 0 else "")
                notes.append(f"{name}, {suite}: failed: {words}.")
    missing = [case.name for case in CASES if case.name not in results]
    notes = ([f"Not run: {', '.join(missing)}."] if missing else []) + notes
    text = markdown_table(rows) + "\nEach cell: passed / failed / skipped.\n"
    if notes:
        text += "\n" + "".join(f"- {note}\n" for note in notes)
    if reasons:
        text += "\nSkipped, over all rows: " + "; ".join(f"{r} ({n})" for r, n in reasons.most_common()) + ".\n"
    return text
