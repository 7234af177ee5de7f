# SPDX-License-Identifier: MIT
"""What happened during a run, one row a tick, as plain arrays; and its files."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, Dict, List, Sequence, Tuple, Union

import numpy as np

from shellbot_common.rotations import yaw_from_quaternion

from .errors import EvaluationError
from .planar import PlanarPath


@dataclass(frozen=True)
class Trace:
    """One run of m ticks of a robot with n joints and f feet, any robot."""

    t: np.ndarray  #: (m,) Simulated time, s
    p_world_base: np.ndarray  #: (m, 3) Ground truth position of base_link, m
    q_world_base: np.ndarray  #: (m, 4) Ground truth orientation of base_link, x, y, z, w
    yaw_world_base: np.ndarray  #: (m,) Ground truth heading without jumps, rad
    #: (m, 3) The robot's own estimate: x, y in m and yaw without jumps in rad; NaN before the first estimate
    odom: np.ndarray
    #: joint_position, joint_velocity, joint_effort: (m, n) Measured joints; rad, rad/s, N m
    joint_position: np.ndarray
    joint_velocity: np.ndarray
    joint_effort: np.ndarray
    #: step_effort, step_velocity: (m, s, n) Torque (N m) and joint speed (rad/s) in each of s physics steps of the tick
    #: before each row, for power and greatest torques; of a recording that has samples alone, these, s = 1
    step_effort: np.ndarray
    step_velocity: np.ndarray
    joint_target: np.ndarray  #: (m, n) Command applied in that tick, rad
    #: contact_truth, contact_estimated: (m, f) Feet on the ground: the simulator's contacts, and what gait phase and
    #: joints say
    contact_truth: np.ndarray
    contact_estimated: np.ndarray
    #: (m,) Height above ground of the lowest point of any foot, m; negative below ground, NaN without feet
    lowest_foot_z: np.ndarray
    joint_names: Tuple[str, ...]  #: Order of the joint arrays

    @property
    def truth_path(self) -> PlanarPath:
        """Where the robot really went."""
        return PlanarPath(self.t, self.p_world_base[:, :2], self.yaw_world_base)

    @property
    def odom_path(self) -> PlanarPath:
        """Where the robot believes that it went, without the ticks before the first estimate."""
        known = np.all(np.isfinite(self.odom), axis=1)
        return PlanarPath(self.t[known], self.odom[known, :2], self.odom[known, 2])

    def window(self, t_start: float, t_end: float) -> Trace:
        """Rows with t_start <= t <= t_end (a tolerance of a microsecond).

        Raises
        ------
        EvaluationError
            If fewer than two rows lie inside.
        """
        inside = (self.t >= t_start - 1e-6) & (self.t <= t_end + 1e-6)
        if np.count_nonzero(inside) < 2:
            spoken = f"{self.t[0]:.2f}..{self.t[-1]:.2f}" if self.t.size else "nothing"
            raise EvaluationError(
                f"the trace has fewer than 2 ticks in {t_start:.2f}..{t_end:.2f} s (it covers {spoken} s);"
                " record longer or choose another window"
            )
        return Trace(
            **{f.name: getattr(self, f.name)[inside] for f in fields(self) if f.name != "joint_names"},
            joint_names=self.joint_names,
        )

    def save(self, file: Union[Path, BinaryIO]) -> None:
        """Write the arrays to a compressed .npz file."""
        np.savez_compressed(file, **{f.name: np.asarray(getattr(self, f.name)) for f in fields(self)})

    @staticmethod
    def load(path: Path) -> Trace:
        """Read what `save` wrote.

        Raises
        ------
        EvaluationError
            If the file lacks an array.
        """
        with np.load(path) as data:
            missing = [f.name for f in fields(Trace) if f.name not in data]
            if missing:
                raise EvaluationError(f"{path} is no trace: it lacks {', '.join(missing)}; record it anew")
            arrays: Dict[str, Any] = {f.name: data[f.name] for f in fields(Trace)}
        arrays["joint_names"] = tuple(str(name) for name in arrays["joint_names"])
        return Trace(**arrays)


class TraceRecorder:
    """Collects rows and hands out a Trace."""

    def __init__(self, joint_names: Tuple[str, ...]) -> None:
        self._joint_names = joint_names
        self._rows: List[Dict[str, Any]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def append(self, **row: Any) -> None:
        """Add one tick; the names are those of Trace's arrays.

        Headings are made free of jumps later: yaw_world_base is computed, and the odometry's yaw may wrap. Without
        step_effort and step_velocity, as of a robot over ROS, joint_effort and joint_velocity take their place: at the
        end of a tick, when servos have caught up with their command, which is low by a third in power.
        """
        self._rows.append({name: np.array(value) for name, value in row.items()})

    def clear(self) -> None:
        """Forget all rows."""
        self._rows.clear()

    def trace(self) -> Trace:
        """Return all rows so far.

        Raises
        ------
        EvaluationError
            If nothing was recorded.
        """
        if not self._rows:
            raise EvaluationError("nothing was recorded; tick the chain first")
        return _trace(self._joint_names, {name: np.array([row[name] for row in self._rows]) for name in self._rows[0]})


class TopicRecorder:
    """Collects what a robot over ROS and its simulator publish, each topic at times of its own; hands out a Trace.

    Parameters
    ----------
    joint_names : tuple of str
        The n joints, in the order of the trace.
    """

    def __init__(self, joint_names: Tuple[str, ...]) -> None:
        self.joint_names = joint_names
        self.forget()

    def forget(self) -> None:
        """Forget everything."""
        self._joints: List[Tuple[float, np.ndarray]] = []
        self._truth: List[Tuple[float, np.ndarray]] = []
        self._odom: List[Tuple[float, np.ndarray]] = []

    def joints(self, t: float, names: Sequence[str], *values: Sequence[float]) -> None:
        """Add joints in any order: time (s), names, positions, velocities, efforts (rad, rad/s, N m).

        Velocities and efforts may be empty: they are not known. A message that lacks a joint does not count.
        """
        place = {name: k for k, name in enumerate(names)}
        if not all(name in place for name in self.joint_names):
            return
        order = [place[name] for name in self.joint_names]
        unknown = np.full(len(order), np.nan)
        row = [np.array(part, dtype=float)[order] if len(part) == len(names) else unknown for part in values]
        self._joints.append((t, np.array(row)))

    def truth(self, t: float, position: Sequence[float], quaternion: Sequence[float]) -> None:
        """Add a true pose of base_link: time (s), place (m), quaternion x, y, z, w."""
        self._truth.append((t, np.array((*position, *quaternion))))

    def odometry(self, t: float, pose: Sequence[float]) -> None:
        """Add the robot's own estimate: time (s), x, y (m), yaw (rad)."""
        self._odom.append((t, np.array(pose)))

    def trace(self) -> Trace:
        """Return a row for each message of joints; poses are those next to it in time.

        Of feet and commands nothing is known.

        Raises
        ------
        EvaluationError
            If joints, truth or odometry lack.
        """
        joints, truth, odom = list(self._joints), list(self._truth), list(self._odom)
        silent = {"joint_states": joints, "ground_truth/odom": truth, "odom": odom}
        for topic, rows in silent.items():
            if len(rows) < 2:
                lacks = "" if topic != "joint_states" else f", or it lacks one of {', '.join(self.joint_names)}"
                raise EvaluationError(f"nothing on {topic}{lacks}; start a simulator with this robot")
        t = np.array([stamp for stamp, _ in joints])
        values = np.array([row for _, row in joints])
        pose, own = _next_to(t, truth), _next_to(t, odom)
        rows_, n = values.shape[0], values.shape[2]
        return _trace(
            self.joint_names,
            {
                "t": t,
                "p_world_base": pose[:, :3],
                "q_world_base": pose[:, 3:],
                "odom": own,
                "joint_position": values[:, 0],
                "joint_velocity": values[:, 1],
                "joint_effort": values[:, 2],
                "joint_target": np.full((rows_, n), np.nan),
                "contact_truth": np.zeros((rows_, 0), dtype=bool),
                "contact_estimated": np.zeros((rows_, 0), dtype=bool),
                "lowest_foot_z": np.full(rows_, np.nan),
            },
        )


def _next_to(t: np.ndarray, rows: Sequence[Tuple[float, np.ndarray]]) -> np.ndarray:
    """Return of rows with times those next to times t (m,), (m, k)."""
    times = np.array([stamp for stamp, _ in rows])
    return np.array([row for _, row in rows])[np.searchsorted(0.5 * (times[1:] + times[:-1]), t)]


def _trace(joint_names: Tuple[str, ...], columns: Dict[str, np.ndarray]) -> Trace:
    """Return a trace of all its arrays but the true heading; without those of the physics steps, samples are these."""
    known = np.isfinite(columns["odom"][:, 2])
    columns["odom"][known, 2] = np.unwrap(columns["odom"][known, 2])
    for name in ("effort", "velocity"):
        columns.setdefault(f"step_{name}", columns[f"joint_{name}"][:, None])
    columns["yaw_world_base"] = np.unwrap(yaw_from_quaternion(columns["q_world_base"]))
    return Trace(joint_names=joint_names, **columns)
