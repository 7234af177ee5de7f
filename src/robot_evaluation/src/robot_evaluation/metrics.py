# SPDX-License-Identifier: MIT
"""Figures of one run from its trace: body, joints, work, cost of transport, speed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Dict

import numpy as np

from shellbot_common import TICK
from shellbot_common.rotations import tilt_from_quaternion
from shellbot_simulator.core.state import SimState

from .errors import DefinitionError
from .trace import Trace

GRAVITY = 9.81  # m/s^2
_MOVED_M = 0.05  # below which there is no cost of transport


@dataclass(frozen=True)
class BodyMetrics:
    """How body, feet and joints fared during a window of a run."""

    height_mean_m: float
    height_band_mm: float
    height_deviation_mm: float
    max_tilt_deg: float
    lowest_foot_mm: float
    joint_limit_excess_deg: float
    joint_limit_worst: str
    joint_limit_margin_deg: float
    peak_effort_fraction: float
    torque_nm: float
    power_w: float
    cost_of_transport: float


def body_metrics(
    trace: Trace, lower: np.ndarray, upper: np.ndarray, effort_limit: np.ndarray, mass_kg: float
) -> BodyMetrics:
    """Score body height, feet, joint limits and effort over a window.

    Parameters
    ----------
    trace : Trace
        The window; its first row gives the height that deviations refer to.
    lower, upper : (n,) array
        Joint limits, rad.
    effort_limit : (n,) array
        Stall torque at the joint, N m; `peak_effort_fraction` is of it, in any physics step.
    mass_kg : float
        Mass of the robot, kg.

    Returns
    -------
    BodyMetrics
        `torque_nm` is the root of the sum of squared torques of all joints, `power_w` the sum of |torque x speed|, both
        mean over the window: standing takes no mechanical power, but torque, which is heat.
        The cost of transport is the sum of |torque x speed| over m g d (mechanical work at the joints, both signs,
        no losses), NaN where the robot moved less than 5 cm.
    """
    z = trace.p_world_base[:, 2]
    excess = np.maximum(lower - trace.joint_position, trace.joint_position - upper)  # (m, n) rad, negative inside
    per_joint = excess.max(axis=0)
    worst = int(np.argmax(per_joint))
    effort = np.abs(trace.step_effort) / effort_limit
    return BodyMetrics(
        height_mean_m=float(z.mean()),
        height_band_mm=1e3 * float(z.max() - z.min()),
        height_deviation_mm=1e3 * float(max(z.max() - z[0], z[0] - z.min())),
        max_tilt_deg=float(np.rad2deg(tilt_from_quaternion(trace.q_world_base).max())),
        lowest_foot_mm=1e3 * float(trace.lowest_foot_z.min()),
        joint_limit_excess_deg=max(0.0, float(np.rad2deg(per_joint[worst]))),
        joint_limit_worst=trace.joint_names[worst],
        joint_limit_margin_deg=float(np.rad2deg(-per_joint[worst])),
        peak_effort_fraction=float(effort.max()),
        torque_nm=float(total_torque(trace).mean()),
        power_w=float(mechanical_power(trace).mean()),
        cost_of_transport=cost_of_transport(trace, mass_kg, mechanical_power(trace)),
    )


def total_torque(trace: Trace) -> np.ndarray:
    """Return the root of the sum of squared torques of all joints, mean of each tick, (m,) N m: its square is heat."""
    return np.sqrt(np.sum(trace.step_effort**2, axis=2).mean(axis=1))


def mechanical_power(trace: Trace) -> np.ndarray:
    """Return the sum of |torque x speed| over the joints, mean of the physics steps of each tick, (m,) W."""
    return np.sum(np.abs(trace.step_effort * trace.step_velocity), axis=2).mean(axis=1)


def tick_work(state: SimState) -> float:
    """Return the mechanical work of the joints in the last tick, J, as `mechanical_power` counts it."""
    return float(np.sum(np.abs(state.step_effort * state.step_velocity))) * TICK / len(state.step_effort)


def work_of(trace: Trace, power: np.ndarray) -> float:
    """Return the work, J, of a power (m,) W, the mean of the tick before each row."""
    return float(np.sum(power[1:] * np.diff(trace.t)))


def cost_of_transport(trace: Trace, mass_kg: float, power: np.ndarray) -> float:
    """Return the work of a power (m,) W, as `work_of`, over m g d; NaN for less than 5 cm."""
    return cost_of_work(work_of(trace, power), mass_kg, path_length(trace))


def cost_of_work(work_j: float, mass_kg: float, distance_m: float) -> float:
    """Return work_j over m g d, of mass_kg and distance_m; NaN for less than 5 cm."""
    return work_j / (mass_kg * GRAVITY * distance_m) if distance_m >= _MOVED_M else math.nan


def path_length(trace: Trace) -> float:
    """Return the length of the true path of the body, m, without its sway within a step."""
    return xy_length(trace.p_world_base[:, :2])


def xy_length(xy: np.ndarray) -> float:
    """Return the length of a path (m, 2) of one place a tick, m, as `path_length`."""
    slow = np.vstack((xy[::25], xy[-1:]))  # a quarter of a second apart: sway within a step adds nothing
    return float(np.sum(np.linalg.norm(np.diff(slow, axis=0), axis=1)))


def speed_metrics(trace: Trace, window_s: float) -> Dict[str, float]:
    """Greatest mean ground-truth speed over any stretch of `window_s` seconds.

    Returns
    -------
    dict
        speed_m_s, and at_s (start of the stretch).

    Raises
    ------
    DefinitionError
        If the trace is shorter than the window.
    """
    rows = int(round(window_s / float(np.median(np.diff(trace.t)))))
    if rows < 1 or rows >= trace.t.size:
        raise DefinitionError(
            f"a window of {window_s} s does not fit the run of {trace.t[-1] - trace.t[0]:.2f} s; run longer"
        )
    p = trace.p_world_base[:, :2]
    speed = np.linalg.norm(p[rows:] - p[:-rows], axis=1) / (trace.t[rows:] - trace.t[:-rows])
    best = int(np.argmax(speed))
    return {"speed_m_s": float(speed[best]), "at_s": float(trace.t[best])}


def as_row(*parts: object) -> Dict[str, object]:
    """Flatten metric dataclasses and dicts into one row of a table, in the order given."""
    row: Dict[str, object] = {}
    for part in parts:
        row.update(part if isinstance(part, dict) else asdict(part))  # type: ignore[call-overload]
    return row
