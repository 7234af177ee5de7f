# SPDX-License-Identifier: MIT
"""What a chain changes of robot and world: torque of the servos, latency of commands, engine, ground."""

from __future__ import annotations

import numpy as np
import pytest

from robot_evaluation.errors import DefinitionError
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig


def test_the_torque_scale_limits_the_effort_of_every_servo():
    chain = Chain(seed=None, torque_scale=0.6, record=False)
    chain.robot.apply(chain.state.q + 1.0)
    chain.robot.advance()
    effort, limit = np.abs(chain.simulator.state().effort), 0.6 * chain.limits.effort
    assert np.all(effort <= limit * (1.0 + 1e-9))
    assert np.any(effort > 0.99 * limit), "the limit is reached"


@pytest.mark.parametrize("ticks", [0, 1, 6])
def test_a_command_comes_late_by_exactly_the_latency(ticks):
    chain = Chain(seed=None, command_latency=ticks, record=False)
    for _ in range(2):  # a restart forgets what is under way
        goal = 0.9 * chain.state.q  # inside every range
        for k in range(ticks + 1):
            assert not np.allclose(chain.robot.applied, goal), f"after {k} of {ticks} ticks"
            chain.robot.apply(goal)
        assert chain.robot.applied == pytest.approx(goal)
        chain.reset()


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [("torque_scale", 0.0, "from 0.1 to 2"), ("command_latency", 21, "from 0 to 20 ticks")],
)
def test_refuses_what_no_servo_does(field, value, words):
    with pytest.raises(DefinitionError, match=f"{field} is {value:g}.* {words}"):
        Chain(**{field: value})


def test_engine_ground_and_servos_reach_the_physics():
    physics = ChainConfig(engine="bullet", terrain="ice", servos={"servo_margin_deg": 0.29}).physics()
    assert physics.engine == "bullet" and physics.friction == 0.15 and physics.servo_margin_deg == 0.29
    rubble = [ChainConfig(terrain="rubble", seed=seed).physics().boxes for seed in (3, 4, 3)]
    assert rubble[0] == rubble[2] != rubble[1]
    for field, value, words in (
        ("engine", "ode", "mujoco, bullet"),
        ("terrain", "mud", "choose one of flat, slope"),
        ("servos", {"servo_margin": 0.3}, "servo_margin does not exist; is servo_margin_deg meant"),
    ):
        with pytest.raises(DefinitionError, match=words):
            ChainConfig(**{field: value}).physics()


def test_a_friction_of_the_design_which_would_not_act_is_refused():
    with pytest.raises(DefinitionError, match="^design has contact.friction, which is Gazebo's; give friction"):
        Chain(design={"contact.friction": 0.5})


def test_the_design_reaches_the_physics():
    design = {"fan_drive.reduction": 1.0, "servos.compliance_slope_steps": 32}
    chain, nominal = Chain(seed=None, design=design, record=False), Chain(seed=None, record=False)
    fan = chain.joint_names.index("lower_2_fan")
    assert chain.limits.effort[fan] == pytest.approx(0.5 * nominal.limits.effort[fan])
    stiffness = [each.simulator.gains("lower_2_fan").p for each in (chain, nominal)]
    assert stiffness[0] == pytest.approx(0.25 * 0.5 * stiffness[1])
    stiffness = [each.simulator.gains("lower_2_femur").p for each in (chain, nominal)]
    assert stiffness[0] == pytest.approx(0.5 * stiffness[1])


def test_the_design_reaches_the_action_manager():
    design = {"geometry.lower.sphere_x_mm": 13.08, "mass.chassis_kg": 1.0}
    changed, nominal = (Chain(seed=None, design=d, record=False) for d in (design, {}))
    q = nominal.state.q
    centres = [chain.manager.geometry.gores.poses(q)[0, :3, 3] for chain in (changed, nominal)]
    assert np.linalg.norm(centres[0] - centres[1]) == pytest.approx(0.010, abs=1e-3)
    masses = [chain.manager.geometry.statics._mass for chain in (changed, nominal)]
    assert masses == pytest.approx([chain.simulator.mass for chain in (changed, nominal)])
    assert masses[0] != pytest.approx(masses[1], abs=1e-3)


def test_a_design_that_does_not_exist_is_refused():
    with pytest.raises(DefinitionError, match="fan_drive.gear is not a key of the base file"):
        Chain(design={"fan_drive.gear": 2.0})
