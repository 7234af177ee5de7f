# SPDX-License-Identifier: MIT
"""When a change of gains is in the torques of the joints, seen in joint_states alone."""

from __future__ import annotations

from typing import Sequence, Tuple

import numpy as np

Array = np.ndarray

LEAST_ERROR = 1e-4  # rad; a joint that carries less shows no stiffness
State = Tuple[float, Sequence[float], Sequence[float]]  # wall clock, s; positions, rad; torques, N m


def change_seen(states: Sequence[State], old: Array, new: Array) -> Tuple[float, float, int]:
    """Return when every joint gives the torque of its new gains, how far a torque is from both, and of how many joints.

    The torque of a joint is p times its error where i and d are 0. Its command follows from its state at rest, where
    the torque is that of the old p, so that each later state shows which p is in force.

    Parameters
    ----------
    states : sequence
        Wall clock (s), positions (n,) in rad and torques (n,) in N m of successive joint_states, the first at rest and
        from before the change.
    old, new : (n,) array
        Stiffness p of each joint, N m/rad.

    Returns
    -------
    float, float, int
        Wall clock of the first state in which all torques are those of the new gains, s, NaN if there is none yet; the
        most by which a torque differs from that of the old gains and that of the new ones, N m; the number of joints
        that change and carry a load.
    """
    when, position, torque = (np.array(column) for column in zip(*states))
    command = position[0] + torque[0] / old
    counts = (np.abs(command - position[0]) > LEAST_ERROR) & (old != new)
    error = (command - position)[:, counts]
    of_old, of_new = (np.abs(torque[:, counts] - p[counts] * error) for p in (old, new))
    is_new = (of_new < of_old).all(axis=1) & counts.any()
    seen = float(when[is_new.argmax()]) if is_new.any() else float("nan")
    return seen, float(np.minimum(of_old, of_new).max(initial=0.0)), int(counts.sum())
