# SPDX-License-Identifier: MIT
"""Makes the helper modules beside the tests importable (pytest's importlib mode does not)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
