# SPDX-License-Identifier: MIT
"""Where the feet go while walking: stance by the exact rigid motion of the body, swing by closed forms.

The walk frame W is level, moves with the body over the ground, and has its origin on the ground under the body's rest
position. A foot that stands has z = 0 in W and leaves with the inverse of the body's motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Callable, Optional

import numpy as np

from shellbot_action_manager.gait._walking_tick import carry, fly
from shellbot_action_manager.gait.gait_table import Gait
from shellbot_action_manager.gait.phase_clock import PhaseClock
from shellbot_action_manager.gait.planar_motion import body_point_after, ground_points_after
from shellbot_action_manager.gait.swing import travel_profile

LEG_AZIMUTH = np.arange(6) * (np.pi / 3.0)  # rad, of lower_1 .. lower_6: the six-fold symmetry of the robot

FreeLift = Callable[[int, np.ndarray], float]

SWING_SAMPLES = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)  # fractions of a swing at which its height is checked

NO_LEG = np.zeros(6, dtype=bool)
_HOME_TOLERANCE = 1e-3  # m: a foot that is nearer to its rest point need not step any more
_HOME_PERIOD_FRACTION = 0.75  # of period_slow: how fast the feet are brought home after the last command


@lru_cache(maxsize=64)
def neutral_feet(radius: float) -> np.ndarray:
    """Return the points under which the feet stand at rest on a circle of `radius` (m), (6, 2) in W; read-only."""
    feet = radius * np.stack((np.cos(LEG_AZIMUTH), np.sin(LEG_AZIMUTH)), axis=1)
    feet.setflags(write=False)
    return feet


def rest_footholds(radius: float) -> np.ndarray:
    """Return the same points on the walking plane, (6, 3) in W, m."""
    return np.hstack((neutral_feet(radius), np.zeros((len(LEG_AZIMUTH), 1))))


@dataclass(frozen=True)
class WalkState:
    """Everything that the gait remembers between two ticks."""

    phase: float  #: Of the gait cycle, 0..1
    active: bool  #: Whether the clock runs: from the first command until the feet are home again
    in_swing_phase: np.ndarray  #: (6,) Legs whose phase says swing
    #: (6,) Legs that really are in the air (a leg stays down when its swing phase began without it)
    swinging: np.ndarray
    p_feet: np.ndarray  #: (6, 3) Feet in W, m
    #: p_lift, p_target: (6, 2) Where the present swing began and ends on the ground, in W, m
    p_lift: np.ndarray
    p_target: np.ndarray
    a_feet: np.ndarray  #: (6, 3) Acceleration of the swinging feet over the ground, m/s^2
    #: lift_height, dwell: (6,) Top of the present swing of each leg, m, and the fraction without travel at its end
    lift_height: np.ndarray
    dwell: np.ndarray
    radius: float = 0.0  #: Circle around which the footholds are planned, m: one while walking, one to come home to


def standing_at(p_feet: np.ndarray) -> WalkState:
    """Return the state of a robot that stands still with its feet at `p_feet` (6, 2 or 3) in W, put on the ground."""
    feet = np.zeros((6, 3))
    feet[:, :2] = np.asarray(p_feet, dtype=np.float64)[:, :2]
    no_leg = np.zeros(6, dtype=bool)
    return WalkState(
        0.0,
        False,
        no_leg,
        no_leg,
        feet,
        feet[:, :2].copy(),
        feet[:, :2].copy(),
        np.zeros((6, 3)),
        np.zeros(6),
        np.zeros(6),
    )


def is_home(state: WalkState, gait: Gait, idle: np.ndarray = NO_LEG) -> bool:
    """Return whether every foot stands on its rest point; those of `idle` legs (6,) do not count."""
    away = np.linalg.norm(state.p_feet[:, :2] - neutral_feet(gait.rest_radius), axis=1)
    return bool(not state.swinging.any() and (idle | (away <= _HOME_TOLERANCE)).all())


def advance(
    state: WalkState,
    gait: Gait,
    dt: float,
    twist: np.ndarray,
    usage: float,
    commanded: bool,
    free_lift: Optional[FreeLift] = None,
    planned: Optional[np.ndarray] = None,
    lifts: bool = True,
    idle: np.ndarray = NO_LEG,
    landed: np.ndarray = NO_LEG,
) -> WalkState:
    """Return the state one tick later.

    Parameters
    ----------
    dt : float
        s.
    twist : (3,) array
        Of the body over the ground, in W: m/s, m/s, rad/s.
    usage : float
        Fraction 0..1 of the top speed; sets the period.
    commanded : bool
        Whether the robot is to walk; otherwise the feet step home, and the clock stops when they are there.
    free_lift : callable, optional
        Called when a foot lifts: leg, and where over the ground (n, 2) it will be at SWING_SAMPLES, in W as it will be
        then, m; answers how high the foot may go, m. As high as the gait lifts it by default.
    planned : (3,) array, optional
        Twist that the footholds are planned for, when the body is held back for a moment; `twist` by default.
    lifts : bool
        Whether feet may lift; otherwise those in the air land, and the others wait on the ground.
    idle : (6,) bool array
        Legs that do not walk: their feet stay where they are in W.
    landed : (6,) bool array
        Legs whose feet met the ground before the end of their swing: they stand where they are.

    Notes
    -----
    Standing foot: p <- exp(-xi dt) p, exact for a twist that is constant over the tick. Swinging foot:
    p = p_lift + s(u) (p_target - p_lift) with both ends fixed to the ground, so that its speed over the ground is zero
    when it leaves and when it lands. Foothold: the rest point, carried along by the rest of the swing and half a
    stance.
    """
    if not state.active and not commanded and is_home(state, gait, idle):
        return state
    clock = PhaseClock(gait.phase_offset, gait.duty_factor)
    clock.phase = state.phase
    was_in_swing = state.in_swing_phase
    if not state.active:
        clock.restart()
        was_in_swing = np.nan_to_num(clock.swing_fraction) > 0.0  # legs in mid-swing wait on the ground for their turn
    period = gait.period(usage) if commanded else gait.period_slow * _HOME_PERIOD_FRACTION
    before = clock.swing_fraction
    clock.advance(dt, period)
    fraction = clock.swing_fraction
    in_swing = ~np.isnan(fraction)

    radius = gait.stance_radius if commanded else gait.rest_radius
    neutral = neutral_feet(radius)
    p_feet, p_lift, p_target = state.p_feet.copy(), state.p_lift.copy(), state.p_target.copy()
    carry(twist, dt, idle, p_feet, p_lift, p_target)

    swinging = state.swinging & in_swing & ~idle & ~landed
    landing = state.swinging & ~in_swing & ~idle
    if landing.any():
        p_feet[landing, :2], p_feet[landing, 2] = p_target[landing], 0.0

    must_step = commanded or np.linalg.norm(p_feet[:, :2] - neutral, axis=1) > _HOME_TOLERANCE
    lifting = in_swing & ~was_in_swing & must_step & lifts & ~idle
    swinging = swinging | lifting
    lift_height, dwell = state.lift_height.copy(), state.dwell.copy()
    if lifting.any():
        used = usage if commanded else 0.0
        p_lift[lifting], dwell[lifting], lift_height[lifting] = p_feet[lifting, :2], gait.dwell(used), gait.lift(used)

    times = ((1.0 - gait.duty_factor) * period, gait.duty_factor * period)
    planned = twist if planned is None else planned
    for k in np.flatnonzero(lifting).tolist():
        if free_lift is not None:
            ahead = (1.0 - float(fraction[k])) * times[0] + 0.5 * times[1]
            stride = body_point_after(neutral[k], planned, ahead) - p_lift[k]
            along = [travel_profile(u, gait.lift_dwell, float(dwell[k]), gait.ramp)[0] for u in SWING_SAMPLES]
            path = [
                ground_points_after((p_lift[k] + part * stride)[None], planned, u * times[0])[0]
                for part, u in zip(along, SWING_SAMPLES)
            ]
            lift_height[k] = min(lift_height[k], free_lift(k, np.array(path)))
    a_feet = np.zeros((6, 3))
    fly(
        swinging, lifting, fraction, before, times, (gait.lift_dwell, gait.ramp, gait.lift_peak), dwell, lift_height,
        neutral, radius != state.radius, planned, p_feet, p_lift, p_target, a_feet,
    )  # fmt: skip

    new = WalkState(clock.phase, True, in_swing, swinging, p_feet, p_lift, p_target, a_feet, lift_height, dwell, radius)
    if not commanded and is_home(new, gait, idle):
        return replace(standing_at(p_feet), p_feet=np.where(idle[:, None], p_feet, standing_at(p_feet).p_feet))
    return new


def leg_phases(state: WalkState, gait: Gait) -> np.ndarray:
    """Return each leg's phase 0..1 in its own cycle, (6,); NaN while the robot does not walk."""
    if not state.active:
        return np.full(6, np.nan)
    return (state.phase + np.asarray(gait.phase_offset)) % 1.0
