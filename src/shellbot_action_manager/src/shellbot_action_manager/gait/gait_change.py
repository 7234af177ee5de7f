# SPDX-License-Identifier: MIT
"""Where in its cycle another gait begins under a robot that walks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shellbot_action_manager.gait.gait_table import Gait
from shellbot_action_manager.gait.phase_clock import PhaseClock
from shellbot_action_manager.gait.planar_motion import ground_points_after
from shellbot_action_manager.gait.walking import WalkState
from shellbot_action_manager.gait.walkspace import reach_along
from shellbot_kinematics.workspace_walk import StrokeReach


def begin_gait(state: WalkState, gait: Gait, twist: np.ndarray, period: float, reach: StrokeReach) -> WalkState:
    """Return the state of a robot that goes on with another gait; every foot must be on the ground.

    The gait begins where one of its legs lifts: of these six phases at the one in which every foot lifts farthest from
    the end of its reach.

    Parameters
    ----------
    state : WalkState
        With all feet down.
    gait : Gait
        The new one.
    twist : (3,) array
        Of the body over the ground, in W: m/s, m/s, rad/s.
    period : float
        Cycle time of the new gait at this twist, s.
    reach : StrokeReach
        Of the feet in the new gait.
    """
    offset, best, least = np.asarray(gait.phase_offset), 0.0, np.inf
    for phase in (gait.duty_factor - offset) % 1.0:
        until_lift = (gait.duty_factor - phase - offset + 1e-9) % 1.0 * period
        lifted = [ground_points_after(p[None, :2], twist, float(t))[0] for p, t in zip(state.p_feet, until_lift)]
        away = np.array(lifted) - reach.rest
        used = float((np.linalg.norm(away, axis=1) / np.maximum(reach_along(reach, away), 1e-3)).max())
        if used < least - 1e-6:
            best, least = float(phase), used
    clock = PhaseClock(gait.phase_offset, gait.duty_factor)
    clock.phase = best
    waiting = np.nan_to_num(clock.swing_fraction) > 0.0  # legs in mid-swing wait on the ground for their turn
    return replace(state, phase=best, in_swing_phase=waiting)
