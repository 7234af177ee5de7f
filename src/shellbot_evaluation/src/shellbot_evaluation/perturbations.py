# SPDX-License-Identifier: MIT
"""What a run of an experiment draws by its seed: errors of the robot, of its floor and of its servos; pushes."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

from robot_evaluation.errors import DefinitionError
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig
from shellbot_client.mission import Mission
from shellbot_common import TICK
from shellbot_common.seed_streams import Stream, seeded

PUSH = "push_n"  # N for 0.2 s, horizontally, from any side, between 30 and 70 % of the motion
SETTINGS = (  # of simulator.yaml, where they are explained
    "servo_margin_deg",
    "servo_punch",
    "servo_resolution_deg",
    "servo_backlash_deg",
    "supply_voltage",
    "supply_resistance",
    "winding_heating",
    "ambient_temperature",
    "joint_noise_deg",
    "accelerometer_std",
    "gyroscope_std",
    "orientation_std_deg",
)
PERTURBATIONS = (  # each draws by its place here: new ones at the end
    "mass_scale",
    "torque_scale",
    "slope_deg",
    "slope_azimuth_deg",
    "joint_offset_deg",
    "command_latency",
    "imu_latency",
    "gyro_bias_std_deg",
    "accelerometer_bias_std",
    PUSH,
    *SETTINGS,
)
RAW_IMU: Mapping[str, Any] = {  # settings of the chain
    "raw_imu": True,
    "gyro_bias_std_deg": 0.5,
    "accelerometer_bias_std": 0.1,
    "imu_latency": 1,  # tick
    "attitude_latency": TICK,  # the robot knows it
}
RAW_REST_S = 4.0  # the attitude filter learns the gyroscope's bias at rest
PUSH_S = 0.2
_WHOLE = ("command_latency", "imu_latency")  # ticks


def add_perturb(parser: argparse.ArgumentParser, pushed: str) -> None:
    """Add the option ``--perturb``, which `Perturbations.parse` reads; `pushed`: what takes pushes, if anything."""
    names = [name for name in PERTURBATIONS if name != PUSH] + [f"{PUSH} ({pushed} only)"] * bool(pushed)
    parser.add_argument(
        "--perturb",
        nargs="+",
        default=[],
        metavar="KEY=LOW[:HIGH]",
        help=f"what else each run draws by its seed: {', '.join(names)}; such as mass_scale=0.9:1.1",
    )


def add_raw_imu(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--raw-imu``, of settings `RAW_IMU`."""
    parser.add_argument(
        "--raw-imu",
        action="store_true",
        help=f"with an IMU that gives no orientation, is biased ({RAW_IMU['gyro_bias_std_deg']:g} deg/s, "
        f"{RAW_IMU['accelerometer_bias_std']:g} m/s^2 of deviation) and {1e3 * RAW_IMU['attitude_latency']:g} ms late, "
        f"which the robot knows; {RAW_REST_S:g} s of rest beforehand",
    )


def rest_for_imu(chain: Chain) -> None:
    """Let a robot at rest learn the bias of an IMU that gives no orientation."""
    if chain.config.raw_imu:
        chain.run(RAW_REST_S)


@dataclass(frozen=True)
class Perturbations:
    """Ranges of perturbations, from which each seed draws."""

    ranges: Tuple[Tuple[str, float, float], ...] = ()

    @classmethod
    def parse(cls, texts: Sequence[str]) -> Perturbations:
        """Return the perturbations of texts such as ``mass_scale=0.9:1.1`` or ``push_n=30``.

        Raises
        ------
        DefinitionError
            For an unknown name, what is no number or range, and a value that no robot can have.
        """
        ranges: List[Tuple[str, float, float]] = []
        for text in texts:
            key, _, values = text.partition("=")
            if key not in PERTURBATIONS:
                raise DefinitionError(
                    f"--perturb '{text}': there is no '{key}'; choose from {', '.join(PERTURBATIONS)}"
                )
            if key in (name for name, _, _ in ranges):
                raise DefinitionError(f"--perturb has {key} twice; leave one")
            low, _, high = values.partition(":")
            try:
                ends = float(low), float(high or low)
            except ValueError:
                ends = math.nan, math.nan
            if not (math.isfinite(ends[1]) and ends[0] <= ends[1]) or (key == PUSH and ends[0] < 0.0):
                raise DefinitionError(f"--perturb '{text}' is no number or range; write e.g. mass_scale=0.9:1.1")
            if key in _WHOLE and not all(end.is_integer() for end in ends):
                raise DefinitionError(f"--perturb '{text}': give whole ticks of 10 ms, such as {key}=0:3")
            for end in ends:
                ChainConfig().replace(**chain_changes({key: end})).physics()
            ranges.append((key, *ends))
        return cls(tuple(ranges))

    @property
    def names(self) -> Tuple[str, ...]:
        """What is drawn."""
        return tuple(key for key, _, _ in self.ranges)

    def draw(self, seed: int) -> Dict[str, float]:
        """Return the values of a seed; that of a key does not depend on which other keys there are."""
        drawn: Dict[str, float] = {}
        for key, low, high in self.ranges:
            rng = seeded(seed, Stream.PERTURBATIONS, PERTURBATIONS.index(key))
            drawn[key] = float(rng.integers(int(low), int(high) + 1) if key in _WHOLE else rng.uniform(low, high))
        return drawn


def chain_changes(drawn: Mapping[str, float]) -> Dict[str, Any]:
    """Return what of drawn values is a setting of the chain."""
    changes: Dict[str, Any] = {
        key: round(value) if key in _WHOLE else value for key, value in drawn.items() if key not in (PUSH, *SETTINGS)
    }
    servos = {key: value for key, value in drawn.items() if key in SETTINGS}
    return {**changes, "servos": servos} if servos else changes


def pusher(chain: Chain, mission: Mission, force_n: float, seed: int, seconds: float) -> Callable[[], None]:
    """Return what pushes the body once in a mission, called before each of its ticks.

    Parameters
    ----------
    chain, mission
        Of one run; the motion begins when the first phase, which stands up, is done.
    force_n : float
        N; from a side and at a moment by the seed.
    seed : int
        Of the run.
    seconds : float
        About how long the motion takes.
    """
    rng = seeded(seed, Stream.PUSH)
    delay, angle = rng.uniform(0.3, 0.7) * seconds, rng.uniform(-math.pi, math.pi)
    due = math.inf

    def push() -> None:
        nonlocal due, force_n
        if force_n and mission.records:
            due = min(due, chain.time + delay)
            if chain.time >= due:
                chain.simulator.push((force_n * math.cos(angle), force_n * math.sin(angle), 0.0), PUSH_S)
                force_n = 0.0

    return push
