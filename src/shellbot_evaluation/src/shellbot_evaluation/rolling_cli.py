# SPDX-License-Identifier: MIT
"""Command lines of scripts/experiment roll and scripts/experiment right."""

from __future__ import annotations

from .rolling_experiment import UPRIGHT_S, conditions, right, roll
from .seeded_runs import SeededRuns, at_least, at_most

_DRAWS = (
    " Each seed draws the attitude in which the closed ball is put down, friction 0.5 to 1, the direction, and errors "
    "of the joints' zeros of 1 deg standard deviation; the robot knows its own odometry only."
)
_NOT_RUNNING = (
    "puts the ball down in an attitude drawn by the seed, which a robot over ROS cannot do; leave --running out, or "
    "give course or mission with it: there the robot closes, rolls and rises on its own"
)
ROLL = SeededRuns(
    name="roll",
    what="5 m, a corner, slowly, to a point, round a square and 10 s of rest each",
    description="Rolls as a ball with the whole chain in one process: 5 m from rest, round a corner of 90 deg at "
    "speed, slowly at 0.2 m/s, to a point 3 m away, round a square of 1.5 m with stops; at last it rests for 10 s."
    + _DRAWS,
    columns={
        "seed": "seed",
        "friction": "friction",
        "speed_m_s": "5 m from rest / m/s",
        "start_s": "first 15 cm / s",
        "heading_error_deg": "heading error / deg",
        "turn_s": "corner / s",
        "stop_m": "stops in / m",
        "slow_m_s": "slowly / m/s",
        "point_s": "point / s",
        "point_error_m": "point error / m",
        "square_s": "square / s",
        "square_error_m": "square error / m",
        "odometry_error_pct": "odometry error / %",
        "cost": "cost of transport",
        "clamped_s": "torque limit / s",
        "limited_joints": "joints at it",
        "hold_m": "creeps in 10 s / m",
        "hold_odometry_m": "odometry of that wrong by / m",
        "message": "last message",
    },
    digits={
        **dict.fromkeys(("friction", "speed_m_s", "stop_m", "slow_m_s", "point_error_m", "square_error_m", "cost"), 2),
        **dict.fromkeys(("turn_s", "start_s", "clamped_s"), 2),
        **dict.fromkeys(("hold_m", "hold_odometry_m"), 3),
        "odometry_error_pct": 2,
    },
    goals={
        "speed_m_s": at_least(0.8),
        "heading_error_deg": at_most(10.0),
        "turn_s": at_most(2.0),
        "slow_m_s": (0.16, 0.24),
        "point_s": at_most(10.0),
        "point_error_m": at_most(0.10),
        "square_error_m": at_most(0.20),
        "hold_m": at_most(0.02),
        "hold_odometry_m": at_most(0.01),
        "odometry_error_pct": at_most(2.0),
    },
    conditions=conditions,
    execute=roll,
    duration=lambda row: row.get("point_s", float("nan")),
    done="At the point within 10 cm",
    is_varied=True,
    not_running=_NOT_RUNNING,
)
RIGHT = SeededRuns(
    name="right",
    what="a righting each",
    description="Rolls a ball upright, opens it and stands up, with the whole chain in one process." + _DRAWS,
    columns={
        "seed": "seed",
        "friction": "friction",
        "tilt_deg": "lies tilted by / deg",
        "upright_s": "upright / s",
        "tries": "tries",
        "stands_s": "stands / s",
        "message": "last message",
    },
    digits={"friction": 2, "tilt_deg": 0, "tries": 0},
    goals={"upright_s": at_most(UPRIGHT_S), "stands_s": at_most(32.0)},
    conditions=conditions,
    execute=right,
    duration=lambda row: row["upright_s"],
    done="Upright, and then standing (times: until upright)",
    is_varied=True,
    not_running=_NOT_RUNNING,
)
