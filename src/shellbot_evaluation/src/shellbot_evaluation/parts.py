# SPDX-License-Identifier: MIT
"""Parts of a mission, scored: when each began, how long it took, and how far from its aim it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Sequence

import numpy as np

from robot_evaluation.planar import PlanarPath, displacement_in_start_axes
from shellbot_client.mission import PhaseRecord


@dataclass(frozen=True)
class Part:
    """One phase. A transformation aims at staying where it begins."""

    name: str
    start_s: float  #: Simulated time
    duration_s: float
    own_error_m: float  #: Distance from the aim at its end, by the robot's odometry
    true_error_m: float  #: By ground truth; the aim counts from the true place at the start of this part
    odometry_error_m: float  #: Between the displacements of odometry and ground truth
    path_m: float  #: True length of the way


def score_parts(records: Sequence[PhaseRecord], truth: PlanarPath, own: PlanarPath) -> List[Part]:
    """Score every phase after the first one, which stands up.

    Parameters
    ----------
    records : sequence of PhaseRecord
        From standing up on: at its end the axes of odom and of the world are compared, since a ball has no yaw.
    truth, own : PlanarPath
        Ground truth and the robot's odometry, covering all records.
    """
    if len(records) < 2:
        return []
    turn = float((own.at(records[0].t_end) - truth.at(records[0].t_end))[2])
    parts = []
    for record in records[1:]:
        begin, end = own.at(record.t_start)[:2], own.at(record.t_end)[:2]
        x, y, yaw = own.at(record.t_start).tolist()
        aim = np.array(record.phase.aim((x, y, yaw)))
        driven = truth.between(record.t_start, record.t_end)
        moved = displacement_in_start_axes(driven.xy[-1] - driven.xy[0], -turn)  # in odom's axes
        parts.append(
            Part(
                record.phase.name,
                record.t_start,
                record.t_end - record.t_start,
                float(np.linalg.norm(end - aim)),
                float(np.linalg.norm(moved - (aim - begin))),
                float(np.linalg.norm(moved - (end - begin))),
                float(np.linalg.norm(np.diff(driven.xy, axis=0), axis=1).sum()),
            )
        )
    return parts
