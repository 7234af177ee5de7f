# SPDX-License-Identifier: MIT
"""How closing, rolling and righting depend on the design: one value changed at a time, the others as adopted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Container, Dict, List, Mapping, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError
from shellbot_chain.chain import Chain
from shellbot_common import TICK

from .roller import Roller
from .rolling_experiment import OFFSET_DEG, TOP_M_S, UPRIGHT_S, put_down
from .rolling_experiment import conditions as lying
from .transform_experiment import transform

GATHERS_S, ROLLS_S = 2.0, 3.0  # from rest, and then measured
NAN = float("nan")


@dataclass(frozen=True)
class Parameter:
    """One that is varied; values as they are shown, the adopted one among them."""

    heading: str
    values: Tuple[float, ...]
    adopted: float
    field: str  #: Of ChainConfig, or a key of its `design`
    scale: float = 1.0  #: Shown value times this is what the chain takes

    def changes(self, value: float) -> Dict[str, Any]:
        """Return what a chain with this value is built with."""
        if value == self.adopted:
            return {}
        chosen = value * self.scale
        if "." in self.field:
            return {"design": {self.field: chosen}}
        return {self.field: round(chosen) if self.field == "command_latency" else chosen}


PARAMETERS: Mapping[str, Parameter] = {
    "fan gear": Parameter("fan gear (the report's: 24/42)", (24 / 42, 1.0, 1.5, 2.0), 2.0, "fan_drive.reduction"),
    "stall torque": Parameter("stall torque / %", (60.0, 80.0, 100.0), 100.0, "torque_scale", 0.01),
    "friction": Parameter("friction", (0.3, 0.5, 0.8, 1.0), 0.8, "friction"),
    "mass": Parameter("mass / %", (85.0, 100.0, 115.0), 100.0, "mass_scale", 0.01),
    "latency": Parameter("latency of commands / ms", (0.0, 20.0, 40.0, 60.0), 0.0, "command_latency", 1e-3 / TICK),
    "slope": Parameter(
        "slope of the servos / steps (8: twice as stiff)", (8.0, 16.0, 32.0), 16.0, "servos.compliance_slope_steps"
    ),
    "foot frame": Parameter(
        "foot frame's sphere centre / mm", (2.082058, 3.082058, 4.082058), 3.082058, "geometry.lower.sphere_x_mm"
    ),
    "stop rim": Parameter("radius of the rim of stops / mm", (149.5, 150.5, 151.5), 150.5, "shapes.stop_radius_mm"),
}


@dataclass(frozen=True)
class Case:
    """One run: a value of a parameter, or with an empty parameter the adopted robot."""

    seed: int
    parameter: str = ""
    value: float = NAN

    @property
    def label(self) -> str:
        """Name of the line of the table."""
        if not self.parameter:
            return "as adopted"
        unit = PARAMETERS[self.parameter].heading.partition(" / ")[2].partition(" (")[0]
        return f"{self.parameter} {self.value:.4g} {unit}".strip()


def conditions(seed: int, only: Container[str] = ()) -> List[Case]:
    """Return the cases of a seed: the adopted robot once, and every other value of every parameter, or `only` some."""
    varied = [
        Case(seed, name, value)
        for name, parameter in PARAMETERS.items()
        for value in parameter.values
        if value != parameter.adopted and (not only or name in only)
    ]
    return varied if only else [Case(seed), *varied]


def execute(case: Case) -> Dict[str, Any]:
    """Close and open, roll from rest, and right from the same attitude; NaN for what was not reached."""
    changes = PARAMETERS[case.parameter].changes(case.value) if case.parameter else {}
    changes.update(seed=case.seed, joint_offset_deg=OFFSET_DEG, record=False)
    row: Dict[str, Any] = {"label": case.label, "parameter": case.parameter, "value": case.value, "seed": case.seed}
    figures = transform(Chain(**changes))
    row.update({key: figures[key] for key in ("to_shell_s", "to_hexapod_s", "tilt_deg", "clamped_s", "message")})
    row["both_s"] = row["to_shell_s"] + row["to_hexapod_s"]
    row["closes"], row["transforms"] = math.isfinite(row["to_shell_s"]), bool(figures["success"])
    row.update(roll_m_s=NAN, upright_s=NAN)
    try:
        ball, start = Chain(start_mode="shell", **changes), lying(case.seed)
        row["roll_m_s"] = _rolls(Roller(put_down(ball, start)), start.bearing)
        row["upright_s"] = _rights(put_down(ball, start))
    except EvaluationError as error:
        row["message"] = row["message"] or str(error)
    row["rights"] = math.isfinite(row["upright_s"])
    row["success"] = row["transforms"] and row["rights"]
    return row


def _rolls(roller: Roller, bearing: float) -> float:
    """Return the speed along the commanded direction, m/s."""
    ahead = np.array([math.cos(bearing), math.sin(bearing)])
    roller.for_time(TOP_M_S * ahead, GATHERS_S)
    start = roller.truth
    roller.for_time(TOP_M_S * ahead, ROLLS_S)
    return float((roller.truth - start) @ roller.in_world(ahead)) / ROLLS_S


def _rights(chain: Chain) -> float:
    """Return how long a lying ball takes until it begins to open, s, NaN if it does not."""
    accepted, _ = chain.request_mode("stand")
    start = chain.time
    while accepted and chain.time < start + UPRIGHT_S:
        chain.tick()
        if chain.output is not None and chain.output.mode.text.startswith("opening"):
            return chain.time - start
    return NAN
