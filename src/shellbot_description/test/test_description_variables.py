# SPDX-License-Identifier: MIT
"""The variables file: values, conversion, derived quantities, and refusal of wrong files."""

from __future__ import annotations

import copy
import dataclasses
import math
import xml.etree.ElementTree as ElementTree

import pytest
import yaml

from shellbot_common import RobotProfile
from shellbot_description import (
    JOINT_CLASSES,
    VARIANTS,
    DescriptionError,
    colliding_links,
    complete_profile,
    driven_joint_names,
    expand,
    joint_class,
    load_variables,
    motor_joint_names,
    package_path,
    robot_profile,
)
from shellbot_description.loading import load_raw, variables_from_raw


@pytest.fixture(scope="module")
def variables():
    """Return the adopted set."""
    return load_variables()


@pytest.fixture()
def raw():
    """Return a copy of the raw values, to be spoilt."""
    return copy.deepcopy(load_raw())


def test_lengths_are_si(variables):
    """The Denavit-Hartenberg lengths of the study in metres."""
    low, up = variables.lower, variables.upper
    assert (low.base_radius, low.base_height, low.fan_length) == (0.066, -0.029, 0.12)
    assert (low.coxa_length, low.coxa_drop, low.femur_offset) == (0.038, -0.02425, 0.02425)
    assert (low.femur_length, low.tibia_length) == (0.066, 0.122)
    assert (up.base_radius, up.base_height, up.shoulder_length) == (0.064, 0.06455, 0.085)
    assert math.isclose(up.azimuth, math.radians(-12))


def test_masses(variables):
    """3.8 kg in all, 2.96 kg without the upper legs."""
    assert math.isclose(variables.mass.total(), 3.8, abs_tol=1e-12)
    assert math.isclose(variables.mass.total(with_upper_legs=False), 2.96, abs_tol=1e-12)
    assert math.isclose(variables.masses()["shell"] + variables.masses()["upper_gore"], 0.08, abs_tol=1e-12)


@pytest.mark.parametrize(
    "kind, effort, velocity, damping, stiffness",
    [("coxa", 1.5, 6.18, 0.2428, 18.5), ("shoulder", 1.5, 6.18, 0.2428, 18.5), ("tibia", 1.8, 10.16, 0.1772, 22.2)],
)
def test_servo_quantities(variables, kind, effort, velocity, damping, stiffness):
    """Torque, speed, torque-speed slope and stiffness by compliance slope of AX-12A and AX-18A."""
    assert variables.effort(kind) == effort
    assert math.isclose(variables.velocity(kind), velocity, rel_tol=2e-3)
    assert math.isclose(variables.damping(kind), damping, rel_tol=2e-3)
    assert math.isclose(variables.servo_stiffness(kind), stiffness, rel_tol=3e-3)
    assert variables.armature(kind) == 0.006


def test_six_fan_joints_together_are_one_geared_motor(variables):
    """The gear trades speed for torque; each joint has a sixth, stiffness and damping with the gear squared."""
    gear = variables.fan_drive.reduction
    assert gear == 2.0
    assert math.isclose(6 * variables.effort("fan"), gear * variables.effort("coxa"))
    assert math.isclose(variables.velocity("fan"), variables.velocity("coxa") / gear)
    for quantity in (variables.damping, variables.servo_stiffness, variables.armature):
        assert math.isclose(6 * quantity("fan"), gear**2 * quantity("coxa"))


def test_fan_servo_has_the_range_it_needs(variables, raw):
    """Reduction times fan range fits 300 deg: 252 at 2; 2.38 (rounded) is the most, 3 is refused."""
    limits = variables.limits("fan")
    travel = math.degrees(variables.fan_drive.reduction * (limits.upper - limits.lower))
    assert math.isclose(travel, 252.1, abs_tol=0.1)
    assert travel <= math.degrees(variables.servo_range)
    raw["fan_drive"]["reduction"] = 2.379  # 299.9 deg
    variables_from_raw(raw)
    raw["fan_drive"]["reduction"] = 3.0
    with pytest.raises(DescriptionError, match="joints.fan.*378.*300.*reduction"):
        variables_from_raw(raw)


def test_slope_of_the_factory_halves_the_stiffness(raw):
    """Compliance slope 32: 9.3 and 11.1 N·m/rad."""
    raw["servos"]["compliance_slope_steps"] = 32
    variables = variables_from_raw(raw)
    assert math.isclose(variables.servo_stiffness("coxa"), 9.3, rel_tol=5e-3)
    assert math.isclose(variables.servo_stiffness("femur"), 11.1, rel_tol=5e-3)


def test_older_set_loads_and_differs_only_where_it_says(variables):
    """The overrides file changes lengths; masses and servos stay."""
    older = load_variables(package_path() / "config" / "shellbot_older.yaml")
    assert (older.lower.base_height, older.lower.femur_length, older.lower.tibia_length) == (-0.03825, 0.07, 0.12475)
    assert (older.upper.base_radius, older.upper.base_height, older.upper.sphere_radius) == (0.08, 0.045, 0.124)
    assert older.mass == variables.mass
    assert older.lower.fan_length == variables.lower.fan_length


def test_the_fan_gear_is_a_parameter_of_urdf_and_profile():
    """Torque goes with the gear, stiffness and rotor inertia with its square; other joints stay."""
    report = {"fan_drive.reduction": 24 / 42}
    changed, adopted = load_variables(report), load_variables()
    assert changed.effort("fan") == pytest.approx(adopted.effort("fan") * 24 / 84)
    profile = robot_profile("simulation", report)
    assert profile.classes["fan"].stiffness == pytest.approx(robot_profile().classes["fan"].stiffness * (24 / 84) ** 2)
    assert profile.classes["fan"].armature == pytest.approx(changed.armature("fan"))
    assert profile.classes["femur"] == robot_profile().classes["femur"]
    limits = {
        joint.get("name"): float(joint.find("limit").get("effort"))
        for joint in ElementTree.fromstring(expand("simulation", variables=report)).findall("joint[limit]")
    }
    assert limits["lower_3_fan"] == pytest.approx(changed.effort("fan"))
    assert limits["lower_3_femur"] == adopted.effort("femur")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fan_drive.reductoin": 1.0}, "fan_drive.reductoin is not a key of the base file"),
        ({"fan_drive.reduction": 3.0}, "joints.fan: the servo would turn 378.2 deg, it has 300.0"),
        ({"fan_drive.reduction": 0.0}, "fan_drive.reduction is 0.0; give a number from 0.1 to 20"),
    ],
)
def test_wrong_changes_are_refused(changes, message):
    """The key, and what is allowed."""
    with pytest.raises(DescriptionError, match=message):
        load_variables(changes)


def test_frozen(variables):
    """Nobody changes a variable at run time."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        variables.lower.fan_length = 1.0


@pytest.mark.parametrize(
    "path, value, message",
    [
        (("geometry", "lower", "fan_length_mm"), math.nan, "geometry.lower.fan_length_mm is nan; give a number"),
        (("geometry", "lower", "fan_length_mm"), "120 mm", "is '120 mm'; give a number"),
        (("geometry", "lower", "fan_length_mm"), -3, "is -3; give a number from 1 to 500 mm"),
        (("geometry", "lower", "fan_length_mm"), True, "is True; give a number"),
        (("geometry", "upper"), None, "geometry.upper: this section is missing"),
        (("mass", "fan_kg"), 0.0, "mass.fan_kg is 0.0; give a number from 0.001 to 5 kg"),
        (("mass", "shell_bracket_kg"), 0.09, "shell_bracket_kg must be less"),
        (("mass", "chassis_kg"), 0.2, "chassis_kg 0.2 must be more than"),
        (("joints", "coxa", "servo"), "mx28", "joints.coxa.servo = 'mx28' does not exist; choose one of ax12a, ax18a"),
        (("joints", "coxa", "lower_rad"), 2.0, "lower_rad 2.0 must be less than upper_rad 1.9"),
        (("servos", "range_deg"), 1000, "servos.range_deg is 1000; give a number from 10 to 360"),
    ],
)
def test_wrong_values_are_refused_with_key_and_range(raw, path, value, message):
    """Every wrong number names its key and what is allowed."""
    section = raw
    for key in path[:-1]:
        section = section[key]
    section[path[-1]] = value
    with pytest.raises(DescriptionError, match=message.replace("(", r"\(")):
        variables_from_raw(raw)


@pytest.mark.parametrize("path", [("geometry", "foot", "radius_mm"), ("servos", "armature_kgm2"), ("joints", "shell")])
def test_missing_keys_are_named(raw, path):
    """A missing key is an error, never a default."""
    section = raw
    for key in path[:-1]:
        section = section[key]
    del section[path[-1]]
    with pytest.raises(DescriptionError, match=f"{path[-1]}.* missing"):
        variables_from_raw(raw)


@pytest.mark.parametrize("section", [None, "mass", "servos"])
def test_unknown_keys_are_named(raw, section):
    """A typing error does not pass silently."""
    (raw if section is None else raw[section])["fan_lenght_mm"] = 120
    with pytest.raises(DescriptionError, match="fan_lenght_mm does not exist; (there are|is .* meant)"):
        variables_from_raw(raw)


def test_unreadable_files(tmp_path):
    """No file, no YAML, no mapping, a wrong override: each names the file and the remedy."""
    with pytest.raises(DescriptionError, match="cannot read .*nowhere.yaml"):
        load_variables(tmp_path / "nowhere.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("mass: [1, 2")
    with pytest.raises(DescriptionError, match="broken.yaml is not valid YAML in line"):
        load_variables(broken)
    broken.write_text("- 1\n- 2\n")
    with pytest.raises(DescriptionError, match="broken.yaml holds a list; expected a mapping"):
        load_variables(broken)
    base = package_path() / "config" / "shellbot.yaml"
    broken.write_text(yaml.safe_dump({"base": str(base), "mass": {"fann_kg": 1.0}}))
    with pytest.raises(DescriptionError, match="broken.yaml: mass.fann_kg is not a key of the base file"):
        load_variables(broken)


def test_a_file_that_is_its_own_base_is_refused_in_one_sentence(tmp_path):
    """As a copy of shellbot_older.yaml is under the name of its base; directly, or by way of another file."""
    own = tmp_path / "shellbot.yaml"
    (tmp_path / "other.yaml").write_text("base: shellbot.yaml\n")
    for base in ("shellbot.yaml", "other.yaml"):
        own.write_text(f"base: {base}\n")
        with pytest.raises(DescriptionError, match="its base leads back to .*shellbot.yaml; name") as refused:
            load_variables(own)
        assert len(str(refused.value)) < 1000


def test_joint_order():
    """36 driven joints, the walker's are the first 24; 31 and 19 motors."""
    names = driven_joint_names("simulation")
    assert names[:5] == ("lower_1_fan", "lower_1_coxa", "lower_1_femur", "lower_1_tibia", "lower_2_fan")
    assert names[24:27] == ("upper_1_shoulder", "upper_1_shell", "upper_2_shoulder")
    assert len(set(names)) == 36
    assert driven_joint_names("full") == names
    assert driven_joint_names("walker") == names[:24]
    assert [len(motor_joint_names(variant)) for variant in VARIANTS] == [36, 31, 19]
    lower = tuple(f"lower_{k}" for k in range(1, 7))
    assert tuple(robot_profile("walker").limbs) == ("fan", *lower) == tuple(robot_profile().limbs)[:7]
    feet = tuple(f"{leg}_foot" for leg in lower)
    assert tuple(robot_profile("walker").contacts) == tuple(robot_profile().contacts) == feet
    assert tuple(complete_profile().variants) == VARIANTS and tuple(complete_profile().classes) == JOINT_CLASSES
    assert joint_class("upper_6_shell") == "shell"
    with pytest.raises(DescriptionError, match="lower_7_fan"):
        joint_class("lower_7_fan")
    with pytest.raises(DescriptionError, match="'biped' does not exist; choose one of simulation, full, walker"):
        driven_joint_names("biped")


def test_every_name_of_the_profile_is_in_the_urdf():
    """Joints and links that the profile names exist in each variant, and no driven joint is left out."""
    for variant in VARIANTS:
        profile, robot = robot_profile(variant), ElementTree.fromstring(expand(variant))
        movable = {joint.get("name") for joint in robot.findall("joint") if joint.get("type") != "fixed"}
        assert movable == set(profile.joints)
        links = {link.get("name") for link in robot.findall("link")}
        frames = [frame for limb in profile.limbs.values() for frame in (limb.base, *limb.tips)]
        assert {profile.base.link, profile.imu, *frames, *profile.contacts} <= links
        assert set(colliding_links(variant)) <= links
        assert RobotProfile.from_text(profile.to_text()) == profile
