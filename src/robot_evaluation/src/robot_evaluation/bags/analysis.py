# SPDX-License-Identifier: MIT
"""Figures of a recorded run: tracking, latency, contacts, velocity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.planar import PlanarPath, displacement_in_start_axes, interpolated

from .data import BagData, ContactTrack, TwistTrack

MOVED = np.radians(1.0)  # rad: joints that move by less have no delay that could be seen
DELAYS = np.arange(0.0, 0.201, 0.005)  # s
COMMAND_HOLDS = 0.5  # s that a cmd_vel counts here; the robot's own rule (docs/ros_interface.md) ends it sooner
WINDOW = 0.2  # s over which a velocity is taken from two poses
HOLE = 0.25  # s without a measurement that a line may bridge
LATE = 1.5  # periods after which a message is missing
Row = Dict[str, object]


@dataclass(frozen=True)
class Tracking:
    """Commanded and measured joints of one class at the same times."""

    kind: str  #: Class
    names: Tuple[str, ...]
    t: np.ndarray  #: (m,) s
    commanded: np.ndarray  #: (m, k) rad
    measured: np.ndarray  #: (m, k) rad

    @property
    def error(self) -> np.ndarray:
        """Commanded minus measured, (m, k) rad."""
        return self.commanded - self.measured

    @property
    def rms(self) -> np.ndarray:
        """Of the error of each joint, (k,) rad."""
        return np.sqrt(np.nanmean(self.error**2, axis=0))

    def delay(self) -> float:
        """Return by how much the measured joints lag, s: the shift that leaves least of the difference, offsets aside.

        NaN where no joint moves.
        """
        moving = np.nanmax(self.commanded, axis=0) - np.nanmin(self.commanded, axis=0) > MOVED
        if not moving.any():
            return float("nan")
        commanded, measured = self.commanded[:, moving], self.measured[:, moving]

        def left(delay: float) -> float:
            late = interpolated(self.t - delay, self.t, commanded)
            return float(np.nansum(np.nanvar(late - measured, axis=0)))

        return float(DELAYS[int(np.argmin([left(delay) for delay in DELAYS]))])

    def row(self) -> Row:
        """Return what the table has of it."""
        worst = int(np.argmax(self.rms))
        error = self.error
        rms, greatest = float(np.sqrt(np.nanmean(error**2))), float(np.nanmax(np.abs(error)))
        return {
            "class": self.kind,
            "joints": len(self.names),
            "rms": math.degrees(rms),
            "max": math.degrees(greatest),
            "worst": f"{self.names[worst]} ({np.degrees(self.rms[worst]):.2f}°)",
            "delay": 1e3 * self.delay(),
        }


def tracking(data: BagData) -> List[Tracking]:
    """Return the joints of each class at the times of their targets that lie within the measured ones.

    A joint that is never commanded or never measured is left out. Where a joint was not measured for longer than
    `HOLE`, and before and after, its measured angle is NaN.
    """
    targets, states = data.joints["joint_targets"], data.joints["joint_states"]
    both = [name for name in targets.names if name in states.names]
    within = (targets.t >= states.t[0]) & (targets.t <= states.t[-1])
    t = targets.t[within]
    result = []
    for kind, names in data.joint_classes(both).items():
        commanded = targets.of(names)[within]
        measured = np.stack([_between(t, states.t, column) for column in states.of(names).T], axis=-1)
        there = np.isfinite(commanded - measured)
        usable, rows = there.any(axis=0), there.any(axis=1)
        if rows.sum() > 1:
            usable_names = tuple(name for name, use in zip(names, usable) if use)
            result.append(Tracking(kind, usable_names, t[rows], commanded[rows][:, usable], measured[rows][:, usable]))
    return result


def left_out(data: BagData) -> Tuple[str, ...]:
    """Return the joints that have a target or a state, and no tracking: never commanded, or never measured."""
    tracked = {name for of in tracking(data) for name in of.names}
    named = (name for topic in ("joint_targets", "joint_states") for name in data.joints[topic].names)
    return tuple(name for name in dict.fromkeys(named) if name not in tracked)


def _between(t: np.ndarray, times: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Return the angle (m,) of one joint at the times t (j,): (j,), of the finite numbers on either side."""
    good = np.isfinite(angle)
    if not good.any():
        return np.full(len(t), np.nan)
    times = times[good]
    before, after = np.searchsorted(times, t, side="right") - 1, np.searchsorted(times, t, side="left")
    inside = (before >= 0) & (after < len(times))
    hole = times[after.clip(max=len(times) - 1)] - times[before.clip(min=0)]
    return np.where(inside & (hole <= HOLE), np.interp(t, times, angle[good]), np.nan)


def latency(data: BagData) -> List[Row]:
    """Return a row for each topic of the chain: its rhythm, and how long after joint_states of the same stamp it came.

    Times of arrival are by the clock of the recorder: in a simulation this clock goes by ticks, and stands still while
    the chain computes.
    """
    rows: List[Row] = []
    start = data.stamps.get("joint_states")
    ticks = {int(round(1e9 * s)): r for s, r in zip(start.stamp, start.received)} if start else {}
    for name, stamps in data.stamps.items():
        times = np.unique(np.round(stamps.stamp, 9))
        period = times[1:] - times[:-1]
        if not period.size:
            continue
        usual = float(np.median(period))
        keys = [int(round(1e9 * s)) for s in stamps.stamp]
        after = np.array([r - ticks[key] for key, r in zip(keys, stamps.received) if key in ticks])
        is_start = name == "joint_states"
        rows.append(
            {
                "topic": name,
                "messages": len(keys),
                "period": 1e3 * usual,
                "longest": 1e3 * float(period.max()),
                "missing": int(np.round(period[period > LATE * usual] / usual - 1.0).sum()),
                "answered": float("nan") if is_start or not ticks else 100.0 * len(set(keys) & set(ticks)) / len(ticks),
                "after": float("nan") if is_start or not after.size else 1e3 * float(np.median(after)),
                "after99": float("nan") if is_start or not after.size else 1e3 * float(np.percentile(after, 99)),
            }
        )
    return rows


def contact_rows(name: str, track: ContactTrack) -> List[Row]:
    """Return a row for each contact that ever touches: load phase, and how often it is set down."""
    rows: List[Row] = []
    duration = float(track.t[-1] - track.t[0])
    for contact, touching in zip(track.names, track.touching.T):
        if not touching.any():
            continue
        down = int((np.diff(touching.astype(int)) > 0).sum())
        lengths = [end - begin for begin, end in intervals(track.t, touching)]
        rows.append(
            {
                "source": name,
                "contact": contact,
                "touching": 100.0 * sum(lengths) / duration if duration > 0.0 else float("nan"),
                "touchdowns": down,
                "mean": float(np.mean(lengths)),
            }
        )
    return rows


def intervals(t: np.ndarray, touching: np.ndarray) -> List[Tuple[float, float]]:
    """Return when something begins and ends to touch, s."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], touching.astype(int), [0]))))
    return [(float(t[begin]), float(t[min(end, len(t) - 1)])) for begin, end in zip(edges[::2], edges[1::2])]


def commanded_velocity(command: Optional[TwistTrack], t: np.ndarray) -> np.ndarray:
    """Return the velocity command in force at some times, (m, 3): the last one, for half a second."""
    if command is None or not len(command.t):
        return np.zeros((len(t), 3))
    index = np.searchsorted(command.t, t, side="right") - 1
    in_force = (index >= 0) & (t - command.t[np.maximum(index, 0)] <= COMMAND_HOLDS)
    return np.where(in_force[:, None], command.twist[np.maximum(index, 0)], 0.0)


def measured_velocity(track: PlanarPath) -> Tuple[np.ndarray, np.ndarray]:
    """Return times (m,) and velocities (m, 3) in the body's axes, from the poses: whatever frame their twists have."""
    t = track.t[(track.t >= track.t[0] + WINDOW / 2) & (track.t <= track.t[-1] - WINDOW / 2)]
    rate = (track.at(t + WINDOW / 2) - track.at(t - WINDOW / 2)) / WINDOW
    return t, np.column_stack((displacement_in_start_axes(rate[:, :2], track.at(t)[:, 2]), rate[:, 2]))


def velocity_rows(data: BagData) -> List[Row]:
    """Return what was commanded, and what odometry and ground truth made of it, while something was commanded."""
    rows: List[Row] = []
    for name, track in data.poses.items():
        t, measured = measured_velocity(track)
        commanded = commanded_velocity(data.cmd_vel, t)
        moving = np.abs(commanded).max(axis=1) > 0.0
        if len(t) < 2 or not moving.any():
            continue
        row: Row = {"source": name, "seconds": float(np.gradient(t)[moving].sum())}
        for i, axis in enumerate(("x", "y", "yaw")):
            scale = 1.0 if i < 2 else np.degrees(1.0)
            row[f"{axis}_commanded"] = scale * float(commanded[moving, i].mean())
            row[f"{axis}_measured"] = scale * float(measured[moving, i].mean())
        rows.append(row)
    return rows


def tables(data: BagData, parts: Sequence[str]) -> Mapping[str, List[Row]]:
    """Return the rows of some of the parts tracking, latency, contacts, velocity."""
    makers = {
        "tracking": lambda: [t.row() for t in tracking(data)],
        "latency": lambda: latency(data),
        "contacts": lambda: [row for name, track in data.contacts.items() for row in contact_rows(name, track)],
        "velocity": lambda: velocity_rows(data),
    }
    return {part: makers[part]() for part in parts}
