# SPDX-License-Identifier: MIT
"""What the behaviours of one robot share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Optional

import numpy as np

from shellbot_action_manager.actions.performer import Performer
from shellbot_action_manager.actions.planning import Planner
from shellbot_action_manager.behaviours.ball_drive import BallDrive
from shellbot_action_manager.behaviours.transformation import Transformation
from shellbot_action_manager.body.holding import Holding
from shellbot_action_manager.gait.walk_engine import WalkEngine
from shellbot_action_manager.modes.announcer import Announcer
from shellbot_common.ground_plane import fit_plane, plane_normal

if TYPE_CHECKING:  # config reads the mode table, and that asks the registry for the names
    from shellbot_action_manager.behaviours.protocol import State
    from shellbot_action_manager.body.geometry import RobotGeometry
    from shellbot_action_manager.body.rising import Moves
    from shellbot_action_manager.config import ActionManagerConfig


class Robot:
    """Settings, geometry, and the walking engine that every behaviour on the feet goes on with.

    Attributes
    ----------
    config : ActionManagerConfig
        Settings.
    geometry : RobotGeometry
        The robot.
    announcer : Announcer
        Takes sentences for the operator, by source.
    holding : Holding
        Which postures leave the servos enough of their torque.
    engine : WalkEngine
        Gait, twist, body pose and footholds: one for all, so that walking and stopping are one motion.
    settling : Moves or None
        Feet that were found in the air and are being put down, whichever behaviour on the feet runs.
    planner : Planner
        Plans actions of the library.
    performer : Performer
        The action that is performed, or was last.
    transformation : Transformation or None
        Where between standing and the closed ball the robot is; None without upper legs.
    ball_drive : BallDrive or None
        How the ball pushes itself; None without upper legs.
    """

    def __init__(self, config: ActionManagerConfig, geometry: RobotGeometry, announcer: Announcer) -> None:
        self.config, self.announcer = config, announcer
        self.geometry = replace(geometry, legs=replace(geometry.legs, shank_min=config.shank_min))
        self.holding = Holding(self.geometry, config.action.effort)
        self.engine = WalkEngine(config, self.geometry.legs, self.holding)
        self.settling: Optional[Moves] = None
        self.planner = Planner(config, self.geometry, self.holding)
        self.performer = Performer(self.planner)
        self.transformation = None if geometry.upper is None else Transformation(config.transform, self.geometry)
        self.ball_drive: Optional[BallDrive] = None
        if self.transformation is not None:
            self.ball_drive = BallDrive(config.rolling, self.geometry, self.transformation)
        #: What to do with a robot that has fallen
        self.after_a_fall = "turn it upright, then request stand"
        if self.transformation is not None:
            self.after_a_fall = "request recover, or turn it upright and request stand"

    def lacks_a_leg(self) -> Optional[str]:
        """Return why what needs all legs cannot be done now, or None."""
        lost = np.flatnonzero(self.engine.lost_legs.lost) + 1
        if not lost.size:
            return None
        return f"lower_{lost[0]} is lost, and this needs all six legs; mend it, then publish an empty list on lost_legs"

    def is_on_a_slope(self, state: State) -> Optional[str]:
        """Return why the ground is too steep to close on, or None; also where fewer than three feet are to stand."""
        planted, limit = state.commanded.planted, self.config.transform.greatest_slope
        if planted is None or state.up is None or np.count_nonzero(planted) < 3:
            return None
        p_base_feet = self.geometry.legs.forward(self.geometry.q_lower(state.q))[planted]
        slope = np.arccos(np.clip(plane_normal(fit_plane(p_base_feet)) @ state.up, -1.0, 1.0))
        if slope <= limit:
            return None
        slopes = "the ground slopes by {:.1f} deg, more than {:.1f}".format(*np.degrees([slope, limit]))
        return f"{slopes}: a ball rolls off there; walk to flatter ground, then try again"
