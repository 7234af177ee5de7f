# SPDX-License-Identifier: MIT
"""Writes what was recorded as an action: few waypoints within a tolerance, in the planner's own curve."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, List, Mapping, Sequence, Tuple

import numpy as np
from scipy.ndimage import maximum_filter1d, minimum_filter1d

from shellbot_action_manager.actions.fitting import Limb, fit, slowed, used, written
from shellbot_action_manager.actions.recording import Recording, Taught, postures_of, runs
from shellbot_action_manager.actions.steps import COORDINATES
from shellbot_action_manager.errors import ActionError, ConfigError
from shellbot_common import TICK, Settings, number, read_yaml_text

if TYPE_CHECKING:
    from robot_mechanics.trajectories import Limits
    from shellbot_action_manager.actions.planning import Planner
    from shellbot_action_manager.body.geometry import RobotGeometry
    from shellbot_action_manager.config import ActionManagerConfig

_REST = 50  # ticks for which nothing moves between two steps
_WIDTH = 116  # characters of a line

Fit = Tuple[np.ndarray, np.ndarray]
"""Times of waypoints since the step began (k,), s, and their coordinates as they are written (k, d)."""


@dataclass(frozen=True)
class Tolerance(Settings, error=ConfigError):
    """How far the action may be from the recording at any time."""

    mm: float = number(0.5, 50.0, "mm", default=3.0)  #: Of body, feet
    deg: float = number(0.1, 20.0, "deg", default=1.0)  #: Of the body's angles and the shells' joints


TOLERANCE = Tolerance()


@dataclass(frozen=True)
class TaughtAction:
    """An action as it will stand in a file."""

    text: str  #: YAML of it, name included
    waypoints: int
    slowed: float  #: Greatest factor by which a step takes longer than it was recorded; 1: none does
    off_mm: float  #: How far a foot or the body is from the recording at most, slowing apart
    off_deg: float  #: The same of angles
    moves: Tuple[str, ...]  #: What moves, such as "body", "foot of lower_2"
    notes: Tuple[str, ...]


def teach(
    name: str,
    text: str,
    recording: Recording,
    geometry: RobotGeometry,
    config: ActionManagerConfig,
    planner: Planner,
    tolerance: Tolerance,
    size: float = 1.0,
) -> TaughtAction:
    """Return a recording as an action of the library.

    Parameters
    ----------
    name, text : str
        Of the action.
    recording : Recording
        One row is a posture that is gone to and held.
    geometry, config, planner
        Of the robot that was recorded.
    tolerance : Tolerance
        How far the action may be from the recording.
    size : float
        Of the body's poses relative to those recorded.

    Raises
    ------
    ActionError
        If the recording cannot be understood, or nothing moves in it.
    """
    # "on" is no name in YAML
    if not (name.isidentifier() and name.isascii() and list(read_yaml_text(f"{name}:", name)) == [name]):
        raise ActionError(f"'{name}' is no name of an action; give letters, digits and _, such as nod_twice")
    taught = postures_of(recording, geometry, config)
    if size < 1.0:
        note = f"the body moves {1.0 - size:.0%} less than it was recorded, which the action could not reach"
        smaller = replace(taught.postures, pose=size * taught.postures.pose)
        taught = replace(taught, postures=smaller, notes=(*taught.notes, note))
    limbs = _grouped([limb for limb in _limbs(taught, geometry, tolerance) if _moves(limb)])
    if not limbs:
        hint = "" if len(recording.t) == 1 else "; for a posture that is held add --posture"
        raise ActionError(
            f"nothing moves by more than {tolerance.mm:g} mm or {tolerance.deg:g} deg from the rest stance in the "
            f"recording of {recording.t[-1] - recording.t[0]:.1f} s; move more, or give a smaller tolerance{hint}"
        )
    writer = _Writer(limbs, planner.limits)
    if len(taught.postures.pose) == 1:
        body = writer.posture()
        parameters = ["  parameters:", "    hold: {default: 2, range: [0, 600], unit: s}"]
        source = "a recorded posture"
    else:
        body, parameters = writer.sequence(), []
        source = f"recorded, {recording.t[-1] - recording.t[0]:.1f} s; within {tolerance.mm:g} mm and "
        source += f"{tolerance.deg:g} deg of it"
    lines = [f"{name}:", f"  text: {json.dumps(text, ensure_ascii=False)}  # {source}", *parameters, "  steps:", *body]
    return TaughtAction(
        "\n".join(lines) + "\n",
        writer.waypoints,
        writer.slowed,
        writer.off_mm,
        writer.off_deg,
        tuple(_spoken(limb) for limb in limbs),
        taught.notes,
    )


def _limbs(taught: Taught, geometry: RobotGeometry, tolerance: Tolerance) -> List[Limb]:
    postures, near = taught.postures, tolerance.mm * 1e-3
    turn = np.radians(tolerance.deg)
    six = np.array([near] * 3 + [turn] * 3)
    values = np.hstack((postures.pose[:, :3], np.degrees(postures.pose[:, 3:])))
    found = [Limb("body", (), values, postures.pose, six, np.zeros(6), _pose_of)]
    for k in range(postures.feet.shape[1]):
        foot = postures.feet[:, k]
        found.append(Limb("foot", (k + 1,), foot, foot, np.full(3, near), np.zeros(3), np.asarray, taught.lifted[:, k]))
    if geometry.upper is None:
        return found
    shells, out = geometry.upper.forward(postures.upper)
    if not out.all():
        i, k = np.argwhere(~out)[0]
        raise ActionError(
            f"the elbow of upper_{k + 1} points inwards after {TICK * i:.2f} s; keep it outwards, as on the robot that "
            "stands"
        )
    solve = geometry.upper.solve

    def joints(values: np.ndarray) -> np.ndarray:
        return np.array([solve(height, np.radians(opening)) for height, opening in values]).reshape(-1, 2)

    for k in range(shells.shape[1]):
        values = np.column_stack((shells[:, k, 0], np.degrees(shells[:, k, 1])))
        planned = postures.upper[:, k]
        found.append(Limb("upper", (k + 1,), values, planned, np.full(2, turn), geometry.up_upper[k], joints))
    return found


def _pose_of(values: np.ndarray) -> np.ndarray:
    return np.hstack((values[:, :3], np.radians(values[:, 3:])))


def _moves(limb: Limb) -> bool:
    return bool((np.abs(limb.planned - limb.rest) > limb.tolerance).any())


def _grouped(limbs: Sequence[Limb]) -> List[Limb]:
    """Return limbs with those of a kind that move alike as one, within half of the tolerance."""
    found: List[List[Limb]] = []
    for limb in limbs:
        for group in found:
            first = group[0]
            if first.kind == limb.kind and (np.abs(first.planned - limb.planned) <= 0.5 * limb.tolerance).all():
                group.append(limb)
                break
        else:
            found.append([limb])
    return [Limb(**{**vars(group[0]), "legs": tuple(leg for limb in group for leg in limb.legs)}) for group in found]


class _Writer:
    """Fits limbs step by step, and writes the steps."""

    def __init__(self, limbs: Sequence[Limb], limits: Mapping[str, Limits]) -> None:
        self._limbs, self._limits = limbs, limits
        self._present = [limb.rest for limb in limbs]  # as the planner will have it after the steps so far
        self.waypoints, self.slowed, self.off_mm, self.off_deg = 0, 1.0, 0.0, 0.0

    def posture(self) -> List[str]:
        """Return the step that goes to the only posture and holds it."""
        return [*self._approach(range(len(self._limbs))), "    - {name: hold, wait: hold}"]

    def sequence(self) -> List[str]:
        """Return the steps of a recording: one from each rest of all limbs to the next."""
        parts = self._parts()
        lines = self._approach([i for i, limb in enumerate(self._limbs) if _begins_away(limb)])
        for k, (a, b) in enumerate(parts):
            wait = TICK * (parts[k + 1][0] - b) if k + 1 < len(parts) else 0.0
            lines += self._step(k + 1, a, b, wait)
        return lines

    def _parts(self) -> List[Tuple[int, int]]:
        """Return first and last row of each part in which something moves."""
        scaled = np.hstack([limb.planned / limb.tolerance for limb in self._limbs])
        spread = maximum_filter1d(scaled, _REST, axis=0) - minimum_filter1d(scaled, _REST, axis=0)
        still = (spread <= 0.25).all(axis=1)
        moving = np.ones(len(scaled), dtype=bool)
        for a, b in runs(still):
            first, last = max(a - _REST // 4, 0), min(b + _REST // 4, len(scaled) - 1)
            if b - a >= _REST // 2 and (np.ptp(scaled[first : last + 1], axis=0) <= 0.5).all():  # no slow motion
                moving[first + 1 : last] = False
        if still[0]:
            moving[0] = moving[1]
        if still[-1]:
            moving[-1] = moving[-2]
        return [(a, b) for a, b in runs(moving) if b > a]

    def _approach(self, limbs: Sequence[int]) -> List[str]:
        """Return the steps from rest to the first posture: the body leans before feet are lifted."""
        lines: List[str] = []
        for name, kinds in (("go there", ("body", "upper")), ("lift", ("foot",))):
            of = [i for i in limbs if self._limbs[i].kind in kinds]
            if of:
                lines += [f"    - name: {name}", "      do:", *(self._go_to(i) for i in of)]
        return lines

    def _go_to(self, i: int) -> str:
        limb = self._limbs[i]
        values = written(limb, limb.values[:1])
        self._present[i] = limb.to_planned(values)[0]
        self.waypoints += 1
        self._count_error(limb, np.abs(self._present[i] - limb.planned[0]))
        return f"        - {{move: {_head(limb)}, to: {_waypoint(limb.kind, values[0], used(limb))}}}"

    def _step(self, number_: int, a: int, b: int, wait: float) -> List[str]:
        fits: List[Tuple[Limb, Fit]] = []
        curves: List[Tuple[np.ndarray, Limits]] = []
        for i, limb in enumerate(self._limbs):
            planned = limb.planned[a : b + 1]
            if (np.abs(planned - self._present[i]) <= 0.5 * limb.tolerance).all():
                continue
            times, values, error = fit(limb, self._present[i], a, b)
            points = np.vstack((self._present[i], limb.to_planned(values)))
            curves.append((points, self._limits[limb.kind]))
            self._present[i] = limb.to_planned(values[-1:])[0]
            self._count_error(limb, error)
            self.waypoints += len(times)
            fits.append((limb, (times, values)))
        stretch, ats = slowed(curves, [times for _, (times, _) in fits])
        self.slowed = max(self.slowed, stretch)
        lines = [f"    - name: part {number_}"]
        if stretch > 1.01:
            lines[0] += f"  # {stretch:.2f} times as long as recorded: the limits of speed and acceleration"
        if wait >= 0.05:
            lines.append(f"      wait: {wait:.1f}")
        lines.append("      do:")
        for (limb, (_, values)), at in zip(fits, ats):
            lines += _motion(limb, at, values)
        return lines if fits else []

    def _count_error(self, limb: Limb, error: np.ndarray) -> None:
        in_m = {"body": slice(0, 3), "foot": slice(0, 3), "upper": slice(0, 0)}[limb.kind]
        in_rad = {"body": slice(3, 6), "foot": slice(0, 0), "upper": slice(0, 2)}[limb.kind]
        self.off_mm = max(self.off_mm, 1e3 * float(error[in_m].max(initial=0.0)))
        self.off_deg = max(self.off_deg, float(np.degrees(error[in_rad].max(initial=0.0))))


def _begins_away(limb: Limb) -> bool:
    return bool((np.abs(limb.planned[0] - limb.rest) > limb.tolerance).any())


def _head(limb: Limb) -> str:
    if not limb.legs:
        return limb.kind
    legs = str(limb.legs[0]) if len(limb.legs) == 1 else str(list(limb.legs))
    return f"{limb.kind}, legs: {'all' if len(limb.legs) == 6 else legs}"


def _motion(limb: Limb, at: np.ndarray, values: np.ndarray) -> List[str]:
    points = [_waypoint(limb.kind, row, used(limb)) for row in values]
    times = "[" + ", ".join(f"{t:.2f}".rstrip("0").rstrip(".") for t in at) + "]"
    line = f"        - {{move: {_head(limb)}, through: [{', '.join(points)}], at: {times}}}"
    if len(line) <= _WIDTH:
        return [line]
    lines = [f"        - {part}" if k == 0 else f"          {part}" for k, part in enumerate(_head_lines(limb))]
    return [*lines, *_wrapped(f"          at: {times}"), "          through:", *(f"            - {p}" for p in points)]


def _head_lines(limb: Limb) -> List[str]:
    head, _, legs = _head(limb).partition(", ")
    return [f"move: {head}", *([legs] if legs else [])]


def _wrapped(line: str) -> List[str]:
    lines = [""]
    for word in line.split(", "):
        if lines[-1] and len(lines[-1]) + len(word) > _WIDTH:
            lines[-1] += ","
            lines.append(" " * 15 + word)
        else:
            lines[-1] += (", " if lines[-1] else "") + word
    return lines


def _waypoint(kind: str, values: np.ndarray, used: np.ndarray) -> str:
    numbers = (f"{key}: {value:.6g}" for key, value, is_used in zip(COORDINATES[kind], values, used) if is_used)
    return "{" + ", ".join(numbers) + "}"


def _spoken(limb: Limb) -> str:
    legs = ", ".join(map(str, limb.legs))
    return {"body": "body", "foot": f"foot of lower_{legs}", "upper": f"shell of upper_{legs}"}[limb.kind]
