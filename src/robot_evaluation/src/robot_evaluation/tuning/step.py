# SPDX-License-Identifier: MIT
"""Steps of the joints of a class in the embedded simulator: the robot hangs in the air, its base held."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Mapping, Sequence

import numpy as np

from robot_evaluation.errors import EvaluationError
from shellbot_common import TICK, RobotProfile
from shellbot_control import Gains
from shellbot_control.controllers import I_CLAMP_FRACTION
from shellbot_simulator import Simulator, SimulatorConfig

from .response import Response

HEIGHT = 2.0  # m above the floor
SETTLE = 1.5  # s before the step
HELD = 0.8  # of the torque limit at rest: beyond that a step shows the limit, not the gains
STILL = 0.05  # rad/s of a joint at rest
WORKING_POSE = "stand"  # where a robot has it: limbs as they work


class StepRig:
    """A robot whose joints are stepped one after the other, always from the same rest.

    Parameters
    ----------
    urdf : str
        Its URDF.
    profile : RobotProfile
        Its profile.
    pose : str
        Named pose to step from; empty: `stand`, else the spawn pose.
    weightless : bool
        Without gravity: for a robot that cannot hold itself up by its base.

    Raises
    ------
    EvaluationError
        If it has no such pose.
    """

    def __init__(self, urdf: str, profile: RobotProfile, pose: str = "", weightless: bool = False) -> None:
        chosen = pose or (WORKING_POSE if WORKING_POSE in profile.poses else profile.base.spawn_pose)
        if chosen not in profile.poses:
            raise EvaluationError(f"pose {chosen!r} does not exist; choose one of {', '.join(profile.poses)}")
        self.pose, self.profile = chosen, profile
        base = profile.base.replace(kind="fixed", position=(0.0, 0.0, HEIGHT))
        config = SimulatorConfig(self_collision=False)
        if weightless:
            config = config.replace(gravity=0.0)
        self._simulator = Simulator(urdf, profile.replace(base=base), config)
        self._start = np.array(list(profile.pose(chosen).values()))
        self._followers: Mapping[str, Sequence[str]] = {c.leader: c.followers for c in profile.couplings}

    def motors(self, kind: str) -> List[str]:
        """Return the joints of a class that have a motor of their own.

        Raises
        ------
        EvaluationError
            If there is no such class, or it has none.
        """
        motors = [name for name in self.profile.motor_joints if self.profile.joints[name] == kind]
        if not motors:
            kinds = dict.fromkeys(self.profile.joints[name] for name in self.profile.motor_joints)
            raise EvaluationError(f"{self.profile.name} has no joint class {kind!r}; choose from {', '.join(kinds)}")
        return motors

    def response(self, joint: str, gains: Mapping[str, Gains], step: float, seconds: float) -> Response:
        """Step one joint, with those that its motor turns, too.

        Parameters
        ----------
        joint : str
            With a motor of its own.
        gains : mapping
            Joint class to gains in force.
        step : float
            rad; taken with the other sign where the joint's limit is nearer than that.
        seconds : float
            That are recorded.

        Raises
        ------
        EvaluationError
            If the step is larger than what the joint can turn, or the joint does not hold its pose.
        """
        simulator, names = self._simulator, list(self.profile.joints)
        for name, kind in self.profile.joints.items():
            clamp = I_CLAMP_FRACTION * abs(self._effort(name)) if gains[kind].i > 0.0 else 0.0
            simulator.set_gains(name, gains[kind].p, gains[kind].i, gains[kind].d, -clamp, clamp)
        simulator.reset(self._start)
        index = names.index(joint)
        before = simulator.command(self._start)
        for _ in range(round(SETTLE / TICK)):
            simulator.step_tick()
        held = self._simulator.state()
        limit = self._effort(joint)
        if abs(held.effort[index]) > HELD * limit or abs(held.dq[index]) > STILL:
            raise EvaluationError(
                f"{joint} does not hold {self.pose} against gravity ({abs(held.effort[index]):.2f} of {limit:.2f} N m)"
                "; give another --pose, a stiffness, or --weightless"
            )
        moved = before.copy()
        columns = [index, *(names.index(name) for name in self._followers.get(joint, ()))]
        for sign in (1.0, -1.0):
            moved[columns] = before[columns] + sign * step
            if np.allclose(simulator.command(moved), moved):
                break
        else:
            raise EvaluationError(
                f"{joint} cannot turn by {math.degrees(step):g} deg from {self.pose}; give a smaller --step-deg, or a "
                "--pose"
            )
        rows: List[Dict[str, Any]] = []
        for k in range(round(seconds / TICK) + 1):
            state = simulator.state()
            rows.append({"t": k * TICK, "position": state.q[index], "velocity": state.dq[index]})
            efforts = state.step_effort[:, index]
            rows[-1]["effort"] = efforts[np.abs(efforts).argmax()] if k else state.effort[index]
            simulator.step_tick()
        arrays = {key: np.array([row[key] for row in rows]) for key in rows[0]}
        return Response(joint, start=float(before[index]), step=float(sign * step), limit=limit, **arrays)

    def _effort(self, joint: str) -> float:
        """Return the torque limit of a joint, N m."""
        low, high = self._simulator.model.actuator(joint).forcerange
        return float(max(-low, high))
