# SPDX-License-Identifier: MIT
"""Control laws of a robot on a fixed base: plain functions of the measured state, each returning torques (n,).

The names say where the feedback stands: outside the mass matrix (`pd_outside`), where every joint's poles depend on
the pose, or inside (`computed_torque`), where the error of every joint obeys e'' + Kd e' + Kp e = 0. Gains are
numbers or (n,) arrays from 0, N m/rad and N m s/rad outside, 1/s^2 and 1/s inside. What is of another length, not
finite or below 0 is a ShapeError or InvalidConfigError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robot_mechanics.arguments import gains, vector
from robot_mechanics.errors import ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robot_mechanics.dynamics.model import DynamicModel


class Reference(NamedTuple):
    """What the joints are to do at one moment; all (n,)."""

    q: np.ndarray  #: rad
    v: np.ndarray  #: rad/s
    a: np.ndarray  #: rad/s^2


def open_loop(model: DynamicModel, q: ArrayLike, v: ArrayLike, reference: Reference) -> np.ndarray:
    """Return the torques that give the reference's accelerations at the measured state: inverse dynamics alone.

    Parameters
    ----------
    model : DynamicModel
        On a fixed base.
    q, v : (n,) array_like
        Measured state, rad and rad/s.
    reference : Reference
    """
    return model.inverse(q, v, _read(reference).a)


def pd_outside(
    model: DynamicModel, q: ArrayLike, v: ArrayLike, reference: Reference, kp: ArrayLike, kd: ArrayLike
) -> np.ndarray:
    """Return M a_ref + c + g + friction + kp (q_ref - q) + kd (v_ref - v): feed-forward with the feedback outside.

    Parameters
    ----------
    model : DynamicModel
        On a fixed base.
    q, v : (n,) array_like
        Measured state, rad and rad/s.
    reference : Reference
    kp, kd : float or (n,) array_like
        N m/rad and N m s/rad.
    """
    return model.inverse(q, v, _read(reference).a) + _feedback(model, q, v, reference, kp, kd)


def computed_torque(
    model: DynamicModel, q: ArrayLike, v: ArrayLike, reference: Reference, kp: ArrayLike, kd: ArrayLike
) -> np.ndarray:
    """Return M (a_ref + kp (q_ref - q) + kd (v_ref - v)) + c + g + friction: the feedback inside.

    Parameters
    ----------
    model : DynamicModel
        On a fixed base.
    q, v : (n,) array_like
        Measured state, rad and rad/s.
    reference : Reference
    kp, kd : float or (n,) array_like
        1/s^2 and 1/s.
    """
    a = vector(_read(reference).a, model.n, "a of the reference")
    return model.inverse(q, v, a + _feedback(model, q, v, reference, kp, kd))


def gravity_pd(
    model: DynamicModel, q: ArrayLike, v: ArrayLike, reference: Reference, kp: ArrayLike, kd: ArrayLike
) -> np.ndarray:
    """Return g + kp (q_ref - q) + kd (v_ref - v): holds a pose without an error at rest, whatever the load it knows.

    Parameters
    ----------
    model : DynamicModel
        On a fixed base.
    q, v : (n,) array_like
        Measured state, rad and rad/s.
    reference : Reference
    kp, kd : float or (n,) array_like
        N m/rad and N m s/rad.
    """
    return model.gravity(q) + _feedback(model, q, v, reference, kp, kd)


def _feedback(
    model: DynamicModel, q: ArrayLike, v: ArrayLike, reference: Reference, kp: ArrayLike, kd: ArrayLike
) -> np.ndarray:
    """Return kp (q_ref - q) + kd (v_ref - v), (n,)."""
    n, reference = model.n, _read(reference)
    e = vector(reference.q, n, "q of the reference") - vector(q, n, "q")
    rate = vector(reference.v, n, "v of the reference") - vector(v, n, "v")
    return gains(kp, n, "kp") * e + gains(kd, n, "kd") * rate


def _read(reference: object) -> Reference:
    """Return a reference, also if it is given as a plain tuple (q, v, a)."""
    if not isinstance(reference, (tuple, list)) or len(reference) != 3:
        raise ShapeError(f"reference is {reference!r}; expected Reference(q, v, a), each (n,)")
    return Reference(*reference)
