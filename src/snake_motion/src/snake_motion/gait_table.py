# SPDX-License-Identifier: MIT
"""The table of gaits, read from YAML and checked against the servos of a robot."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Dict, Mapping, Optional, Tuple, Union

from shellbot_common import Settings, number, package_file, read_yaml
from snake_motion.errors import SnakeMotionError
from snake_motion.gait_shape import GaitShape
from snake_motion.waves import WaveRow, most_undulations

RIGHTING = "righting"
"""Name of the engine's own gait, with which it rolls upright."""


@dataclass(frozen=True)
class GaitRow(Settings, error=SnakeMotionError):
    """A row of ``config/gaits.yaml``, which explains the keys."""

    pitch: WaveRow = field(default_factory=WaveRow)
    yaw: WaveRow = field(default_factory=WaveRow)
    start_deg: float = number(-360.0, 360.0, "deg", default=0.0)
    period: float = number(0.1, 60.0, "s", default=1.0)
    mirrored: bool = False
    rolls: bool = False
    source: bool = False

    def winding(self, modules: int) -> Tuple[float, float]:
        """Return the greater winding angle of the waves (deg; of circular ones the arc), and the undulations of that
        wave (of the other if it is circular) that so many modules can show; 0 for what `scaled` cannot change.
        """
        main = max((self.pitch, self.yaw), key=lambda wave: abs(wave.alpha_deg or 0.0))
        k = main.k or self.pitch.k or self.yaw.k or 0.0
        return abs(main.alpha_deg or 0.0), min(k, most_undulations(modules))

    def scaled(self, alpha: float, k: float) -> GaitRow:
        """Return the gait with the winding angles and the undulations of its waves multiplied."""

        def wave(given: WaveRow) -> WaveRow:
            changes = {"alpha_deg": (given.alpha_deg, alpha), "k": (given.k, k)}
            return given.replace(**{key: value * by for key, (value, by) in changes.items() if value is not None})

        return self.replace(pitch=wave(self.pitch), yaw=wave(self.yaw))

    def shape(self, modules: int, time_scale: float = 1.0) -> GaitShape:
        """Return the gait of a snake of so many modules, slower by `time_scale`."""
        return GaitShape(
            self.pitch.wave(modules, 0),
            self.yaw.wave(modules, 1),
            self.period * time_scale,
            math.radians(self.start_deg),
            self.mirrored,
        )


@dataclass(frozen=True)
class ServoLimits(Settings, error=SnakeMotionError):
    """What the servos of the joints can do."""

    angle: float = number(0.01, math.pi, "rad")  #: Greatest angle, each way
    speed: float = number(0.01, 100.0, "rad/s")  #: No-load speed
    acceleration: float = number(0.1, 1e5, "rad/s^2", default=100.0)  #: Greatest acceleration of a reference

    def refusal(self, shape: GaitShape) -> str:
        """Return why a gait is too much for the servos, with the next step; empty if it is not."""
        for what, value, limit, unit, remedy in (
            ("bends a joint to", shape.greatest_angle, self.angle, "rad", "lower alpha, or use more modules"),
            ("turns a joint at", shape.greatest_speed, self.speed, "rad/s", "give it a longer period"),
            (
                "accelerates a joint by",
                shape.greatest_acceleration,
                self.acceleration,
                "rad/s^2",
                "lengthen its period",
            ),
        ):
            if value > limit:
                return f"{what} {value:.2f} {unit}, above the servos' {limit:.2f}; {remedy}"
        return ""


class GaitTable:
    """The gaits that a robot can do, and why it cannot do the others.

    Parameters
    ----------
    rows : mapping of str to GaitRow
        The table.
    modules : int
        Number of modules, 1 to 128.
    limits : ServoLimits
        Of its servos.
    time_scale : float
        All gaits are slower by it, 0.01 to 100: 3 for the servo of the source.

    Raises
    ------
    SnakeMotionError
        If modules or scale are out of range, or no gait is left; names the first and the reason.
    """

    def __init__(self, rows: Mapping[str, GaitRow], modules: int, limits: ServoLimits, time_scale: float = 1.0) -> None:
        if not 1 <= modules <= 128:
            raise SnakeMotionError(f"modules is {modules}; give a whole number from 1 to 128")
        if not 0.01 <= time_scale <= 100.0:
            raise SnakeMotionError(f"time_scale is {time_scale:g}; give a number from 0.01 to 100")
        self.rows, self.modules, self.limits, self.time_scale = dict(rows), modules, limits, time_scale
        self.shapes: Dict[str, GaitShape] = {}
        self.refusals: Dict[str, str] = {}
        self.bounds: Dict[str, str] = {}  #: What of a gait so few modules cannot show
        for name, row in rows.items():
            shape = row.shape(modules, time_scale)
            reason = limits.refusal(shape)
            if reason:
                self.refusals[name] = f"gait {name} {reason}"
            else:
                self.shapes[name] = shape
                self.bounds[name] = row.pitch.bound(modules) or row.yaw.bound(modules)
        if not self.shapes:
            raise SnakeMotionError(next(iter(self.refusals.values()), "the table of gaits is empty; add a row"))

    def shape(self, name: str) -> GaitShape:
        """Return a gait; raises SnakeMotionError if there is none of the name, or this robot cannot do it."""
        if name in self.refusals:
            raise SnakeMotionError(self.refusals[name])
        if name not in self.shapes:
            raise SnakeMotionError(f"gait {name[:60]!r} does not exist; choose from {', '.join(self.shapes)}")
        return self.shapes[name]


def load_rows(file: Optional[Union[str, Path]] = None) -> Dict[str, GaitRow]:
    """Return the rows of a file; ``config/gaits.yaml`` of the package if not given.

    Raises
    ------
    SnakeMotionError
        If the file cannot be read or a row is wrong; names file, gait and key.
    """
    path = file or package_file("snake_motion", "config/gaits.yaml")
    values = read_yaml(path, SnakeMotionError)
    if RIGHTING in values:
        raise SnakeMotionError(f"{path}: {RIGHTING} is the engine's own gait, which ends upright; give it another name")
    for name, row in values.items():
        if not isinstance(row or {}, Mapping):
            raise SnakeMotionError(f"{path}: {name} is {row!r}; give it keys, such as {{pitch: {{alpha_deg: 20}}}}")
        if len(str(name).split()) != 1:
            raise SnakeMotionError(f"{path}: {name!r} cannot be requested; give the gait a name of one word")
    return {str(name): GaitRow.from_mapping(row or {}, f"{path}: {name}.") for name, row in values.items()}


def split_request(text: str) -> Tuple[str, str]:
    """Return name and direction of a request for a gait: "NAME", "NAME 1", "NAME -1" or "NAME toggle".

    Raises
    ------
    SnakeMotionError
        If it is none of these.
    """
    words = text.split()
    if len(words) == 1:
        words.append("1")
    if len(words) != 2 or words[1] not in ("1", "-1", "toggle"):
        raise SnakeMotionError(f"gait {text[:60]!r} is no request; write NAME, NAME 1, NAME -1 or NAME toggle")
    return words[0], words[1]
