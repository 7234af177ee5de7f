# SPDX-License-Identifier: MIT
"""Command lines that search numbers of a file, and compare those found with those shipped on other seeds."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

from robot_evaluation.console import add_out, add_page, add_seeds, run_tool, say, seeds_of
from robot_evaluation.errors import DefinitionError
from robot_evaluation.journal import Journal
from robot_evaluation.parallel import add_workers, map_jobs, pool_of
from robot_evaluation.report_files import write_runs
from robot_evaluation.reports import made_by
from robot_evaluation.tables import markdown_table, write_between_markers

from .search import Numbers, Rows, Search

Shown = Callable[[Numbers], Dict[str, float]]


@dataclass(frozen=True)
class Optimisation:
    """A tool that searches numbers, and compares those found with those shipped on other seeds."""

    name: str  #: Subcommand of scripts/experiment, and marker of its tables in a page
    description: str  #: For --help
    example: str  #: For --help
    defaults: Mapping[str, Any]  #: Of options that every such tool has
    file: str  #: That has the numbers
    columns: Mapping[str, str]  #: Figures of a run, and their headings
    digits: Mapping[str, int]  #: Decimals of figures that have not two
    heads: Mapping[str, str]  #: Columns of the comparison
    line: Callable[[Rows], Dict[str, str]]  #: Rows of one candidate to its line of the comparison
    execute: Callable[[Any], Dict[str, Any]]  #: Trial to row
    add: Callable[[argparse.ArgumentParser], None]  #: Adds the tool's own options
    #: Options and tuning seeds to the name of the report, the search, and what shows numbers by their keys of `file`
    search: Callable[[argparse.Namespace, Tuple[int, ...]], Tuple[str, Search, Shown]]

    def parser(self) -> argparse.ArgumentParser:
        """Return the parser of the command line."""
        p = argparse.ArgumentParser(
            prog=f"scripts/experiment {self.name}",
            description=self.description,
            epilog=f"example: scripts/experiment {self.name} {self.example}",
        )
        self.add(p)
        add_seeds(p, self.defaults["seeds"], "of tuning")
        p.add_argument("--report-seeds", metavar="N|A:B", help="of the comparison (default %(default)s)")
        p.add_argument("--generations", type=int, metavar="N", help="of the search (default %(default)s)")
        p.add_argument("--population", type=int, metavar="N", help="candidates of a generation (default %(default)s)")
        add_out(p)
        add_workers(p)
        add_page(p, self.name)
        p.set_defaults(**self.defaults)
        return p

    def main(self, given: Sequence[str]) -> int:
        """Run the search; returns 0 if what it found is better with other seeds, 1 if not, 2 after an error."""
        arguments = self.parser().parse_args(given)
        return run_tool(lambda: self._run(arguments, " ".join(["scripts/experiment", self.name, *given])))

    def _run(self, arguments: argparse.Namespace, command: str) -> int:
        tuning, reporting = seeds_of(arguments.seeds), seeds_of(arguments.report_seeds)
        if set(tuning) & set(reporting):
            raise DefinitionError(
                f"--seeds {arguments.seeds} and --report-seeds {arguments.report_seeds} overlap; keep them apart"
            )
        if arguments.generations < 1 or arguments.population < 4:
            raise DefinitionError(
                f"--generations is {arguments.generations}, --population {arguments.population}; give 1 and 4 or more"
            )
        name, search, shown = self.search(arguments, tuple(tuning))
        with Journal(arguments.out / f"{name}.unfinished.jsonl", name) as journal:

            def carry_out(trials: List[Tuple[str, Any]]) -> List[Dict[str, Any]]:
                return map_jobs(self.execute, trials, arguments.jobs, pool_of(arguments.scheduler), journal)

            found = search.best(carry_out)
            candidates = [()] + ([found] if found else [])
            rows = {
                seeds: carry_out([t for n in candidates for t in search.trials(n, seeds)])
                for seeds in (tuning, reporting)
            }
            text = "\n".join(
                [self._compared("Tuning", tuning, rows[tuning]), self._compared("Other", reporting, rows[reporting])]
                + [self._numbers(shown, found), made_by(command).lstrip()]
            )
            runs, columns = [*rows[tuning], *rows[reporting]], {"label": "", **self.columns}
            content = {"command": command, "found": dict(found)}
            digits = {**dict.fromkeys(self.columns, 2), **self.digits}
            write_runs(arguments.out, name, text, runs, columns, digits, content)
        say(text)
        if arguments.write is not None:
            write_between_markers(arguments.write, self.name, text)
        half = len(reporting)
        shipped, others = rows[reporting][:half], rows[reporting][half:]
        return 0 if found and search.score(others, shipped) < search.score(shipped, shipped) else 1

    def _compared(self, what: str, seeds: range, rows: Rows) -> str:
        labels = dict.fromkeys(row["label"] for row in rows)
        lines = [{"label": label, **self.line([r for r in rows if r["label"] == label])} for label in labels]
        table = markdown_table(lines, {"label": "numbers", **self.heads})
        return f"{what} seeds, {seeds[0]} to {seeds[-1]}:\n\n{table}"

    def _numbers(self, shown: Shown, found: Numbers) -> str:
        if not found:
            return "Nothing was found that is better.\n"
        before, after = shown(()), shown(found)
        rows = [{"key": key, "shipped": before[key], "found": after[key]} for key in before]
        heads = {"key": f"key of {self.file}", "shipped": "shipped", "found": "found"}
        return markdown_table(rows, heads, dict.fromkeys(("shipped", "found"), 4))
