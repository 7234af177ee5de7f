# SPDX-License-Identifier: MIT
"""`scripts/screenshots`: pictures of the operator's page and window, each from a scripted session of its own."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import List, Optional

from robot_evaluation.errors import EvaluationError
from shellbot_benchmarks import page_pictures_node, window_pictures_node


def main(arguments: Optional[List[str]] = None) -> int:
    """Run the sessions; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where pictures go; made if it is missing")
    folder: Path = parser.parse_args(arguments).folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.stderr.write(f"screenshots: the folder {folder} cannot be made: {error.strerror}; name another one\n")
        return 2
    logs = Path(tempfile.mkdtemp())
    try:
        page_pictures_node.take(folder, logs / "page.log")
        window_pictures_node.take(folder, logs / "window.log")
    except EvaluationError as error:
        sys.stderr.write(f"screenshots: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
