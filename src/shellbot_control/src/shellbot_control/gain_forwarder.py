# SPDX-License-Identifier: MIT
"""Which joint controller still needs which gains: the bookkeeping of the gains node, without ROS.

A controller announces its present gains when it starts (the latched ``pid/parameter_updates``), and again whenever
somebody changes them. The first announcement of a new connection therefore means "this controller (re)started"; it gets
the page's values if it has others. Any later one that is not the echo of what was sent means that somebody tuned this
joint directly: that is respected until the page's values of its class change.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Deque, Dict, Iterable, List, Mapping, Optional, Tuple

from shellbot_common import Level, Notice
from shellbot_control.gains import Gains
from shellbot_control.joint_order import shorten

_ECHOES = 8  # so many sent values without an echo are remembered per joint to tell it from a change from elsewhere
_RETRY_PERIOD = 0.5  # s of wall clock between attempts at a controller that failed to answer
_PATIENCE = 2.0  # s of wall clock after which a call without answer is reported


@dataclass
class _Joint:
    goal: Optional[Gains] = None
    present: Optional[Gains] = None
    announced: bool = False
    tuned_directly: bool = False
    in_flight_since: Optional[float] = None
    restarted: bool = False  # since the call in flight was made
    retry_at: float = 0.0
    failure: str = ""
    failing_since: Optional[float] = None
    sent: Deque[Gains] = field(default_factory=lambda: deque(maxlen=_ECHOES))

    def pending(self) -> bool:
        if self.goal is None or not self.announced or self.tuned_directly:
            return False
        return self.present is None or not self.present.close_to(self.goal)


class GainForwarder:
    """Decide what to send to which joint controller.

    Parameters
    ----------
    joints : iterable of str
        The controller's joints.
    """

    def __init__(self, joints: Iterable[str]) -> None:
        self._joints: Dict[str, _Joint] = {name: _Joint() for name in joints}

    def set_requested(self, gains: Mapping[str, Gains]) -> None:
        """Take new commanded gains per joint; joints tuned directly follow again if theirs changed."""
        for name, goal in gains.items():
            joint = self._joints[name]
            if joint.goal is None or not joint.goal.close_to(goal):
                joint.tuned_directly = False
                joint.retry_at = 0.0
            joint.goal = goal

    def announced(self, name: str, present: Gains, new_connection: bool) -> Tuple[Notice, ...]:
        """Note the gains that a controller says it has.

        Parameters
        ----------
        name : str
            The joint.
        present : Gains
            What its controller announced.
        new_connection : bool
            Whether this is the first announcement since the connection to the controller was made.

        Returns
        -------
        tuple of Notice
            A sentence if somebody tuned the joint directly.
        """
        joint = self._joints[name]
        if new_connection:
            joint.announced, joint.present, joint.tuned_directly, joint.retry_at = True, present, False, 0.0
            joint.sent.clear()
            joint.failing_since, joint.restarted = None, True
            return ()
        echoed = next((index for index, sent in enumerate(joint.sent) if present.close_to(sent)), None)
        if echoed is not None:  # echoes keep their order: those before it were dropped, and it comes only once
            for _ in range(echoed + 1):
                joint.sent.popleft()
            return ()
        joint.present = present
        joint.tuned_directly = joint.goal is not None and not present.close_to(joint.goal)
        if not joint.tuned_directly:
            return ()
        text = f"{name} was tuned directly to {present}; the page's values return when its class changes on the page"
        return (Notice(f"direct {name}", Level.INFO, text),)

    def next_due(self, now: float) -> Optional[Tuple[str, Gains]]:
        """Return a joint to send to now, and what; it counts as in flight until confirmed or failed.

        Parameters
        ----------
        now : float
            s, monotonic wall clock.

        Returns
        -------
        tuple of str and Gains, or None
            None if nothing is due.
        """
        for name, joint in self._joints.items():
            if joint.in_flight_since is None and now >= joint.retry_at and joint.pending():
                assert joint.goal is not None
                joint.in_flight_since, joint.restarted = now, False
                joint.sent.append(joint.goal)
                return name, joint.goal
        return None

    def next_retry(self) -> Optional[float]:
        """Return when the next attempt is due, s of the same clock; None if none is planned."""
        times = [joint.retry_at for joint in self._joints.values() if joint.in_flight_since is None and joint.pending()]
        return min(times) if times else None

    def confirmed(self, name: str, sent: Gains, applied: Gains) -> Tuple[Notice, ...]:
        """Note a controller's answer.

        Parameters
        ----------
        name : str
            The joint.
        sent, applied : Gains
            What was sent, and what the controller says it has now.

        Returns
        -------
        tuple of Notice
            A sentence if the controller did not take the values as they were.
        """
        joint = self._joints[name]
        joint.in_flight_since, joint.failure, joint.failing_since = None, "", None
        if joint.restarted:  # the answer may be that of the controller that was there before
            return ()
        joint.present = sent  # not `applied`: a controller that refuses a value must not be asked for ever
        if applied.close_to(sent):
            return ()
        joint.sent.append(applied)
        return (Notice(f"limited {name}", Level.WARN, f"{name} was sent {sent} but its controller applied {applied}"),)

    def failed(self, name: str, now: float, reason: str) -> None:
        """Note that a controller did not take the call; it is tried again later."""
        joint = self._joints[name]
        joint.in_flight_since, joint.failure = None, reason
        joint.retry_at = now + _RETRY_PERIOD
        # A controller announces itself a moment before its service is there: only what lasts is worth a word.
        if joint.failing_since is None:
            joint.failing_since = now

    def waiting_for(self) -> List[str]:
        """Return the joints whose controllers have never announced themselves."""
        return [name for name, joint in self._joints.items() if not joint.announced]

    def not_answering(self, now: float) -> List[str]:
        """Return the joints whose controllers fail or do not answer within the patience, and those queued behind."""
        joints = self._joints.items()
        calls = [joint.in_flight_since for _, joint in joints if joint.in_flight_since is not None]
        stuck = any(now - since > _PATIENCE for since in calls)
        return [
            name
            for name, joint in joints
            if (stuck and (joint.pending() or joint.in_flight_since is not None))
            or (joint.failing_since is not None and joint.pending() and now - joint.failing_since > _PATIENCE)
        ]

    def tuned_directly(self) -> List[str]:
        """Return the joints that somebody tuned beside the page."""
        return [name for name, joint in self._joints.items() if joint.tuned_directly]

    def summary(self, now: float) -> Notice:
        """Return the state in one sentence.

        Parameters
        ----------
        now : float
            s, monotonic wall clock.

        Returns
        -------
        Notice
            WARN while joints do not answer or have not appeared, else INFO.
        """
        silent, absent, direct = self.not_answering(now), self.waiting_for(), self.tuned_directly()
        total = len(self._joints)
        if silent:
            reason = next(filter(None, (self._joints[name].failure for name in silent)), "no answer yet")
            text = f"{len(silent)} of {total} joints did not answer: {shorten(silent)} ({reason}); trying again"
            return Notice("silent", Level.WARN, text)
        if absent:
            who = shorten(absent)
            text = f"waiting for the controllers of {len(absent)} of {total} joints: {who}; is the simulator up?"
            return Notice("absent", Level.WARN, text)
        if direct:
            return Notice("direct", Level.INFO, f"{len(direct)} of {total} joints tuned directly: {shorten(direct)}")
        return Notice("done", Level.INFO, f"{total} of {total} joints have the gains of the page")


def receiver_summary(receiver: str, listeners: Iterable[str]) -> Notice:
    """Return the state in one sentence where one node maps the whole page itself.

    Parameters
    ----------
    receiver : str
        Name of that node.
    listeners : iterable of str
        Names, with namespaces, of the nodes that hear the page.
    """
    if any(name.rsplit("/", 1)[-1] == receiver for name in listeners):
        return Notice(
            "receiver", Level.INFO, f"{receiver} hears the page and maps it; its diagnostics say what it made of it"
        )
    text = f"{receiver} does not listen to the page, so that changes have no effect: is it running?"
    return Notice("receiver", Level.WARN, text)
