# SPDX-License-Identifier: MIT
"""Type-check the pure modules, package by package: everything that may not import ROS."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Run mypy once a package, with the other packages on its path."""
    sources = sorted(Path("src").glob("*/src"))
    environment = dict(os.environ, MYPYPATH=":".join(map(str, sources)))
    files = [
        str(f)
        for s in sources
        for f in sorted(s.rglob("*.py"))
        # kernels that were generated and cached lie there, too
        if "__pycache__" not in f.parts and not f.name.endswith(("_node.py", "_conversions.py"))
    ]
    if not files:
        print("no pure module found")
        return 1
    return subprocess.run([sys.executable, "-m", "mypy", *files], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
