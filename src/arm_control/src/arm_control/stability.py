# SPDX-License-Identifier: MIT
"""Whether errors grow under a law's gains: its torques are of a state that is a tick old, and held for a tick."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Callable

import numpy as np
from scipy.linalg import expm

from shellbot_common import TICK

if TYPE_CHECKING:
    from arm_control.motion import MotionPage
    from robot_mechanics.dynamics import DynamicModel

LEAD = 1.5  # ticks from a measurement to the middle of the tick that its command is in force
_GROWS = 1.0 + 1e-9  # of the spectral radius; the rest is rounding
_SHORTEST = 1e-5  # s: where errors grow with ticks as short as this, they do with all
_CHOICES = 41  # values of a gain that are tried for the advice


def warning(model: DynamicModel, stiffness: np.ndarray, page: MotionPage, q: np.ndarray) -> str:
    """Return that errors grow under the law and gains of a page, with the greatest tick and gains that do; or nothing.

    Parameters
    ----------
    model : DynamicModel
        Of the arm, with the rotors of its servos.
    stiffness : (n,) array
        Of the servos, N m/rad; counts by the interface `position`.
    page : MotionPage
        Laws without feedback from here, `servo` and `open_loop`, have nothing that could grow.
    q : (n,) array
        Pose in which the mass matrix is taken, rad.
    """
    if page.law in ("servo", "open_loop"):
        return ""
    where = "inside" if page.law == "computed_torque" else "outside"
    names = f"kp_{where}", f"kd_{where}"
    kp, kd = (getattr(page, name) for name in names)
    M, n = model.mass_matrix(q), model.n  # noqa: N806
    one = np.ones(n)
    friction = np.diag(_friction(model, q, 2.0 * one) - _friction(model, q, one))  # the viscous part
    spring = np.diag(stiffness) if page.interface == "position" else np.zeros((n, n))
    within = M if where == "inside" else np.eye(n)
    compensated = np.zeros((n, n)) if page.law == "gravity_pd" else friction

    def grows(step: float, gain: float = kd) -> bool:
        by_place = spring - kp * within
        by_speed = LEAD * step * spring + compensated - gain * within
        return spectral_radius(M, friction, spring, by_place, by_speed, step) > _GROWS

    if (kp == 0.0 and kd == 0.0) or not grows(TICK):
        return ""
    limit = _least(np.geomspace(_SHORTEST, TICK, 40), grows)
    longest = f"stable are {1e3 * limit:.2g} ms at most" if limit else "no tick is short enough"
    high = {item.name: item.metadata["range"][1] for item in fields(page) if "range" in item.metadata}[names[1]]
    stable = [gain for gain in np.linspace(0.0, high, _CHOICES) if not grows(TICK, gain)]
    advice = f"choose {names[1]} from {stable[0]:.3g} to {stable[-1]:.3g}" if stable else f"lower {names[0]}"
    return (
        f"law {page.law} with {names[0]} {kp:g} and {names[1]} {kd:g} lets errors grow in this pose: the tick is "
        f"{1e3 * TICK:g} ms, {longest}; {advice}"
    )


def spectral_radius(
    M: np.ndarray,  # noqa: N803
    friction: np.ndarray,
    spring: np.ndarray,
    by_place: np.ndarray,
    by_speed: np.ndarray,
    step: float,
) -> float:
    """Return by how much an error is multiplied at most from tick to tick; above 1 it grows.

    The joints obey M e'' + friction e' + spring e = u between ticks, exactly, where u = by_place e + by_speed e' is
    that of one tick before, held for a tick. The matrix exponential gives (e, e', u) one tick later.

    Parameters
    ----------
    M, friction, spring : (n, n) array
        kg m^2, N m s/rad, N m/rad.
    by_place, by_speed : (n, n) array
        Feedback, N m/rad and N m s/rad; negative: it acts against the error.
    step : float
        The tick, s.
    """
    n = len(M)
    rate = np.zeros((3 * n, 3 * n))
    rate[:n, n : 2 * n] = np.eye(n)
    rate[n : 2 * n] = np.linalg.solve(M, np.hstack((-spring, -friction, np.eye(n))))
    later = expm(step * rate)
    later[2 * n :] = np.hstack((by_place, by_speed, np.zeros((n, n))))
    return float(np.abs(np.linalg.eigvals(later)).max())


def _friction(model: DynamicModel, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return friction and gravity (n,) at a speed, N m."""
    return model.bias(q, v) - model.coriolis(q, v)


def _least(steps: np.ndarray, grows: Callable[[float], bool]) -> float:
    """Return the step (s) from which on errors grow, before the first of `steps` at which they do, or 0."""
    first = next(k for k, step in enumerate(steps) if grows(step) or k == len(steps) - 1)
    if first == 0:
        return 0.0
    low, high = steps[first - 1], steps[first]
    for _ in range(10):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if grows(middle) else (middle, high)
    return float(low)
