# SPDX-License-Identifier: MIT
"""References of an arm, and the commands with which position servos follow them by one of five laws."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import TYPE_CHECKING, Mapping, Optional, Sequence, Tuple

import numpy as np

from arm_control.stability import LEAD, warning
from robot_mechanics.dynamics.laws import Reference, computed_torque, gravity_pd, open_loop, pd_outside
from robot_mechanics.trajectories import quintic
from shellbot_common import GAP, TICK, Settings, SettingsError, Stamp, choice, classify_stamp, number
from shellbot_common.reconfigure_page import PageChoice, PageNumber, reconfigure_page

if TYPE_CHECKING:
    from scipy.interpolate import BPoly

    from robot_mechanics.dynamics import DynamicModel

_RISE = 1.0  # 1/s: the swinging grows and fades no faster than to its whole amplitude in a second
_SPEED = 0.3  # of the joints' speed limits, for moves to a target
LAWS = {
    "servo": "the servos' own stiffness; torques of the reference fed forward",
    "open_loop": "inverse dynamics alone, without feedback",
    "pd_outside": "inverse dynamics and PD outside the mass matrix",
    "computed_torque": "PD inside the mass matrix",
    "gravity_pd": "gravity and PD",
}
INTERFACES = {"position": "angles of the position servos", "effort": "torques, in place of the servos"}
# waves that differ from joint to joint, so that the tip draws a figure and no line
_SIZE, _MULTIPLE, _PHASE = (0.8, 0.5, 0.9, 1.0), (1.0, 1.0, 2.0, 1.0), (0.0, 1.0, 0.0, 2.0)


@dataclass(frozen=True)
class MotionPage(Settings):
    """What the operator may change while the arm moves."""

    law: str = choice(tuple(LAWS), default="servo")  #: Of control
    #: What is commanded: position of the servos, or effort, the torques themselves
    interface: str = choice(tuple(INTERFACES), default="position")
    feed_forward: float = number(0.0, 1.0, default=1.0)  #: Fraction of the torques that is fed forward; law servo
    amplitude: float = number(0.0, 1.2, unit="rad", default=0.5)  #: Of the swinging about the target
    period: float = number(1.0, 20.0, unit="s", default=4.0)  #: Of the swinging
    kp_inside: float = number(0.0, 400.0, unit="1/s^2", default=200.0)  #: Law computed_torque
    kd_inside: float = number(0.0, 40.0, unit="1/s", default=30.0)  #: Law computed_torque
    kp_outside: float = number(0.0, 20.0, unit="N m/rad", default=10.0)  #: Laws pd_outside and gravity_pd
    kd_outside: float = number(0.0, 1.0, unit="N m s/rad", default=0.3)  #: Laws pd_outside and gravity_pd

    def conflict(self) -> str:
        """Return that the law of the servos cannot do without them, if so."""
        if self.law == "servo" and self.interface == "effort":
            return f"law servo needs the servos, interface position; for effort choose {', '.join(list(LAWS)[1:])}"
        return ""


def motion_page(page: MotionPage) -> SimpleNamespace:
    """Return what a dynamic_reconfigure server takes for its type, with the values of a page."""
    texts = {"feed_forward": "fraction of the torques that is fed forward, law servo"}
    sliders = []
    for item in fields(MotionPage):
        if item.name not in ("law", "interface"):
            low, high = item.metadata["range"]
            text = texts.get(item.name, item.metadata["unit"])
            sliders.append(PageNumber(item.name, getattr(page, item.name), low, high, text))
    gains = [slider for slider in sliders if slider.name.startswith("k")]
    lists = [
        PageChoice("law", page.law, LAWS, "of control"),
        PageChoice("interface", page.interface, INTERFACES, "what is commanded"),
    ]
    return reconfigure_page([*lists, *(item for item in sliders if item not in gains)], {"gains of the laws": gains})


class ArmMotion:
    """Swings an arm about a target; each tick gives the command of its position servos.

    A servo of stiffness p that is to hold the torque tau stands tau / p behind its command. So by the law `servo` the
    command is q_ref + feed_forward * tau / p, where tau is the torque of the reference by the dynamics; the servo's
    stiffness is the feedback. By the other laws, which give torques for the measured state, it is q + tau / p, with q
    taken on to the time at which the command is in force, so that nothing is left of the servo's own feedback. By the
    interface `effort` the torques themselves are commanded, and the servos are out of action. Not thread safe, but for
    `warning`.

    Parameters
    ----------
    model : DynamicModel
        On a fixed base.
    stiffness : (n,) sequence of float
        Of the servos until `set_stiffness`, N m/rad.

    Attributes
    ----------
    page : MotionPage
        May be replaced between two ticks.
    stopped : bool
        Whether an emergency stop holds the joints; afterwards the arm moves from there to its target.
    """

    def __init__(self, model: DynamicModel, stiffness: Sequence[float]) -> None:
        self._model, self._stiffness = model, np.array(stiffness, dtype=float)
        if self._stiffness.shape != (model.n,) or not (self._stiffness > 0.0).all():
            raise SettingsError(f"stiffness is {self._stiffness.tolist()}; expected {model.n} numbers above 0 N m/rad")
        self.page = MotionPage()
        self.stopped = False
        self._waves = [np.resize(values, model.n) for values in (_SIZE, _MULTIPLE, _PHASE)]
        self._move: Optional[Tuple[float, BPoly, float]] = None
        self._stamp: Optional[float] = None
        self._target = self._measured = np.zeros(model.n)
        self._angle, self._amplitude = 0.0, 0.0

    def set_stiffness(self, joint: str, stiffness: float) -> None:
        """Take the stiffness (N m/rad) of the servo in force; a limp one, which holds no torque, changes nothing."""
        if stiffness > 0.0:
            changed = self._stiffness.copy()  # another thread's `warning` may be reading the former one
            changed[self._model.joint_names.index(joint)] = stiffness
            self._stiffness = changed

    def aim(self, target: Mapping[str, float]) -> str:
        """Move to a target, joints that are not named as they are; returns why not, in words, or nothing."""
        if self._stamp is None:  # the first tick takes the measured pose for the target
            return "the joints are not measured yet; give the target again when joint_states come"
        limits = dict(zip(self._model.joint_names, zip(self._model.tree.lower, self._model.tree.upper)))
        goal = self._reference(self._stamp)[0].copy()
        for name, value in target.items():
            if name not in limits:
                return f"there is no joint '{name}'; there are {', '.join(limits)}"
            low, high = limits[name]
            if not low <= value <= high:
                return f"target {value} rad of {name} is not within {low:g} .. {high:g} rad"
            goal[self._model.joint_names.index(name)] = value
        self._begin(goal, self._stamp)
        return ""

    def warning(self) -> str:
        """Return that errors grow under law and gains of the page in the present pose, and what to do; or nothing."""
        return warning(self._model, self._stiffness, self.page, self._measured)

    def step(self, t: float, q: Sequence[float], v: Sequence[float]) -> np.ndarray:
        """Return the command (n,) of one tick: rad, or N m by the interface `effort`.

        Parameters
        ----------
        t : float
            Stamp of the measured joints, simulated time, s.
        q : (n,) sequence of float
            Measured joints, rad; where the arm starts from, and starts again after a reset of the time.
        v : (n,) sequence of float
            Measured speeds, rad/s.

        Raises
        ------
        SettingsError
            If a measured angle or speed is not finite: hold the former command. Nothing changes.
        """
        for what, values, unit in (("angles", q, "rad"), ("speeds", v, "rad/s")):
            if not np.isfinite(values).all():
                raise SettingsError(f"joints' {what} are {np.asarray(values).tolist()} {unit}; expected finite ones")
        if self._stamp is None or classify_stamp(self._stamp, t) is Stamp.RESET:
            self._target = np.clip(q, self._model.tree.lower, self._model.tree.upper)
            self._stamp, self._move, self._amplitude = t, None, 0.0
        if self.stopped:
            goal, self._target = self._target, np.clip(q, self._model.tree.lower, self._model.tree.upper)
            self._move, self._amplitude = None, 0.0
            self._begin(goal, t)
        self._measured = np.asarray(q, dtype=float)
        dt = max(0.0, min(t - self._stamp, GAP))
        self._stamp = max(t, self._stamp)
        rate = 2.0 * math.pi / self.page.period
        slope = float(np.clip((self.page.amplitude - self._amplitude) / max(dt, 1e-9), -_RISE, _RISE)) if dt else 0.0
        self._amplitude += slope * dt
        self._angle += rate * dt
        place, speed, acceleration = self._reference(t)
        relative, multiple, phase = self._waves
        sine, cosine = np.sin(multiple * self._angle + phase), np.cos(multiple * self._angle + phase)
        turn = multiple * rate
        room = np.minimum(self._model.tree.upper - place, place - self._model.tree.lower)
        size = np.minimum(self._amplitude * relative, np.maximum(room, 0.0))
        reference = Reference(place + size * sine, speed + size * turn * cosine, acceleration - size * turn**2 * sine)
        if self.page.interface == "effort":
            return self._torques(q, v, reference)
        if self.page.law == "servo":
            return reference.q + self.page.feed_forward * self._model.inverse(*reference) / self._stiffness
        return np.asarray(q) + LEAD * TICK * np.asarray(v) + self._torques(q, v, reference) / self._stiffness

    def _torques(self, q: Sequence[float], v: Sequence[float], reference: Reference) -> np.ndarray:
        """Return what the law of the page gives at the measured state, N m."""
        page, state = self.page, (self._model, q, v, reference)
        if page.law == "open_loop":
            return open_loop(*state)
        if page.law == "computed_torque":
            return computed_torque(*state, kp=page.kp_inside, kd=page.kd_inside)
        law = pd_outside if page.law == "pd_outside" else gravity_pd
        return law(*state, kp=page.kp_outside, kd=page.kd_outside)

    def _reference(self, t: float) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self._move is None:
            return self._target, np.zeros_like(self._target), np.zeros_like(self._target)
        begin, move, duration = self._move
        if t >= begin + duration:
            self._move = None
            return self._reference(t)
        since = t - begin
        return move(since), move(since, nu=1), move(since, nu=2)

    def _begin(self, goal: np.ndarray, t: float) -> None:
        place, speed, acceleration = self._reference(t)
        least = np.abs(goal - place) / (_SPEED * np.minimum(self._model.tree.velocity, 10.0))
        duration = max(0.5, 1.9 * float(least.max()))  # a quintic is at most 1.9 times as fast as its mean
        rest = np.zeros_like(goal)
        self._move = t, quintic((place, speed, acceleration), (goal, rest, rest), duration), duration
        self._target = goal
