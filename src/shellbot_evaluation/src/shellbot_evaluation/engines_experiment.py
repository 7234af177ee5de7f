# SPDX-License-Identifier: MIT
"""The same tests and the same walk in each physics engine, beside analytic results; and what real servos add."""

from __future__ import annotations

import functools
import math
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from scipy.special import ellipk

from robot_evaluation.metrics import GRAVITY
from robot_evaluation.trace import Trace
from shellbot_chain.chain import Chain
from shellbot_common import TICK, RobotProfile
from shellbot_common.rotations import wrap_angle, yaw_from_quaternion
from shellbot_description import expand, named_pose_array, robot_profile
from shellbot_simulator.core.config import ENGINES, SimulatorConfig
from shellbot_simulator.core.simulator import Simulator

ROTOR, DAMPING, STIFFNESS = 0.006, 0.24, 18.5  # of the test's joint: kg m^2, N m s/rad, N m/rad; about an AX-12's
ARM_KG, ARM_M, ARM_INERTIA = 0.3, 0.1, 1e-3  # mass, distance of its centre from the joint, inertia about it, kg m^2
_BODY = """<robot name="probe"><link name="base_link"><inertial><mass value="{mass}"/>
<inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry>{shape}</geometry></collision></link>
<joint name="hinge" type="revolute"><parent link="base_link"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-3.1" upper="3.1" effort="1.5" velocity="10"/><dynamics damping="{damping}"/></joint>
<link name="arm"><inertial><mass value="{arm}"/><origin xyz="0 0 {hangs}"/>
<inertia ixx="{arm_inertia}" iyy="{arm_inertia}" izz="{arm_inertia}" ixy="0" ixz="0" iyz="0"/></inertial></link>
</robot>"""


@dataclass(frozen=True)
class Probe:
    """A body with one joint."""

    shape: str
    height: float = 0.0  #: Of its lowest point at the start, m
    kind: str = "free"
    damping: float = 0.0
    arm: float = 1e-4  #: Mass of what the joint turns, kg

    def simulator(self, engine: str, **settings: Any) -> Simulator:
        """Return it in an engine, at rest."""
        is_arm = self.arm > 0.01
        urdf = _BODY.format(
            mass=1.0, inertia=1e-3, shape=self.shape, damping=self.damping, arm=self.arm,
            hangs=-ARM_M if is_arm else 0.0, arm_inertia=ARM_INERTIA if is_arm else 1e-6,
        )  # fmt: skip
        profile = RobotProfile.from_mapping(
            {
                "name": "probe",
                "base": {"kind": self.kind, "spawn_pose": "zero", "position": [0.0, 0.0, self.height]},
                "joints": {"hinge": "arm"},
                "classes": {"arm": {"stiffness": STIFFNESS, "armature": ROTOR}},
                "controller": "controller",
                "gain_limits": {"p": 100.0, "i": 1.0, "d": 1.0},
                "poses": {"zero": {"arm_deg": 0.0}},
            }
        )
        return Simulator(urdf, profile, SimulatorConfig(engine=engine, gravity=GRAVITY).replace(**settings))


BALL, BOX = '<sphere radius="0.05"/>', '<box size="0.2 0.2 0.1"/>'


def run(simulator: Simulator, seconds: float) -> np.ndarray:
    """Let time pass; returns the angle of the joint after each tick, rad."""
    found = []
    for _ in range(round(seconds / TICK)):
        simulator.step_tick()
        found.append(simulator.joint_position[0])
    return np.array(found)


def drop(engine: str) -> float:
    """Return how far a ball falls in 0.3 s, m."""
    simulator = Probe(BALL, height=0.6).simulator(engine)
    start = simulator.reset().p_world_base[2]
    run(simulator, 0.3)
    return float(start - simulator.state().p_world_base[2])


def bounce(engine: str) -> float:
    """Return how high a ball rises again that has fallen from 0.1 m, mm; no engine is given a restitution."""
    simulator = Probe(BALL, height=0.1).simulator(engine)
    rest, heights = simulator.reset().p_world_base[2] - 0.1, []
    run(simulator, 0.16)
    for _ in range(60):
        simulator.step_tick()
        heights.append(simulator.state().p_world_base[2])
    return float(1e3 * (max(heights) - rest))


def slide(engine: str, slope_deg: float, friction: float) -> float:
    """Return how far a box slides down a slope in 1 s, m."""
    simulator = Probe(BOX).simulator(engine, slope_deg=slope_deg, friction=friction)
    start = simulator.state().p_world_base
    run(simulator, 1.0)
    return float(start[0] - simulator.state().p_world_base[0])


def slid(slope_deg: float, friction: float) -> float:
    """Return the same by Coulomb's law."""
    slope = math.radians(slope_deg)
    return 0.5 * GRAVITY * max(0.0, math.sin(slope) - friction * math.cos(slope))


@functools.lru_cache(maxsize=None)  # a run for two lines of the table
def swing(engine: str, amplitude: float = 1.0) -> Tuple[float, float]:
    """Return period of a limp arm (s) and what it loses of its amplitude in 10 s (deg)."""
    simulator = Probe(BALL, kind="fixed", height=1.0, arm=ARM_KG).simulator(engine)
    simulator.reset([amplitude])
    simulator.set_gains("hinge", 0.0)
    q = np.concatenate([[amplitude], run(simulator, 10.0)])
    t = TICK * np.arange(len(q))
    down = np.flatnonzero((q[:-1] > 0.0) & (q[1:] <= 0.0))
    crossed = t[down] + TICK * q[down] / (q[down] - q[down + 1])
    tail = np.abs(q[-200:]).max()  # more than a period
    return float(np.mean(np.diff(crossed))), float(np.degrees(amplitude - tail))


def swung() -> float:
    """Return the period of a swing of 1 rad by the elliptic integral, s."""
    inertia = ARM_INERTIA + ARM_KG * ARM_M**2 + ROTOR
    return float(4.0 * math.sqrt(inertia / (ARM_KG * GRAVITY * ARM_M)) * ellipk(math.sin(0.5) ** 2))


def step(engine: str, size: float = 0.05) -> float:
    """Return the RMS difference of a servo's step response from that of its linear equation, in % of the step."""
    simulator = Probe(BALL, kind="fixed", height=1.0, arm=ARM_KG, damping=DAMPING).simulator(engine, gravity=0.0)
    simulator.reset([0.0])
    simulator.command([size])
    q = run(simulator, 0.4)
    error = q - stepped(size, TICK * np.arange(1, len(q) + 1))
    return 100.0 * math.sqrt(float(np.mean(error**2))) / size


def stepped(size: float, t: np.ndarray) -> np.ndarray:
    """Return the solution of J q'' + D q' + p q = p size from rest, rad."""
    inertia = ARM_INERTIA + ARM_KG * ARM_M**2 + ROTOR
    rate = DAMPING / (2.0 * inertia)
    turn = np.sqrt(complex(STIFFNESS / inertia - rate**2))
    shape = np.exp(-rate * t) * (np.cos(turn * t) + rate / turn * np.sin(turn * t))
    return np.asarray(size * (1.0 - shape.real))


@functools.lru_cache(maxsize=None)  # a run for two lines of the table
def roll(engine: str) -> Tuple[float, float]:
    """Return how far (m) and fast (m/s) the closed robot rolls in 1.5 s after a push of 8 N for 0.5 s.

    Means over pushes in four directions: it rolls over facets and edges.
    """
    simulator = Simulator(expand(), robot_profile(), SimulatorConfig(engine=engine))
    found = []
    for azimuth in np.radians([0.0, 30.0, 60.0, 90.0]):
        start = simulator.reset(named_pose_array("closed")).p_world_base
        simulator.push((8.0 * math.cos(azimuth), 8.0 * math.sin(azimuth), 0.0), 0.5)
        run(simulator, 1.5)
        state = simulator.state()
        found.append((np.linalg.norm((state.p_world_base - start)[:2]), np.linalg.norm(state.v_base)))
    distance, speed = np.mean(found, axis=0).tolist()
    return distance, speed


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    name: str
    exact: float
    measured: Callable[[str], float]


CASES = (
    Case("drop: fallen in 0.3 s / m", 0.5 * GRAVITY * 0.3**2, drop),
    Case("drop: rises again after 0.1 m / mm", 0.0, bounce),
    Case("slide: 20°, friction 0.2, 1 s / m", slid(20.0, 0.2), functools.partial(slide, slope_deg=20.0, friction=0.2)),
    Case("slide: 20°, friction 0.8, 1 s / m", slid(20.0, 0.8), functools.partial(slide, slope_deg=20.0, friction=0.8)),
    Case("swing: period at 1 rad / s", swung(), lambda engine: swing(engine)[0]),
    Case("swing: amplitude lost in 10 s / deg", 0.0, lambda engine: swing(engine)[1]),
    Case("step: RMS from the exact response / %", 0.0, step),
    Case("roll: the closed robot, pushed, 1.5 s / m", math.nan, lambda engine: roll(engine)[0]),
    Case("roll: its speed then / m/s", math.nan, lambda engine: roll(engine)[1]),
)


def rows(engines: Sequence[str] = ENGINES) -> List[Dict[str, Any]]:
    """Return each test in each engine."""
    return [{"test": c.name, "exact": c.exact, **{engine: c.measured(engine) for engine in engines}} for c in CASES]


@dataclass(frozen=True)
class Walked:
    """The same commands in one engine."""

    trace: Trace
    ahead_m: float
    aside_m: float
    turned_deg: float
    speed: float  #: Simulated seconds in a second of the processor


def walk(
    engine: str,
    seed: Optional[int] = None,
    distance_m: float = 1.0,
    turn_deg: float = 90.0,
    servos: Optional[Mapping[str, float]] = None,
) -> Walked:
    """Walk ahead at 0.15 m/s, then turn at 0.5 rad/s, by time.

    Parameters
    ----------
    engine : str
        One of ENGINES.
    seed : int, optional
        Of the sensors' noise; without one there is none.
    distance_m, turn_deg : float
        Commanded.
    servos : mapping, optional
        Settings of the simulator's servos; without them they are continuous, strong and cold.

    Raises
    ------
    ChainError
        If the engine is not installed, or a setting is out of range.
    """
    began = time.process_time()
    chain = Chain(engine=engine, seed=seed, servos=servos or {})
    chain.stand_up()
    start, yaw = chain.state.p_world_base, yaw_from_quaternion(chain.state.quat_world_base)
    chain.walk((0.15, 0.0, 0.0), distance_m / 0.15)
    moved = chain.state.p_world_base - start
    before = yaw_from_quaternion(chain.state.quat_world_base)
    chain.walk((0.0, 0.0, 0.5), math.radians(turn_deg) / 0.5)
    turned = wrap_angle(float(yaw_from_quaternion(chain.state.quat_world_base) - before))
    ahead, aside = np.array([[math.cos(yaw), math.sin(yaw)], [-math.sin(yaw), math.cos(yaw)]]) @ moved[:2]
    used = chain.time / (time.process_time() - began)
    return Walked(chain.trace(), float(ahead), float(aside), math.degrees(turned), used)


def walk_rows(walks: Dict[str, Walked]) -> List[Dict[str, Any]]:
    """Return how each went, and how its joints and its path differ from the first."""
    reference = next(iter(walks.values())).trace
    found = []
    for engine, walked in walks.items():
        n = min(len(reference.t), len(walked.trace.t))
        q, p = (walked.trace.joint_position[:n], walked.trace.p_world_base[:n, :2])
        joints = np.degrees(q - reference.joint_position[:n])
        path = np.linalg.norm(p - reference.p_world_base[:n, :2], axis=1)
        found.append(
            {
                "of": engine,
                "ahead_m": walked.ahead_m,
                "aside_mm": 1e3 * walked.aside_m,
                "turned_deg": walked.turned_deg,
                "joints_deg": float(np.sqrt(np.mean(joints**2))),
                "path_mm": float(1e3 * path.max()),
                "speed": walked.speed,
            }
        )
    return found


# as in config/simulator.yaml of the simulator, where they are explained
AX = {
    "compliance margin 0.29°": {"servo_margin_deg": 0.29},
    "punch 0.031": {"servo_punch": 0.031},
    "steps of 0.29°": {"servo_resolution_deg": 0.29},
    "play of 0.3°": {"servo_backlash_deg": 0.3},
    "battery of 0.06 Ohm": {"supply_resistance": 0.06},
    "10.5 V": {"supply_voltage": 10.5},
    "windings, 0.8 K/s": {"winding_heating": 0.8},
}
SERVOS: Dict[str, Dict[str, float]] = {
    "plain": {},
    **AX,
    "all of them": {key: value for settings in AX.values() for key, value in settings.items()},
}
