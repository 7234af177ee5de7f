# SPDX-License-Identifier: MIT
"""The robot on its feet: twist and body pose in, feet and joints of the lower legs out."""

from __future__ import annotations

from dataclasses import replace
from typing import List, Mapping, Optional, Tuple

import numpy as np

from shellbot_action_manager.body.body_pose import REST_POSE, approach, feet_in_base, feet_in_walk
from shellbot_action_manager.body.holding import Holding
from shellbot_action_manager.body.legs import LegGeometry, LowerCommand
from shellbot_action_manager.body.pose_range import clamp_pose, pose_ranges
from shellbot_action_manager.config import ActionManagerConfig
from shellbot_action_manager.gait.foot_reach import free_lift, height_range
from shellbot_action_manager.gait.gait_change import begin_gait
from shellbot_action_manager.gait.gait_table import Gait, find_gait
from shellbot_action_manager.gait.heading import HeadingHold
from shellbot_action_manager.gait.lost_legs import LostLegs
from shellbot_action_manager.gait.terrain import Terrain
from shellbot_action_manager.gait.twist_command import ease_change
from shellbot_action_manager.gait.walking import (
    NO_LEG,
    WalkState,
    advance,
    is_home,
    leg_phases,
    neutral_feet,
    rest_footholds,
    standing_at,
)
from shellbot_action_manager.gait.walkspace import (
    WalkspaceLimits,
    acceleration_limits,
    find_reach,
    scale_twist,
    speed_limits,
    twist_usage,
)
from shellbot_kinematics.workspace_walk import StrokeReach

_POSE_CHANGE = np.array([0.002] * 3 + [0.02] * 3)  # m, rad: the walkspace is searched again after this much
_LEAD_TIME = 0.3  # s in which the lead of swinging feet comes and goes
_SLIP_RATE = 0.1  # 1/s: how fast the slip scale changes with the gait


class WalkEngine:
    """Walks and poses the body; keeps every foot within the reach of its leg.

    Parameters
    ----------
    config : ActionManagerConfig
        Limits, gains and gaits.
    legs : LegGeometry
        The lower legs.
    holding : Holding, optional
        Limits body poses by the torques that they take; by default nothing does.
    """

    def __init__(self, config: ActionManagerConfig, legs: LegGeometry, holding: Optional[Holding] = None) -> None:
        self._config, self._legs, self._holding = config, legs, holding
        self.gaits: Mapping[str, Gait] = config.gaits  #: May be replaced at any time; the next `set_gait` looks there
        self._heading = HeadingHold(config.heading)
        self.lost_legs = LostLegs(config.limp)
        self.terrain = Terrain(config.terrain)
        self.load_fed = 0.0  #: Fraction of the load on the legs that is fed forward as torque
        self.motion_fed = 0.0  #: The same of their inertia and friction: with some of it feet are not led
        self._lead = 1.0
        self._commanded: Optional[Tuple[List[float], StrokeReach]] = None
        self._goal = (np.zeros(3), 0.0)
        self._next: Optional[Gait] = None  # to change to while walking
        self._select(find_gait(config.gaits, config.gait))
        self._slip_scale = self.gait.slip_scale.array
        self._searched_pose, self._searched_walking = REST_POSE, False
        self.start(rest_footholds(self.gait.rest_radius), REST_POSE)

    def start(self, p_walk: np.ndarray, pose: np.ndarray) -> None:
        """Begin at rest, with the feet (6, 3) where they are in W and the body at `pose` (6,)."""
        self._state: WalkState = standing_at(p_walk)
        self.pose = np.array(pose, dtype=np.float64)
        self._pose_rate = np.zeros(6)
        self._requested: Optional[Tuple[np.ndarray, bool]] = None
        self._goal_pose = REST_POSE
        self.twist, self._acceleration = np.zeros(3), np.zeros(3)
        self._brakes = False
        self.text = ""
        self._blocked = False
        self.lost_legs.start()
        self.terrain.start()
        self._home: Gait = self.gait
        self._next, self._lifts = None, True
        self._heading.reset()
        self._update_walkspace(False, force=True)

    @property
    def walking(self) -> bool:
        """Whether the gait's clock runs."""
        return self._state.active

    @property
    def at_rest(self) -> bool:
        """Whether the feet are home, those of legs that came back too, and the twist is zero."""
        idle = self.lost_legs.idle
        moves = self._state.active or self.twist.any() or (idle != self.lost_legs.lost).any()
        return not moves and is_home(self._state, self._home, idle)

    @property
    def pose_reached(self) -> bool:
        """Whether the body is where it was commanded to be, or as near as the limits allow."""
        return bool((self.pose == self._goal_pose).all())

    @property
    def standing(self) -> np.ndarray:
        """Feet that the gait keeps on the ground, (6,) bool."""
        stand = ~(self._state.swinging | self.lost_legs.idle)
        return stand & self.terrain.down if self.rough else stand

    @property
    def rough(self) -> bool:
        """Whether the ground is not taken as flat: by the gait, or while feet still stand at different heights."""
        return self.gait.search_depth > 0.0 or not self.terrain.flat

    @property
    def phases(self) -> np.ndarray:
        """Phase of each leg, (6,), NaN while not walking."""
        return leg_phases(self._state, self.gait)

    @property
    def p_walk(self) -> np.ndarray:
        """Feet in W, (6, 3)."""
        return self._state.p_feet

    @property
    def footsteps(self) -> np.ndarray:
        """Where the feet in the air will land, (6, 3) in base_link as it is commanded now, m; NaN for the others."""
        state = self._state
        p_walk = np.column_stack((state.p_target, np.zeros(len(state.p_target))))
        p_walk[~state.swinging] = np.nan
        return feet_in_base(p_walk, self.pose, self.gait.stance_height)

    def set_gait(self, name: str) -> bool:
        """Change the gait: at once at rest, in the next steps while walking. Return whether it is the one in use now.

        Raises
        ------
        UnknownGaitError
            If there is no such gait.
        """
        gait = find_gait(self.gaits, name)
        if gait == self.gait:
            self._next = None
        elif self._state.active:
            if gait != self._next:
                self._next = gait
                self._next_reach = find_reach(self._legs, gait, self.pose, self._config.joint_margin)
        else:
            self._begin(gait)
        return self.gait == gait

    def step(
        self,
        dt: float,
        twist: np.ndarray,
        pose: np.ndarray,
        yaw: Optional[float],
        home_radius: Optional[float] = None,
        measured: Optional[np.ndarray] = None,
        tilt: Optional[np.ndarray] = None,
        lapsed: bool = False,
    ) -> LowerCommand:
        """Return the command of the lower legs one tick later; joints are NaN where a foot is out of reach.

        Parameters
        ----------
        twist : (3,) array
            m/s, m/s, rad/s; scaled to the limits with its direction kept.
        pose : (6,) array
            Body pose relative to rest, clamped to what the legs can reach and hold.
        yaw : float or None
            Measured heading, rad.
        home_radius : float, optional
            Circle (m) to which the feet step home; the gait's by default.
        measured : (6, 3) array, optional
            Feet in base_link by the measured joints, m, for rough ground.
        tilt : (2,) array, optional
            Measured roll and pitch, rad, for rough ground.
        lapsed : bool
            Whether the twist is zero because its commands ended without one: the robot brakes harder, until it rests,
            whatever is commanded meanwhile.
        """
        twist = self._change_gait(np.asarray(twist, dtype=np.float64))
        # gentler limits in the middle of it would lead the twist far through zero
        self._brakes = (lapsed or self._brakes) and bool(self.twist.any())
        if self._brakes:
            twist = np.zeros(3)
        walking = self._state.active or bool(twist.any())
        self._follow_pose(dt, pose + self.lost_legs.lean, walking)
        if not (self._spare_idle(dt) and self.lost_legs.ready):
            # feet that may not lift are soon out of reach
            twist, self._brakes = np.zeros(3), bool(self.twist.any())
        self._home = self.gait if home_radius is None else replace(self.gait, rest_radius=home_radius)
        self._update_walkspace(walking)
        goal, goal_usage = self._scaled(twist)
        hard = self._config.lapse.braking if self._brakes else 1.0
        self.twist, self._acceleration = ease_change(
            self.twist, self._acceleration, goal, hard * self.limits.max_acceleration, self._config.jerk_time / hard, dt
        )
        usage = goal_usage
        if (self.twist != goal).any():
            _, usage = scale_twist(self.twist, self._reach, self.gait, self.limits.max_velocity)
        if self.twist.any():
            correction = np.array([0.0, 0.0, self._heading.step(yaw, float(self.twist[2]), dt)])
        else:
            correction = np.zeros(3)
            self._heading.reset()
        # legs that sag as they take over load carry the body farther than it is commanded; those that do not, do not
        slip = 1.0 + (1.0 - self.load_fed) * (self.gait.slip_scale.array - 1.0)
        most = _SLIP_RATE * dt
        self._slip_scale = self._slip_scale + np.minimum(np.maximum(slip - self._slip_scale, -most), most)
        feet_twist = (self.twist + correction) * self._slip_scale
        landed = NO_LEG
        if self.gait.search_depth > 0.0:
            z = None if measured is None else feet_in_walk(measured, self.pose, self.gait.stance_height)[:, 2]
            landed = self.terrain.sense(z) & self._state.swinging
            self.terrain.level(dt, self._state.p_feet[:, :2], None if tilt is None else tilt - self.pose[3:5])
        return self._within_reach(dt, feet_twist, usage, landed, measured is not None)

    def _within_reach(
        self, dt: float, twist: np.ndarray, usage: float, landed: np.ndarray, measured: bool
    ) -> LowerCommand:
        """Advance the feet; with less speed when one would leave its leg's reach (in sudden reversals).

        Return the legs' command with the servos' lead: a spring k moves an inertia J by being J a / k ahead. What is
        fed forward as torque needs no lead, but to know where the feet will be a tick later.
        """
        before = self._state.p_feet
        change = dt / _LEAD_TIME if self._state.active else 1.0  # at rest there is nothing to lead
        self._lead = min(max(float(self.motion_fed == 0.0), self._lead - change), self._lead + change)
        fed, points = self._lead == 0.0, np.empty((6, 2, 3))
        commanded, legs, idle = bool(self.twist.any()), self._legs, self.lost_legs.idle
        rough = self.rough
        for fraction in (1.0, 0.5, 0.0):
            state = advance(
                self._state,
                self._home,
                dt,
                twist * fraction,
                usage,
                commanded,
                self._free_lift,
                twist,
                self._lifts,
                idle,
                landed,
            )
            if rough:
                if fraction == 1.0:
                    self._find_ground(dt, state, measured)
                state = self.terrain.lifted(state, idle, self.gait.search_depth > 0.0)
            feet = state.p_feet
            # one call of the leg inverse for both: where the feet are to be, and where they are led or will be
            points[:, 0] = feet
            if fed:
                points[:, 1] = 2.0 * feet - before + state.a_feet * dt**2
            else:
                led = feet + self._lead * self._config.servo_lead * state.a_feet
                led[:, 2] = feet[:, 2] if rough else np.maximum(led[:, 2], 0.0)  # a touchdown ends the motion any time
                points[:, 1] = led
            both = feet_in_base(points, self.pose, self.gait.stance_height)
            if fed and self._pose_rate.any():
                later_pose = self.pose + self._pose_rate * dt
                both[:, 1] = feet_in_base(points[:, 1], later_pose, self.gait.stance_height)
            joints = legs.solve(both)
            if legs.is_free(joints[:, 0], ~(state.swinging | idle)):
                break
        self._state = state
        q = np.zeros((6, 4))
        if fed:
            q[:, 1:] = joints[:, 0]
            return LowerCommand(q, both[:, 0], joints[:, 1])
        margin = legs.margin(joints[:, 1])
        p_base = both[:, 1]
        q[:, 1:] = joints[:, 1]
        if margin.min() < 0.0:
            beyond = margin.min(axis=1) < 0.0
            p_base = np.where(beyond[:, None], both[:, 0], p_base)
            q[:, 1:] = np.where(beyond[:, None], joints[:, 0], joints[:, 1])
        return LowerCommand(q, p_base)

    def _find_ground(self, dt: float, state: WalkState, measured: bool) -> None:
        """Move the heights of the feet on, within what their legs can reach where they are in the plane."""
        gait, terrain = self.gait, self.terrain
        if gait.search_depth == 0.0:
            terrain.fade(dt)
            return
        feet, height = state.p_feet, gait.stance_height
        low, high = height_range(self._legs, feet, self.pose, height, state.swinging, terrain.z)
        lowers_from = gait.duty_factor + gait.lift_peak * (1.0 - gait.duty_factor)
        lowers = state.swinging & (leg_phases(state, gait) >= lowers_from)
        terrain.step(dt, gait.lift_height, gait.search_depth, state.swinging, lowers, measured, low, high)

    def _free_lift(self, leg: int, p_swing: np.ndarray) -> float:
        return free_lift(self._legs, self.gait, self.pose, leg, p_swing)

    def _spare_idle(self, dt: float) -> bool:
        """Move the feet of idle legs on; return whether the others can do without them: down, and leaning away."""
        idle = self.lost_legs.idle
        if not self.lost_legs.any_idle:
            return True
        leans = self._next is None and (self.pose_reached or self._blocked)
        self._lifts = self._lifts and leans
        rest = neutral_feet(self.gait.rest_radius)
        feet = self.lost_legs.step(dt, self._state.p_feet, rest, leans, self._within_limits)
        self._state = replace(self._state, p_feet=feet, swinging=self._state.swinging & ~idle)
        return leans

    def _within_limits(self, feet: np.ndarray) -> np.ndarray:
        """Return which legs (6,) reach feet (6, 3) in W with the body where it is."""
        q = self._legs.solve(feet_in_base(feet, self.pose, self.gait.stance_height)[:, None])
        return np.asarray((self._legs.margin(q) >= 0.0).all(axis=(1, 2)))

    def _scaled(self, twist: np.ndarray) -> Tuple[np.ndarray, float]:
        """Return `scale_twist` within the present limits; an operator's twist is mostly that of the tick before.

        Gait and limits change with the reach only, which then is another object.
        """
        commanded = (twist.tolist(), self._reach)
        if commanded != self._commanded:
            self._goal = scale_twist(twist, self._reach, self.gait, self.limits.max_velocity)
            self._commanded = commanded
        return self._goal

    def _change_gait(self, twist: np.ndarray) -> np.ndarray:
        """Change to the next gait, if there is one, as soon as every foot is down; return the twist (3,) for this tick.

        The robot first slows down to what the next gait can, in the present one. Then no foot lifts any more, and when
        those in the air have landed, the next gait goes on with them where they are.
        """
        self._lifts = True
        if self._next is None:
            return twist
        limits = speed_limits(self._next_reach, self._next)
        twist, _ = scale_twist(twist, self._next_reach, self._next, limits)
        if twist_usage(self.twist, self._next_reach, self._next, limits) > 1.0 + 1e-9:
            return twist
        self._lifts = not self._state.swinging.any()
        if self._lifts:
            gait, self._next = self._next, None
            self._begin(gait)
            _, usage = scale_twist(self.twist, self._reach, gait, self.limits.max_velocity)
            self._state = begin_gait(self._state, gait, self.twist, gait.period(usage), self._reach)
        return twist

    def _begin(self, gait: Gait) -> None:
        # the body stays where it is; a height of the gait's own is approached like a pose
        self.pose = self.pose + np.array([0.0, 0.0, self.gait.stance_height - gait.stance_height, 0.0, 0.0, 0.0])
        self._select(gait)
        self._home, self._requested = gait, None
        self._update_walkspace(self._state.active, force=True)

    def _follow_pose(self, dt: float, pose: np.ndarray, walking: bool) -> None:
        if self._requested is None or (pose != self._requested[0]).any() or walking != self._requested[1]:
            self._requested, lost = (np.array(pose), walking), self.lost_legs
            self._goal_pose, self.text = clamp_pose(
                pose, self._config, self._legs, self.gait, walking, lost.idle, lost.lean, self._holding
            )
        if (self.pose == self._goal_pose).all() and not self._pose_rate.any():
            return
        new_pose, rate = approach(self.pose, self._pose_rate, self._goal_pose, self._config.body, dt)
        if self._legs.reachable(feet_in_base(self._state.p_feet, new_pose, self.gait.stance_height), self.standing):
            self.pose, self._pose_rate, self._blocked = new_pose, rate, False
        else:
            self._pose_rate, self._blocked = np.zeros(6), True

    def _select(self, gait: Gait) -> None:
        self.gait = gait
        self._ranges = [pose_ranges(self._config, self._legs, gait, walking) for walking in (False, True)]

    def _update_walkspace(self, walking: bool, force: bool = False) -> None:
        moved = force or (np.abs(self.pose - self._searched_pose) > _POSE_CHANGE).any()
        if not moved and walking == self._searched_walking:
            return
        if moved:
            self._searched_pose = self.pose.copy()
            reach = find_reach(self._legs, self.gait, self.pose, self._config.joint_margin)
            radius = np.where(self.lost_legs.idle[:, None], reach.radius.max(), reach.radius)
            self._reach: StrokeReach = replace(reach, radius=radius)
        self._searched_walking = walking
        speed = speed_limits(self._reach, self.gait)
        min_shift, max_shift, max_tilt = self._ranges[walking]
        self.limits: WalkspaceLimits = WalkspaceLimits(
            speed,
            acceleration_limits(speed, self.gait, self._config.acceleration_fraction),
            min_shift,
            max_shift,
            max_tilt,
            self.gait.name,
        )
