# SPDX-License-Identifier: MIT
"""Command line of ``scripts/experiment engines``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Dict, List, Optional

from robot_evaluation.console import engine_of, file_of, run_tool, say, seed_of
from robot_evaluation.reports import machine, write_json
from robot_evaluation.tables import markdown_table, split_at_markers, write_between_markers
from shellbot_simulator.core.config import ENGINES, check_engine

from .engines_experiment import SERVOS, rows, walk, walk_rows

_HEADS = {"test": "test", "exact": "analytic", "mujoco": "MuJoCo", "bullet": "Bullet"}
_WALK_HEADS = {
    "ahead_m": "ahead / m",
    "aside_mm": "aside / mm",
    "turned_deg": "turned / deg",
    "joints_deg": "joints, RMS from the first / deg",
    "path_mm": "path, greatest distance from the first / mm",
    "speed": "times real time, one core",
}
_WALK_DIGITS = {"aside_mm": 1, "turned_deg": 2, "joints_deg": 2, "path_mm": 1, "speed": 1}


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0, or 2 after an error."""
    p = argparse.ArgumentParser(
        prog="scripts/experiment engines",
        description="The same tests and the same walk in each physics engine, beside analytic results.",
    )
    p.add_argument("--simulator", nargs="+", type=engine_of, choices=ENGINES, help="engines (default: all)")
    p.add_argument("--servos", action="store_true", help="compare instead what real servos add, in one engine")
    p.add_argument("--seed", type=seed_of, help="of start and sensor noise of the walk (default: none of both)")
    p.add_argument("--json", type=file_of, metavar="FILE", help="write the figures there, too")
    markers = "`engines` of a page, or `servos`"
    p.add_argument("--write", type=Path, metavar="PAGE", help=f"put the tables between the markers {markers}")
    arguments = p.parse_args(argv)
    arguments.simulator = arguments.simulator or list(ENGINES)

    def begin() -> int:
        if arguments.write:
            split_at_markers(arguments.write, "servos" if arguments.servos else "engines")
        return servos() if arguments.servos else work()

    def servos() -> int:
        engine = arguments.simulator[0]
        walks = walk_rows({name: walk(engine, arguments.seed, servos=changes) for name, changes in SERVOS.items()})
        return report("servos", markdown_table(walks, {"of": "servos", **_WALK_HEADS}, _WALK_DIGITS), {"servos": walks})

    def work() -> int:
        for engine in arguments.simulator:
            check_engine(engine)
        tests = rows(arguments.simulator)
        walks = walk_rows({engine: walk(engine, arguments.seed) for engine in arguments.simulator})
        heads = {key: head for key, head in _HEADS.items() if key in tests[0]}
        text = markdown_table(tests, heads, dict.fromkeys(heads, 4))
        text += "\n" + markdown_table(walks, {"of": "engine", **_WALK_HEADS}, _WALK_DIGITS)
        return report("engines", text, {"tests": tests, "walks": walks})

    def report(name: str, text: str, figures: Dict[str, Any]) -> int:
        say(text)
        if arguments.json:
            write_json(arguments.json, {"machine": machine(), **figures})
        if arguments.write:
            write_between_markers(arguments.write, name, text)
        return 0

    return run_tool(begin)
