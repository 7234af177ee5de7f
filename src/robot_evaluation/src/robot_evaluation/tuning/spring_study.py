# SPDX-License-Identifier: MIT
"""A foot on a one-sided spring under a closed loop in discrete time: what is stable, by theory and by simulation.

One foot carries a mass m along z. Its servo is a spring p and a damper d towards a height z_c; the ground is a spring
k_g without damping that only pushes; both are integrated with forward Euler at steps of dt. Once a tick the closed-loop
inverse kinematics takes one step from the measured height, z_c = z + k (z_r - z), and noise acts on the measured height
and on the foot. With the command held, a step on the ground multiplies the area of state space by
1 - d dt / m + (p + k_g) dt^2 / m, which is less than 1 only if d > (p + k_g) dt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

import numpy as np

from shellbot_common import TICK, Settings, number

GRAVITY = 9.81  # m/s^2
LOST = 0.05  # m: a foot that is further off has left the ground for good
Array = np.ndarray


@dataclass(frozen=True)
class Foot(Settings):
    """Mass, ground and noise of the study; the servo's gains and the loop's are what is varied."""

    mass: float = number(0.01, 100.0, "kg")
    ground: float = number(0.0, 1e6, "N/m", default=2e4)  #: Stiffness of the ground
    joint_noise: float = number(0.0, 0.1, "m", default=0.0003)  #: Standard deviation of the measured height
    foot_noise: float = number(0.0, 10.0, "m/s", default=0.002)  #: Standard deviation of the velocity added each tick
    timestep: float = number(1e-5, TICK, "s", default=0.001)  #: Of the physics
    implicit: bool = False  #: Springs and dampers by backward Euler instead

    def conflict(self) -> str:
        """Return that the time step does not divide the tick, if so."""
        if abs(TICK / self.timestep - round(TICK / self.timestep)) > 1e-9:
            return f"timestep is {self.timestep:g} s and does not divide the tick of {TICK} s; give 0.001 or 0.002"
        return ""

    @property
    def steps(self) -> int:
        """Physics steps a tick."""
        return round(TICK / self.timestep)


def damping_needed(p: Array, foot: Foot) -> Array:
    """Return the least damping with which a standing foot is stable at a held command, N s/m; p in N/m."""
    return (np.asarray(p) + foot.ground) * foot.timestep


def tick_matrix(p: float, d: float, k: float, foot: Foot, stands: bool) -> Array:
    """Return the (3, 3) matrix that takes height, velocity and command of one tick to those of the next, linearised.

    Parameters
    ----------
    p, d : float
        Of the servo at the foot, N/m and N s/m.
    k : float
        Of the closed loop, a tick.
    foot : Foot
        The rest.
    stands : bool
        On the ground, or in the air.
    """
    spring = p + (foot.ground if stands else 0.0)
    h, m = foot.timestep, foot.mass
    rate = np.array([[0.0, 1.0, 0.0], [-spring / m, -d / m, p / m], [0.0, 0.0, 0.0]])
    one = np.linalg.inv(np.eye(3) - h * rate) if foot.implicit else np.eye(3) + h * rate
    loop = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0 - k, 0.0, 0.0]])
    return np.asarray(np.linalg.matrix_power(one, foot.steps) @ loop)


def growth(p: float, d: float, k: float, foot: Foot) -> float:
    """Return the spectral radius of a tick, the larger of on the ground and in the air; below 1: stable."""
    return max(float(np.abs(np.linalg.eigvals(tick_matrix(p, d, k, foot, stands))).max()) for stands in (True, False))


def simulate(
    p: Array, d: Array, k: Array, foot: Foot, seconds: float, seed: int, height: Optional[float] = None
) -> Tuple[Array, Array]:
    """Return times (n,) and heights (n, ...) of feet with the gains p, d and k, which broadcast.

    A foot that is lost stays where it is lost. The reference is `height`, m; by default so far below the surface that
    the ground carries the mass.
    """
    rng = np.random.default_rng(seed)
    p, d, k = np.broadcast_arrays(np.asarray(p, dtype=float), d, k)
    reference = -GRAVITY * foot.mass / foot.ground if height is None else height
    z, v = np.full(p.shape, reference), np.zeros(p.shape)
    command = z.copy()
    rows = []
    for _ in range(round(seconds / TICK)):
        noise, kick = rng.normal(0.0, foot.joint_noise), rng.normal(0.0, foot.foot_noise)
        v = v + kick
        for _ in range(foot.steps):
            z, v = _step(z, v, command, p, d, foot)
        measured = z + noise
        command = measured + k * (reference - measured)
        away = ~(np.abs(z - reference) < LOST)
        z, v = np.where(away, reference + LOST, z), np.where(away, 0.0, v)
        rows.append(z.copy())
    return TICK * np.arange(1, len(rows) + 1), np.array(rows)


def _step(z: Array, v: Array, command: Array, p: Array, d: Array, foot: Foot) -> Tuple[Array, Array]:
    h, m = foot.timestep, foot.mass
    ground = np.where(z < 0.0, foot.ground, 0.0)
    force = p * (command - z) - ground * z - m * GRAVITY
    if foot.implicit:
        v = (v + h / m * force) / (1.0 + h / m * d + h * h / m * (p + ground))
        return z + h * v, v
    return z + h * v, v + h / m * (force - d * v)


def wander(p: Array, d: Array, k: Array, foot: Foot, seed: int = 0) -> Array:
    """Return the RMS distance of the foot from where it is to be over the second half of a run of 3 s, m."""
    _, z = simulate(p, d, k, foot, 3.0, seed)
    reference = -GRAVITY * foot.mass / foot.ground
    error = z[len(z) // 2 :] - reference
    return np.asarray(np.sqrt(np.mean(error**2, axis=0)))
