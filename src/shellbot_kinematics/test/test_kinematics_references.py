# SPDX-License-Identifier: MIT
"""The contract with the action manager: LimbReferences, its messages, and what the server makes of them without ROS."""

from __future__ import annotations

import math

import numpy as np
import pytest
import rospy

from robot_mechanics.errors import InvalidConfigError, InvalidReferenceError, UnknownNameError
from robot_mechanics.motion.rotations import quaternion_from_rotation, rotation_from_quaternion, rotation_from_rpy
from shellbot_kinematics import (
    LIMBS,
    Frame,
    Kind,
    LimbReference,
    LimbReferences,
    PackedReferences,
    ShellbotSolver,
    SolverConfig,
    __all__,
    limb_index,
    pack_references,
)
from shellbot_kinematics import limb_references_conversions as conversions
from shellbot_kinematics.node_tick_conversions import answer_references
from shellbot_kinematics.server_core import ServerCore
from shellbot_kinematics.shellbot_limbs import FAN, LIMB_JOINTS, frame_links, frame_of

JOINT_LIMB = {"kind": Kind.JOINTS, "joint_position": (0.1, 0.2, 0.3)}


def random_references(rng, stamp=0.29):
    """Every limb by its joints, by one of its tips, held, or missing; with and without effort."""
    limbs = []
    for limb in rng.permutation(list(LIMB_JOINTS))[: rng.integers(1, 14)]:
        count = len(LIMB_JOINTS[limb])
        effort = tuple(rng.normal(size=count)) if rng.random() < 0.3 else ()
        kind = Kind(int(rng.integers(0 if limb != FAN else 1, 3)))
        if kind == Kind.POSE:
            quaternion = rng.normal(size=4)
            quaternion *= np.nan if rng.random() < 0.3 else 1.0 / np.linalg.norm(quaternion)
            position = np.where(rng.random(3) < 0.1, np.nan, rng.uniform(-1.5, 1.5, 3))
            frame = str(rng.choice(list(frame_links(limb).values())))
            made = LimbReference(
                limb, kind, frame, tuple(position), tuple(rng.normal(size=3)), tuple(quaternion),
                tuple(rng.normal(size=3)), effort=effort, load_share=float(rng.random()),
            )  # fmt: skip
        else:
            velocity = tuple(rng.normal(size=count)) if rng.random() < 0.7 else ()
            made = LimbReference(limb, kind, "", joint_position=tuple(rng.normal(size=count)), joint_velocity=velocity)
            made = made._replace(effort=effort) if kind == Kind.JOINTS else LimbReference(limb, kind)
        limbs.append(made)
    return LimbReferences(stamp, tuple(limbs))


def test_messages_carry_everything(rng):
    for _ in range(200):
        references = random_references(rng)
        message = conversions.references_to_message(references)
        assert [limb.limb for limb in message.limbs] == [limb.limb for limb in references.limbs]
        assert [limb.load_share for limb in message.limbs] == pytest.approx(
            [limb.load_share for limb in references.limbs], nan_ok=True
        )
        back, here = conversions.references_from_message(message), pack_references(references)
        np.testing.assert_array_equal(back.packed, here.packed)
        np.testing.assert_array_equal(back.effort, here.effort)


def test_limbs_go_where_the_solver_looks_for_them():
    turn = quaternion_from_rotation(rotation_from_rpy(0.1, 0.2, 0.3))
    references = pack_references(
        LimbReferences(
            1.5,
            (
                LimbReference(FAN, Kind.JOINTS, joint_position=(-0.3,), joint_velocity=(0.2,), effort=(0.6,)),
                LimbReference("lower_2", Kind.POSE, "lower_2_foot", (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), turn),
                LimbReference("lower_4", Kind.HOLD),
                LimbReference("upper_1", Kind.POSE, "upper_1_sphere_centre", orientation=turn, angular=(7.0, 8.0, 9.0)),
                LimbReference("upper_6", Kind.JOINTS, joint_position=(0.5, 0.6), effort=(0.1, 0.2)),
            ),
        )
    )
    assert (references.stamp, references.fan_position, references.fan_velocity) == (1.5, -0.3, 0.2)
    frames = [Frame.HOLD] * 12
    frames[1], frames[6], frames[11] = Frame.FOOT, Frame.SPHERE_CENTRE, Frame.JOINT
    assert references.frame.tolist() == frames
    assert references.p_base[1].tolist() == [1.0, 2.0, 3.0] and references.v_base[1].tolist() == [4.0, 5.0, 6.0]
    assert np.isnan(references.rpy_base[1]).all(), "the orientation of a foot is free"
    assert references.rpy_base[6] == pytest.approx([0.1, 0.2, 0.3]) and references.w_base[6].tolist() == [7.0, 8.0, 9.0]
    assert references.joint_position[11, :2].tolist() == [0.5, 0.6]
    assert references.joint_velocity[11, :2].tolist() == [0.0, 0.0], "no velocity means zero"
    effort = np.zeros(36)
    effort[0:24:4], effort[34:] = 0.1, (0.1, 0.2)
    assert references.effort == pytest.approx(effort)


def test_effort_is_handed_on_with_the_targets(urdf, stand):
    core = ServerCore(ShellbotSolver(urdf))
    core.update_measured(core.solver.names, stand)
    reference = LimbReference("lower_1", Kind.JOINTS, joint_position=stand[1:4].tolist(), effort=[0.5, 0.0, -0.5])
    for limbs in ((reference,), (reference._replace(effort=()),)):
        message = conversions.references_to_message(LimbReferences(0.0, limbs))
        sent = answer_references(core, message).message
        assert list(sent.effort) == ([0.0, 0.5, 0.0, -0.5] + [0.0] * 32 if limbs[0].effort else [])


def test_stamps_are_kept_to_the_nanosecond():
    for milliseconds in range(0, 3000):  # 1.001 s times 1e9 is a little less than a whole number
        assert conversions.stamp_from_seconds(milliseconds / 1000).to_nsec() == milliseconds * 1_000_000
    references = LimbReferences(0.29)
    assert conversions.references_to_message(references).header.stamp.to_nsec() == 290_000_000
    exact = rospy.Time(1_700_000_000, 123_456_789)
    assert conversions.references_to_message(references, exact).header.stamp == exact


def limb(**fields):
    foot = {"limb": "lower_1", "kind": Kind.POSE, "frame": "lower_1_foot", "orientation": (0.0, 0.0, 0.0, 1.0)}
    return LimbReference(**{**foot, **fields})


@pytest.mark.parametrize(
    "limbs, kind, words",
    [
        ([limb(limb="tail")], UnknownNameError, "lower_1, lower_2.*upper_6, fan"),
        ([limb(limb="tail", **JOINT_LIMB)], UnknownNameError, "unknown limb 'tail'"),
        ([limb(limb="tail", kind=Kind.HOLD)], UnknownNameError, "unknown limb 'tail'"),
        ([limb(), limb()], InvalidReferenceError, "lower_1 comes twice"),
        ([limb(kind=Kind.HOLD), limb(**JOINT_LIMB)], InvalidReferenceError, "lower_1 comes twice"),
        ([limb(kind=3)], InvalidReferenceError, r"lower_1 has kind 3; expected one of 0 \(POSE\), 1 \(JOINTS\)"),
        ([limb(limb="upper_1")], InvalidReferenceError, "upper_1 has no tip frame 'lower_1_foot'; use upper_1_sphere"),
        ([limb(frame="")], InvalidReferenceError, "no tip frame ''; use lower_1_foot or lower_1_sphere_centre"),
        ([limb(limb=FAN)], InvalidReferenceError, "the fan has no tip"),
        ([limb(kind=Kind.JOINTS, joint_position=(1.0,))], InvalidReferenceError, r"expected 3 \(coxa, femur, tibia\)"),
        ([limb(**{**JOINT_LIMB, "limb": "upper_2"})], InvalidReferenceError, "shoulder, shell"),
        ([limb(**JOINT_LIMB, joint_velocity=(1.0,))], InvalidReferenceError, "none for zero"),
        ([limb(effort=(1.0,))], InvalidReferenceError, "1 joint efforts; expected 3"),
        ([limb(frame="lower_1_sphere_centre", orientation=(0.0,) * 4)], InvalidReferenceError, "length 0"),
    ],
)
def test_bad_references_are_refused(limbs, kind, words):
    references = LimbReferences(0.0, tuple(limbs))
    for read in (pack_references, lambda r: conversions.references_from_message(conversions.references_to_message(r))):
        with pytest.raises(kind, match=words) as caught:
            read(references)
        assert isinstance(caught.value, ValueError)


def test_references_without_a_finite_stamp_are_refused():
    with pytest.raises(InvalidReferenceError, match="stamp is nan"):
        pack_references(LimbReferences(math.nan))


def test_references_cannot_be_changed():
    p = np.zeros((12, 3))
    references = PackedReferences(0.0, 0.0, 0.0, p_base=p)
    p[0, 0] = 1.0
    assert references.p_base[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        references.p_base[0, 0] = 1.0
    with pytest.raises(InvalidReferenceError, match=r"\(6, 3\), not \(12, 3\)"):
        PackedReferences.feet(0.0, p)


def test_limb_order():
    assert [limb_index(name) for name in LIMBS] == list(range(12)) and LIMBS[5:7] == ("lower_6", "upper_1")
    with pytest.raises(UnknownNameError, match="upper_6"):
        limb_index("lower_0")
    assert frame_of("lower_3", "lower_3_sphere_centre") == Frame.SPHERE_CENTRE
    with pytest.raises(UnknownNameError, match="no tip frame 'upper_2_foot'; use upper_2_sphere_centre"):
        frame_of("upper_2", "upper_2_foot")


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
        core.tick(PackedReferences(0.0, 0.0, 0.0))
    assert core.summary().text == "waiting for joint_states" and len(core.missing) == 36
    assert core.update_measured(core.solver.names, stand) == ""
    np.testing.assert_array_equal(core.tick(PackedReferences(0.01, 0.0, 0.0)).position[1:4], stand[1:4])
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
    core.tick(PackedReferences.feet(100.0, feet + [0, 0, 0.03]))
    lifted = core.hold(100.01)
    assert np.abs(lifted.position - stand).max() > 0.1
    np.testing.assert_array_equal(core.hold(5.0).position, stand)  # from the measured joints again
    summary = core.summary()
    assert dict(summary.values)["resets"] == "1" and dict(summary.values)["refused"] == "2" and summary.level == 2


def test_core_answers_a_late_message_with_the_last_targets(core, stand):
    """Up to 50 ms back is no reset (docs/architecture.md, "Time"): nothing moves, the tick is still answered."""
    core.update_measured(core.solver.names, stand)
    feet = core.solver.fk_feet(stand)
    core.tick(PackedReferences.feet(100.0, feet))
    lifted = core.tick(PackedReferences.feet(100.04, feet + [0, 0, 0.03]))
    late = core.tick(PackedReferences.feet(99.995, feet))
    np.testing.assert_array_equal(late.position, lifted.position)
    assert late.stamp == 99.995 and not late.velocity.any()
    after = core.tick(PackedReferences.feet(100.05, feet + [0, 0, 0.03]))
    np.testing.assert_allclose(after.position, lifted.position, atol=1e-12)
    values = dict(core.summary().values)
    assert values["resets"] == "0" and values["late"] == "1"
    core.tick(PackedReferences.feet(99.9, feet))
    assert dict(core.summary().values)["resets"] == "1"


def test_core_names_the_troubled_limb(core, stand):
    core.update_measured(core.solver.names, stand)
    feet = core.solver.fk_feet(stand)
    feet[4, 2] = -1.0
    core.tick(PackedReferences.feet(0.0, feet))
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
