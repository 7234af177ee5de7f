# SPDX-License-Identifier: MIT
"""From the moment at which the robot falls until it stands again: protect, lie limp, get up on request."""

from __future__ import annotations

from typing import Callable, Mapping, Optional

import numpy as np

from humanoid_motion.fall import FALLEN, FALLING, SIDES, FallDetector, FallParameters, upright_soles
from humanoid_motion.interface import Feedback
from humanoid_motion.motions import KeyMotion
from humanoid_motion.parameters import WalkError
from shellbot_common import TICK

MOTIONS = (*(f"protect_{side}" for side in SIDES), "lie", "from_left", "from_back", "from_right", "get_up")
"""What `config/motions.yaml` has to hold."""


class FallManager:
    """One robot that falls and gets up.

    Parameters
    ----------
    parameters : FallParameters
        Detection, effort, tries.
    motions : mapping of str to KeyMotion
        MOTIONS at least: what each side protects with, `lie` (straight), `from_<side>` (over to the front), `get_up`
        (from the front to the stance).
    most_offset : (n,) array
        Angle between command and joint at which a servo has its full effort, rad.
    weight : float
        Of the robot, N.

    Attributes
    ----------
    detector : FallDetector
        Fed by `observe`.
    tries : int
        Since getting up was requested.
    """

    def __init__(
        self, parameters: FallParameters, motions: Mapping[str, KeyMotion], most_offset: np.ndarray, weight: float
    ) -> None:
        missing = [name for name in MOTIONS if name not in motions]
        if missing:
            raise WalkError(f"motions lack {', '.join(missing)}; config/motions.yaml has them all")
        self._p, self._motions, self._offset, self._weight = parameters, dict(motions), most_offset, weight
        self.detector = FallDetector(parameters)
        self.reset()

    def reset(self) -> None:
        """Begin anew, upright."""
        self.detector.reset()
        self._side = ""  # which it protects
        self._playing: Optional[KeyMotion] = None
        self._table, self._tick = np.zeros((0, 0)), 0
        self.tries, self._gave_up, self._upright = 0, False, 0.0

    @property
    def stands(self) -> bool:
        """Whether it got up, and has stood for a moment."""
        return self._playing is None and self._upright >= self._p.upright_time

    @property
    def activity(self) -> str:
        """``falling``, ``fallen`` or ``get_up``."""
        if self._playing is not None:
            return "get_up"
        return "falling" if self.detector.state == FALLING else "fallen"

    @property
    def text(self) -> str:
        """A sentence for the operator."""
        side = self.detector.side
        if self._playing is not None:
            return f"It gets up, try {self.tries} of {self._p.tries}: {self._playing.text}."
        if self.detector.state == FALLING:
            return f"It falls to its {self._side or side}: the arms protect it, the other joints are limp."
        again = f"It did not get up in {self._p.tries} tries and" if self._gave_up else "It has fallen and"
        return f"{again} lies on its {side}, limp; request recover to get up."

    def observe(
        self, feedback: Feedback, is_blind: bool = False, up_of_soles: Callable[[], np.ndarray] = upright_soles
    ) -> bool:
        """Take one tick; returns whether the robot falls, lies or gets up.

        Parameters
        ----------
        feedback : Feedback
            As measured.
        is_blind : bool
            Attitude and rates are frozen.
        up_of_soles : callable
            Returns the normal (3,) in the torso's frame that the soles have at the commanded angles.
        """
        self.detector.update(feedback.attitude, feedback.rates, feedback.wrenches, is_blind, up_of_soles)
        return self.detector.state in (FALLING, FALLEN)

    def get_up(self) -> None:
        """Begin to get up; raises WalkError while it still falls, or gets up already."""
        if self.activity != "fallen":
            raise WalkError(f"{self.text} Wait until it lies.")
        self.tries, self._gave_up, self._upright = 1, False, 0.0
        self._playing = self._motions["lie"]
        self._table = np.zeros((0, 0))

    def give_up(self) -> None:
        """End getting up: the robot is limp from then on."""
        self._playing = None

    def step(self, feedback: Feedback) -> np.ndarray:
        """Return the command (n,), rad, of one tick after `observe`."""
        if self._playing is None:
            return self._limp(feedback.q)
        if not len(self._table):  # from where the joints are
            curve = self._playing.begin(feedback.q)
            self._table, self._tick = curve(np.arange(TICK, curve.duration + TICK, TICK)), 0
        command = self._table[min(self._tick, len(self._table) - 1)]
        self._tick += 1
        over = self._tick * TICK - len(self._table) * TICK
        loads = float(np.maximum(feedback.wrenches[:, 2], 0.0).sum())
        upright = self.detector.tilt < self._p.upright_tilt and loads > 0.5 * self._weight
        self._upright = self._upright + TICK if upright and over > 0.0 else 0.0
        if self._playing.name == "get_up" and self._upright >= self._p.upright_time:
            self._playing = None
        elif over >= self._p.settle_time:
            self._next()
        return np.asarray(command)

    def _limp(self, q: np.ndarray) -> np.ndarray:
        """Return the measured angles, which ask for no torque; in a fall the arms go out with part of their effort."""
        command = np.array(q)
        if self.detector.state == FALLING:
            self._side = self._side or self.detector.side
            target = self._motions[f"protect_{self._side}"].frames[-1]
            moved = np.isfinite(target)
            most = self._p.protective_effort * self._offset
            command[moved] += np.clip(target - q, -most, most)[moved]
        return command

    def _next(self) -> None:
        """Choose the next motion by how it lies; after too many, lie limp."""
        assert self._playing is not None
        if self._playing.name == "get_up":
            self.tries += 1
            name = "lie"
        else:
            name = "get_up" if self.detector.side == "front" else f"from_{self.detector.side}"
            self.tries += self._playing.name == name  # it did not turn over
        self._playing, self._table = self._motions[name], np.zeros((0, 0))
        if self.tries > self._p.tries:
            self._playing, self._gave_up = None, True
