# SPDX-License-Identifier: MIT
"""What an experiment leaves behind: tables, plots, CSV, JSON and traces in one folder."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.journal import Journal
from robot_evaluation.plots import plot_columns, plot_paths, plot_run
from robot_evaluation.report_files import run_tables, write_files
from robot_evaluation.tables import markdown_table
from robot_evaluation.trace import Trace
from shellbot_common import write_file

from .campaign import Campaign, case_summary, comparison
from .experiments import Experiment
from .perturbations import PERTURBATIONS
from .runner import RunResult, verdicts

HEADINGS = {
    "case": "case",
    "seed": "seed",
    "friction": "friction",
    "commanded_m": "commanded m",
    "walked_m": "walked m",
    "lateral_m": "lateral m",
    "odometry_m": "odometry m",
    "commanded_deg": "commanded deg",
    "turned_deg": "turned deg",
    "odometry_deg": "odometry deg",
    "drift_m": "drift m",
    "commanded_m_s": "commanded m/s",
    "speed_m_s": "greatest m/s",
    "mean_speed_m_s": "mean m/s",
    "duration_s": "s",
    "distance_error_percent": "distance error %",
    "deviation_percent": "deviation %",
    "angle_error_percent": "angle error %",
    "path_m": "path m",
    "odometry_error_m": "odometry error m",
    "odometry_error_percent": "odometry error %",
    "odometry_error_deg": "odometry error deg",
    "yaw_change_deg": "yaw deg",
    "height_deviation_mm": "height ± mm",
    "lowest_foot_mm": "lowest foot mm",
    "joint_limit_margin_deg": "joint margin deg",
    "torque_nm": "torque N m",
    "power_w": "power W",
    "cost_of_transport": "cost of transport",
    "electrical_cost": "electrical",
    **{key: key for key in PERTURBATIONS},
    "message": "failed",
}
DIGITS = {
    "friction": 2,
    "turned_deg": 1,
    "commanded_deg": 0,
    "odometry_deg": 1,
    "duration_s": 1,
    "distance_error_percent": 2,
    "deviation_percent": 2,
    "angle_error_percent": 2,
    "path_m": 1,
    "odometry_error_percent": 2,
    "odometry_error_deg": 2,
    "yaw_change_deg": 2,
    "height_deviation_mm": 1,
    "lowest_foot_mm": 2,
    "joint_limit_margin_deg": 1,
    "torque_nm": 2,
    "power_w": 1,
    "cost_of_transport": 2,
    "electrical_cost": 2,
}


_DRAWN = (
    "distance_error_percent",
    "deviation_percent",
    "angle_error_percent",
    "speed_m_s",
    "height_deviation_mm",
    "electrical_cost",
)


def walking_summary(rows: Sequence[Mapping[str, Any]]) -> Dict[str, float]:
    """Return means and greatest deviations of all runs, of the figures that they have: what JSON holds as `summary`."""
    names: Dict[str, Tuple[str, Callable[[Sequence[float]], Any]]] = {
        "mean_x_m": ("walked_m", np.mean),
        "max_abs_y_m": ("max_lateral_m", np.max),
        "mean_turn_deg": ("turned_deg", np.mean),
        "max_drift_m": ("drift_m", np.max),
        "mean_speed_m_s": ("mean_speed_m_s", np.mean),
        "max_odometry_error_percent": ("odometry_error_percent", np.max),
        "max_odometry_error_deg": ("odometry_error_deg", np.max),
        "max_tilt_deg": ("max_tilt_deg", np.max),
    }
    found = {name: (how, [float(row[key]) for row in rows if key in row]) for name, (key, how) in names.items()}
    figures = {name: float(how(values)) for name, (how, values) in found.items() if values}
    return {"runs": len(rows), "failed": sum(not row["success"] for row in rows), **figures}


def run_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return one line a run with the columns that any of them has."""
    present = {key for row in rows for key in row}
    return markdown_table(rows, {key: head for key, head in HEADINGS.items() if key in present}, DIGITS)


def experiment_text(experiment: Experiment, rows: Sequence[Mapping[str, Any]], command: str) -> str:
    """Return the Markdown of an experiment: verdicts first, then each run, then how to repeat it.

    Parameters
    ----------
    experiment : Experiment
        Its limits give the verdicts.
    rows : sequence of mapping
        Every run, keys as in HEADINGS.
    command : str
        Command line that made them.
    """
    return "\n".join([*_verdict_table(verdicts(experiment, rows)), run_table(rows), _made_by(command)])


def limits_text(limits: Sequence[Mapping[str, Any]], command: str) -> str:
    """Return the Markdown of the verdicts alone."""
    return "\n".join([*_verdict_table(limits), _made_by(command)])


def _verdict_table(limits: Sequence[Mapping[str, Any]]) -> List[str]:
    """Return the table of the verdicts, if there are any; limits of all sizes, 0.005 m as well as 5 %, need digits."""
    rows = [{**x, "worst": f"{x['worst']:.3g}" if isinstance(x["worst"], float) else x["worst"]} for x in limits]
    return [markdown_table(rows)] if rows else []


def _made_by(command: str) -> str:
    return f"Made by `{command}`; ground truth scores, the robot's own odometry ends each run.\n"


def campaign_text(campaign: Campaign, rows: Sequence[Mapping[str, Any]], command: str) -> str:
    """Return the Markdown of the campaign: comparison with the published means, then mean and spread of each case.

    Parameters
    ----------
    campaign : Campaign
        Speeds and published means.
    rows : sequence of mapping
        Every run, keys as in HEADINGS.
    command : str
        Command line that made them.
    """
    heads: Dict[str, str] = {"source": "source"}
    for percent in campaign.speeds_percent:
        heads.update({f"x_{percent}": f"{percent} %: x m", f"y_{percent}": "y m", f"turn_{percent}": "turned deg"})
    digits = {f"turn_{percent}": 1 for percent in campaign.speeds_percent}
    parts = ["3 m and 360° commanded, means:\n", markdown_table(comparison(campaign, rows), heads, digits)]
    summary = case_summary(rows)
    for kind in ("walk", "turn"):
        group = [_mean_and_spread(line) for line in summary if line["kind"] == kind]
        if group:
            parts.append(markdown_table(group))
    parts.append(f"Made by `{command}`; mean ± standard deviation over the runs that did not fail.\n")
    return "\n".join(parts)


def _mean_and_spread(line: Mapping[str, Any]) -> Dict[str, object]:
    cells: Dict[str, object] = {key: line[key] for key in ("simulator", "case", "runs", "failed")}
    for key, value in line.items():
        if key + "_std" in line:
            places = DIGITS.get(key, 3)
            spread = f"{value:.{places}f} ± {line[key + '_std']:.{places}f}"
            cells[HEADINGS[key]] = "–" if math.isnan(value) else spread
    return cells


def trace_file(folder: Path, name: str, row: Mapping[str, Any]) -> Path:
    """Return where the trace of a run is."""
    return folder / f"{_stem(name, row['case'])}_seed{row['seed']}.npz"


def journal_of(folder: Path, name: str, runs: str) -> Journal:
    """Return the journal of an experiment; the trace of each run lies beside it until the report is drawn.

    Parameters
    ----------
    folder, name
        As of `write_report`.
    runs : str
        What changes a run, in words: traces are named by case and seed, so one journal holds runs of one command only.
    """

    def pack(result: RunResult) -> Any:
        file = trace_file(folder, name, result.row)
        if result.trace is None:
            file.unlink(missing_ok=True)
        else:
            stream = io.BytesIO()
            result.trace.save(stream)
            write_file(file, stream.getvalue())
        return result.row

    def unpack(row: Any) -> Optional[RunResult]:
        file = trace_file(folder, name, row)
        if file.exists():
            return RunResult(row, Trace.load(file))
        return None if row["success"] else RunResult(row, None)  # none: the run is repeated

    return Journal(folder / f"{name}.unfinished.jsonl", runs, pack, unpack)


def write_report(
    folder: Path, name: str, results: Sequence[RunResult], text: str, content: Mapping[str, Any], traces: bool
) -> List[Path]:
    """Draw the plots and write NAME.csv, .json, .md and .html.

    Parameters
    ----------
    folder : Path
        Where to; made if need be.
    name : str
        Of the experiment.
    results : sequence of RunResult
        Every run, with its trace if it has one.
    text : str
        Its result as Markdown.
    content : mapping
        What JSON holds beside machine and runs.
    traces : bool
        Whether the traces of the runs stay in the folder; they are removed otherwise.

    Returns
    -------
    list of Path
        Files and pictures, without the traces.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = [result.row for result in results]
    pictures: List[Path] = []
    for case in dict.fromkeys(str(row["case"]) for row in rows):
        traces_of_case = [(r.row, r.trace) for r in results if r.row["case"] == case and r.trace is not None]
        if not traces_of_case:  # all failed before they moved
            continue
        labels = {
            f"seed {row['seed']}" + (f", µ {row['friction']:.2f}" if "friction" in row else ""): trace
            for row, trace in traces_of_case
        }
        pictures += [folder / f"{_stem(name, case)}_path.png", folder / f"{_stem(name, case)}_run.png"]
        truth, own = (
            {key: getattr(trace, path) for key, trace in labels.items()} for path in ("truth_path", "odom_path")
        )
        plot_paths(pictures[-2], case, truth, own)
        plot_run(pictures[-1], f"{case}, seed {traces_of_case[0][0]['seed']}", traces_of_case[0][1])
    columns = {key: HEADINGS[key] for key in _DRAWN if any(key in row for row in rows)}
    if columns and all("friction" in row for row in rows):
        pictures.append(folder / f"{name}_friction.png")
        plot_columns(pictures[-1], name, rows, columns)
    tables = run_tables(rows, HEADINGS, DIGITS, "case")
    paths = write_files(folder, name, text, rows, tables, pictures, content)
    if not traces:
        for row in rows:
            trace_file(folder, name, row).unlink(missing_ok=True)
    return paths + pictures


def _stem(name: str, case: str) -> str:
    return f"{name}_{case}".replace(" ", "_").replace("%", "percent")
