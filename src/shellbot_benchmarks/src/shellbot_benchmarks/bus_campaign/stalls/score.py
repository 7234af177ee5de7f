# SPDX-License-Identifier: MIT
"""Compare what the driver reported with what the servos did. Pure: tables in, counts and incidents out.

Definitions; a look is one reading of the driver's state, t a time of CLOCK_MONOTONIC:

false_torque_off
    A look reports torque as confirmed off while a servo's register torque_enable was 1 throughout the look. Not counted
    within `OLD` after the operator requested torque again (the report may be as old as a reading), nor after the
    shutdown. Consecutive looks are one incident.
stale_reported_good
    A look shows a servo as GOOD and not stale although its reading is older than `OLD`: by the stamp in the state, or
    because no servo with this ID has answered a READ of its position for that long. The age is that at the beginning
    of the look, by the clock of the process that looks. Consecutive looks are one incident.
goal_steps_beyond_limit
    A servo with torque gets a goal g at t after a goal g' at t' with |g - g'| > v (t - t'') + `CONSTANT`, where v is
    the joint's speed limit and t'' <= t' the latest time at which g' had certainly not left the host, but at most `OLD`
    before t. The same over `SPAN` goals. Or torque comes on with a goal that is more than `CONSTANT` away from where
    the horn was at any time of the last `LOOK_BACK` s. Torque is on while torque_enable is 1 and torque_limit is not 0.
    Goals that reach a servo under another's ID (a fault) are not judged, as they are meant for the other; torque-on
    is. Events of one servo within `SAME` are one incident.
unreported_stops
    A stop (emergency stop, torque off) that is neither confirmed within `CONFIRM` nor reported as unconfirmed within
    `REPORT`, both by the clock of the process that requested it, less the time for which that process was stopped. A
    false confirmation does not count. A stop that is revoked, or that the run ends, before `REPORT` is not judged.
worst_stop_s
    The longest of these times until confirmed or reported; if neither came, until the stop was revoked.

`CONSTANT`, 10 steps (2.9 degrees): goals are rounded to whole steps (1 step), and the servos cannot know when within
its 10 ms tick the driver computed a goal (a joint at its speed limit does 12 to 20 steps in a tick; a host that is
preempted between computing and sending shortens the next interval by a part of that). A torque-on with goal 512 at 300,
a sag of 150 steps driven back, and a rebooted servo that jumps to its old goal exceed it by an order of magnitude.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ax_bus.registers import RAD_PER_STEP
from shellbot_motor_driver import Phase, ServoMap

from .emulator import VARIANT
from .plan import Plan
from .truth import Truth
from .walk import Claim, Given, Log

Array = np.ndarray
OLD = 0.5  # s
CONSTANT = 10  # steps
SPAN = 10  # goals
SAME = 0.3  # s
CONFIRM, REPORT = 0.3, 0.5  # s
COUNTS = ("false_torque_off", "stale_reported_good", "goal_steps_beyond_limit", "unreported_stops")
_ON_ORDERS = ("rearm", "torque_on")
_STOPS = ("emergency_stop", "torque_off")
_REPLY = 0.01  # s that a reply may take to the state: it is stamped when its last byte is read
_SHOWN = 20  # incidents of a kind that are listed
_EVENTS = 200  # last words that are kept

Incident = Dict[str, Any]


class Stopped(NamedTuple):
    """When a process was really stopped: which, from, to."""

    target: str
    since: float
    until: float


class Times(NamedTuple):
    """When torque_enable of a servo changed to on and off, in turn, s; the last off is infinite if there is none."""

    on: Array
    off: Array

    def at(self, time: float) -> Optional[Tuple[float, float]]:
        """Return the stretch of torque that contains a time, or None."""
        i = int(np.searchsorted(self.on, time, side="right")) - 1
        return (self.on[i], self.off[i]) if i >= 0 and time < self.off[i] else None


def speed_limits() -> Array:
    """Return the speed limit of each servo, (n servos,) steps/s."""
    servo_map = ServoMap.load(VARIANT)
    gear = np.array([entry.gear for entry in servo_map.entries])
    speeds: Array = servo_map.robot.limits.velocity[servo_map.joint_of_servo] * gear / RAD_PER_STEP
    return speeds


def torque_times(truth: Truth, servos: int) -> List[Times]:
    """Return when each servo had torque_enable = 1."""
    found = []
    table = truth.table("torque")
    for servo in range(servos):
        rows = table[table[:, 1] == servo]
        on, off = rows[rows[:, 2] == 1, 0], rows[rows[:, 2] == 0, 0]
        found.append(Times(on, np.append(off, np.inf) if off.size < on.size else off))
    return found


def false_torque_off(times: Sequence[Times], log: Log) -> List[Incident]:
    """Return the incidents, see above; ``servos`` are indices."""
    looks: List[Optional[Incident]] = []
    excuses = [(order.before, order.after + OLD) for order in log.orders if order.kind in _ON_ORDERS]
    for sample in log.samples:
        if sample.claim != Claim.CONFIRMED or any(a <= sample.before <= b for a, b in excuses):
            looks.append(None)
            continue
        on = [i for i, each in enumerate(times) if _throughout(each, sample.before, sample.after)]
        looks.append({"servos": on, "order": "state"} if on else None)
    found = _in_a_row([sample.before for sample in log.samples], looks)
    end = next((order for order in log.orders if order.kind == "shutdown"), None)
    if end is not None and log.shutdown_claim == Claim.CONFIRMED:
        on = [i for i, each in enumerate(times) if each.at(end.after) is not None]
        if on:
            found.append({"time": end.after, "until": end.after, "looks": 1, "servos": on, "order": "shutdown"})
    return found


def _throughout(times: Times, begin: float, end: float) -> bool:
    stretch = times.at(begin)
    return stretch is not None and stretch[1] > end


def stale_reported_good(truth: Truth, log: Log, servo_ids: Sequence[int]) -> List[Incident]:
    """Return the incidents, see above; ``servos`` are indices."""
    if not log.samples:
        return []
    before = np.array([sample.before for sample in log.samples])
    good, ages = np.array(log.good, dtype=bool), before[:, None] - np.array(log.stamps, dtype=float)
    replies = truth.table("replies")
    for i, servo_id in enumerate(servo_ids):
        of_servo = np.append(-np.inf, replies[replies[:, 1] == servo_id, 0])
        since = before - _REPLY - of_servo[np.searchsorted(of_servo, before, side="right") - 1]
        ages[:, i] = np.maximum(ages[:, i], since)
    old = good & (ages > OLD)
    looks = [
        {"servos": np.flatnonzero(row).tolist(), "age": float(age[row].max()), "phase": Phase(sample.phase).name}
        if row.any()
        else None
        for row, age, sample in zip(old, ages, log.samples)
    ]
    return _in_a_row(before, looks)


def _in_a_row(times: Iterable[float], looks: Sequence[Optional[Incident]]) -> List[Incident]:
    """Return one incident for each unbroken row of looks that found something: all servos, the greatest age."""
    found: List[Incident] = []
    is_going_on = False
    for time, look in zip(times, looks):
        if look is None:
            is_going_on = False
            continue
        if not is_going_on:
            found.append({"time": time, "looks": 0, **look})
        incident = found[-1]
        incident["until"], incident["looks"] = time, incident["looks"] + 1
        incident["servos"] = sorted({*incident["servos"], *look["servos"]})
        if "age" in look:
            incident["age"] = max(incident["age"], look["age"])
        is_going_on = True
    return found


def goal_steps_beyond_limit(truth: Truth, speeds: Array) -> List[Incident]:
    """Return the incidents, see above; ``speeds`` are the limits, (n servos,) steps/s."""
    found: List[Incident] = []
    for time, servo, goal, low, high in truth.table("torque_on"):
        away = max(low - goal, goal - high)
        if away > CONSTANT:
            _add(found, {"time": time, "servos": [int(servo)], "how": "torque on", "goal": goal,
                         "beyond": away - CONSTANT, "horn": [low, high]})  # fmt: skip
    table = truth.table("goals")
    for servo, speed in enumerate(speeds):
        rows = table[table[:, 2] == servo]
        time, since, goal = rows[:, 0], rows[:, 1], rows[:, 3]
        stretch = np.cumsum(rows[:, 4])  # torque has been on since the same moment
        for span in (1, SPAN):
            allowed = speed * np.minimum(time[span:] - since[:-span], OLD) + CONSTANT
            beyond = np.abs(goal[span:] - goal[:-span]) - allowed
            for i in np.flatnonzero((beyond > 0.0) & (stretch[span:] == stretch[:-span])):
                then, now = int(i), int(i) + span
                _add(found, {"time": time[now], "servos": [servo], "how": f"{span} goals", "goal": goal[now],
                             "before": goal[then], "beyond": beyond[i], "s": time[now] - since[then]})  # fmt: skip
    return sorted(found, key=lambda incident: float(incident["time"]))


def _add(found: List[Incident], incident: Incident) -> None:
    """Add an incident, unless the last one is of the same servo and hardly older."""
    if found and found[-1]["servos"] == incident["servos"] and abs(incident["time"] - found[-1]["time"]) < SAME:
        found[-1]["beyond"] = max(found[-1]["beyond"], incident["beyond"])
        return
    found.append(incident)


def judged_stops(times: Sequence[Times], log: Log, stopped: Sequence[Stopped]) -> List[Incident]:
    """Return all stops that can be judged: how long each took, how it ended, when all torque was really off."""
    found = []
    ends = [sample.after for sample in log.samples[-1:]]
    for order in log.orders:
        if order.kind not in _STOPS or not ends:
            continue
        until = min([later.before for later in log.orders if _takes_back(later, order)] + ends)
        report = _report(times, log, order, until)
        how, time = report if report is not None else ("nothing", until)
        took = time - order.before - overlap(stopped, "parent", order.before, time)
        if report is None and took <= REPORT:
            continue
        off = _all_off(times, order.before, until)
        in_time = took <= (CONFIRM if how == "confirmed" else REPORT)
        found.append({"time": order.before, "order": order.kind, "how": how, "took": took, "in_time": in_time,
                      "torque_off_after": off - order.before if off is not None else None})  # fmt: skip
    return found


def _takes_back(later: Given, order: Given) -> bool:
    return later.before > order.before and later.kind in (*_ON_ORDERS, "shutdown")


def _report(times: Sequence[Times], log: Log, order: Given, until: float) -> Optional[Tuple[str, float]]:
    """Return how a stop was reported, and when."""
    for sample in log.samples:
        if sample.before < order.before:
            continue
        if sample.after > until:
            return None
        if sample.claim == Claim.UNCONFIRMED:
            return "unconfirmed", sample.after
        if sample.claim == Claim.CONFIRMED and not any(_throughout(t, sample.before, sample.after) for t in times):
            return "confirmed", sample.after
    return None


def _all_off(times: Sequence[Times], begin: float, until: float) -> Optional[float]:
    """Return when no servo had torque any more; None if that was not before ``until``."""
    time = begin
    for _ in range(10 * len(times)):
        on = [stretch for stretch in (each.at(time) for each in times) if stretch is not None]
        if not on:
            return time
        time = max(stretch[1] for stretch in on)
        if time > until:
            return None
    return None


def overlap(stopped: Sequence[Stopped], target: str, begin: float, end: float) -> float:
    """Return for how long of a stretch a process was stopped, s."""
    return sum(max(0.0, min(end, s.until) - max(begin, s.since)) for s in stopped if s.target == target)


def score(plan: Plan, begin: float, truth: Truth, log: Log, stopped: Sequence[Stopped]) -> Dict[str, Any]:
    """Return a run's counts, incidents (times in s of the run), and what happened, for a JSON file."""
    servo_map = ServoMap.load(VARIANT)
    ids = servo_map.servo_ids
    times = torque_times(truth, len(ids))
    stops = judged_stops(times, log, stopped)
    incidents = {
        "false_torque_off": false_torque_off(times, log),
        "stale_reported_good": stale_reported_good(truth, log, ids),
        "goal_steps_beyond_limit": goal_steps_beyond_limit(truth, speed_limits()),
        "unreported_stops": [stop for stop in stops if not stop["in_time"]],
    }
    off = [stop["torque_off_after"] for stop in stops if stop["torque_off_after"] is not None]
    phases = Counter(Phase(sample.phase).name for sample in log.samples)
    rungs = Counter(key for _, _, keys in log.steps for key in keys.split())
    replies = len(truth.rows["replies"])
    return {
        "seed": plan.seed,
        "seconds": plan.seconds,
        **{name: len(found) for name, found in incidents.items()},
        "worst_stop_s": max((stop["took"] for stop in stops), default=0.0),
        "worst_torque_off_s": max(off, default=0.0),
        "stops": len(stops),
        "stalls": len(stopped),
        "faults": len(plan.faults),
        "incidents": {name: [_shown(one, begin, ids) for one in found[:_SHOWN]] for name, found in incidents.items()},
        "schedule": {
            "goal_enables_torque": plan.goal_enables_torque,
            "faults": [slot.fault.__dict__ for slot in plan.faults],
            "stalls": [(s.target, s.since - begin, s.until - begin) for s in sorted(stopped, key=lambda s: s.since)],
            "orders": [(order.before - begin, order.after - begin, *order[2:]) for order in log.orders],
        },
        "started_after_s": log.started - begin,
        "restarts": log.restarts,
        "looks": len(log.samples),
        "goals": len(truth.rows["goals"]),
        "replies": replies,
        "feedback_hz": replies / len(ids) / plan.seconds,
        "phases": {name: count / len(log.samples) for name, count in phases.items()},
        "rungs": dict(rungs),
        "events": [(time - begin, text) for time, text in log.events[-_EVENTS:]],
    }


def _shown(incident: Incident, begin: float, ids: Sequence[int]) -> Incident:
    """Return an incident in s of the run and with IDs instead of indices."""
    shown = dict(incident)
    for name in ("time", "until"):
        if name in shown:
            shown[name] = shown[name] - begin
    if "servos" in shown:
        shown["servos"] = [ids[i] for i in shown["servos"]]
    return shown
