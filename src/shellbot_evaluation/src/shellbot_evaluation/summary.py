# SPDX-License-Identifier: MIT
"""The demo's summary: scored phases as summary.json and as a table for people."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from robot_evaluation.planar import PlanarPath
from robot_evaluation.tables import markdown_table
from shellbot_client.mission import PhaseRecord
from shellbot_client.phases import Pose, Turn, Walk

from .phase_metrics import turn_metrics, walk_metrics

TOUR = ("forward", "sideways", "turn", "tilt")
PART_COLUMNS = {
    "name": "part",
    "start_s": "starts at / s",
    "duration_s": "takes / s",
    "own_error_m": "from the aim, own / m",
    "true_error_m": "from the aim, true / m",
}
COLUMNS = {
    "motion": "motion",
    "commanded": "commanded",
    "odometry": "robot's odometry",
    "truth": "ground truth",
    "sideways": "off the line",
    "seconds": "seconds",
}


def score_phases(records: Sequence[PhaseRecord], truth: PlanarPath, own: PlanarPath) -> Dict[str, Dict[str, float]]:
    """Score every finished walk and turn.

    Returns
    -------
    dict
        Phase name to: commanded_m, walked_m, lateral_m for walks; commanded_deg, turned_deg for turns; and for both the
        odometry's figure and the seconds it took (simulated).
    """
    scores: Dict[str, Dict[str, float]] = {}
    for record in records:
        if isinstance(record.phase, Walk):
            w = walk_metrics(record, truth, own)
            scores[record.phase.name] = {
                "commanded_m": w.commanded_m,
                "walked_m": w.walked_m,
                "lateral_m": w.lateral_m,
                "odometry_m": w.odometry_m,
                "yaw_change_deg": w.yaw_change_deg,
                "duration_s": w.duration_s,
            }
        elif isinstance(record.phase, Turn):
            t = turn_metrics(record, truth, own)
            scores[record.phase.name] = {
                "commanded_deg": t.commanded_deg,
                "turned_deg": t.turned_deg,
                "odometry_deg": t.odometry_deg,
                "drift_m": t.drift_m,
                "duration_s": t.duration_s,
            }
    return scores


def score_tilt(record: PhaseRecord, t: np.ndarray, tilt_rad: np.ndarray) -> Dict[str, float]:
    """Compare a commanded body tilt with the ground truth at the end of the phase.

    Parameters
    ----------
    record : PhaseRecord
        Of a phase `Pose`.
    t, tilt_rad : (m,) array
        Angle between the body's and the world's z axis over time, s, rad.
    """
    roll, pitch = record.phase.body_pose[3:5] if isinstance(record.phase, Pose) else (0.0, 0.0)
    commanded = math.acos(math.cos(roll) * math.cos(pitch))
    return {
        "commanded_deg": math.degrees(commanded),
        "tilted_deg": math.degrees(float(np.interp(record.t_end, t, tilt_rad))),
        "duration_s": record.t_end - record.t_start,
    }


def make_summary(
    scores: Dict[str, Dict[str, float]],
    real_time_factor: float,
    start_s: float,
    success: bool,
    message: str,
    pictures: Sequence[str],
    warnings: Sequence[str],
    names: Sequence[str] = TOUR,
) -> Dict[str, Any]:
    """Return the content of summary.json; a phase that was not reached is null.

    Parameters
    ----------
    scores : dict
        From `score_phases`, with the tilt added under its phase's name; of a mission from `score_parts`.
    real_time_factor : float
        Simulated over wall seconds from standing to the end.
    start_s : float
        Wall seconds from the start of the launch to standing.
    success, message
        Whether every phase was done, and one sentence.
    pictures, warnings : sequence of str
        File names, and what did not work without being a failure.
    names : sequence of str
        Phases to tell of.
    """
    phases: Dict[str, Optional[Dict[str, float]]] = {name: scores.get(name) for name in names}
    return {
        **phases,
        "real_time_factor": real_time_factor,
        "start_s": start_s,
        "success": success,
        "message": message,
        "pictures": list(pictures),
        "warnings": list(warnings),
    }


def summary_table(summary: Dict[str, Any]) -> str:
    """Return the table that the tour prints."""
    return _with_end(markdown_table(_tour_rows(summary), COLUMNS), summary)


def mission_table(summary: Dict[str, Any], names: Sequence[str]) -> str:
    """Return the table that the mission prints: a line for each part, empty if it was not reached."""
    rows = [summary[name] or {"name": name} for name in names]
    return _with_end(markdown_table(rows, PART_COLUMNS, {"start_s": 1, "duration_s": 1}), summary)


def _tour_rows(summary: Dict[str, Any]) -> List[Dict[str, object]]:
    rows: List[Dict[str, object]] = []
    for name in ("forward", "sideways"):
        s = summary[name]
        rows.append(
            {"motion": name}
            if s is None
            else {
                "motion": name,
                "commanded": f"{s['commanded_m']:.3f} m",
                "odometry": f"{s['odometry_m']:.3f} m",
                "truth": f"{s['walked_m']:.3f} m",
                "sideways": f"{round(1e3 * s['lateral_m'], 0) + 0.0:+.0f} mm",
                "seconds": f"{s['duration_s']:.1f}",
            }
        )
    s = summary["turn"]
    rows.append(
        {"motion": "turn"}
        if s is None
        else {
            "motion": "turn",
            "commanded": f"{s['commanded_deg']:.1f} deg",
            "odometry": f"{s['odometry_deg']:.1f} deg",
            "truth": f"{s['turned_deg']:.1f} deg",
            "sideways": f"{1e3 * s['drift_m']:.0f} mm",
            "seconds": f"{s['duration_s']:.1f}",
        }
    )
    s = summary["tilt"]
    rows.append(
        {"motion": "tilt"}
        if s is None
        else {
            "motion": "tilt",
            "commanded": f"{s['commanded_deg']:.1f} deg",
            "truth": f"{s['tilted_deg']:.1f} deg",
            "seconds": f"{s['duration_s']:.1f}",
        }
    )
    return rows


def _with_end(table: str, summary: Dict[str, Any]) -> str:
    lines = [table]
    if math.isfinite(summary["start_s"]):
        lines.append(
            f"standing {summary['start_s']:.1f} s after the start; real-time factor"
            f" {summary['real_time_factor']:.2f}; pictures: {len(summary['pictures'])}"
        )
    lines += [f"warning: {warning}" for warning in summary["warnings"]]
    lines.append(("done: " if summary["success"] else "FAILED: ") + summary["message"])
    return "\n".join(lines) + "\n"
