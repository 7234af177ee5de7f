# SPDX-License-Identifier: MIT
"""What the robot carries, from the torques of its legs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robot_mechanics.dynamics import DynamicModel, Inertia
from robot_mechanics.dynamics.standing import StandingModel
from shellbot_action_manager.behaviours.protocol import Motion, State
from shellbot_action_manager.body.geometry import load_geometry
from shellbot_action_manager.body.legs import LowerCommand, limb_commands
from shellbot_action_manager.estimation.payload import PayloadEstimator
from shellbot_common import TICK

GEOMETRY = load_geometry()
TILTED = np.array([0.03, 0.02, 0.0, 1.0]) / np.linalg.norm([0.03, 0.02, 0.0, 1.0])
Q = np.concatenate((GEOMETRY.stand_lower.ravel(), GEOMETRY.up_upper.ravel()))


def loaded(mass: float, place) -> np.ndarray:
    """Torques that hold the robot with a mass on its base, feet pushing against each other a bit."""
    model = GEOMETRY.body.standing.model
    extra = Inertia(mass, np.zeros(3), np.zeros((3, 3))).in_frame(np.asarray(place), np.eye(3))
    inertias = {**model.inertias, "base_link": extra}
    heavier = StandingModel(DynamicModel(model.tree, inertias, floating=True), GEOMETRY.body.standing.contacts)
    weights = np.zeros(len(heavier.contacts))
    weights[:6] = (1.0, 0.5, 1.0, 0.7, 1.0, 0.3)
    tau = heavier.torques(Q, TILTED, weights).tau.copy()
    feet = GEOMETRY.feet
    for k, push in ((0, 3.0), (3, -3.0)):  # along x of the base, from opposite feet, at the same height
        jacobian = feet.chains[k].jacobian(GEOMETRY.q_lower(Q)[k])
        tau[4 * k : 4 * k + 4] -= jacobian[:3].T @ np.array([push, 0.0, 0.0])
    return tau


def motion(**changes) -> Motion:
    planted = np.ones(6, dtype=bool)
    limbs = limb_commands(LowerCommand(GEOMETRY.stand_lower, None), GEOMETRY.up_upper, planted)
    return replace(Motion(limbs, planted), **changes)


def run(effort, ticks=110, now=None, orientation=TILTED):
    estimator, now = PayloadEstimator(GEOMETRY), motion() if now is None else now
    for _ in range(ticks):
        estimator.step(TICK, now, State(Q, orientation, None, None, motion()), effort)
    return estimator.latest


@pytest.mark.parametrize("mass", [0.5, 2.0])
def test_mass_and_place_are_found_whatever_the_feet_share(mass):
    place = np.array([0.05, -0.03, GEOMETRY.top])  # where it is looked for on its plumb line
    found = run(loaded(mass, place))
    assert found.mass == pytest.approx(mass, rel=0.01)
    assert found.p_base == pytest.approx(place, abs=0.002)
    assert found.loads.sum() == pytest.approx(9.81 * (mass + GEOMETRY.body.standing.model.mass), rel=0.01)


def test_a_robot_alone_carries_nothing_and_that_has_no_place():
    found = run(loaded(0.0, np.zeros(3)))
    assert abs(found.mass) < 0.02 and np.isnan(found.p_base).all()


def test_it_waits_until_the_robot_has_stood_still():
    effort = loaded(1.0, np.zeros(3))
    assert run(effort, ticks=90) is None
    assert run(effort, now=motion(activity="walking")) is None
    assert run(effort, now=motion(planted=np.array([True] * 5 + [False]))) is None
    moved = limb_commands(LowerCommand(GEOMETRY.stand_lower + 0.001, None), GEOMETRY.up_upper, np.ones(6, dtype=bool))
    assert run(effort, now=motion(limbs=moved)) is None


@pytest.mark.parametrize("effort, orientation", [(None, TILTED), (np.full(36, np.nan), TILTED), (np.zeros(36), None)])
def test_what_is_not_measured_gives_no_estimate(effort, orientation):
    assert run(effort, orientation=orientation) is None
