# SPDX-License-Identifier: MIT
"""Figures of the phases of a mission: walks, turns and squares, by ground truth and by the robot's odometry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np

from robot_evaluation.errors import DefinitionError
from robot_evaluation.planar import PlanarPath
from shellbot_client.mission import PhaseRecord
from shellbot_client.phases import Turn, Walk


@dataclass(frozen=True)
class WalkMetrics:
    """A straight walk between two settled poses, in the axes of the start pose.

    `along` is the commanded direction, `lateral` is 90 degrees to its left.
    """

    commanded_m: float
    walked_m: float
    lateral_m: float
    max_lateral_m: float
    yaw_change_deg: float
    duration_s: float
    mean_speed_m_s: float
    odometry_m: float
    odometry_lateral_m: float
    distance_error_percent: float
    deviation_percent: float


@dataclass(frozen=True)
class TurnMetrics:
    """A turn on the spot between two settled poses."""

    commanded_deg: float
    turned_deg: float
    drift_m: float
    duration_s: float
    odometry_deg: float
    angle_error_percent: float


@dataclass(frozen=True)
class SquareMetrics:
    """A square of four sides and four corners, from its settled start to its settled end, in the axes of the start."""

    path_m: float
    drift_m: float
    turned_deg: float
    duration_s: float
    odometry_error_m: float
    odometry_error_percent: float
    odometry_error_deg: float


def walk_metrics(record: PhaseRecord, truth: PlanarPath, own: PlanarPath) -> WalkMetrics:
    """Score a straight walk from its settled start to its settled end.

    Parameters
    ----------
    record : PhaseRecord
        Of a phase `Walk`: direction, distance and times.
    truth, own : PlanarPath
        Ground truth and the robot's odometry, covering the phase.

    Returns
    -------
    WalkMetrics
        Errors are in percent of the commanded distance; both are magnitudes.
    """
    phase = record.phase
    if not isinstance(phase, Walk):
        raise DefinitionError(f"phase '{phase.name}' is no walk; score it by its own kind")
    along = np.asarray(phase.direction)
    left = np.array((-along[1], along[0]))
    true_path = truth.between(record.t_start, record.t_end)
    xy = true_path.in_start_axes()
    own_end = own.between(record.t_start, record.t_end).in_start_axes()[-1]
    walked, lateral, moving_s = float(xy[-1] @ along), float(xy[-1] @ left), record.t_stop - record.t_start
    return WalkMetrics(
        commanded_m=phase.distance_m,
        walked_m=walked,
        lateral_m=lateral,
        max_lateral_m=float(np.max(np.abs(xy @ left))),
        yaw_change_deg=float(np.rad2deg(true_path.yaw[-1] - true_path.yaw[0])),
        duration_s=moving_s,
        mean_speed_m_s=walked / moving_s if moving_s > 0.0 else float("nan"),
        odometry_m=float(own_end @ along),
        odometry_lateral_m=float(own_end @ left),
        distance_error_percent=100.0 * abs(walked - phase.distance_m) / phase.distance_m,
        deviation_percent=100.0 * abs(lateral) / phase.distance_m,
    )


def turn_metrics(record: PhaseRecord, truth: PlanarPath, own: PlanarPath) -> TurnMetrics:
    """Score a turn on the spot; parameters as in `walk_metrics`."""
    phase = record.phase
    if not isinstance(phase, Turn):
        raise DefinitionError(f"phase '{phase.name}' is no turn; score it by its own kind")
    true_path = truth.between(record.t_start, record.t_end)
    estimated_path = own.between(record.t_start, record.t_end)
    turned = float(true_path.yaw[-1] - true_path.yaw[0])
    return TurnMetrics(
        commanded_deg=float(np.rad2deg(phase.angle_rad)),
        turned_deg=float(np.rad2deg(turned)),
        drift_m=float(np.linalg.norm(true_path.xy[-1] - true_path.xy[0])),
        duration_s=record.t_stop - record.t_start,
        odometry_deg=float(np.rad2deg(estimated_path.yaw[-1] - estimated_path.yaw[0])),
        angle_error_percent=100.0 * abs(turned - phase.angle_rad) / abs(phase.angle_rad),
    )


def square_metrics(records: Sequence[PhaseRecord], truth: PlanarPath, own: PlanarPath) -> SquareMetrics:
    """Score a square: how far from its start it ends, and how far the odometry is wrong there.

    Parameters
    ----------
    records : sequence of PhaseRecord
        Of the walks and turns of the square.
    truth, own : PlanarPath
        As in `walk_metrics`. The error of the odometry is the distance between both displacements.
    """
    t_start, t_end = records[0].t_start, records[-1].t_end
    true_path, own_path = truth.between(t_start, t_end), own.between(t_start, t_end)
    end, own_end = true_path.in_start_axes()[-1], own_path.in_start_axes()[-1]
    path_m = sum(record.phase.amount for record in records if isinstance(record.phase, Walk))
    turned = float(np.rad2deg(true_path.yaw[-1] - true_path.yaw[0]))
    error = float(np.linalg.norm(own_end - end))
    return SquareMetrics(
        path_m=path_m,
        drift_m=float(np.linalg.norm(end)),
        turned_deg=turned,
        duration_s=t_end - t_start,
        odometry_error_m=error,
        odometry_error_percent=100.0 * error / path_m,
        odometry_error_deg=abs(float(np.rad2deg(own_path.yaw[-1] - own_path.yaw[0])) - turned),
    )
