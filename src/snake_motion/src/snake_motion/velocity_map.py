# SPDX-License-Identifier: MIT
"""How far a family of gaits steps for its two inputs: a polynomial that was measured, and its inverse."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from scipy.optimize import least_squares

from shellbot_common import Settings, number, package_file, required
from snake_motion.errors import SnakeMotionError
from snake_motion.families import Family, Range, family, narrowed

EXPONENTS = tuple((i, j) for i in range(4) for j in range(4) if i + j <= 3)
"""Powers of both inputs, each scaled to -1 .. 1, in the monomials of a map."""

_GRID = 15
_SCALES = (0.05, 0.05, math.radians(5.0))  # errors that weigh alike: 5 cm and 5 deg a cycle


@dataclass(frozen=True)
class Branch(Settings, error=SnakeMotionError):
    """Coefficients of `EXPONENTS` for one direction: steps in m and rad in `PERIOD`, in the frame of the chassis."""

    forward: Tuple[float, ...] = number(-10.0, 10.0)
    left: Tuple[float, ...] = number(-10.0, 10.0)
    yaw: Tuple[float, ...] = number(-10.0, 10.0)

    def conflict(self) -> str:
        """Return which polynomial has a wrong number of coefficients, if one has."""
        for name in ("forward", "left", "yaw"):
            found = len(getattr(self, name))
            if found != len(EXPONENTS):
                return f"{name} has {found} coefficients; it needs {len(EXPONENTS)}: write the map anew with identify"
        return ""


@dataclass(frozen=True)
class VelocityMap(Settings, error=SnakeMotionError):
    """The map of one family, as identify writes it."""

    family: str
    modules: int = number(1, 128)
    branches: Mapping[str, Branch] = required()  #: "1", and "-1" unless the family is mirrored
    friction: Tuple[float, ...] = ()  #: At which it was measured
    seeds: Tuple[int, ...] = ()
    #: Root mean square of what the polynomial leaves: m, m, rad a cycle
    residual: Tuple[float, float, float] = number(0.0, 10.0, default=(0.0, 0.0, 0.0))
    #: Of the inputs, if narrower than the family's: a short snake tips over before the end of these
    amplitude: Optional[Range] = number(0.0, 1.0, ordered=True, default=None)
    steering: Optional[Range] = number(-180.0, 180.0, "deg", ordered=True, default=None)

    def conflict(self) -> str:
        """Return that family or branches are wrong, if so."""
        try:
            needed = ("1",) if family(self.family).mirrored else ("1", "-1")
        except SnakeMotionError as error:
            return str(error)
        if tuple(sorted(self.branches)) != tuple(sorted(needed)):
            return f"branches are {', '.join(self.branches) or 'none'}; {self.family} needs {', '.join(needed)}"
        for name, (low, high) in zip(("amplitude", "steering"), self.kind.ranges):
            if low == high:
                return f"{name} is {low:g} to {high:g}; give it two different ends"
        return ""

    @property
    def kind(self) -> Family:
        """The family, in the ranges of this map."""
        return narrowed(self.family, self.amplitude, self.steering)

    def steps(self, inputs: np.ndarray, direction: int = 1) -> np.ndarray:
        """Return the steps for inputs.

        Parameters
        ----------
        inputs : (k, 2) array
            Amplitude (fraction) and steering (deg), within the family's ranges.
        direction : int
            1 or -1.

        Returns
        -------
        (k, 3) array
            Forward and left (m), turning (rad) a cycle.
        """
        monomials = design_matrix(inputs, self.kind)
        branch = self.branches.get(str(direction)) or self.branches["1"]
        steps = monomials @ np.array([branch.forward, branch.left, branch.yaw]).T
        mirrored = family(self.family).mirrored and direction < 0
        return steps * np.array([1.0, -1.0, -1.0]) if mirrored else steps

    def inverse(self, step: Sequence[float]) -> Tuple[int, Tuple[float, float], np.ndarray]:
        """Return direction, inputs and the step that comes nearest to a step.

        Parameters
        ----------
        step : (3,) sequence of float
            Forward and left (m), turning (rad) a cycle; what the family's inputs do not steer is left out.
        """
        kind = self.kind
        direction = 1 if step[kind.axis] >= 0.0 else -1
        rows = [kind.axis] if kind.axis == 2 or kind.rolls else [kind.axis, 2]
        target, scale = np.asarray(step, dtype=float)[rows], np.array(_SCALES)[rows]

        def error(inputs: np.ndarray) -> np.ndarray:
            steps = self.steps(np.atleast_2d(inputs), direction)[:, rows]
            return np.asarray((steps - target) / scale)

        axes = [np.linspace(*limits, _GRID) for limits in kind.ranges]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
        start = grid[np.argmin((error(grid) ** 2).sum(axis=1))]
        low, high = np.array(kind.ranges).T
        found = least_squares(lambda x: error(x)[0], start, bounds=(low, high), x_scale=high - low).x
        return direction, (float(found[0]), float(found[1])), self.steps(found[None], direction)[0]


def design_matrix(inputs: np.ndarray, kind: Family) -> np.ndarray:
    """Return the monomials of inputs (k, 2), shape (k, 10)."""
    low, high = np.array(kind.ranges).T
    x, y = (2.0 * (np.atleast_2d(inputs) - low) / (high - low) - 1.0).T
    return np.stack([x**i * y**j for i, j in EXPONENTS], axis=1)


def load_maps(modules: int, folder: Union[str, Path, None] = None) -> Dict[str, VelocityMap]:
    """Return the maps of a snake of so many modules in a folder, `config/maps` of the package if not given.

    Raises
    ------
    SnakeMotionError
        If the folder does not exist, one of them is broken, or two are of the same family.
    """
    place = Path(folder) if folder else package_file("snake_motion", "config/maps")
    if not place.is_dir():
        raise SnakeMotionError(f"{place} is no folder; give that into which scripts/snake identify writes its maps")
    maps: Dict[str, VelocityMap] = {}
    files: Dict[str, str] = {}
    for file in sorted(place.glob("*.yaml")):
        found = VelocityMap.load(file)
        if found.modules != modules:
            continue
        if found.family in maps:
            raise SnakeMotionError(
                f"{files[found.family]} and {file.name} are both maps of the family {found.family} for {modules} "
                f"modules; leave one in {place}"
            )
        maps[found.family], files[found.family] = found, file.name
    return maps
