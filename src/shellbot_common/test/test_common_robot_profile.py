# SPDX-License-Identifier: MIT
"""The robot profile: what a file may say, variants, poses, exclusions, and what each refusal says."""

from __future__ import annotations

import copy
import math

import pytest
import yaml

from shellbot_common import ProfileError, RobotProfile

CRAB = {
    "name": "crab",
    "base": {"kind": "free", "spawn_pose": "rest"},
    "joints": {"left_hip": "hip", "left_claw": "claw", "right_hip": "hip", "right_claw": "claw", "tail": "tail"},
    "classes": {"hip": {"stiffness": 20, "armature": 0.01}, "claw": {"stiffness": 5}, "tail": {"stiffness": 1}},
    "controller": "crab_controller",
    "gain_limits": {"p": 100, "i": 50, "d": 2},
    "couplings": [{"leader": "left_claw", "followers": ["right_claw"], "ratio": -1}],
    "limbs": {
        "left": {"base": "body", "joints": ["left_hip", "left_claw"], "tips": ["left_tip"]},
        "right": {"base": "body", "joints": ["right_hip", "right_claw"], "tips": ["right_tip"]},
    },
    "contacts": {
        "left_tip": {"kind": "point", "radius": 0.02},
        "right_tip": {"kind": "point", "radius": 0.02},
        "body": {"kind": "body", "radius": 0.2},
    },
    "imu": "imu_link",
    "collision_exclusions": [["{k}_hip_link", "{k}_claw_link"], ["body", "*_hip_link"]],
    "poses": {"rest": {"hip_deg": 30, "claw_deg": 0, "tail_deg": 0, "right_hip_deg": -30, "body_height_m": 0.1}},
    "variants": {"whole": {}, "lefty": {"without": ["right"]}},
}


def crab(**changes):
    return RobotProfile.from_mapping({**copy.deepcopy(CRAB), **changes})


def test_order_classes_and_motors():
    profile = crab()
    assert profile.joint_names == ("left_hip", "left_claw", "right_hip", "right_claw", "tail")
    assert profile.motor_joints == ("left_hip", "left_claw", "right_hip", "tail")
    assert profile.joint_class("right_claw") == "claw" and profile.classes["claw"].armature == 0.0
    with pytest.raises(ProfileError, match="joint 'arm' does not exist; crab has left_hip, left_claw"):
        profile.joint_class("arm")


def test_a_joint_of_its_own_comes_before_its_class_in_a_pose():
    pose = crab().pose("rest")
    assert list(pose) == list(CRAB["joints"])
    assert (pose["left_hip"], pose["right_hip"]) == (math.radians(30), math.radians(-30))
    with pytest.raises(ProfileError, match="pose 'jump' does not exist; choose one of rest"):
        crab().pose("jump")


def test_a_variant_lacks_limbs_with_joints_couplings_contacts_and_angles():
    lefty = crab().of_variant("lefty")
    assert lefty.joint_names == ("left_hip", "left_claw", "tail") == lefty.motor_joints
    assert (list(lefty.limbs), list(lefty.contacts), lefty.couplings) == (["left"], ["left_tip", "body"], ())
    assert (lefty.variant, "right_hip_deg" in lefty.poses["rest"]) == ("lefty", False)
    assert crab().of_variant("whole").joints == crab().joints
    with pytest.raises(ProfileError, match="variant 'righty' does not exist; choose one of whole, lefty"):
        crab().of_variant("righty")


def test_patterns_of_links_that_do_not_collide():
    links = ("body", "left_hip_link", "right_hip_link", "left_claw_link", "right_claw_link")
    own = {frozenset((f"{k}_hip_link", f"{k}_claw_link")) for k in ("left", "right")}
    with_body = {frozenset(("body", f"{k}_hip_link")) for k in ("left", "right")}
    assert crab().excluded_pairs(links) == own | with_body
    across = crab(collision_exclusions=[["{k}_hip_link", "{j}_claw_link"]]).excluded_pairs(links)
    assert len(across) == 4
    with pytest.raises(ProfileError, match=r"\['body', '\*_knee_link'\] fits no two links; links are body, left"):
        crab(collision_exclusions=[["body", "*_knee_link"]]).excluded_pairs(links)
    assert len(crab().of_variant("lefty").excluded_pairs(("body", "left_hip_link"))) == 1


def test_text_on_the_wire_is_the_same_profile_in_the_same_order():
    profile = crab().of_variant("lefty")
    again = RobotProfile.from_text(profile.to_text())
    assert again == profile and again.joint_names == profile.joint_names
    for text, says in (
        ("", "robot_profile is '', no profile of a robot; load the description's launch file"),
        ("[", "robot_profile is not valid YAML"),
        ("name: crab\nname: lobster", "robot_profile is not valid YAML in line 2: key 'name' is given twice"),
        ("crab", "robot_profile holds a str; expected a mapping"),
        ("name: " + 300 * "[" + 300 * "]", "robot_profile has 300 nested brackets; give at most 200"),
        ("name: crab", "robot_profile: base, joints, classes, controller, gain_limits, poses are missing"),
    ):
        with pytest.raises(ProfileError, match=says):
            RobotProfile.from_text(text)


def test_a_key_may_be_in_a_file_beside_the_profile(tmp_path):
    values = {**CRAB, "poses": "poses.yaml"}
    path = tmp_path / "profile.yaml"
    path.write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")
    with pytest.raises(ProfileError, match="cannot read .*poses.yaml"):
        RobotProfile.load(path)
    (tmp_path / "poses.yaml").write_text("pose: {}\n", encoding="utf-8")
    with pytest.raises(ProfileError, match="poses.yaml: poses is missing; profile.yaml takes it from there"):
        RobotProfile.load(path)
    (tmp_path / "poses.yaml").write_text(yaml.safe_dump({"poses": CRAB["poses"]}), encoding="utf-8")
    assert RobotProfile.load(path) == crab()
    assert RobotProfile.load(path, "lefty") == crab().of_variant("lefty")


@pytest.mark.parametrize(
    "key, value, says",
    [
        ("base", {"kind": "swimming", "spawn_pose": "rest"}, "base.kind is 'swimming'; .*choose from free, fixed"),
        ("base", {"kind": "free", "spawn_pose": "jump"}, "base.spawn_pose is 'jump'; choose from poses: rest"),
        ("joints", {}, "joints is empty; give each driven joint"),
        ("sits_from_deg", {"nose": [-10, 10]}, "sits_from_deg names 'nose'; choose from classes: hip, claw, tail"),
        ("sits_from_deg", {"hip": [10, -10]}, "sits_from_deg.hip is 10 to -10; give the least angle"),
        ("joints", {**CRAB["joints"], "nose": "nose"}, "joints.nose is 'nose'; choose from classes: hip, claw, tail"),
        ("classes", {**CRAB["classes"], "hip": {"stiffness": -1}}, "classes.hip.stiffness is -1; give a number from 0"),
        ("couplings", [{"leader": "nose", "followers": []}], r"couplings\[0\] names 'nose'; it is none of joints"),
        (
            "couplings",
            [{"leader": "left_hip", "followers": ["tail"]}, {"leader": "tail", "followers": ["left_claw"]}],
            r"couplings\[1\].leader tail follows another joint",
        ),
        (
            "couplings",
            [{"leader": "left_hip", "followers": ["tail"]}, {"leader": "left_claw", "followers": ["tail"]}],
            "couplings: tail follows two joints",
        ),
        ("limbs", {**CRAB["limbs"], "nose": {"base": "body", "joints": ["nose"]}}, "limbs.nose.joints names 'nose'"),
        ("limbs", {**CRAB["limbs"], "nose": {"base": "body", "joints": ["left_hip"]}}, "left_hip, which belongs"),
        ("contacts", {"left_tip": {"kind": "paw", "radius": 1}}, "contacts.left_tip.kind is 'paw'"),
        ("variants", {"lefty": {"without": ["nose"]}}, "variants.lefty.without names 'nose'; choose from limbs: left"),
        ("poses", {"rest": {**CRAB["poses"]["rest"], "hip": 1}}, "poses.rest.hip is of no joint and no class"),
        (
            "poses",
            {"rest": {**CRAB["poses"]["rest"], "claw_deg": 5}},
            "poses.rest has right_claw at 5.00 deg; the motor of left_claw turns it to -5.00: give it this angle",
        ),
        ("poses", {"rest": {"hip_deg": 1, "tail_deg": 0}}, "lacks left_claw; give left_claw_deg or claw_deg"),
        ("poses", {"rest": {**CRAB["poses"]["rest"], "hip_deg": "up"}}, "poses.rest.hip_deg is 'up'; give a"),
        ("collision_exclusions", ["body"], r"collision_exclusions\[0\] is 'body'; give a list of 2 entries"),
        ("contact", {}, r"contact does not exist; is contacts meant"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named(key, value, says):
    with pytest.raises(ProfileError, match=says):
        crab(**{key: value})


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"base": {**CRAB["base"], "link": "hnd"}}, "base.link"),
        ({"imu": "hnd"}, "imu"),
        ({"limbs": {"left": {**CRAB["limbs"]["left"], "base": "hnd"}}, "variants": {}}, "limbs.left.base"),
        ({"limbs": {"left": {**CRAB["limbs"]["left"], "tips": ["hnd"]}}, "variants": {}}, "limbs.left.tips"),
        ({"contacts": {"hnd": CRAB["contacts"]["body"]}}, "contacts"),
        (
            {"contacts": {"body": {**CRAB["contacts"]["body"], "load_cells": {"frames": ["hnd"], "limit": 9}}}},
            "contacts.body.load_cells.frames",
        ),
        ({"range_sensors": {"hnd": {"kind": "infrared", "field_of_view_deg": 5, "limits": [0, 1]}}}, "range_sensors"),
        ({"bumpers": {"hnd": {"radius": 0.1}}}, "bumpers"),
        ({"cameras": {"hnd": {"optical_frame": "body", "field_of_view_deg": 90}}}, "cameras"),
        ({"cameras": {"body": {"optical_frame": "hnd", "field_of_view_deg": 90}}}, "cameras.body.optical_frame"),
    ],
)
def test_a_link_that_the_robot_lacks_is_named_with_its_key(changes, key):
    links = ("base_link", "body", "left_tip", "right_tip", "imu_link")
    crab().check_links(links)
    with pytest.raises(ProfileError) as caught:
        crab(**changes).check_links(links)
    assert str(caught.value) == f"{key} names 'hnd'; the robot description has the links {', '.join(links)}"
