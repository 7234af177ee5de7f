# SPDX-License-Identifier: MIT
"""docs/results/snake.md out of the JSON files of scripts/experiment snake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError
from robot_evaluation.tables import markdown_table
from shellbot_common import write_file

Row = Dict[str, Any]

_GAIT = {"forward_mm": "forward mm", "left_mm": "left mm", "yaw_deg": "yaw deg", "cost_of_transport": "CoT"}
_HEAD = """# Results: the snake

16 modules, servo `ax`, physics step 2 ms. Medians over the seeds, with the least and the greatest in brackets.
Written by `scripts/snake results FILE ...` out of the files of `scripts/experiment snake ... --json FILE`; what the
figures mean: [the snake](../snake.md).
"""


def write_results(
    files: Sequence[Path], path: Optional[Path], odometry: Sequence[Path] = (), modules: Sequence[Path] = ()
) -> Path:
    """Write the page; returns it.

    Parameters
    ----------
    files : sequence of Path
        Of scripts/experiment snake; runs of one experiment in several files are taken together. Runs of gaits with
        several winding angles or numbers of undulations make a page of their own kind.
    path : Path or None
        The page; None: that of the docs.
    odometry : sequence of Path
        Runs of gaits for the table of the odometry, where others than those of `files` are to be shown.
    modules : sequence of Path
        Runs of gaits with several numbers of modules, for a table of these.

    Raises
    ------
    EvaluationError
        If a file cannot be read or is of something else.
    """
    contents = [load(file) for file in files]
    runs: Dict[str, List[Row]] = {}
    for content in contents:
        runs.setdefault(content["experiment"], []).extend(content["runs"])
    gaits = runs.get("gait", [])
    if len({(run["gait"], run["alpha_deg"], run["k"]) for run in gaits}) > len({run["gait"] for run in gaits}):
        if len(runs) > 1 or odometry or modules:
            raise EvaluationError("gaits over winding angle and undulations are a page of their own; give these only")
        page = path or Path("docs/results/snake_shapes.md")
        write_file(page, _shapes(gaits, [str(content.get("command", "")) for content in contents]))
        return page
    parts = [_HEAD] + [_SECTIONS[name](runs[name]) for name in _SECTIONS if name in runs]
    travels = [run for file in odometry for run in load(file)["runs"]] if odometry else gaits
    if travels:
        parts.append(_odometry(travels))
    if modules:
        parts.append(_modules([run for file in modules for run in load(file)["runs"]]))
    page = path or Path("docs/results/snake.md")
    write_file(page, "\n".join(parts))
    return page


def load(file: Path) -> Row:
    """Return the content of a file of scripts/experiment snake; raises as `write_results`."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        experiment, runs = content["experiment"], content["runs"]
    except OSError as error:
        raise EvaluationError(f"{file} cannot be read: {error.strerror}; name a file that is there") from None
    except (ValueError, KeyError, TypeError) as error:
        raise EvaluationError(
            f"cannot read {file}: {type(error).__name__}: {error}; give a file of scripts/experiment snake --json"
        ) from error
    if experiment not in _SECTIONS or not runs:
        raise EvaluationError(f"{file} is of {experiment!r} with {len(runs)} runs; known: {', '.join(_SECTIONS)}")
    if experiment == "gait":  # files from before these keys were
        content["runs"] = [{"alpha_deg": 0.0, "k": 0.0, **run} for run in runs]
    return dict(content)


def _grouped(runs: Sequence[Row], *keys: str) -> Dict[Tuple[Any, ...], List[Row]]:
    groups: Dict[Tuple[Any, ...], List[Row]] = {}
    for run in runs:
        groups.setdefault(tuple(run[key] for key in keys), []).append(run)
    return groups


def _span(runs: Sequence[Row], key: str, digits: int = 1) -> str:
    values = [run[key] for run in runs if run[key] is not None]
    if not values:
        return "–"
    return f"{np.median(values):.{digits}f} ({min(values):.{digits}f} … {max(values):.{digits}f})"


def _seeds(runs: Sequence[Row]) -> str:
    seeds = sorted({run["seed"] for run in runs})
    return f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"


def _frictions(runs: Sequence[Row]) -> str:
    return ", ".join(str(mu) for mu in sorted({run["friction"] for run in runs}))


def _steps(runs: Sequence[Row]) -> Row:
    spans = {title: _span(runs, key, 2 if title == "CoT" else 1) for key, title in _GAIT.items()}
    return {**spans, "tipped": sum(run["tipped"] for run in runs)}


def _gaits(runs: Sequence[Row]) -> str:
    steps = [
        {"gait": gait, "d": f"{direction:+d}", "friction": friction, **_steps(found)}
        for (gait, direction, friction), found in _grouped(runs, "gait", "direction", "friction").items()
    ]
    return (
        f"## Steps of a cycle\n\n{_seeds(runs)}; CoT is positive work of the servos over weight and distance.\n\n"
        f"{markdown_table(steps)}\n"
    )


def _modules(runs: Sequence[Row]) -> str:
    gaits = list(dict.fromkeys(run["gait"] for run in runs))
    rows = [
        {"gait": gait, "modules": modules, "runs": len(found), **_steps(found)}
        for (gait, modules), found in _grouped(runs, "gait", "modules").items()
    ]
    rows.sort(key=lambda row: (gaits.index(row["gait"]), row["modules"]))
    return (
        f"## Number of modules\n\n{_seeds(runs)} (64 modules: fewer), friction {_frictions(runs)}, direction +1. "
        f"A gait that is missing is refused with so few modules.\n\n{markdown_table(rows)}\n"
    )


def _shapes(runs: Sequence[Row], commands: Sequence[str]) -> str:
    groups = _grouped(runs, "modules", "direction")
    if len(groups) > 1:
        raise EvaluationError("the runs are of several numbers of modules, or both directions; give those of one")
    ((modules, direction),) = groups
    rows = [
        {"gait": gait, "alpha deg": alpha, "k": k, **_steps(found), "power W": _span(found, "power_w")}
        for (gait, alpha, k), found in _grouped(runs, "gait", "alpha_deg", "k").items()
    ]
    made = "\n".join(f"    {command}" for command in commands)
    return (
        f"# Results: the snake over winding angle and undulations\n\n{modules} modules, direction {direction:+d}, "
        f"{_seeds(runs)}, friction {_frictions(runs)}: steps of a cycle, medians with the least and the greatest in "
        "brackets. The winding angle (of circular waves: the arc) is the greater of the two waves, the other one is in "
        "proportion, and k is bounded by the number of modules. What is missing is refused, as it is too much for the "
        f"servos. What the figures mean: [the snake](../snake.md). Written by `scripts/snake results FILE ...`, and "
        f"drawn by `scripts/snake shapes FILE ...`, out of the files of\n\n{made}\n\n{markdown_table(rows)}\n"
    )


def _odometry(runs: Sequence[Row]) -> str:
    rows = [
        {
            "gait": gait,
            "d": f"{direction:+d}",
            "% of the distance": _span(found, "odometry_error_percent"),
            "deg a metre": _span(found, "odometry_yaw_deg_per_m", 2),
        }
        for (gait, direction), found in _grouped(runs, "gait", "direction").items()
        if gait in _TRAVELS
    ]
    return (
        f"## Odometry\n\n{_seeds(runs)}, friction {_frictions(runs)}; errors over all cycles of a run.\n\n"
        f"{markdown_table(rows)}\n"
    )


_TRAVELS = (
    "straight", "inclined", "rolling", "straight_fast", "inclined_fast", "side_winding", "side_fast", "roll",
    "roll_fast"
)  # fmt: skip


def _changes(runs: Sequence[Row]) -> str:
    row = {
        "changes": len(runs), "not right side up": sum(run["tipped"] for run in runs),
        "greatest reference rad/s": f"{max(run['greatest_reference'] for run in runs):.2f}",
        "greatest measured rad/s": f"{max(run['greatest_speed'] for run in runs):.2f}",
        "longest s": f"{max(run['duration'] for run in runs):.1f}",
        "least up": f"{min(run['up'] for run in runs):.2f}",
    }  # fmt: skip
    failed = "; ".join(
        f"{run['first']} to {run['second']} (friction {run['friction']}, seed {run['seed']})"
        for run in runs
        if run["tipped"]
    )
    ending = f"\nNot right side up: {failed}.\n" if failed else ""
    return (
        f"## Changes of gait\n\nAll pairs; friction {_frictions(runs)}, {_seeds(runs)}.\n\n"
        f"{markdown_table([row])}\n{ending}"
    )


def _commands(runs: Sequence[Row]) -> str:
    rows = []
    for (family,), found in _grouped(runs, "family").items():
        value = {
            key: float(np.sqrt(np.mean([run[key] ** 2 for run in found])))
            for key in ("speed_mm", "yaw_deg", "speed_error_mm", "yaw_error_deg", "drift_mm")
        }
        rows.append({
            "family": family, "n": len(found), "commanded": f"{value['speed_mm']:.1f}",
            "error": f"{value['speed_error_mm']:.1f} ({100 * value['speed_error_mm'] / value['speed_mm']:.1f} %)",
            "turning deg": f"{value['yaw_deg']:.1f}",
            "error deg": f"{value['yaw_error_deg']:.2f} ({100 * value['yaw_error_deg'] / value['yaw_deg']:.1f} %)",
            "drift mm": f"{value['drift_mm']:.1f}",
        })  # fmt: skip
    return (
        f"## cmd_vel, open loop\n\nRandom commands, {_seeds(runs)}; root mean squares a cycle, mm (of "
        "rotation: deg).\n\n"
        f"{markdown_table(rows)}\n"
    )


def _waypoints(runs: Sequence[Row]) -> str:
    rows = []
    for (goal, friction), found in _grouped(runs, "goal", "friction").items():
        rows.append({
            "goal": goal, "friction": friction, "n": len(found), "reached": sum(run["reached"] for run in found),
            "cycles": _span(found, "cycles"), "mm beside": _span(found, "position_error_mm"),
            "deg beside": _span(found, "heading_error_deg"),
        })  # fmt: skip
    return (
        f"## Waypoints on the robot's own odometry\n\n{_seeds(runs)}; reached by its own estimate within 60 s, "
        "scored by the truth.\n\n"
        f"{markdown_table(rows)}\n"
    )


_SECTIONS: Dict[str, Callable[[Sequence[Row]], str]] = {
    "gait": _gaits, "changes": _changes, "commands": _commands, "waypoints": _waypoints,
}  # fmt: skip
