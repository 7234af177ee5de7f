# SPDX-License-Identifier: MIT
"""What an experiment leaves behind: every run, mean and standard deviation; CSV, JSON, Markdown, HTML."""

from __future__ import annotations

import base64
import html
import math
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence

from markdown_it import MarkdownIt

from shellbot_common import write_file

from .plots import plot_runs
from .reports import machine, write_csv, write_json
from .stats import spread
from .tables import markdown_table

_GIVEN = ("seed", "friction", "label", "message")  # what is not plotted as a figure
_JSON_ONLY = ("path",)  # too long for a cell
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; margin: 1em 0; }}
th, td {{ border: 1px solid #ccc; padding: 0.2em 0.6em; text-align: right; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; }}
img {{ max-width: 100%; }}
</style></head><body>
{body}
</body></html>
"""


def run_tables(
    rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], digits: Mapping[str, int], group: str
) -> str:
    """Return a Markdown table for each case: a line for each run, then mean and standard deviation.

    Parameters
    ----------
    rows : sequence of mapping
        Runs, each with a seed.
    columns, digits : mapping
        As of `markdown_table`.
    group : str
        Key that names the case; where rows have none, they are one case.
    """
    shown = {"seed": "seed", **{key: head for key, head in columns.items() if key != group}}
    parts = []
    for case in dict.fromkeys(row.get(group, "") for row in rows):
        runs = [row for row in rows if row.get(group, "") == case]
        present = {key: head for key, head in shown.items() if any(key in row for row in runs)}
        lines = [*runs, *_mean_and_deviation(runs, present)]
        parts.append((f"### {case}\n\n" if case else "") + markdown_table(lines, present, digits))
    return "\n".join(parts)


def write_files(
    folder: Path,
    name: str,
    text: str,
    rows: Sequence[Mapping[str, Any]],
    tables: str,
    pictures: Sequence[Path],
    content: Mapping[str, Any],
) -> List[Path]:
    """Write NAME.csv, .json, .md and .html and return their paths.

    Parameters
    ----------
    folder : Path
        Where to; made if need be.
    name : str
        Of the experiment.
    text : str
        Its result as Markdown.
    rows : sequence of mapping
        Every run.
    tables : str
        Of `run_tables`.
    pictures : sequence of Path
        PNG files in that folder.
    content : mapping
        What JSON holds beside machine and runs.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{ending}" for ending in ("csv", "json", "md", "html")]
    where = machine()
    write_csv(paths[0], [{key: value for key, value in row.items() if key not in _JSON_ONLY} for row in rows])
    write_json(paths[1], {"experiment": name, "machine": where, "runs": rows, **content})
    made_on = f"{where['processor']}, {where['system']}; code {where['code']}."
    page = f"# {name}\n\n{text}\n## Every run\n\n{tables}\n{made_on}\n"
    write_file(paths[2], page + "".join(f"\n![{path.stem}]({path.name})\n" for path in pictures))
    body = MarkdownIt().enable("table").render(page)
    for path in pictures:
        data = base64.b64encode(path.read_bytes()).decode("ascii")
        body += f'<p><img alt="{html.escape(path.stem)}" src="data:image/png;base64,{data}"></p>\n'
    write_file(paths[3], _PAGE.format(title=html.escape(name), body=body))
    return paths


def write_runs(
    folder: Path,
    name: str,
    text: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str],
    digits: Mapping[str, int],
    content: Mapping[str, Any],
    given: Sequence[str] = (),
) -> Path:
    """Plot the figures of every run, write the files of `write_files`, and return the page.

    Parameters
    ----------
    folder, name, text, content
        As of `write_files`.
    rows : sequence of mapping
        Runs; `label` names the case of each, where there are several.
    columns, digits : mapping
        Of the tables, as of `run_tables`.
    given : sequence of str, optional
        Keys of what a run was given, such as what it drew by its seed: not plotted as figures.
    """
    folder.mkdir(parents=True, exist_ok=True)
    picture = folder / f"{name}.png"
    plot_runs(picture, name, rows, {key: head for key, head in columns.items() if key not in (*_GIVEN, *given)})
    tables = run_tables(rows, columns, digits, "label")
    return write_files(folder, name, text, rows, tables, [picture], content)[-1]


def _mean_and_deviation(runs: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> List[Dict[str, Any]]:
    mean: Dict[str, Any] = {"seed": "mean"}
    deviation: Dict[str, Any] = {"seed": "std"}
    for key in columns:
        values = [row[key] for row in runs if isinstance(row.get(key), float) and math.isfinite(row[key])]
        if values:
            found = spread(values)
            mean[key], deviation[key] = found.mean, found.std
        elif key != "seed":
            mean[key] = deviation[key] = ""
    return [mean, deviation]
