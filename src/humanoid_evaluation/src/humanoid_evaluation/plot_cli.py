# SPDX-License-Identifier: MIT
"""``scripts/plot humanoid``: paths and angles of the thesis's cases, from the runs that a campaign stored."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Dict, List, Optional, Sequence

from humanoid_evaluation.campaign import Run, thesis
from humanoid_evaluation.path_figures import angles_figure, paths_figure
from robot_evaluation.console import run_tool, say
from robot_evaluation.plot_canvas import check_file, finish
from shellbot_common import SettingsError

_FIGURES = {"distances": ("paths", paths_figure), "angles": ("angles", angles_figure)}


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Draw paths and angles of each simulator; returns 0, or 2 after an error."""
    parser = argparse.ArgumentParser(prog="scripts/plot humanoid", description=__doc__)
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="of scripts/experiment humanoid --campaign --json FILE"
    )
    parser.add_argument("--out", type=Path, default=Path("results/plots"), metavar="DIR", help="(default %(default)s)")
    parser.add_argument("--format", choices=("png", "svg", "pdf"), default="png", help="(default %(default)s)")
    options = parser.parse_args(arguments)
    return run_tool(lambda: _draw(options))


def _draw(options: argparse.Namespace) -> int:
    for engine, runs in _by_engine(options.files).items():
        for kind, (name, figure_of) in _FIGURES.items():
            drawn = [run for run in runs if run["case"] in thesis()[kind]]
            if drawn:
                file = options.out / f"humanoid_{name}_{engine.replace(' ', '_')}.{options.format}"
                finish(figure_of(drawn), check_file(file), False)
                say(f"picture in {file}")
    return 0


def _by_engine(files: Sequence[Path]) -> Dict[str, List[Run]]:
    """Return the runs of each simulator.

    Raises
    ------
    SettingsError
        If a file cannot be read, or holds no runs of the campaign with paths.
    """
    found: Dict[str, List[Run]] = {}
    for file in files:
        try:
            runs = json.loads(file.read_text(encoding="utf-8"))["runs"]
            for run in runs:
                found.setdefault(run["engine"], []).append({key: run[key] for key in ("case", "engine", "path")})
        except OSError as error:
            raise SettingsError(f"{file} cannot be read: {error.strerror}; name a file that is there") from None
        except (ValueError, KeyError, TypeError) as error:
            raise SettingsError(
                f"{file} holds no runs of the campaign with their paths ({type(error).__name__}: {error}); make it by "
                "scripts/experiment humanoid --campaign --json FILE"
            ) from None
    return found


if __name__ == "__main__":
    sys.exit(main())
