# SPDX-License-Identifier: MIT
"""The robot as an object whose methods return when it has done what they say."""

from __future__ import annotations

import importlib
import math
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Callable, Iterator, NamedTuple, Optional, Type, cast

from robot_evaluation.errors import DefinitionError
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import MODE_LIMIT_S
from shellbot_chain.errors import MissionFailed
from shellbot_common import TICK, SettingsError, check_number

from .chain_link import ChainLink
from .link import ActionProgress, Link, run_mission
from .mission import REST_POSE, ZERO_TWIST, BodyPose, Mission, Observation, Twist
from .motion_recording import MotionRecording, RecordingLink
from .phases import OPEN_LIMIT_S, GoTo, Phase, Pose, roll, turn, walk

_READY_S = 20.0  # of simulated time, for mode and odometry to be known
_OBEYED_S = 3.0  # for a gait to be in use: while walking, the feet in the air land first
_POSED_S = 15.0  # for the body to be where it was commanded
_STOPPED_S = 1.5  # in which feet are home after the last velocity
_BACK_S = 10.0  # for a cancelled action to be back at rest
_MODES = {"recover": "stand"}  # requests that are no modes, and where they lead


class Place(NamedTuple):
    """Where the robot is in `odom`, by its own odometry."""

    x: float  #: m
    y: float  #: m
    yaw: float  #: rad, -pi to pi


class Shellbot:
    """A robot to drive from a program or a notebook; use it in a `with` block, at whose end the robot stops.

    Each method blocks until the robot has done it. A `KeyboardInterrupt` stops the robot where it can stand.

    Parameters
    ----------
    link : Link, optional
        The robot; by default the running one, over ROS. `Shellbot.simulated` runs one in this process.

    Examples
    --------
    >>> with Shellbot.simulated() as robot:
    ...     robot.walk(x=1.0)
    ...     robot.perform("wave", leg=2)
    ...     robot.turn(deg=90)
    """

    def __init__(self, link: Optional[Link] = None) -> None:
        if link is None:  # only here ROS is needed: a notebook without ROS runs the chain
            link = cast(Link, importlib.import_module("shellbot_client.ros_link_node").RosLink())
        self._link = link
        self._body_pose: BodyPose = REST_POSE

    @classmethod
    def simulated(cls, **config: Any) -> Shellbot:
        """Return a robot that is simulated in this process, without ROS and as fast as the machine allows.

        Parameters
        ----------
        **config
            Fields of `shellbot_chain.chain_config.ChainConfig`, such as ``seed=3, friction=0.6``.
        """
        return cls(ChainLink(Chain(**config)))

    @property
    def chain(self) -> Chain:
        """The simulated robot's chain: ground truth, trace, pushes.

        Raises
        ------
        DefinitionError
            If the robot runs over ROS.
        """
        chain = getattr(self._link, "chain", None)
        if chain is None:
            raise DefinitionError("the running robot has no chain in this process; use Shellbot.simulated()")
        return cast(Chain, chain)

    def __enter__(self) -> Shellbot:
        """Wait until the robot says its mode and where it is."""
        try:
            self._get_ready()
        except BaseException:  # Ctrl-C, too: there is no end of a block then
            self._link.close()
            raise
        return self

    def _get_ready(self) -> None:
        begin = self._seen.t
        while self._seen.mode == "waiting" or not math.isfinite(self._seen.x):
            if self._seen.t - begin > _READY_S:
                missing = "the mode" if self._seen.mode == "waiting" else "odometry"
                raise MissionFailed(f"{missing} is not known after {_READY_S:g} s; is the whole robot running?")
            self._link.tick()

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        """Stop."""
        self._link.command(ZERO_TWIST, self._body_pose)
        self._link.close()

    @property
    def mode(self) -> str:
        """Name of the present mode."""
        return self._seen.mode

    @property
    def place(self) -> Place:
        """Where the robot is by its own odometry."""
        # plain numbers, which are printed as such by every numpy
        return Place(float(self._seen.x), float(self._seen.y), float(self._seen.yaw))

    def go_to(self, mode: str) -> None:
        """Go to a mode: hexapod, stand, sit, relax, shell; or recover, which stands up from wherever it fell.

        Raises
        ------
        MissionFailed
            If it is refused, with the robot's own reason, or not reached.
        """
        accepted, reason = self._link.request_mode(mode)
        if not accepted:
            raise MissionFailed(f"{mode} refused: {reason}")
        opens = self._seen.mode in ("shell", "halfway") or mode == "recover"
        self._run(GoTo(mode, OPEN_LIMIT_S if opens else MODE_LIMIT_S, _MODES.get(mode, mode)))

    def walk(self, x: float = 0.0, y: float = 0.0, speed: float = 0.15) -> None:
        """Walk straight, with the heading kept, until the odometry says so; stands up or opens first if it must.

        Parameters
        ----------
        x, y : float
            Forward and leftward, m.
        speed : float
            m/s; the gait's own limit counts where it is lower.

        Raises
        ------
        DefinitionError
            If there is nowhere to walk to, or a number is not one.
        MissionFailed
            If the robot does not get there.
        """
        distance = math.hypot(_checked("x", x, 100.0, "m"), _checked("y", y, 100.0, "m"))
        if distance < 1e-6:
            raise DefinitionError("x and y are 0; give a distance to walk, such as x=1.0")
        phase = walk("walk", distance, (x / distance, y / distance), speed)  # may refuse: before anything moves
        self._in_mode("hexapod")
        self._run(phase)

    def turn(self, deg: float, rate_deg_s: float = 30.0) -> None:
        """Turn on the spot, counter-clockwise positive, until the odometry says so.

        Parameters
        ----------
        deg : float
            deg; 720 is two turns.
        rate_deg_s : float
            deg/s; the gait's own limit counts where it is lower.

        Raises
        ------
        DefinitionError
            If there is nothing to turn by, or a number is not one.
        MissionFailed
            If the robot does not get there.
        """
        angle = math.radians(_checked("deg", deg, 36000.0, "deg"))
        phase = turn("turn", angle, math.radians(_checked("rate_deg_s", rate_deg_s, 360.0, "deg/s")))
        self._in_mode("hexapod")
        self._run(phase)

    def drive(self, seconds: float, x: float = 0.0, y: float = 0.0, deg_s: float = 0.0) -> None:
        """Hold a velocity for a time, then stop; on its feet, and in mode shell as a ball.

        Parameters
        ----------
        seconds : float
            Of simulated time.
        x, y : float
            Forward and leftward, m/s.
        deg_s : float
            Turning, deg/s, counter-clockwise positive.

        Raises
        ------
        DefinitionError
            If a number is not one.
        MissionFailed
            If the robot is in no mode in which it moves, and does not get into one.
        """
        rate = math.radians(_checked("deg_s", deg_s, 360.0, "deg/s"))
        twist = (_checked("x", x, 5.0, "m/s"), _checked("y", y, 5.0, "m/s"), rate)
        if self._seen.mode != "shell":
            self._in_mode("hexapod")
        self._hold(twist, seconds)
        self._hold(ZERO_TWIST, _STOPPED_S)

    def roll(self, distance: float, bearing_deg: float = 0.0) -> None:
        """Roll as a ball to a point, and stay closed there; closes first if it must.

        Parameters
        ----------
        distance : float
            Of the point, m.
        bearing_deg : float
            Where it is from the heading, deg, to the left positive.

        Raises
        ------
        DefinitionError
            If a number is not one.
        MissionFailed
            If the robot does not get there.
        """
        bearing = math.radians(_checked("bearing_deg", bearing_deg, 180.0, "deg"))
        phase = roll("roll", distance, bearing)
        self._in_mode("shell")
        self._run(phase)

    def body(
        self,
        x: float = 0.0,
        y: float = 0.0,
        z: float = 0.0,
        roll_deg: float = 0.0,
        pitch_deg: float = 0.0,
        yaw_deg: float = 0.0,
    ) -> None:
        """Move the body over its feet to a pose relative to the rest pose, and keep it, also while walking.

        Parameters
        ----------
        x, y, z : float
            Forward, leftward and up, m. What is out of reach is cut to the nearest that is not.
        roll_deg, pitch_deg, yaw_deg : float
            About fixed axes, in this order, deg.

        Raises
        ------
        DefinitionError
            If a number is not one.
        MissionFailed
            If the robot does not come to rest.
        """
        shift = [_checked(key, value, 1.0, "m") for key, value in (("x", x), ("y", y), ("z", z))]
        tilts = (("roll_deg", roll_deg), ("pitch_deg", pitch_deg), ("yaw_deg", yaw_deg))
        tilt = [math.radians(_checked(key, value, 90.0, "deg")) for key, value in tilts]
        self._in_mode("hexapod")
        self._link.renew_body_pose()
        self._body_pose = cast(BodyPose, (*shift, *tilt))
        self._run(Pose("body", _POSED_S, self._body_pose, _STOPPED_S))

    def gait(self, name: str) -> None:
        """Change the gait: tripod, sprint, ripple, wave, tetrapod, rough, or one of your own gait table.

        From sitting or the ball the robot first gets on its feet.

        Raises
        ------
        MissionFailed
            If the robot does not know it.
        """
        self._in_mode("hexapod")
        self._link.set_gait(name)
        begun = self._seen.t
        while self._link.gait != name:
            if not 0.0 <= self._seen.t - begun <= _OBEYED_S:
                raise MissionFailed(f"the gait is still {self._link.gait}, not '{name}'; see config/gaits.yaml")
            self._step()

    def perform(
        self,
        name: str,
        speed: float = 1.0,
        on_progress: Optional[Callable[[ActionProgress], None]] = None,
        **parameters: float,
    ) -> None:
        """Perform an action of the library; `scripts/action list` has them all.

        Parameters
        ----------
        name : str
            Of the action.
        speed : float
            Fraction of the speed that the limits allow, 0.05 to 1.
        on_progress : callable, optional
            Called at each tick.
        **parameters
            Of the action, those that differ from their defaults.

        Raises
        ------
        MissionFailed
            If it is refused, or ends before its end; with the reason.
        """
        self._link.begin_action(name, speed, parameters)
        try:
            while not self._link.progress().ended:
                self._link.tick()
                if on_progress is not None:
                    on_progress(self._link.progress())
        except BaseException:  # Ctrl-C, or an error of on_progress: the robot must not go on alone
            self._link.cancel_action()
            begun = self._seen.t
            while not self._link.progress().ended and 0.0 <= self._seen.t - begun < _BACK_S:
                self._link.tick()
            raise
        progress = self._link.progress()
        if not progress.succeeded:
            raise MissionFailed(progress.text)
        while self._seen.step == "perform":  # the mode is told a tick later
            self._link.tick()

    @contextmanager
    def recording(self) -> Iterator[MotionRecording]:
        """Record the joints in a `with` block; what it gives is saved as an action afterwards.

        Examples
        --------
        >>> with robot.recording() as motion:
        ...     robot.body(pitch_deg=6)
        ...     robot.body()
        >>> motion.save("nod", "my_actions/mine.yaml")
        """
        link, motion = self._link, MotionRecording()
        self._link = cast(Link, RecordingLink(link, motion))
        try:
            yield motion
        finally:
            self._link = link

    def wait(self, seconds: float) -> None:
        """Do nothing for a time, s of simulated time."""
        self._hold(ZERO_TWIST, seconds)

    def emergency_stop(self) -> None:
        """Stop now: a simulated robot holds, servos lose their torque. It lasts until `rearm`."""
        self._link.emergency_stop()

    def rearm(self) -> None:
        """End an emergency stop: the robot goes on from the posture that it is found in."""
        self._link.rearm()

    @property
    def _seen(self) -> Observation:
        return self._link.observe()

    def _step(self, twist: Twist = ZERO_TWIST) -> None:
        self._link.command(twist, self._body_pose)
        self._link.tick()

    def _hold(self, twist: Twist, seconds: float) -> None:
        if _checked("seconds", seconds, 3600.0, "s") < 0.0:
            raise DefinitionError(f"seconds is {seconds:g}; give 0 or more")
        begun = self._seen.t
        while self._seen.t - begun < seconds - 0.5 * TICK:
            if self._seen.t < begun:
                raise MissionFailed("the clock went back: the simulation was reset")
            self._step(twist)

    def _in_mode(self, mode: str) -> None:
        seen = self._seen
        if not seen.mode == seen.target == mode:
            self.go_to(mode)

    def _run(self, phase: Phase) -> None:
        try:
            run_mission(self._link, Mission((phase,), self._body_pose))
        finally:
            self._link.command(ZERO_TWIST, self._body_pose)


def _checked(name: str, value: float, limit: float, unit: str) -> float:
    try:
        return check_number(name, value, -limit, limit, unit)
    except SettingsError as error:
        raise DefinitionError(str(error)) from None
