# SPDX-License-Identifier: MIT
"""From joint targets of any quality to a command that is safe to apply, one command per message of targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple, Union

import numpy as np

from shellbot_common import GAP, TICK, Level, Notice
from shellbot_common.robot_profile import Coupling
from shellbot_control.command_filter_parameters import CommandFilterParameters
from shellbot_control.coupled_joints import CoupledJoints
from shellbot_control.effort_offset import EffortOffset
from shellbot_control.errors import TargetsError
from shellbot_control.joint_limits import JointLimits, read_only
from shellbot_control.joint_order import JointOrder
from shellbot_control.limiting import clamp_targets, clamped_notice
from shellbot_control.motion_limiter import MotionLimiter
from shellbot_control.watchdog import Watchdog

Array = np.ndarray
Positions = Union[Sequence[float], Array]


@dataclass(frozen=True)
class FilteredCommand:
    """What may be applied."""

    stamp: float  #: Stamp of the targets it answers, in s
    position: Array  #: (n,) rad, in the driven order, finite, within the limits; read-only
    holding: bool  #: Whether it repeats the last applied command instead of following the targets
    torque: Optional[Array] = None  #: (n,) N m to give in place of a position, which is the measured one then


class CommandFilter:
    """Check, clamp and rate-limit joint targets; hold when they are bad, old or stopped.

    Every call of :meth:`apply` gives exactly one command once the joints have been measured. The first command starts
    from the measured joints; each next one moves from the last applied command no faster than the joints' limits. The
    time is that of the stamps. Torques that come with the targets are turned into angles by the servos' stiffness.

    Parameters
    ----------
    limits : JointLimits
        The driven joints in the order of the command, with their limits.
    parameters : CommandFilterParameters
        Time-outs and the way back from a hold.
    couplings : sequence of Coupling
        Joints that one motor turns; targets that would have them apart are refused.

    Attributes
    ----------
    efforts : EffortOffset
        Knows the servos' stiffness, which may change at any time.
    """

    def __init__(
        self,
        limits: JointLimits,
        parameters: Optional[CommandFilterParameters] = None,
        couplings: Sequence[Coupling] = (),
    ) -> None:
        self._limits = limits
        self._coupled = CoupledJoints(limits.names, couplings)
        self._parameters = parameters or CommandFilterParameters()
        self._order = JointOrder(limits.names)
        self._watchdog = Watchdog(self._parameters.target_timeout)
        self._limiter = MotionLimiter(limits, self._parameters)
        self.efforts = EffortOffset(limits)
        self._stop_cause = ""
        self._forget()

    def _forget(self) -> None:
        self._measured: Optional[Array] = None
        self._requested: Optional[Array] = None
        self._stamp: Optional[float] = None
        self._hold_cause = ""
        self._stale = False

    @property
    def limits(self) -> JointLimits:
        """The driven joints and their limits."""
        return self._limits

    @property
    def stopped(self) -> bool:
        """Whether the emergency stop is in force."""
        return bool(self._stop_cause)

    @property
    def holding(self) -> bool:
        """Whether targets are not being followed (none yet, invalid, too old, or stopped)."""
        return bool(self.text) or self._requested is None

    @property
    def text(self) -> str:
        """Why targets are not being followed; empty while they are, and before the first."""
        return self._stop_cause or self._hold_cause

    @property
    def requested(self) -> Optional[Array]:
        """The last valid targets, clamped to the limits, (n,) rad, torques left out; None before the first."""
        return self._requested

    @property
    def applied(self) -> Optional[Array]:
        """The last command, (n,) rad; None before the first."""
        return self._limiter.applied

    def target_age(self, now: float) -> float:
        """Return the seconds since the last valid targets; infinite before the first."""
        return self._watchdog.age(now)

    def lies_ahead(self, stamp: float, now: float) -> bool:
        """Return whether targets of this stamp are of another clock than the present time; both s.

        A message may well overtake its joint states by a few ticks.
        """
        return stamp - now > self._watchdog.timeout

    def observe(self, position: Array) -> None:
        """Note the measured joints.

        Parameters
        ----------
        position : (n,) array
            rad, in the driven order, finite.
        """
        self._measured = read_only(position)

    def apply(
        self,
        stamp: float,
        names: Sequence[str],
        position: Positions,
        now: Optional[float] = None,
        effort: Positions = (),
    ) -> Tuple[Optional[FilteredCommand], Tuple[Notice, ...]]:
        """Turn one message of targets into one command.

        Parameters
        ----------
        stamp : float
            Time the targets are for, in s.
        names, position : sequences
            Joint names in any order, and rad.
        now : float, optional
            Present time in s; default ``stamp``.
        effort : sequence, optional
            Torques that the joints are to give at their targets, N m, in the order of the names.

        Returns
        -------
        FilteredCommand or None
            None only while the joints have not been measured: there is nothing safe to start from.
        tuple of Notice
            What to tell the operator.
        """
        now = stamp if now is None else now
        if self._measured is None:
            return None, (Notice("unmeasured", Level.WARN, "joint_targets come, but joint_states do not: waiting"),)
        notices: List[Notice] = []
        dt = self._time_step(stamp)
        requested = self._validate(names, position, notices)
        if requested is not None:
            self._requested = read_only(requested)
            if self._refuse_untimely(stamp, now, "holding the last command", notices):
                requested = None
        if requested is None or self.stopped:
            return FilteredCommand(stamp, self._limiter.hold(self._measured), holding=True), tuple(notices)
        if self._hold_cause:
            self._hold_cause = ""
            self._stale = False
            notices.append(Notice("resumed", Level.INFO, "joint_targets are good again: following them"))
        offset, ignored = self.efforts.step(dt, names, effort)
        goal = requested
        if offset is not None:
            goal = requested + offset
            np.maximum(goal, self._limits.lower, out=goal)
            np.minimum(goal, self._limits.upper, out=goal)
        applied, limited = self._limiter.move(goal, self._measured, dt)
        return FilteredCommand(stamp, applied, holding=False), (*notices, *ignored, *limited)

    def apply_torques(
        self, stamp: float, names: Sequence[str], effort: Positions, now: float
    ) -> Tuple[Optional[FilteredCommand], Tuple[Notice, ...]]:
        """Turn one message of torques without positions into one command: these torques, or a hold.

        What holds is the place at which the joints were when the last torques came. Parameters and results as of
        :meth:`apply`.
        """
        if self._measured is None:
            return None, (Notice("unmeasured", Level.WARN, "joint_targets come, but joint_states do not: waiting"),)
        self._time_step(stamp)
        limit = self._limits.effort
        notices: List[Notice] = []
        try:
            torque = self._order.pick(names, effort, what="effort")
        except TargetsError as error:
            self._enter_hold(f"efforts of joint_targets refused: {error}; holding the joints where they are")
            notices.append(Notice("invalid", Level.ERROR, self._hold_cause))
        else:
            self._requested, self._hold_cause, self._stale = self._measured, "", False
            self._refuse_untimely(stamp, now, "holding the joints where they are", notices)
            worst = int((np.abs(torque) - limit).argmax())
            if abs(torque[worst]) > limit[worst]:
                value = f"{self._limits.names[worst]}: {torque[worst]:.4g} N m, at most {limit[worst]:.4g}"
                notices.append(Notice("clamped", Level.WARN, f"efforts beyond the limits were clamped; worst {value}"))
        if self.text:
            return FilteredCommand(stamp, self._limiter.hold(self._measured), holding=True), tuple(notices)
        self._limiter.reset()
        torque = read_only(np.clip(torque, -limit, limit))
        return FilteredCommand(stamp, self._measured, holding=False, torque=torque), tuple(notices)

    def check(self, now: float) -> Tuple[Notice, ...]:
        """Run the watchdog at time ``now`` in s; the notice comes once per silence."""
        if self._requested is None or self._stale or not self._watchdog.expired(now):
            return ()
        self._stale = True
        # Said without the age, which the status carries: this sentence stands until targets come again.
        self._enter_hold(
            f"no valid joint_targets for {self._watchdog.timeout:g} s: holding the last command; "
            "check their publisher (rostopic info joint_targets)"
        )
        return (Notice("watchdog", Level.WARN, self._hold_cause),)

    def stop(self, cause: str) -> bool:
        """Hold from now on, whatever the targets, until :meth:`rearm`.

        Parameters
        ----------
        cause : str
            Who asked, in words.

        Returns
        -------
        bool
            False if it was stopped before.
        """
        was_stopped = self.stopped
        if not was_stopped:
            self._stop_cause = f"emergency stop ({cause}): holding the last command until rearm is called"
        self._limiter.resume()
        return not was_stopped

    def rearm(self) -> bool:
        """End the emergency stop; the way to the targets is slow at first. False if it was not stopped."""
        was_stopped = self.stopped
        self._stop_cause = ""
        self._limiter.resume()
        return was_stopped

    def reset(self) -> None:
        """Forget commands, targets and measured joints (the clock was set back); an emergency stop stays."""
        self._watchdog.reset()
        self._limiter.reset()
        self.efforts.reset()
        self._forget()

    def _time_step(self, stamp: float) -> float:
        """Return the s since the last command, limited; a gap makes the next step a resumption."""
        dt = TICK if self._stamp is None else max(stamp - self._stamp, 0.0)
        self._stamp = stamp if self._stamp is None else max(stamp, self._stamp)
        if dt > GAP:
            self._limiter.resume()
            return GAP
        return dt

    def _refuse_untimely(self, stamp: float, now: float, consequence: str, notices: List[Notice]) -> bool:
        """Feed the watchdog with valid targets; return whether they are held, as they are too old or lie ahead."""
        self._watchdog.feed(min(stamp, now))
        age = now - stamp
        if age <= self._watchdog.timeout and not self.lies_ahead(stamp, now):
            return False
        where = f"{age:.2f} s old on arrival" if age > 0.0 else f"stamped {-age:.2f} s ahead of joint_states"
        self._enter_hold(f"joint_targets are {where}; {consequence}. Give them the stamp of joint_states, or none")
        notices.append(Notice("stale", Level.WARN, self._hold_cause))
        return True

    def _validate(self, names: Sequence[str], position: Positions, notices: List[Notice]) -> Optional[Array]:
        """Return the targets in the driven order and within the limits, or None and the reason."""
        try:
            requested = self._order.pick(names, position)
            self._coupled.check(requested)
        except TargetsError as error:
            self._enter_hold(f"joint_targets refused: {error}; holding the last command")
            notices.append(Notice("invalid", Level.ERROR, self._hold_cause))
            return None
        clamped = clamp_targets(requested, self._limits)
        notices.extend(clamped_notice(requested, clamped, self._limits))
        return clamped

    def _enter_hold(self, cause: str) -> None:
        self._hold_cause = cause
        self._limiter.resume()
