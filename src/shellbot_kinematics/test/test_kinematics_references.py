# SPDX-License-Identifier: MIT
"""The contract with the action manager: LimbReferences, its messages, and what the server makes of them without ROS."""

from __future__ import annotations

import math

import numpy as np
import pytest
import rospy

from shellbot_kinematics import (
    LIMBS,
    Frame,
    InvalidConfigError,
    InvalidReferenceError,
    LimbReferences,
    ShellbotSolver,
    SolverConfig,
    UnknownNameError,
    __all__,
    limb_index,
)
from shellbot_kinematics import limb_references_conversions as conversions
from shellbot_kinematics.rotations import quaternion_from_rotation, rotation_from_quaternion, rotation_from_rpy
from shellbot_kinematics.server_core import ServerCore
from shellbot_msgs.msg import LimbReference


def random_references(rng, stamp=0.29):
    frame = rng.integers(0, 4, 12)
    frame[6:][frame[6:] == 0] = 1
    arrays = dict.fromkeys(("p_base", "v_base", "rpy_base", "w_base", "joint_position", "joint_velocity"))
    arrays = {name: rng.uniform(-1.5, 1.5, (12, 3)) for name in arrays}
    arrays["p_base"][1, 0] = np.nan
    arrays["rpy_base"][7] = np.nan
    joint = frame == Frame.JOINT
    for name in ("p_base", "v_base"):  # what a message does not carry for a limb is free
        arrays[name][joint | (frame == Frame.HOLD)] = np.nan
    for name in ("rpy_base", "w_base"):
        arrays[name][frame != Frame.SPHERE_CENTRE] = np.nan
    for name in ("joint_position", "joint_velocity"):
        arrays[name][~joint] = np.nan
        arrays[name][6:, 2] = np.nan
    return LimbReferences(stamp, -0.3, 0.2, frame, **arrays)


def test_messages_carry_everything(rng):
    for _ in range(50):
        references = random_references(rng)
        message = conversions.references_to_message(references)
        assert len(message.limbs) == np.count_nonzero(references.frame != Frame.HOLD)
        back = conversions.references_from_message(message)
        for name in ("stamp", "fan_position", "fan_velocity"):
            assert getattr(back, name) == getattr(references, name)
        for name in ("frame", "p_base", "v_base", "w_base", "joint_position", "joint_velocity"):
            np.testing.assert_array_equal(getattr(back, name), getattr(references, name), err_msg=name)
        np.testing.assert_allclose(back.rpy_base, references.rpy_base, atol=1e-12)


def test_stamps_are_kept_to_the_nanosecond():
    for milliseconds in range(0, 3000):  # 1.001 s times 1e9 is a little less than a whole number
        assert conversions.stamp_from_seconds(milliseconds / 1000).to_nsec() == milliseconds * 1_000_000
    references = LimbReferences(0.29, 0.0, 0.0)
    assert conversions.references_to_message(references).header.stamp.to_nsec() == 290_000_000
    exact = rospy.Time(1_700_000_000, 123_456_789)
    assert conversions.references_to_message(references, exact).header.stamp == exact


def limb(**fields):
    made = LimbReference(limb="lower_1", frame=0)
    made.pose.orientation.w = 1.0
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def zero_quaternion():
    made = limb(frame=1)
    made.pose.orientation.w = 0.0
    return made


@pytest.mark.parametrize(
    "limbs, kind, words",
    [
        ([limb(limb="tail")], UnknownNameError, "lower_1, lower_2"),
        ([limb(), limb()], InvalidReferenceError, "twice"),
        ([limb(frame=3)], InvalidReferenceError, "leave a limb out"),
        ([limb(limb="upper_1")], InvalidReferenceError, "no foot"),
        ([limb(frame=2, joint_position=[1.0])], InvalidReferenceError, r"expected 3 \(coxa, femur, tibia\)"),
        ([limb(limb="upper_2", frame=2, joint_position=[1.0] * 3)], InvalidReferenceError, "shoulder, shell"),
        ([limb(frame=2, joint_position=[1.0] * 3, joint_velocity=[1.0])], InvalidReferenceError, "none for zero"),
        ([zero_quaternion()], InvalidReferenceError, "length 0"),
    ],
)
def test_bad_messages_are_refused(limbs, kind, words):
    message = conversions.references_to_message(LimbReferences(0.0, 0.0, 0.0))
    message.limbs = limbs
    with pytest.raises(kind, match=words) as caught:
        conversions.references_from_message(message)
    assert isinstance(caught.value, ValueError)


def test_empty_velocity_means_zero_and_partly_free_orientation_is_refused():
    message = conversions.references_to_message(LimbReferences(0.0, 0.0, 0.0))
    message.limbs = [limb(frame=2, joint_position=[0.1, 0.2, 0.3])]
    np.testing.assert_array_equal(conversions.references_from_message(message).joint_velocity[0], 0.0)
    rpy = np.full((12, 3), np.nan)
    rpy[6, 1] = 0.3
    frame = [Frame.HOLD] * 6 + [Frame.SPHERE_CENTRE] + [Frame.HOLD] * 5
    with pytest.raises(InvalidReferenceError, match="upper_1"):
        conversions.references_to_message(LimbReferences(0.0, 0.0, 0.0, frame=frame, rpy_base=rpy))


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"frame": np.zeros(11)}, r"\(12,\)"),
        ({"frame": np.full(12, 9)}, "lower_1 is 9"),
        ({"frame": np.zeros(12)}, "upper_1 has no foot"),
        ({"p_base": np.zeros((6, 3))}, r"\(12, 3\)"),
        ({"w_base": "fast"}, "w_base"),
        ({"stamp": math.nan}, "stamp"),
        ({"fan_position": "left"}, "fan_position"),
    ],
)
def test_malformed_references_are_refused(changes, words):
    with pytest.raises(InvalidReferenceError, match=words):
        LimbReferences(**{"stamp": 0.0, "fan_position": 0.0, "fan_velocity": 0.0, **changes})


def test_references_are_copies_that_cannot_be_changed():
    p = np.zeros((12, 3))
    references = LimbReferences(0.0, 0.0, 0.0, p_base=p)
    p[0, 0] = 1.0
    assert references.p_base[0, 0] == 0.0
    with pytest.raises(ValueError):
        references.p_base[0, 0] = 1.0


def test_limb_order():
    assert [limb_index(name) for name in LIMBS] == list(range(12)) and LIMBS[5:7] == ("lower_6", "upper_1")
    with pytest.raises(UnknownNameError, match="upper_6"):
        limb_index("lower_0")


def test_exports_exist():
    import shellbot_kinematics

    assert sorted(__all__) == sorted(set(__all__))
    assert all(hasattr(shellbot_kinematics, name) for name in __all__)


def test_rotations_agree(rng):
    for angles in rng.uniform(-np.pi, np.pi, (200, 3)):
        R = rotation_from_rpy(*angles)
        np.testing.assert_allclose(rotation_from_quaternion(*quaternion_from_rotation(R)), R, atol=1e-12)
    for axis in np.eye(3):  # half turns, where the scalar part vanishes
        R = 2 * np.outer(axis, axis) - np.eye(3)
        np.testing.assert_allclose(rotation_from_quaternion(*quaternion_from_rotation(R)), R, atol=1e-12)


# ---------------------------------------------------------------------------------------------- the server's core
@pytest.fixture
def core(urdf):
    return ServerCore(ShellbotSolver(urdf, SolverConfig(blend_time=0.0)))


def test_core_waits_for_joint_states(core, stand):
    with pytest.raises(InvalidReferenceError, match="waiting for joint_states"):
        core.tick(LimbReferences(0.0, 0.0, 0.0))
    assert core.summary().text == "waiting for joint_states" and len(core.missing) == 36
    assert core.update_measured(core.solver.names, stand) == ""
    np.testing.assert_array_equal(core.tick(LimbReferences(0.01, 0.0, 0.0)).position[1:4], stand[1:4])
    assert core.summary().level == 0


def test_core_takes_what_it_knows_from_joint_states(core, stand):
    names = ["camera", *reversed(core.solver.names)]
    assert core.update_measured(names, [9.0, *reversed(stand)]) == ""
    np.testing.assert_array_equal(core.measured, stand)
    assert "35 positions" in core.update_measured(names[:36], [0.0] * 35)
    assert "NaN" in core.update_measured(["lower_1_coxa", "lower_1_fan"], [math.nan, -0.5])
    assert core.measured[1] == stand[1] and core.measured[0] == -0.5
    assert "another robot" in core.update_measured(["wheel"], [0.0])


def test_core_resets_when_the_clock_goes_back(core, stand):
    core.update_measured(core.solver.names, stand)
    feet = core.solver.fk_feet(stand)
    core.tick(LimbReferences.feet(100.0, feet + [0, 0, 0.03]))
    lifted = core.hold(100.01)
    assert np.abs(lifted.position - stand).max() > 0.1
    np.testing.assert_array_equal(core.hold(5.0).position, stand)  # from the measured joints again
    summary = core.summary()
    assert dict(summary.values)["resets"] == "1" and dict(summary.values)["refused"] == "2" and summary.level == 2


def test_core_answers_a_late_message_with_the_last_targets(core, stand):
    """Up to 50 ms back is no reset (docs/architecture.md, "Time"): nothing moves, the tick is still answered."""
    core.update_measured(core.solver.names, stand)
    feet = core.solver.fk_feet(stand)
    core.tick(LimbReferences.feet(100.0, feet))
    lifted = core.tick(LimbReferences.feet(100.04, feet + [0, 0, 0.03]))
    late = core.tick(LimbReferences.feet(99.995, feet))
    np.testing.assert_array_equal(late.position, lifted.position)
    assert late.stamp == 99.995 and not late.velocity.any()
    after = core.tick(LimbReferences.feet(100.05, feet + [0, 0, 0.03]))
    np.testing.assert_allclose(after.position, lifted.position, atol=1e-12)
    values = dict(core.summary().values)
    assert values["resets"] == "0" and values["late"] == "1"
    core.tick(LimbReferences.feet(99.9, feet))
    assert dict(core.summary().values)["resets"] == "1"


def test_core_names_the_troubled_limb(core, stand):
    core.update_measured(core.solver.names, stand)
    feet = core.solver.fk_feet(stand)
    feet[4, 2] = -1.0
    core.tick(LimbReferences.feet(0.0, feet))
    summary = core.summary()
    assert summary.level == 1 and summary.text.startswith("lower_5 stops") and "mm" in summary.text
    assert core.summary().text == "waiting for limb_references"


def test_parameters_of_the_node():
    assert SolverConfig.from_mapping({"solver": "clik", "clik_gain": 20}).clik_gain == (20.0,) * 5
    with pytest.raises(InvalidConfigError, match="gain does not exist; is clik_gain meant"):
        SolverConfig.from_mapping({"gain": 20})
    for values in ({"clik_gain": "fast"}, {"solver": 3}, {"tick": True}):
        with pytest.raises(InvalidConfigError, match="choose from|give a"):
            SolverConfig.from_mapping(values)
