# SPDX-License-Identifier: MIT
"""The contract also holds for joints with inertia, load and gravity: those of the embedded simulator."""

import pytest

from shellbot_control import CHECKS, BackendUnderTest, JointLimits, JointSample, RobotBackend, clamp_targets

simulation = pytest.importorskip("shellbot_simulator.simulator", reason="the embedded simulator is not there")
from shellbot_description import driven_joint_names, expand  # noqa: E402

NAMES = driven_joint_names("simulation")


class SimulatedJoints(RobotBackend):
    def __init__(self, urdf, limits):
        self._simulator = simulation.Simulator(urdf)
        self._simulator.reset()
        self._limits = limits
        self._applied = None

    @property
    def joint_names(self):
        return NAMES

    def advance(self, seconds):
        for _ in range(round(seconds * 100)):
            self._simulator.step_tick()

    def read(self):
        state = self._simulator.state()
        return JointSample(state.time, NAMES, state.q, state.dq, state.effort)

    def write(self, targets):
        self._applied = clamp_targets(targets, self._limits)
        self._simulator.command(self._applied)
        return self._applied.copy()

    def hold(self):
        return (self.read().position if self._applied is None else self._applied).copy()


@pytest.fixture(scope="module")
def urdf():
    return expand("simulation")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_simulated_joints_keep_the_contract(check, urdf):
    limits = JointLimits.from_urdf(urdf, NAMES)
    joints = SimulatedJoints(urdf, limits)
    check(BackendUnderTest(joints, limits, joints.advance))
