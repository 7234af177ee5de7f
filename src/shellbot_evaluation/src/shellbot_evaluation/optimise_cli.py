# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment optimise."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from robot_evaluation.console import add_out, add_seeds, run_tool, say, seeds_of
from robot_evaluation.errors import DefinitionError
from robot_evaluation.journal import Journal
from robot_evaluation.parallel import add_workers, map_jobs, pool_of
from robot_evaluation.plots import plot_runs
from robot_evaluation.report_files import run_tables, write_files
from robot_evaluation.reports import made_by
from robot_evaluation.stats import spread
from robot_evaluation.tables import markdown_table, write_between_markers
from shellbot_action_manager.errors import ActionManagerError
from shellbot_action_manager.gait.gait_table import find_gait, load_gaits

from .optimise_experiment import KNOBS, Search, Trial, changed, execute, means, numbers_of

COLUMNS = {
    "label": "gait",
    "speed_m_s": "speed / m/s",
    "electrical_cost": "cost of transport, electrical",
    "cost": "mechanical",
    "electrical_w": "electrical power / W",
    "torque_nm": "root of sum of squared torques / N m",
    "peak": "greatest torque / stall torque",
    "tilt_deg": "greatest tilt / deg",
    "height_mm": "height ± mm",
    "foot_mm": "lowest foot / mm",
}
DIGITS = {**dict.fromkeys(COLUMNS, 2), "speed_m_s": 3, "electrical_w": 1}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/experiment optimise",
        description="Searches the numbers of a gait (CMA-ES) for one that walks straight on at the same true speed for "
        "less: electrical power over weight and speed, by the servo model, with every servo's torque limited. "
        "Candidates walk with the tuning seeds; shipped gait and result are then compared on others.",
        epilog="example: scripts/experiment optimise --gait sprint --speed 0.55 --workers 4",
    )
    p.add_argument("--gait", default="tripod", help="gait of the action manager to begin with (default tripod)")
    p.add_argument("--speed", type=float, default=0.2, metavar="M_S", help="commanded, m/s (default 0.2)")
    p.add_argument(
        "--torque-limit", type=float, default=1.0, metavar="F", help="of every servo, of its stall torque (default 1.0)"
    )
    add_seeds(p, "900:902", "of tuning")
    p.add_argument("--report-seeds", default="950:960", metavar="N|A:B", help="of the comparison (default 950:960)")
    p.add_argument("--generations", type=int, default=14, metavar="N", help="of the search (default 14)")
    p.add_argument("--population", type=int, default=8, metavar="N", help="candidates of a generation (default 8)")
    add_out(p)
    add_workers(p)
    p.add_argument(
        "--write", type=Path, metavar="PAGE", help="put the table between '<!-- begin: optimise -->' and its end"
    )
    return p


def main(given: Sequence[str]) -> int:
    """Run the search; returns 0 if it found a gait that walks for less with other seeds, 1 if not, 2 after an error."""
    arguments = parser().parse_args(given)
    return run_tool(lambda: _run(arguments, " ".join(["scripts/experiment optimise", *given])))


def _run(arguments: argparse.Namespace, command: str) -> int:
    tuning, reporting = seeds_of(arguments.seeds), seeds_of(arguments.report_seeds)
    if set(tuning) & set(reporting):
        raise DefinitionError(
            f"--seeds {arguments.seeds} and --report-seeds {arguments.report_seeds} overlap; keep them apart"
        )
    if arguments.generations < 1 or arguments.population < 4:
        raise DefinitionError(
            f"--generations is {arguments.generations}, --population {arguments.population}; give 1 and 4 or more"
        )
    if not 0.0 < arguments.speed <= 5.0:
        raise DefinitionError(f"--speed is {arguments.speed:g}; give more than 0 and at most 5 m/s")
    if not 0.1 <= arguments.torque_limit <= 1.0:
        raise DefinitionError(f"--torque-limit is {arguments.torque_limit:g}; give 0.1 to 1 of the stall torque")
    try:
        gait = find_gait(load_gaits(), arguments.gait)
    except ActionManagerError as error:
        raise DefinitionError(str(error)) from error
    search = Search(
        gait, arguments.speed, arguments.torque_limit, tuple(tuning), arguments.generations, arguments.population
    )
    name = f"optimise_{gait.name}"
    with Journal(arguments.out / f"{name}.unfinished.jsonl", name) as journal:

        def carry_out(trials: List[Tuple[str, Trial]]) -> List[Dict[str, Any]]:
            return map_jobs(execute, trials, arguments.jobs, pool_of(arguments.scheduler), journal)

        found = search.best(carry_out)
        candidates = [()] + ([found] if found else [])
        rows = {
            seeds: carry_out([t for n in candidates for t in search.trials(n, seeds)]) for seeds in (tuning, reporting)
        }
        text = "\n".join(
            [_compared("Tuning", tuning, rows[tuning]), _compared("Other", reporting, rows[reporting])]
            + [_block(search, found), made_by(command).lstrip()]
        )
        runs = [*rows[tuning], *rows[reporting]]
        picture = arguments.out / f"{name}.png"
        arguments.out.mkdir(parents=True, exist_ok=True)
        plot_runs(picture, name, runs, {key: head for key, head in COLUMNS.items() if key != "label"})
        content = {"command": command, "found": dict(found)}
        write_files(arguments.out, name, text, runs, run_tables(runs, COLUMNS, DIGITS, "label"), [picture], content)
    say(text)
    if arguments.write is not None:
        write_between_markers(arguments.write, "optimise", text)
    return 0 if found and _gain(rows[reporting]) > 0.0 else 1


def _gain(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return by what fraction the electrical cost is less, negative if any run failed."""
    shipped, found = ([row for row in rows if row["label"] == label] for label in ("shipped", "found"))
    if not all(row["success"] for row in found):
        return -1.0
    return 1.0 - means(found)["electrical_cost"] / means(shipped)["electrical_cost"]


def _compared(what: str, seeds: range, rows: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for label in dict.fromkeys(row["label"] for row in rows):
        done = [row for row in rows if row["label"] == label and row["success"]]
        line: Dict[str, Any] = {"label": label, "runs": f"{len(done)} of {len(seeds)}"}
        for key in list(COLUMNS)[1:] if done else ():
            found = spread(row[key] for row in done)
            line[key] = f"{found.mean:.{DIGITS[key]}f} ± {found.std:.{DIGITS[key]}f}"
        lines.append(line)
    table = markdown_table(lines, {"label": COLUMNS["label"], "runs": "walked", **COLUMNS})
    return f"{what} seeds, {seeds[0]} to {seeds[-1]}:\n\n{table}"


def _block(search: Search, numbers: Sequence[Tuple[str, float]]) -> str:
    if not numbers:
        return "Nothing was found that walks for less.\n"
    before, after = numbers_of(search.gait), numbers_of(changed(search.gait, numbers))
    before["period_slow"], after["period_slow"] = search.gait.period_slow, changed(search.gait, numbers).period_slow
    rows = [{"key": key, "shipped": before[key], "found": after[key]} for key in ("period_slow", *KNOBS)]
    names = {"slip_scale": "slip_scale.forward"}
    rows = [{**row, "key": names.get(str(row["key"]), row["key"])} for row in rows]
    return markdown_table(
        rows,
        {"key": "key of gaits.yaml", "shipped": "shipped", "found": "found"},
        dict.fromkeys(("shipped", "found"), 4),
    )
