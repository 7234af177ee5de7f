# SPDX-License-Identifier: MIT
"""What a behaviour is: one way to move, one file. The core runs it and knows nothing else about it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, FrozenSet, Optional, Tuple

import numpy as np

from shellbot_action_manager.body.limbs import LimbCommands
from shellbot_action_manager.gait.walkspace import WalkspaceLimits
from shellbot_common.rotations import up_from_quaternion

if TYPE_CHECKING:  # which imports what behaviours share, and that their motions
    from shellbot_action_manager.behaviours.robot import Robot


@dataclass(frozen=True)
class Commands:
    """What the operator commands, as far as the mode gone to obeys it."""

    twist: np.ndarray  #: (3,) m/s, m/s, rad/s; zero when it is too old, not a number, or not obeyed
    body_pose: np.ndarray  #: (6,) Relative to the rest pose, m and rad; may be NaN
    #: (2,) Sphere centre's height (m) and opening angle (rad), may be NaN; None: shells up
    upper_shells: Optional[np.ndarray]
    gait: str  #: Name in the gait table, or one that is not in it; empty: the one in use
    obeyed: FrozenSet[str]  #: The key `obeys` of the mode in the mode table
    lost_legs: Tuple[int, ...] = ()  #: Numbers of the lower legs that cannot be walked with, 1 to 6
    #: (3,) Of a foot that is led by hand, in the axes of its leg: out, left, up, m/s; None: none is commanded
    foot_velocity: Optional[np.ndarray] = None
    lapsed: bool = False  #: Whether the twist is zero because its commands ended without one


@dataclass(frozen=True)
class State:
    """What was measured at this tick, and what the limbs are commanded to."""

    q: np.ndarray  #: (n,) Measured joints in the order of the driven joints, rad, all finite
    orientation: Optional[np.ndarray]  #: (4,) Quaternion x, y, z, w of base_link; None without a usable IMU
    angular_velocity: Optional[np.ndarray]  #: (3,) rad/s in base_link
    rpy: Optional[np.ndarray]  #: (3,) The orientation as roll, pitch, yaw, rad
    commanded: Motion  #: The motion of the previous tick: a behaviour begins here, wherever it goes
    odom_heading: Optional[float] = None  #: Heading of odometry in the IMU's level axes, rad; None: not known

    @cached_property
    def up(self) -> Optional[np.ndarray]:
        """Up direction (3,) seen from base_link; None without an IMU."""
        return None if self.orientation is None else up_from_quaternion(self.orientation)

    @property
    def tilt(self) -> float:
        """Tilt of the body against gravity, rad; 0 without an IMU."""
        if self.rpy is None:
            return 0.0
        return math.acos(math.cos(self.rpy[0]) * math.cos(self.rpy[1]))

    @property
    def yaw(self) -> Optional[float]:
        """Heading, rad; None without an IMU."""
        return None if self.rpy is None else float(self.rpy[2])


@dataclass(frozen=True)
class Motion:
    """What a behaviour commands at a tick."""

    limbs: LimbCommands  #: Of every group of limbs that is commanded (see `RobotGeometry.limbs`); the others hold
    #: (k,) Contacts of the behaviour's contact model that are to carry load, such as feet that are to stand; None: none
    planted: Optional[np.ndarray] = None
    #: (k,) Of each contact in the gait cycle, 0..1, NaN while it has none; None: no gait
    phase: Optional[np.ndarray] = None
    #: (3,) Velocity that the robot is commanded to after all limits, m/s, m/s, rad/s
    twist: np.ndarray = field(default_factory=lambda: np.zeros(3))
    #: (k,) Heights at which contacts found the ground, m, along the body's z; None: the ground is flat
    ground: Optional[np.ndarray] = None
    activity: str = ""  #: One word for the mode topic while no transition runs, such as walking; empty at rest
    progress: float = 0.0  #: 0..1 of a behaviour that ends
    done: bool = False  #: Whether it has ended
    notice: str = ""  #: A sentence for the log about this tick; empty when all is well
    #: Heading in the IMU's level axes that a body without a front steers by, rad; None: the yaw of base_link
    heading: Optional[float] = None


class Behaviour(ABC):
    """One way to move; by default it begins when it is requested, cannot fail, and is safe when the joints are held.

    The core calls `enter` once and then `step` at every tick with usable joint states, until the mode table names
    another behaviour. References are continuous by contract: the first motion continues the present command.

    Parameters
    ----------
    name : str
        As in the mode table.
    robot : Robot
        Shared by all behaviours.

    Attributes
    ----------
    contact_model : str
        Of `estimation.contact_models`: how contacts and odometry are estimated while it runs.
    safe_modes : tuple of str
        Every mode that `abort` may return.
    changes_attitude : bool
        Whether it ends in another attitude than the present one: upright, or any. What comes after it is then accepted
        without checking whether it could begin in the present attitude.
    needs_all_legs : bool
        Whether the robot stands instead if a leg was lost by the time it would begin.
    """

    contact_model = "feet"
    safe_modes: Tuple[str, ...] = ("sit",)
    changes_attitude = False
    needs_all_legs = False

    def __init__(self, name: str, robot: Robot) -> None:
        self.name = name
        self._robot = robot

    @property
    def limits(self) -> WalkspaceLimits:
        """Present limits of cmd_vel and body pose; the same object as long as nothing changed."""
        return self._robot.engine.limits

    @property
    def footsteps(self) -> Optional[np.ndarray]:
        """Where the feet (6, 3) in the air will land, in base_link, m; NaN for those that stand. None: not planned."""
        return None

    def refusal(self, state: State) -> Optional[str]:
        """Return why it cannot begin and what to do, when a request would begin with it; None: it can."""
        return self._robot.lacks_a_leg() if self.needs_all_legs else None

    def take_over(self, state: State) -> Optional[Motion]:
        """Return the motion that goes on from the posture found after a start or a rearm; None: not one of this."""
        return None

    def enter(self, state: State) -> None:  # noqa: B027, most need no preparation
        """Begin at the present command."""

    @abstractmethod
    def step(self, dt: float, commands: Commands, state: State) -> Motion:
        """Return the motion `dt` (s) later."""

    def failure(self, state: State) -> Optional[str]:
        """Return why it cannot go on, such as an attitude that is a fall for this behaviour; None: all is well."""
        return None

    def abort(self, reason: str) -> str:
        """End at once, the core holds the joints; return the mode, one of `safe_modes`, that makes the robot safe."""
        return self.safe_modes[0]
