# SPDX-License-Identifier: MIT
"""From a key of the operator's window to the robot, through the real launch."""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence, Tuple

import numpy as np
import psutil

from robot_evaluation.stats import percentile
from robot_evaluation.tables import markdown_table
from shellbot_common.view import View
from shellbot_description import driven_joint_names, expand, robot_profile
from shellbot_simulator.core.robot_picture import RobotPicture

from .bench_ros import HEADLESS, run_probe
from .launching import Launch
from .network_link import network_link

MOST_CORES, MOST_MB = 0.35, 200.0  # of the window, with the joints in its table and its log scrolling
MOST_PAGE_CORES = 0.25  # of what serves the page, with one page that drives
LEAST_PICTURES = 15.0  # a second of one core, 640 x 480, drawn in software
_PICTURES, _VIEW = 60, View((0.0, 0.0, 0.15), 0.9, 120.0, -25.0)
_LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
LIMITS_MS = {
    "key press to cmd_vel": 20.0,
    "key press to first changed joint target": 30.0,
    "key release to zero cmd_vel": 50.0,
}
SECONDS_A_PRESS = 8.0  # patience: hold, rest and the robot's way home


def _probe(name: str, log_folder: Path, arguments: Sequence[str], patience: float) -> Any:
    """Launch sim.launch, run the probe NAME_node beside it for 120 s and `patience` (s) at most; return its JSON."""
    output = (log_folder / f"{name}.json").resolve()
    with Launch(HEADLESS, log_folder / f"bench_{name}.log") as launch:
        run_probe(f"{name}_node", launch, [*arguments, "--output", str(output)], 120.0 + patience)
        launch.check()
    return json.loads(output.read_text(encoding="utf-8"))


def bench_teleop(samples: int, log_folder: Path) -> Dict[str, Any]:
    """Launch sim.launch without its window and let teleop_latency press keys in a window on a virtual display.

    Returns
    -------
    dict
        Name of each latency to samples, p50_ms, p90_ms, p99_ms, max_ms; `window` to cores and memory_mb of the window;
        `page` to cores of what serves the page; `pictures` to per_core_s of the robot as the window shows it.

    Raises
    ------
    EvaluationError
        If the launch or the measurement fails; with its last words.
    """
    figures: Dict[str, Any] = _probe(
        "teleop_latency", log_folder, ["--presses", str(samples)], SECONDS_A_PRESS * samples
    )
    return {**figures, "pictures": {"per_core_s": _pictures()}}


def _pictures() -> float:
    """Return how many pictures of 640 x 480 a core makes in a second, while the robot walks."""
    names, picture, used = driven_joint_names(), RobotPicture(expand(), robot_profile()), 0.0
    try:
        for number in range(-3, _PICTURES):
            if number == 0:
                used = _cpu_s()
            angles = dict.fromkeys(names, 0.2 * math.sin(0.3 * number))
            picture.render((np.array([0.01 * number, 0.0, 0.2]), _LEVEL), angles, 640, 480, _VIEW)
        return _PICTURES / (_cpu_s() - used)
    finally:
        picture.close()


def _cpu_s() -> float:
    """Return the processor time of this process and of those that it has started, s."""
    here = psutil.Process()
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return sum(each.user + each.system for each in times)


REST_S = 0.5  # after the operator's end
SECONDS_A_CUT = 25.0  # patience: the start of a window, driving, watching


def bench_operator(samples: int, log_folder: Path, operator: str = "window") -> List[Dict[str, Any]]:
    """Launch sim.launch and let operator_cut end operators; return its samples.

    Parameters
    ----------
    samples : int
        Of each way to end.
    log_folder : pathlib.Path
        For logs of the launch.
    operator : str
        What they drive with: window, page (in a browser), joystick, or netns: the window over a network that is cut.

    Raises
    ------
    EvaluationError
        If the launch or the measurement fails; with its last words.
    """
    arguments, patience = ["--samples", str(samples), "--operator", operator], 3.0 * SECONDS_A_CUT * samples
    with network_link() if operator == "netns" else contextlib.nullcontext():
        found: List[Dict[str, Any]] = _probe("operator_cut", log_folder, arguments, patience)["samples"]
    return found


def operator_text(samples: Sequence[Mapping[str, Any]]) -> Tuple[str, bool]:
    """Return the Markdown of operators that were ended, and whether the robot was at rest in time each time."""
    rows: List[Dict[str, object]] = []
    for how in dict.fromkeys(sample["how"] for sample in samples):
        ended = [sample for sample in samples if sample["how"] == how]
        driven = [sample for sample in ended if sample["rest_s"] is not None]
        rest = [float(sample["rest_s"]) for sample in driven]
        row: Dict[str, object] = {"operator": how, "times": len(ended)}
        if any(sample["rest_s"] is None for sample in samples):
            row["dropped before"] = len(ended) - len(driven)
        row[f"at rest within {REST_S:g} s"] = sum(value <= REST_S for value in rest)
        row.update({"median s": percentile(rest, 50), "worst s": max(rest, default=math.nan)})
        row["most travel mm"] = 1e3 * max((float(sample["travelled_m"]) for sample in driven), default=math.nan)
        rows.append(row)
    met = bool(rows) and all(float(sample["rest_s"] or 0.0) <= REST_S for sample in samples)
    return markdown_table(rows, digits={"median s": 2, "worst s": 2, "most travel mm": 0}), met


def teleop_text(figures: Mapping[str, Mapping[str, Any]]) -> Tuple[str, bool]:
    """Return the Markdown of the latencies, and whether every limit is met at the 99th percentile."""
    rows: List[Dict[str, object]] = []
    load, page, pictures = (figures.get(name) for name in ("window", "page", "pictures"))
    latencies = {name: figure for name, figure in figures.items() if "p99_ms" in figure}
    for name, figure in latencies.items():
        limit = LIMITS_MS.get(name)
        row: Dict[str, object] = {"latency": name, "samples": figure["samples"]}
        row.update({f"{key[:-3]} ms": float(figure[key]) for key in ("p50_ms", "p90_ms", "p99_ms", "max_ms")})
        row["p99 below ms"] = limit
        row["met"] = None if limit is None else bool(figure["p99_ms"] < limit)
        rows.append(row)
    missing = [name for name in LIMITS_MS if name not in figures]
    met = not missing and all(row["met"] is not False for row in rows)
    text = markdown_table(rows, digits=dict.fromkeys(rows[0], 1))
    if load:
        is_light = load["cores"] <= MOST_CORES and load["memory_mb"] <= MOST_MB
        text += f"\nThe window with all joints in its table and its log scrolling: {load['cores']:.0%} of a core of"
        text += f" {MOST_CORES:.0%}, {load['memory_mb']:.0f} MB of {MOST_MB:.0f}; {'met' if is_light else 'NOT met'}.\n"
        met = met and is_light
    if page:
        is_light = page["cores"] <= MOST_PAGE_CORES
        text += f"\nWhat serves the page, to one that shows the robot and drives it: {page['cores']:.0%} of a core of"
        text += f" {MOST_PAGE_CORES:.0%}; {'met' if is_light else 'NOT met'}.\n"
        met = met and is_light
    if pictures:
        is_fast = pictures["per_core_s"] >= LEAST_PICTURES
        text += f"\nPictures of the robot, 640 x 480 in software: {pictures['per_core_s']:.0f} a second of one core, of"
        text += f" {LEAST_PICTURES:.0f}; {'met' if is_fast else 'NOT met'}.\n"
        met = met and is_fast
    return text + "".join(f"\nnot measured: {name}\n" for name in missing), met
