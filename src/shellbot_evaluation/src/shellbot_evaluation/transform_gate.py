# SPDX-License-Identifier: MIT
"""Whether the path between standing and the ball is free of self-collision: every posture, with every levelling.

Command line of scripts/action check transform.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.console import run_tool, say
from robot_evaluation.errors import EvaluationError
from robot_evaluation.tables import markdown_table
from shellbot_action_manager.body.geometry import RobotGeometry, load_geometry
from shellbot_action_manager.body.levelling import opened
from shellbot_action_manager.body.transform_path import TransformConfig, TransformPath, load_transform
from shellbot_action_manager.errors import ActionManagerError
from shellbot_common import SettingsError, named_numbers
from shellbot_description import expand, robot_profile
from shellbot_kinematics.shellbot_limbs import LOWER_LIMBS, UPPER_LIMBS, Frame
from shellbot_kinematics.shellbot_model import ShellbotModel
from shellbot_simulator.core.static_model import StaticModel

OVERLAP_MM = 0.5  # of the commanded postures: the springs of the servos take it
# Of shut gores that levelling presses inwards, by up to the whole of its range; these parts are stops, on which the
# servos only press: gores on each other and on the chassis, and a tibia on the folded fan of the next leg
STOPS_MM = {("gore_link", "gore_link"): 10.0, ("chassis", "gore_link"): 1.2, ("fan_link", "tibia_link"): 1.4}
_STILL_MM = 0.01
_SEEN = 0.010  # m: pairs farther apart are not looked at
_DIRECTIONS = 12  # in which the body may lean
COLUMNS = {
    "step": "step",
    "levelling": "levelling",
    "margin_mm": "margin / mm",
    "limit_mm": "limit / mm",
    "pair": "nearest pair",
    "verdict": "verdict",
}


@dataclass(frozen=True)
class Margin:
    """The least distance of two parts within a step; negative: they overlap."""

    step: str  #: Of the path
    levelling: str  #: none, or with which fraction of its range
    margin_mm: float  #: Infinite where nothing that moves comes nearer than 10 mm
    pair: str  #: The two links
    limit_mm: float = 0.0  #: Least margin that is green

    @property
    def is_green(self) -> bool:
        """Whether the margin is met."""
        return self.margin_mm >= self.limit_mm


def limit_mm(pair: str, pressed: bool, levelling: str) -> float:
    """Return the least distance of two links that is green, mm.

    Parameters
    ----------
    pair : str
        As `Margin.pair`.
    pressed : bool
        Whether the step presses shut gores on each other.
    levelling : str
        As `Margin.levelling`.
    """
    if not pressed:
        return 0.0
    if levelling == "none":
        return -OVERLAP_MM
    one, other = sorted(link.split("_", 2)[-1] for link in pair.split(" and "))
    return -STOPS_MM.get((one, other), OVERLAP_MM)


class Gate:
    """Plays the path on the simulator's own shapes and exclusions, floor left out.

    A pair that keeps its distance through a step is not named: the upper gores have slits of 1.2 mm.

    Parameters
    ----------
    config : TransformConfig, optional
        By default the action manager's own.
    design : mapping of str to float, optional
        Changes of the description's variables.
    """

    def __init__(self, config: Optional[TransformConfig] = None, design: Optional[Mapping[str, float]] = None) -> None:
        self.config = config or load_transform()
        self.geometry: RobotGeometry = load_geometry("simulation", design)
        self.path = TransformPath(self.config, self.geometry)
        self._urdf = expand("simulation", variables=design)
        self._statics = StaticModel(self._urdf, robot_profile("simulation", design), _SEEN)

    def margins(self, every: float = 0.02, fraction: float = 0.5) -> List[Margin]:
        """Return the least distance of each step, without levelling and with it.

        Parameters
        ----------
        every : float
            s of the path between two postures.
        fraction : float
            0..1 of the levelling's range: a body that leans in any of twelve directions.
        """
        found: List[Margin] = []
        for i, step in enumerate(self.path.steps):
            times = np.append(np.arange(self.path.starts[i], self.path.ends[i], every), self.path.ends[i])
            ranges: Dict[str, Dict[str, Tuple[float, float]]] = {}
            for levelling, offset in self._offsets(step.level, fraction):
                known = ranges.setdefault(levelling, {})
                for time in times:
                    for pair, distance in self._distances(float(time), offset).items():
                        low, high = known.get(pair, (distance, distance))
                        known[pair] = min(low, distance), max(high, distance)
            for levelling, known in ranges.items():
                rows = [
                    (low, pair, limit_mm(pair, step.pressed, levelling), high) for pair, (low, high) in known.items()
                ]
                moving = [row[:3] for row in rows if row[3] - row[0] > _STILL_MM or row[0] < row[2]]
                nearest = min(moving, key=lambda row: row[0] - row[2], default=(np.inf, "", 0.0))
                found.append(Margin(step.name, levelling, *nearest))
        return found

    def centres_mm(self) -> float:
        """Return how far the twelve sphere centres of the closed ball are from the body's centre at most, mm."""
        model = ShellbotModel(self._urdf)
        lower, upper = self.path.at(self.path.duration)
        distances = [
            np.linalg.norm(model.chain(limb, Frame.SPHERE_CENTRE).fk(q)[:3, 3])
            for limb, q in [*zip(LOWER_LIMBS, lower), *zip(UPPER_LIMBS, upper)]
        ]
        return 1e3 * float(max(distances))

    def _offsets(self, level: bool, fraction: float) -> Iterator[Tuple[str, np.ndarray]]:
        yield "none", np.zeros(6)
        if not level:
            return
        low, high = self.config.levelling.range
        azimuth = np.arange(6) * np.pi / 3.0
        for direction in np.arange(_DIRECTIONS) * 2.0 * np.pi / _DIRECTIONS:
            yield f"{fraction:.0%}", np.clip(fraction * high * np.cos(azimuth - direction), low, high)

    def _distances(self, time: float, offset: np.ndarray) -> Dict[str, float]:
        """Return the pairs of links that are near at a time of the path, and their distances, mm."""
        lower, upper = self.path.at(time)
        near = self._statics.near(np.concatenate([opened(lower, offset).ravel(), upper.ravel()]))
        return {" and ".join(pair): 1e3 * distance for pair, distance in near.items()}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/action check transform",
        description="Plays the path between standing and the ball, every step as it is and with the "
        "levelling of a body that leans in twelve directions, against the simulator's own shapes and exclusions.",
    )
    p.add_argument("words", nargs=2, help=argparse.SUPPRESS)  # check transform
    p.add_argument("--file", type=Path, help="another transform.yaml")
    p.add_argument(
        "--design", nargs="+", default=[], metavar="KEY=VALUE",
        help="changes of the description's variables, such as geometry.lower.sphere_x_mm=3.5; the gores collide "
        "without their slots",
    )  # fmt: skip
    p.add_argument("--every", type=float, default=0.02, help="s of the path between two postures (default 0.02)")
    p.add_argument("--fraction", type=float, default=0.5, help="of the levelling's range, 0 to 1 (default 0.5)")
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0 if green, 1 if red, 2 after an error."""
    arguments = parser().parse_args(argv)
    return run_tool(lambda: _run(arguments))


def verdict(margins: Sequence[Margin]) -> Tuple[bool, str]:
    """Return whether all margins are met, and the sentence that says so or names what collides."""
    worst = min(margins, key=lambda margin: margin.margin_mm - margin.limit_mm)
    where = f"{worst.pair}, step {worst.step}, levelling {worst.levelling}, margin {worst.margin_mm:.2f} mm"
    red = [margin for margin in margins if not margin.is_green]
    return (False, f"RED: {where}; {len(red)} in all") if red else (True, f"GREEN; nearest its limit: {where}")


def _run(arguments: argparse.Namespace) -> int:
    if arguments.words != ["check", "transform"]:
        raise EvaluationError(f"'{' '.join(arguments.words)}' is not known; give: scripts/action check transform")
    if not (0.001 <= arguments.every <= 1.0 and 0.0 <= arguments.fraction <= 1.0):
        raise EvaluationError("give --every 0.001 to 1 s and --fraction 0 to 1")
    try:
        design = named_numbers(arguments.design, "geometry.lower.sphere_x_mm=3.5")
        gate = Gate(load_transform(arguments.file), design or None)
    except (ActionManagerError, SettingsError) as error:
        raise EvaluationError(str(error)) from error
    margins = gate.margins(arguments.every, arguments.fraction)
    green, sentence = verdict(margins)
    rows = [{**vars(m), "verdict": "green" if m.is_green else "RED"} for m in margins]
    for row in rows:
        if not np.isfinite(row["margin_mm"]):
            row.update(margin_mm=f"> {1e3 * _SEEN:g}", pair="–")
    say(markdown_table(rows, COLUMNS, {"margin_mm": 2, "limit_mm": 1}))
    say(f"Sphere centres of the closed ball: within {gate.centres_mm():.3f} mm of the body's centre.")
    say(f"{sentence}.")
    return 0 if green else 1


if __name__ == "__main__":
    sys.exit(main())
