# SPDX-License-Identifier: MIT
"""Type-check every package for the oldest supported Python: libraries, nodes, conversions and executables."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Run mypy once over all packages, each with the others on its path."""
    sources = sorted(Path("src").glob("*/src"))
    environment = dict(os.environ, MYPYPATH=":".join(map(str, sources)))
    # kernels that were generated and cached lie among the sources, too
    modules = [f for s in sources for f in sorted(s.rglob("*.py")) if "__pycache__" not in f.parts]
    if not modules:
        print("no module found")
        return 1
    executables = [f for f in sorted(Path("src").glob("*/nodes/*")) if f.is_file()]
    command = [sys.executable, "-m", "mypy", "--scripts-are-modules", *map(str, [*modules, *executables])]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
