# SPDX-License-Identifier: MIT
"""Motion over time: integrators by name, joint limits that stop the speed, and the greatest step that gains allow."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Dict, Optional, Tuple

import numpy as np

from robot_mechanics.arguments import above_zero, flag, gains, vector
from robot_mechanics.dynamics import dry_friction, stops
from robot_mechanics.errors import DynamicsError, InvalidConfigError, ShapeError, UnknownNameError
from robot_mechanics.native import rigid_body as rb

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robot_mechanics.dynamics.model import DynamicModel

    Law = Callable[[float, np.ndarray, np.ndarray], np.ndarray]

METHODS = ("explicit", "semi_implicit", "implicit_damping", "rk4", "rk45")
_ON_STOP = 1e-6  # rad or m: a start that is farther beyond a stop is refused
_FASTEST = 1e4  # rad/s: a motion beyond has diverged
_FAR_BEYOND = 10.0  # times its limit of speed: no working law needs more


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """States at every step, the first included."""

    t: np.ndarray  #: (steps + 1,) s
    q: np.ndarray  #: (steps + 1, nq)
    v: np.ndarray  #: (steps + 1, nv)
    tau: np.ndarray  #: (steps, nv) generalized forces at the beginning of each step

    def __repr__(self) -> str:
        """One line: how long, and the fastest coordinate."""
        return (
            f"Motion({len(self.tau)} steps, {self.t[-1]:g} s, {self.v.shape[1]} velocities up to"
            f" {np.abs(self.v).max(initial=0.0):.3g})"
        )


class DivergenceError(DynamicsError):
    """A motion that diverges; `motion` is what there is of it, the state that is too fast included."""

    def __init__(self, text: str, motion: Motion) -> None:
        super().__init__(text)
        self.motion = motion


def simulate(
    model: DynamicModel,
    law: Law,
    q: ArrayLike,
    v: ArrayLike,
    duration: float,
    step: float,
    method: str = "semi_implicit",
    limits: bool = True,
    damping: ArrayLike = 0.0,
    tolerance: float = 1e-6,
) -> Motion:
    """Return the motion of a robot under a law.

    Parameters
    ----------
    model : DynamicModel
    law : callable
        (t, q, v) -> tau (nv,), N m; held during a step, as a controller's output is, but evaluated at every stage by
        `rk4` and `rk45`.
    q, v : (nq,), (nv,) array_like
        State at the start.
    duration, step : float
        s; the last step ends at or just after `duration`. `rk45` chooses its own steps in between.
    method : str
        `explicit`: Euler, the next q from the present v; `semi_implicit`: Euler, the next q from the next v;
        `implicit_damping`: the same with the forces -damping * v of the next moment, so that a great damping stays
        stable; `rk4`: Runge and Kutta; `rk45`: Dormand and Prince with error control (scipy).
    limits : bool
        Whether joints have mechanical stops at their limits (`stops`): without rebound, and felt by all joints. A
        start beyond one is refused.
    damping : float or (nv,) array_like
        For `implicit_damping`: gains of the law's speed feedback, N m s/rad, which the law then leaves out. The
        robot's own viscous friction is always damped so by this method.
    tolerance : float
        Of `rk45`, relative and absolute.

    Returns
    -------
    Motion
        Joints with Coulomb friction stick and slide as `dry_friction` says.

    Raises
    ------
    InvalidConfigError, UnknownNameError, ShapeError
        If an argument is none of the above; the message names it.
    DivergenceError
        If the motion diverges; the message names the joint, the time and what to change.
    DynamicsError
        If the mass matrix is singular; the message names the coordinate.

    Warns
    -----
    RuntimeWarning
        If a joint moves at more than ten times its limit of speed, which is not enforced.
    """
    if method not in METHODS:
        raise UnknownNameError(f"no integrator '{method}'; there are {', '.join(METHODS)}")
    for name, value in (("duration", duration), ("step", step)):
        above_zero(value, name, "s")
    above_zero(tolerance, "tolerance")
    if not callable(law):
        raise DynamicsError(f"law is {law!r}; expected a function (t, q, v) -> tau ({model.nv},)")

    def torques(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return vector(law(t, q, v), model.nv, f"tau of the law at {t:g} s")

    limits = flag(limits, "limits")
    position, speed, _ = model.check(q, v, np.zeros(model.nv))
    if limits:
        _refuse_beyond(model, position[model.nq - model.n :])
    damped, viscous = gains(damping, model.nv, "damping"), model.table.of_coordinates(rb.VISCOUS)
    friction = model.table.of_coordinates(rb.COULOMB)
    if damped.any() and method != "implicit_damping":
        raise InvalidConfigError(
            f"damping is {damping!r}, which '{method}' leaves out; take 'implicit_damping', or put it into the law"
        )
    count = max(1, math.ceil(duration / step - 1e-9))
    states_q, states_v = np.empty((count + 1, model.nq)), np.empty((count + 1, model.nv))
    taus, sliding = np.empty((count, model.nv)), np.zeros(model.nv)
    states_q[0], states_v[0] = position, speed
    for k in range(count):
        t = k * step
        taus[k] = torques(t, position, speed)
        free, grip = np.ones(model.nv, dtype=bool), np.zeros(model.nv)
        if friction.any():
            sliding, sticks, grip = dry_friction.directions(model, position, speed, taus[k], friction)
            free = ~sticks
        if limits:
            free &= ~stops.held(model, position, speed, taus[k] + grip)
        body = _Body(model, free, friction, sliding)
        if method == "rk4":
            position, speed = _rk4(body, torques, t, position, speed, step)
        elif method == "rk45":
            position, speed = _rk45(body, torques, t, position, speed, step, tolerance)
        else:
            position, speed = _euler(body, taus[k], position, speed, step, method, damped, viscous)
        is_lost = not np.abs(speed).max() < _FASTEST  # looked at before a limit stops the joint, which would hide it
        if limits and not is_lost:
            stops.impact(model, position, speed)
        states_q[k + 1], states_v[k + 1] = position, speed
        if is_lost:
            worst = int(np.argmax(np.where(np.isnan(speed), np.inf, np.abs(speed))))
            first = model.nv - model.n
            who = model.joint_names[worst - first] if worst >= first else "base"
            more_exact = "" if method in ("rk4", "rk45") else ", or rk4 for what moves fast but is not stiff"
            raise DivergenceError(
                f"the motion diverges: {who} is beyond {_FASTEST:g} rad/s after {k + 1} steps of {1e3 * step:g} ms by"
                f" '{method}'; take a smaller step (stability_limit names the greatest of a law), or lower gains"
                f"{more_exact}",
                _motion(step, k + 1, states_q, states_v, taus),
            )
    _warn_of_speed(model, states_v, step)
    return _motion(step, count, states_q, states_v, taus)


def _warn_of_speed(model: DynamicModel, states_v: np.ndarray, step: float) -> None:
    """Warn of joints far beyond their limit of speed: stops and friction may hide that a step is too great."""
    fastest = np.abs(states_v[1:, model.nv - model.n :]).max(axis=0)
    for name, speed, limit in zip(model.joint_names, fastest, model.tree.velocity):
        if speed > _FAR_BEYOND * limit > 0.0:
            text = (
                f"{name} moves at up to {speed:.4g} rad/s or m/s, its limit is {limit:g}: where a law with gains drives"
                f" it, the step of {1e3 * step:g} ms may be too great; warn_of_step names the greatest"
            )
            warnings.warn(text, RuntimeWarning, stacklevel=3)
            return


def _refuse_beyond(model: DynamicModel, joints: np.ndarray) -> None:
    """Refuse a start beyond a stop, from which the first step would jump."""
    for name, x, low, high in zip(model.joint_names, joints, model.tree.lower, model.tree.upper):
        if not low - _ON_STOP <= x <= high + _ON_STOP:
            raise InvalidConfigError(
                f"q begins with {name} at {x:.6g}, beyond its stop ({low:.6g} .. {high:.6g}); begin within, or take"
                " limits=False"
            )


def _motion(step: float, count: int, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Motion:
    return Motion(step * np.arange(count + 1), q[: count + 1], v[: count + 1], tau[:count])


@dataclass(frozen=True)
class _Body:
    """What is moved in a step: the robot, which of its coordinates are free, its dry friction, its direction."""

    model: DynamicModel
    free: np.ndarray
    friction: np.ndarray
    sliding: np.ndarray

    def forces(self, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the forces (nv,) that give the model, whose friction follows v, friction of the step's direction."""
        return tau + self.friction * (np.sign(v) - self.sliding)

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the accelerations (nv,), 0 where a stop or friction holds a joint."""
        forces = self.forces(v, tau)
        if self.free.all():
            return self.model.forward(q, v, forces)
        M = self.model.check_mass_matrix(self.model.mass_matrix(q))
        return _solved(self.free, M, forces - self.model.bias(q, v))

    def at_turns(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return the velocities (nv,) at the end of the step."""
        return dry_friction.at_turns(self.model, q, v, self.sliding, self.free)

    def rate(self, law: Law, t: float, q: np.ndarray, v: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of q and v under a law."""
        q = _normalized(self.model, np.array(q))
        return self.model.position_rate(q, v), self.accelerations(q, v, law(t, q, v))


def _solved(free: np.ndarray, M: np.ndarray, forces: np.ndarray) -> np.ndarray:  # noqa: N803
    """Return x (nv,) with M x = forces in the free coordinates, 0 in the others."""
    x = np.zeros(len(forces))
    x[free] = np.linalg.solve(M[np.ix_(free, free)], forces[free])
    return x


def _euler(
    body: _Body,
    tau: np.ndarray,
    q: np.ndarray,
    v: np.ndarray,
    step: float,
    method: str,
    damping: np.ndarray,
    viscous: np.ndarray,
) -> Tuple[np.ndarray, np.ndarray]:
    model = body.model
    if method == "implicit_damping":
        # (M + h D) v' = M v + h (tau - bias without viscous friction): the damping of the next moment
        M = model.mass_matrix(q)
        damped = model.check_mass_matrix(M + step * np.diag(damping + viscous))
        after = _solved(body.free, damped, M @ v + step * (body.forces(v, tau) - model.bias(q, v) + viscous * v))
    else:
        after = v + step * body.accelerations(q, v, tau)
    after = body.at_turns(q, after)
    return _normalized(model, q + step * model.position_rate(q, v if method == "explicit" else after)), after


def _normalized(model: DynamicModel, q: np.ndarray) -> np.ndarray:
    if model.floating:
        q[3:7] /= np.linalg.norm(q[3:7])
    return q


def _rk4(body: _Body, law: Law, t: float, q: np.ndarray, v: np.ndarray, step: float) -> Tuple[np.ndarray, np.ndarray]:
    half = step / 2.0
    a1, b1 = body.rate(law, t, q, v)
    a2, b2 = body.rate(law, t + half, q + half * a1, v + half * b1)
    a3, b3 = body.rate(law, t + half, q + half * a2, v + half * b2)
    a4, b4 = body.rate(law, t + step, q + step * a3, v + step * b3)
    after = _normalized(body.model, q + step / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4))
    return after, body.at_turns(after, v + step / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4))


def _rk45(
    body: _Body, law: Law, t: float, q: np.ndarray, v: np.ndarray, step: float, tolerance: float
) -> Tuple[np.ndarray, np.ndarray]:
    from robot_mechanics.native import required_scipy  # noqa: F401, I001, PLC0415 - says what to do if it is missing
    from scipy.integrate import solve_ivp  # noqa: PLC0415 - optional

    n = body.model.nq

    def rate(time: float, state: np.ndarray) -> np.ndarray:
        return np.concatenate(body.rate(law, time, state[:n], state[n:]))

    solved = solve_ivp(rate, (t, t + step), np.concatenate([q, v]), rtol=tolerance, atol=tolerance)
    if not solved.success:
        raise DynamicsError(f"rk45 stops at {t:.4f} s: {solved.message}; take a greater tolerance")
    after = _normalized(body.model, solved.y[:n, -1])
    return after, body.at_turns(after, solved.y[n:, -1])


def stability_limit(M: ArrayLike, kp: ArrayLike, kd: ArrayLike, method: str = "semi_implicit") -> float:  # noqa: N803
    """Return the greatest step at which the error of M e'' + kd e' + kp e = 0 does not grow, s.

    It is infinite if no step makes it grow, and 0 if every step does: by `explicit`, of what is not damped.

    Parameters
    ----------
    M : (n, n) array_like
        Mass matrix, kg m^2; or identity for gains inside it (`computed_torque`).
    kp, kd : float or (n,) array_like
        From 0, N m/rad and N m s/rad.
    method : str
        One of METHODS but `rk45`, which looks after its step itself.

    Raises
    ------
    ShapeError, InvalidConfigError, UnknownNameError
        On a matrix or gains that are no numbers, of another length, or negative (with which the error always grows),
        and on an unknown method.

    Notes
    -----
    The step maps (e, e') by a matrix; its spectral radius must not exceed 1. For gains of speed alone and
    `explicit`, this is 2 lambda_min(M) / kd. Torques are those of the present state: a controller on a wire, whose
    torques are old when they act, needs shorter steps.
    """
    try:
        mass = np.array(M, dtype=float)
    except (TypeError, ValueError):
        mass = np.zeros(0)
    n = len(np.atleast_1d(mass))
    given = np.array2string(mass, separator=", ").replace("\n", "") if mass.size else repr(M)
    if n == 0 or mass.shape != (n, n) or not np.isfinite(mass).all() or not np.allclose(mass, mass.T, 1e-9, 1e-12):
        raise ShapeError(f"M is {given}; expected a symmetric (n, n) matrix of finite numbers")
    least = np.linalg.eigvalsh(mass)[0]
    if not least > 0.0:
        raise ShapeError(
            f"M is {given}, with the eigenvalue {least:.3g}; expected a positive definite matrix: give each joint a"
            " mass to move, or an armature"
        )
    stiff, damp = (np.diag(gains(k, n, name)) for k, name in ((kp, "kp"), (kd, "kd")))
    makers: Dict[str, Callable[[float], np.ndarray]] = {
        "semi_implicit": lambda h: _step_semi_implicit(mass, stiff, damp, h, implicit=False),
        "implicit_damping": lambda h: _step_semi_implicit(mass, stiff, damp, h, implicit=True),
        "rk4": lambda h: _step_rk4(mass, stiff, damp, h),
    }
    if method == "explicit":
        return _explicit_limit(np.linalg.eigvals(_linear(mass, stiff, damp)))
    if method not in makers:
        raise UnknownNameError(f"no step limit of '{method}'; there are explicit, {', '.join(makers)}")

    def grows(h: float) -> bool:
        return float(np.abs(np.linalg.eigvals(makers[method](h))).max()) > 1.0 + 1e-9

    steps = np.geomspace(1e-7, 10.0, 400)
    first = next((k for k, h in enumerate(steps) if grows(h)), None)
    if first is None:
        return math.inf
    low, high = (0.0 if first == 0 else steps[first - 1]), steps[first]
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (low, middle) if grows(middle) else (middle, high)
    return float(low)


def _linear(mass: np.ndarray, stiff: np.ndarray, damp: np.ndarray) -> np.ndarray:
    n = len(mass)
    return np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(mass, stiff), -np.linalg.solve(mass, damp)]])


def _explicit_limit(poles: np.ndarray) -> float:
    """Return the least h at which |1 + h pole| of one exceeds 1, i.e. -2 Re / |pole|^2; 0 for one without damping."""
    size = np.abs(poles)
    moving = size > 1e-6 * size.max(initial=0.0)  # the others, 0 but for rounding, are joints without gains
    damping = np.where(-poles.real > 1e-9 * size, -poles.real, 0.0)
    return float(np.min(2.0 * damping[moving] / size[moving] ** 2, initial=math.inf))


def _step_semi_implicit(mass: np.ndarray, stiff: np.ndarray, damp: np.ndarray, h: float, implicit: bool) -> np.ndarray:
    n = len(mass)
    left, right = (mass + h * damp, mass) if implicit else (mass, mass - h * damp)
    by_speed, by_place = np.linalg.solve(left, right), -h * np.linalg.solve(left, stiff)
    return np.block([[np.eye(n) + h * by_place, h * by_speed], [by_place, by_speed]])


def _step_rk4(mass: np.ndarray, stiff: np.ndarray, damp: np.ndarray, h: float) -> np.ndarray:
    A = h * _linear(mass, stiff, damp)
    total = term = np.eye(len(A))
    for k in range(1, 5):
        term = term @ A / k
        total = total + term
    return total


def warn_of_step(
    model: DynamicModel, q: ArrayLike, kp: ArrayLike, kd: ArrayLike, step: float, method: str, inside: bool = False
) -> Optional[str]:
    """Warn, and return the sentence, if a step is too great for gains at the pose q; None if it is not.

    Other poses have other limits: the least mass matrix of a motion counts.

    Parameters
    ----------
    model : DynamicModel
    q : (nq,) array_like
    kp, kd : float or (nv,) array_like
    step : float
        s.
    method : str
        As of `stability_limit`.
    inside : bool
        Whether the feedback stands inside the mass matrix.
    """
    above_zero(step, "step", "s")
    M = np.eye(model.nv) if inside else model.check_mass_matrix(model.mass_matrix(q))
    limit = stability_limit(M, kp, kd, method)
    if step <= limit:
        return None
    whose = f"for kp {np.asarray(kp)} and kd {np.asarray(kd)} by '{method}'"
    if limit == 0.0:
        text = f"no step is short enough {whose}: the error is not damped; raise kd, or take 'semi_implicit' or 'rk4'"
    else:
        text = (
            f"a step of {1e3 * step:g} ms is too great {whose}: the error grows; take {1e3 * limit:.3g} ms or less,"
            " lower gains, or the feedback inside the mass matrix (computed_torque)"
        )
    warnings.warn(text, RuntimeWarning, stacklevel=2)
    return text
