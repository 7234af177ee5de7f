# SPDX-License-Identifier: MIT
"""The connector without ROS: joint states and targets in, stamped commands, status and notices out.

Nothing here runs on a timer; every output answers a message. In lock-step the simulator waits for the command of every
tick, so each message of targets, good or bad, gets exactly one command with its stamp as soon as the joints are known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

import numpy as np

from shellbot_common import GAP, Level, Notice, Stamp, classify_stamp
from shellbot_common.robot_profile import Coupling
from shellbot_control import ArrivalStatus, CommandFilter, JointLimits, JointOrder, TargetsError, arrival_status
from shellbot_gazebo_connector.parameters import ConnectorParameters

Array = np.ndarray

NS_PER_S = 1_000_000_000
# Messages may be this much older than the newest ones when the clock goes back: the node's queue of 50 ticks.
IN_FLIGHT_NS = 500_000_000


@dataclass(frozen=True)
class Command:
    """A command for the controllers."""

    position: Array  #: (n,) rad, in the controller's order
    stamp_ns: Optional[int]  #: Stamp of the targets it answers; None if they had none
    holding: bool  #: Whether it repeats the last applied command
    torque: Optional[Array] = None  #: (n,) N m in place of the position, for a simulator that takes torques


@dataclass(frozen=True)
class Output:
    """What the node must do after a message: publish the command and the status that are there, log the notices."""

    command: Optional[Command] = None
    status: Optional[ArrivalStatus] = None
    notices: Tuple[Notice, ...] = ()


@dataclass(frozen=True)
class _Targets:
    stamp_ns: int
    names: Sequence[str]
    position: Sequence[float]
    effort: Sequence[float] = ()


class ConnectorCore:
    """Turn messages of joint states and joint targets into commands and status. Not thread-safe.

    Parameters
    ----------
    limits : JointLimits
        The driven joints in the controller's order.
    parameters : ConnectorParameters
        Time-outs and tolerances.
    couplings : sequence of Coupling
        Joints that one motor turns.
    """

    def __init__(
        self,
        limits: JointLimits,
        parameters: Optional[ConnectorParameters] = None,
        couplings: Sequence[Coupling] = (),
    ) -> None:
        self._parameters = parameters or ConnectorParameters()
        self._limits = limits
        self._filter = CommandFilter(limits, self._parameters, couplings)
        self._measured_order = JointOrder(limits.names)
        self._status_period_ns = round(NS_PER_S / self._parameters.status_rate)
        self._before_reset_ns: Optional[int] = None
        self._forget()

    def _forget(self) -> None:
        self._states_ns: Optional[int] = None
        self._targets_ns: Optional[int] = None
        self._status_ns: Optional[int] = None
        self._measured: Optional[Array] = None
        self._pending: Optional[_Targets] = None
        self._gives_torque = False
        self._takes_torque = False  # the last targets were torques, whether they were given or not

    @property
    def stopped(self) -> bool:
        """Whether the emergency stop is in force."""
        return self._filter.stopped

    @property
    def text(self) -> str:
        """One sentence for the operator; empty when all is well."""
        if self._filter.text or self._filter.requested is not None:
            return self._filter.text
        if self._measured is None:
            return "no joint_states yet: start the simulator, or unpause it"
        return "no joint_targets yet: start the nodes that make them"

    def on_joint_states(self, stamp_ns: int, names: Sequence[str], position: Sequence[float]) -> Output:
        """Take measured joints; joints that are not driven are ignored.

        Parameters
        ----------
        stamp_ns : int
            Stamp in ns of simulated time.
        names, position : sequences
            Joint names in any order, and rad.

        Returns
        -------
        Output
            The status when it is due, and the command of targets that came before the first joint states; empty for
            late ones (see `classify_stamp`) and those left over from before a reset, which change nothing.
        """
        notices: List[Notice] = []
        kind = _classify(self._states_ns, stamp_ns)
        # targets of the new clock may overtake joint states of the old one, in which the robot may stand elsewhere
        if kind is Stamp.LATE or (self._states_ns is None and self._left_over(self._targets_ns, stamp_ns)):
            return Output()
        if self._states_ns is not None and kind is Stamp.RESET:
            notices.append(self._reset(self._states_ns, stamp_ns))
        self._states_ns = stamp_ns
        if self._before_reset_ns is not None and stamp_ns > self._before_reset_ns:
            self._before_reset_ns = None
        try:
            self._measured = self._measured_order.pick(names, position, allow_extra=True)
        except TargetsError as error:
            notices.append(Notice("bad states", Level.ERROR, f"joint_states ignored: {error}"))
            return Output(notices=tuple(notices))
        self._filter.observe(self._measured)
        command: Optional[Command] = None
        if self._pending is not None:
            pending, self._pending = self._pending, None
            command = self._apply(pending, notices)
        stale = self._filter.check(stamp_ns / NS_PER_S)
        notices.extend(stale)
        if stale:
            command = self.end_torque() or command
        return Output(command, self._status_if_due(stamp_ns), tuple(notices))

    def end_torque(self) -> Optional[Command]:
        """Return a hold of the joints where they are if they give torques, which would go on; positions hold alone."""
        if not self._gives_torque or self._measured is None:
            return None
        self._gives_torque = False
        return Command(self._measured, None, True)

    def set_stiffness(self, stiffness: Array) -> None:
        """Take the stiffness of the controllers (n,), N m/rad, by which torques become angles; see `EffortOffset`."""
        self._filter.efforts.set_stiffness(stiffness)

    def on_joint_targets(
        self, stamp_ns: int, names: Sequence[str], position: Sequence[float], effort: Sequence[float] = ()
    ) -> Output:
        """Take targets.

        Parameters
        ----------
        stamp_ns : int
            Stamp in ns of simulated time, that of the joint states they were made from; 0: none.
        names, position : sequences
            Joint names in any order, and rad.
        effort : sequence, optional
            Torques that the joints are to give there, N m; none: they were not sent. Without positions: torques that
            the joints give in place of going anywhere.

        Returns
        -------
        Output
            Exactly one command once the joints are known; none for targets left over from before a reset.
        """
        notices: List[Notice] = []
        if stamp_ns:
            if self._left_over(self._states_ns, stamp_ns):
                text = f"joint_targets of {stamp_ns / NS_PER_S:.2f} s are from before the reset of the clock: dropped"
                return Output(notices=(Notice("left over", Level.INFO, text),))
            if self._targets_ns is not None and _classify(self._targets_ns, stamp_ns) is Stamp.RESET:
                notices.append(self._reset(self._targets_ns, stamp_ns))
            if not self._lies_ahead(stamp_ns):
                self._targets_ns = max(stamp_ns, self._targets_ns or 0)
        targets = _Targets(stamp_ns, names, position, effort)
        if self._measured is None:
            # Answered as soon as the joints are measured. One message may well overtake its joint states.
            if self._pending is not None:
                text = "joint_targets come, but the joints have not been measured: waiting for joint_states"
                notices.append(Notice("unmeasured", Level.WARN, text))
            self._pending = targets
            return Output(notices=tuple(notices))
        return Output(self._apply(targets, notices), None, tuple(notices))

    def stop(self, cause: str) -> str:
        """Hold the last command until :meth:`rearm`; ``cause`` says who asked. Returns what to answer.

        Torques need `end_torque`, too.
        """
        if self._filter.stop(cause):
            return f"stopped: {self._filter.text}"
        return f"was stopped before: {self._filter.text}"

    def rearm(self) -> Tuple[bool, str]:
        """End the emergency stop. Returns whether there was one, and what to answer."""
        if self._filter.rearm():
            if self._takes_torque:
                return True, "armed again: torques act at once, as they are sent"
            return True, "armed again: the joints go to their targets, slowly at first"
        return False, "not stopped: there is nothing to rearm"

    def status(self, now_ns: int) -> ArrivalStatus:
        """Return the arrival status at ``now_ns`` of simulated time."""
        return arrival_status(
            self._limits.names,
            self._filter.requested,
            self._measured,
            self._parameters.arrival_tolerance,
            self._filter.target_age(now_ns / NS_PER_S),
            self._filter.holding,
            self.text,
        )

    def _reset(self, before_ns: int, now_ns: int) -> Notice:
        newest = max(before_ns, self._states_ns or 0, self._targets_ns or 0)
        self._filter.reset()  # of everything but an emergency stop
        self._forget()
        self._before_reset_ns = newest
        jump = f"from {newest / NS_PER_S:.2f} to {now_ns / NS_PER_S:.2f} s"
        return Notice("reset", Level.INFO, f"the clock went back {jump}: starting again from the measured joints")

    def _left_over(self, now_ns: Optional[int], stamp_ns: int) -> bool:
        """Return whether a message was under way when the clock went back, which now shows ``now_ns``."""
        newest = self._before_reset_ns
        if newest is None or now_ns is None:
            return False
        return max(now_ns + GAP * NS_PER_S, newest - IN_FLIGHT_NS) < stamp_ns <= newest

    def _lies_ahead(self, stamp_ns: int) -> bool:
        if self._states_ns is None:
            return False
        return self._filter.lies_ahead(stamp_ns / NS_PER_S, self._states_ns / NS_PER_S)

    def _apply(self, targets: _Targets, notices: List[Notice]) -> Optional[Command]:
        now_ns = targets.stamp_ns if self._states_ns is None else self._states_ns
        # Tick 0 of a simulation is stamped 0 by right; later on a 0 means "no stamp", from a command typed by hand.
        has_stamp = targets.stamp_ns != 0 or now_ns == 0
        stamp_ns = targets.stamp_ns if has_stamp else now_ns
        stamp, now = stamp_ns / NS_PER_S, now_ns / NS_PER_S
        self._takes_torque = bool(len(targets.effort) and not len(targets.position))
        if self._takes_torque:
            filtered, limited = self._filter.apply_torques(stamp, targets.names, targets.effort, now)
        else:
            filtered, limited = self._filter.apply(stamp, targets.names, targets.position, now, targets.effort)
        notices.extend(limited)
        if filtered is None:
            return None
        self._gives_torque = filtered.torque is not None
        # a simulator drops what is stamped ahead of its clock, and a hold must reach it
        answers = has_stamp and not self._lies_ahead(stamp_ns)
        return Command(filtered.position, stamp_ns if answers else None, filtered.holding, filtered.torque)

    def _status_if_due(self, now_ns: int) -> Optional[ArrivalStatus]:
        if self._status_ns is not None and now_ns - self._status_ns < self._status_period_ns:
            return None
        self._status_ns = now_ns
        return self.status(now_ns)


def _classify(newest_ns: Optional[int], stamp_ns: int) -> Stamp:
    return classify_stamp(None if newest_ns is None else newest_ns / NS_PER_S, stamp_ns / NS_PER_S)
