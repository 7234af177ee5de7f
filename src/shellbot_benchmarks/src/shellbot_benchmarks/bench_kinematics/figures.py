# SPDX-License-Identifier: MIT
"""From rounds of microseconds to medians, in-round ratios, and goals that are met or not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

Rounds = Mapping[str, Sequence[Optional[float]]]  # "environment/case" to us per operation, one a round, None: failed

LEG_FLOPS, LEG_DIVISIONS, LEG_ROOTS, LEG_BYTES = 143.0, 3.0, 2.0, 48.0  # closed form of a leg, as the study counted
OWN_FLOPS = 158.0  # of the library's kernels: 23 to the leg's plane, 30 in it, 105 for its three angles
SEED_US = 24_800.0  # the first report's library, to 1e-6 m


@dataclass(frozen=True)
class Goal:
    """One required figure, and what was measured."""

    name: str
    required: str
    measured: float
    met: Optional[bool]  # None: not measured
    unit: str = "×"


def median_best(values: Sequence[Optional[float]]) -> Tuple[float, float]:
    """Return median and least of what was measured; nan if nothing was."""
    known = [value for value in values if value is not None]
    return (float(np.median(known)), float(min(known))) if known else (math.nan, math.nan)


def in_round_ratio(rounds: Rounds, above: str, below: str) -> float:
    """Return the median over the rounds of above / below, each pair of the same round; nan if there is none."""
    pairs = zip(rounds.get(above, ()), rounds.get(below, ()))
    ratios = [a / b for a, b in pairs if a is not None and b is not None and b > 0.0]
    return float(np.median(ratios)) if ratios else math.nan


def best_peer(rounds: Rounds, keys: Sequence[str]) -> Optional[str]:
    """Return which of the keys has the least median."""
    known = [(median_best(rounds[key])[0], key) for key in keys if key in rounds]
    known = [(value, key) for value, key in known if math.isfinite(value)]
    return min(known)[1] if known else None


def bounds_us(rounds: Rounds) -> Tuple[float, float, float]:
    """Return the least us of a leg's closed form on one core by multiply-adds, by divider, and by memory."""
    at = {
        name: median_best(rounds.get(f"ours/{name}", ()))[1] for name in ("peak_flop", "divide", "root", "byte_copied")
    }
    return (
        LEG_FLOPS * at["peak_flop"],
        LEG_DIVISIONS * at["divide"] + LEG_ROOTS * at["root"],
        LEG_BYTES * at["byte_copied"],
    )


def roofline_us(rounds: Rounds) -> float:
    """Return the least us of a leg's closed form on one core: the slowest of arithmetic, division and memory."""
    return max(bounds_us(rounds))


def roofline_note(rounds: Rounds) -> str:
    """Return what bounds a leg's closed form, and what two cores of the machine give."""
    flops, divider, memory = (1e3 * value for value in bounds_us(rounds))
    flop_gain = in_round_ratio(rounds, "ours/peak_flop_1_wall", "ours/peak_flop_2")
    copy_gain = in_round_ratio(rounds, "ours/byte_copied_1_wall", "ours/byte_copied_2")
    return (
        f"Least time of a leg of a batch on one core: {flops:.2f} ns by its {LEG_FLOPS:.0f} operations (the study's "
        f"count; our formula spends {OWN_FLOPS:.0f} to spare comparisons, which is not counted in our favour), "
        f"{divider:.2f} ns by its {LEG_DIVISIONS:.0f} divisions and {LEG_ROOTS:.0f} roots, {memory:.2f} ns by memory. "
        f"Two cores of this machine in the same rounds: multiply-adds {flop_gain:.2f}×, copies {copy_gain:.2f}×."
    )


def ratios_of(rounds: Rounds, cpp: Mapping[str, float]) -> Dict[str, float]:
    """Return the ratios, peer / ours; nan where something was not measured."""

    def against_cpp(name: str, ours: str) -> float:
        value = median_best(rounds.get(ours, ()))[1]  # the C++ figure is its best of five rounds
        return 1e-3 * cpp[name] / value if name in cpp else math.nan

    inside = ["rtb/arm_pose", "system/kdl_arm_pose", "tracik/arm_pose"]
    legs = ["pin/leg_fk", "rtb/leg_fk", "system/kdl_leg_fk", "system/mujoco_leg_fk"]
    return {
        "closed_form_vs_eaik": in_round_ratio(rounds, "pin/closed_w", "ours/closed_w"),
        "closed_form_vs_rtb": in_round_ratio(rounds, "rtb/lm_w", "ours/closed_w"),
        "lm_vs_rtb": in_round_ratio(rounds, "rtb/lm_w", "ours/lm_w"),
        "lm_6dof_vs_best_peer": _best_ratio(rounds, inside, "ours/arm_pose"),
        "lm_inside_vs_pinocchio_cpp": against_cpp("lm", "ours/lm_inside"),
        "clik_tick_vs_placo": in_round_ratio(rounds, "placo/clik_tick", "ours/clik_tick"),
        "clik_tick_vs_pinocchio_cpp": against_cpp("clik_tick", "ours/clik_tick"),
        "fk_vs_best_peer": _best_ratio(rounds, legs, "ours/leg_fk"),
        "batch_roofline_fraction": roofline_us(rounds) / median_best(rounds.get("ours/batch_soa_1", ()))[1],
        "batch_2_core_speedup": in_round_ratio(rounds, "ours/batch_soa_1_wall", "ours/batch_soa_2"),
    }


def goals_of(
    rounds: Rounds, facts: Mapping[str, Mapping[str, Any]], cpp: Mapping[str, float], startup: Mapping[str, float]
) -> List[Goal]:
    """Return every required figure, with what was measured."""
    ratios, goals = ratios_of(rounds, cpp), []

    def least(name: str, value: float, limit: float, unit: str = "×") -> None:
        goals.append(Goal(name, f"≥ {limit:g}", value, None if math.isnan(value) else value >= limit, unit))

    def most(name: str, value: float, limit: float, unit: str) -> None:
        goals.append(Goal(name, f"≤ {limit:g}", value, None if math.isnan(value) else value <= limit, unit))

    def us(case: str) -> float:
        return median_best(rounds.get(f"ours/{case}", ()))[0]

    def fact(case: str, key: str) -> float:
        return float(facts.get(f"ours/{case}", {}).get(key, math.nan))

    most("one foot, closed form", us("closed_w"), 0.6, "µs")
    least("one foot, closed form, beside EAIK", ratios["closed_form_vs_eaik"], 5)
    least("… beside Robotics Toolbox 1.1.0", ratios["closed_form_vs_rtb"], 15)
    least("… beside KDL (LMA)", in_round_ratio(rounds, "system/kdl_lm_w", "ours/closed_w"), 60)
    for case, text in (
        ("closed_w", "closed form, set W"),
        ("closed_f", "closed form, set F"),
        ("lm_w", "LM, set W"),
        ("lm_f", "LM, set F"),
    ):
        least(f"targets met of 10,000: {text}", fact(case, "success"), 10_000, "")
    most("general LM, one call", us("lm_w"), 1.6, "µs")
    least("general LM beside Robotics Toolbox 1.1.0", ratios["lm_vs_rtb"], 5)
    least("general LM beside KDL (LMA)", in_round_ratio(rounds, "system/kdl_lm_w", "ours/lm_w"), 25)
    least("general LM inside, beside Pinocchio in C++", ratios["lm_inside_vs_pinocchio_cpp"], 5)
    most("LM steps to 1e-6 m, set W, mean", fact("lm_w", "iterations"), 5.0, "")
    most("LM steps to 1e-6 m, set W, 95th percentile", fact("lm_w", "iterations_p95"), 6.0, "")
    least("fraction within 1 % after 4 steps", fact("lm_w", "within_1_percent_after_4"), 0.95, "")
    most("LM steps a leg on the gait", fact("lm_w", "iterations_gait"), 2.0, "")
    least("CLIK tick of six legs beside placo", ratios["clik_tick_vs_placo"], 20)
    least("… beside Pinocchio and numpy", in_round_ratio(rounds, "pin/clik_tick", "ours/clik_tick"), 100)
    least("… beside Pinocchio in C++", ratios["clik_tick_vs_pinocchio_cpp"], 3.5)
    least("closed-form batch, fraction of the roofline", ratios["batch_roofline_fraction"], 0.4, "")
    least("closed-form batch (3, N), one core", 1.0 / median_best(rounds.get("ours/batch_soa_1", ()))[0], 165, "M/s")
    least("closed-form batch (N, 3), one core", 1.0 / median_best(rounds.get("ours/batch_rows_1", ()))[0], 100, "M/s")
    least("closed-form batch on two cores", ratios["batch_2_core_speedup"], 1.8)
    least("closed-form batch beside the EAIK loop", in_round_ratio(rounds, "pin/closed_w", "ours/batch_soa_1"), 400)
    least("LM batch, one core, set W", 1.0 / median_best(rounds.get("ours/batch_lm_w_1", ()))[0], 6, "M/s")
    least("LM batch beside Robotics Toolbox 1.1.0", in_round_ratio(rounds, "rtb/lm_w", "ours/batch_lm_w_1"), 50)
    least(
        "LM batch beside Pinocchio in C++",
        1e-3 * cpp.get("lm", math.nan) / median_best(rounds.get("ours/batch_lm_w_1", ()))[1],
        15,
    )
    least("targets met of 10,000: LM batch, set F", fact("batch_lm_f_1", "success"), 9_999, "")
    least("pose (FK) of the leg beside the fastest peer", ratios["fk_vs_best_peer"], 1.2)
    jacobians = ["pin/leg_jacobian", "rtb/leg_jacobian", "system/kdl_leg_jacobian"]
    least("Jacobian of the leg beside the fastest peer", _best_ratio(rounds, jacobians, "ours/leg_jacobian"), 1.3)
    least("pose (FK) of a 6-DoF arm beside Pinocchio", in_round_ratio(rounds, "pin/arm_fk", "ours/arm_fk"), 1.0)
    least(
        "Jacobian of a 6-DoF arm beside Pinocchio", in_round_ratio(rounds, "pin/arm_jacobian", "ours/arm_jacobian"), 1.0
    )
    least("full pose of a 6-DoF arm beside the fastest iterative peer", ratios["lm_6dof_vs_best_peer"], 3)
    least(
        "orientation rows alone, beside Robotics Toolbox",
        in_round_ratio(rounds, "rtb/arm_orientation", "ours/arm_orientation"),
        3,
    )
    least("targets inside the limits met, limits on, LM", fact("lm_inside_limits", "success"), 10_000, "")
    least("targets inside the limits met, limits on, closed form", fact("closed_inside", "success"), 10_000, "")
    least("general LM beside the first report's library (24.8 ms)", SEED_US / us("lm_w"), 10_000)
    least("closed form beside the first report's library", SEED_US / us("closed_w"), 20_000)
    most("36 joints, closed form, median", fact("limbs36", "p50_us"), 1.0, "µs")
    most("36 joints, closed form, 99th percentile", fact("limbs36", "p99_us"), 3.0, "µs")
    most("the node's tick without ROS, 99th percentile", fact("solver_tick", "p99_us"), 60.0, "µs")
    most("fresh process to the first solution, warm cache", startup.get("warm_s", math.nan), 0.6, "s")
    most("fresh process to the first solution, cold", startup.get("cold_s", math.nan), 6.0, "s")
    most("compiling any kernel of a six-joint arm, processor time", startup.get("kernel_cpu_s", math.nan), 3.0, "s")
    return goals


def _best_ratio(rounds: Rounds, peers: Sequence[str], ours: str) -> float:
    peer = best_peer(rounds, peers)
    return math.nan if peer is None else in_round_ratio(rounds, peer, ours)
