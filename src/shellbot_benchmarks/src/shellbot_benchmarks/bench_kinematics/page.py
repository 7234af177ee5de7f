# SPDX-License-Identifier: MIT
"""The figures as Markdown, and the cost per joint as a picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Dict, List, Mapping, Sequence

from robot_evaluation.tables import markdown_table

from .figures import Goal, Rounds, median_best

# what is timed: heading, then (library, case) in the order of the columns
ROWS = {
    "pose (FK) of the leg": "leg_fk",
    "Jacobian of the leg": "leg_jacobian",
    "pose (FK) of UR5": "arm_fk",
    "Jacobian of UR5": "arm_jacobian",
    "one foot, closed form, W": "closed_w",
    "one foot, closed form, F": "closed_f",
    "one foot within the limits, closed form": "closed_inside",
    "lower sphere centre, closed form": "closed_sphere",
    "upper sphere centre": "closed_upper",
    "upper sphere centre, solver": "upper_solver",
    "one foot, general LM, W": "lm_w",
    "one foot, general LM, F": "lm_f",
    "one foot within the limits, general LM": "lm_inside_limits",
    "the same LM inside jitted code, W": "lm_inside",
    "UR5, full pose": "arm_pose",
    "UR5, full pose, closed form": "arm_closed",
    "UR5, orientation alone": "arm_orientation",
    "CLIK tick, six legs": "clik_tick",
    "all limbs, 36 joints": "limbs36",
    "the solver's tick": "solver_tick",
}
COLUMNS = {
    "ours": "ours/", "newest numba": "ours_newest/", "Pinocchio, EAIK": "pin/", "Robotics Toolbox": "rtb/",
    "KDL": "system/kdl_", "MuJoCo": "system/mujoco_", "placo": "placo/", "TRAC-IK": "tracik/",
}  # fmt: skip
BATCHES = {
    "closed form, (3, N), one core": "batch_soa_1",
    "closed form, (3, N), two cores": "batch_soa_2",
    "closed form, (N, 3), one core": "batch_rows_1",
    "closed form, (N, 3), two cores": "batch_rows_2",
    "LM to 1e-6 m, W, one core": "batch_lm_w_1",
    "LM to 1e-6 m, W, two cores": "batch_lm_w_2",
    "LM to 1e-6 m, F, one core": "batch_lm_f_1",
    "LM to 1e-6 m, F, two cores": "batch_lm_f_2",
}


def page_text(
    rounds: Rounds, facts: Mapping[str, Mapping[str, Any]], cpp: Mapping[str, float], goals: Sequence[Goal],
    notes: Sequence[str], versions: Mapping[str, Mapping[str, str]],
) -> str:  # fmt: skip
    """Return goals, times, batches and notes as Markdown."""
    met = [goal for goal in goals if goal.met]
    text = f"{len(met)} of {len(goals)} figures met"
    missing = sum(goal.met is None for goal in goals)
    text += f", {missing} not measured.\n\n" if missing else ".\n\n"
    text += markdown_table([_goal_row(goal) for goal in goals])
    text += "\nµs per call, median [best round]; then in brackets the fraction of targets met, if not all:\n\n"
    text += markdown_table(
        [row for row in (_time_row(rounds, facts, *item) for item in ROWS.items()) if len(row) > 1], _heads(rounds)
    )
    if cpp:
        text += "\nPinocchio in C++, without Python: " + ", ".join(
            f"{label} {1e-3 * cpp[key]:.2f} µs"
            for key, label in (
                ("fk", "pose"),
                ("fk_jacobian", "pose and Jacobian"),
                ("lm", "LM"),
                ("clik_tick", "CLIK tick"),
            )
        )
        text += ".\n"
    rows: List[Dict[str, object]] = []
    for title, case in BATCHES.items():
        row: Dict[str, object] = {"batch of 100,000": title}
        for head in ("ours", "newest numba"):
            middle, best = median_best(rounds.get(COLUMNS[head] + case, ()))
            row[f"{head}, million per second"] = "–" if math.isnan(middle) else f"{1 / middle:.1f} [{1 / best:.1f}]"
        rows.append(row)
    text += "\n" + markdown_table(rows)
    text += "".join(f"\n{note}\n" for note in notes)
    listed = "; ".join(
        f"{name}: " + ", ".join(f"{k} {v}" for k, v in found.items()) for name, found in versions.items()
    )
    return text + f"\nVersions: {listed}.\n"


def cost_picture(per_n: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Draw µs of pose and Jacobian over the number of joints, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    joints = sorted(int(n) for n in per_n)
    figure, axes = pyplot.subplots(figsize=(6, 4))
    for key, label in (("fk_us", "pose"), ("jacobian_us", "Jacobian")):
        axes.loglog(joints, [per_n[str(n)][key] for n in joints], "o-", label=label)
    first = per_n[str(joints[-1])]["fk_us"] / joints[-1]
    axes.loglog(joints, [first * n for n in joints], ":", color="grey", label="proportional")
    axes.set(xlabel="joints", ylabel="µs per call", title="Cost of a chain's kernels")
    axes.legend()
    axes.grid(True, which="both", alpha=0.3)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _goal_row(goal: Goal) -> Dict[str, object]:
    value = (
        "–"
        if math.isnan(goal.measured)
        else f"{goal.measured:.3g}"
        if abs(goal.measured) < 1000
        else f"{goal.measured:,.0f}"
    )
    verdict = "not measured" if goal.met is None else "yes" if goal.met else "**no**"
    return {"figure": goal.name, "required": f"{goal.required} {goal.unit}".strip(), "measured": value, "met": verdict}


def _heads(rounds: Rounds) -> Dict[str, str]:
    used = [head for head, prefix in COLUMNS.items() if any(key.startswith(prefix) for key in rounds)]
    return {"what": "what", **{head: head for head in used}}


def _time_row(rounds: Rounds, facts: Mapping[str, Mapping[str, Any]], title: str, case: str) -> Dict[str, object]:
    row: Dict[str, object] = {"what": title}
    for head, prefix in COLUMNS.items():
        middle, best = median_best(rounds.get(prefix + case, ()))
        if math.isnan(middle):
            continue
        digits = 2 if middle < 10 else 1 if middle < 100 else 0
        row[head] = f"{middle:.{digits}f} [{best:.{digits}f}]"
        found = facts.get(prefix + case, {})
        if "success" in found and found["success"] < found["of"]:
            row[head] = f"{row[head]} ({100.0 * found['success'] / found['of']:.1f} %)"
    return row
