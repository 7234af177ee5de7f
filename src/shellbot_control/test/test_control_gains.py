# SPDX-License-Identifier: MIT
"""The gain table, its page, and the forwarding to controllers."""

import math

import pytest

import shellbot_control
from shellbot_common import Level, RobotProfile, package_file, read_yaml
from shellbot_control import ConfigurationError, Gains, GainTable, check_controller_joints
from shellbot_control.gain_forwarder import GainForwarder, receiver_summary
from shellbot_control.gain_presets import PRESET, GainPresets
from shellbot_control.gains import GAIN_NAMES, STIFFNESS_RANGE, page_name
from shellbot_control.gains_page import gains_page
from shellbot_description import JOINT_CLASSES, VARIANTS, robot_profile

PROFILE = robot_profile("simulation")
PROFILE_WALKER = robot_profile("walker")
CONTROLLER = PROFILE.controller
TABLE = GainTable({name: Gains(10.0 + i, 1.0, 0.1) for i, name in enumerate(JOINT_CLASSES)})


def controllers_of(variant):
    return read_yaml(package_file("shellbot_description", f"config/controllers_{variant}.yaml"))


def test_exports_exist():
    assert all(hasattr(shellbot_control, name) for name in shellbot_control.__all__)


def test_every_variant_has_a_file_with_its_joints():
    for variant in VARIANTS:
        parameters = controllers_of(variant)
        assert parameters["joint_state_controller"]["publish_rate"] == 100
        assert parameters[CONTROLLER]["type"] == "effort_controllers/JointGroupPositionController"
        check_controller_joints(parameters[CONTROLLER], robot_profile(variant))
        with pytest.raises(ConfigurationError, match="is not the order of robot_profile .* same variant"):
            check_controller_joints(
                parameters[CONTROLLER], robot_profile("simulation" if variant == "walker" else "walker")
            )


def test_default_p_is_full_torque_over_the_compliance_slope():
    parameters = controllers_of("simulation")[CONTROLLER]
    table = GainTable.from_controllers(parameters, PROFILE)
    slope = math.radians(16 * 0.29)
    expected = {"coxa": 1.5, "femur": 1.8, "tibia": 1.8, "shoulder": 1.5, "shell": 1.5, "fan": 1.5 * 2**2 / 6}
    for name, torque in expected.items():
        assert table.classes[name].p == pytest.approx(torque / slope, rel=2e-3), name
        assert (table.classes[name].i, table.classes[name].d) == (0.0, 0.0)
    assert parameters["lower_1_fan"]["pid"]["i_clamp_max"] == -parameters["lower_1_fan"]["pid"]["i_clamp_min"] == 0.25


def test_stiffness_multiplies_p_and_i_and_leaves_d():
    table = GainTable(TABLE.classes, 0.5)
    assert table.class_gains("coxa") == Gains(5.5, 0.5, 0.1)
    assert GainTable(TABLE.classes, 0.0).for_joints({"upper_6_shell": "shell"})["upper_6_shell"] == Gains(0.0, 0.0, 0.1)


def test_page_round_trip():
    table = GainTable(TABLE.classes, 1.25)
    assert GainTable.from_page(table.to_page(), JOINT_CLASSES) == table
    assert GainTable.from_page(table.to_page(), ["coxa"]) == GainTable({"coxa": table.classes["coxa"]}, 1.25)
    page = table.to_page()
    del page["tibia_d"]
    with pytest.raises(ConfigurationError, match="tibia_d"):
        GainTable.from_page(page, JOINT_CLASSES)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, "soft", True, None])
def test_gains_are_checked(bad):
    with pytest.raises(ConfigurationError, match="gain p"):
        Gains(bad)


def test_table_is_checked():
    with pytest.raises(ConfigurationError, match="stiffness is 1.6"):
        GainTable({}, 1.6)
    with pytest.raises(ConfigurationError, match="no gains for joint class 'shell'; there are fan"):
        GainTable({"fan": Gains(1.0)}).class_gains("shell")


PAIR = RobotProfile(
    name="pair",
    base={"kind": "fixed", "spawn_pose": "zero"},
    joints={"left_wheel": "wheel", "right_wheel": "wheel"},
    classes={"wheel": {"stiffness": 2.0}, "spare": {"stiffness": 7.0}},
    controller="pair_controller",
    gain_limits={"p": 20, "i": 10, "d": 1},
    poses={"zero": {"wheel_deg": 0}},
)


def test_controllers_with_unequal_joints_of_a_class_are_named():
    parameters = {"joints": ["left_wheel", "right_wheel"], "left_wheel": {"pid": {"p": 1}}}
    with pytest.raises(ConfigurationError, match="pair_controller/right_wheel/pid/p is missing; load .* of pair"):
        GainTable.from_controllers(parameters, PAIR)
    parameters["right_wheel"] = {"pid": {"p": 2}}
    with pytest.raises(ConfigurationError, match="right_wheel has .* left_wheel has"):
        GainTable.from_controllers(parameters, PAIR)
    with pytest.raises(ConfigurationError, match="pair_controller/joints is None"):
        check_controller_joints({}, PAIR)


def test_the_page_has_the_classes_ranges_and_defaults_of_the_profile():
    table = GainTable.from_controllers(controllers_of("walker")[CONTROLLER], PROFILE_WALKER)
    page = gains_page(PROFILE_WALKER, table, GainPresets.of_robot(PROFILE_WALKER, table))
    assert page.defaults == {**GainTable.from_profile(PROFILE_WALKER).to_page(), **table.to_page(), PRESET: "walk"}
    for name in JOINT_CLASSES:  # those of upper legs too, so that the page is the same whatever the variant
        for gain in GAIN_NAMES:
            entry = page_name(name, gain)
            low, high = page.min[entry], page.max[entry]
            assert (low, high) == (0.0, {"p": 120.0, "i": 60.0, "d": 2.5}[gain])
            assert low <= page.defaults[entry] <= high / 4 or page.defaults[entry] == low
    assert (page.min["stiffness"], page.max["stiffness"]) == STIFFNESS_RANGE
    groups = [group["name"] for group in page.config_description["groups"]]
    assert tuple(groups) == JOINT_CLASSES
    pair = GainTable({"wheel": Gains(3.0)})
    other = gains_page(PAIR, pair, GainPresets.of_robot(PAIR, pair))
    assert other.defaults[PRESET] == "reset", "a robot without presets has that one"
    assert (other.defaults["wheel_p"], other.defaults["spare_p"], other.max["wheel_p"]) == (3.0, 7.0, 20.0)


A, B = "lower_1_coxa", "lower_1_femur"
CLASS_OF = {A: "coxa", B: "femur"}


def forwarder(announce=()):
    result = GainForwarder([A, B])
    result.set_requested(TABLE.for_joints(CLASS_OF))
    for name in announce:
        result.announced(name, Gains(99.0), new_connection=True)
    return result


def send_all(gains_forwarder, now=0.0):
    sent = {}
    while True:
        due = gains_forwarder.next_due(now)
        if due is None:
            return sent
        sent[due[0]] = due[1]
        assert gains_forwarder.confirmed(due[0], due[1], due[1]) == ()


def test_only_controllers_that_appeared_are_served():
    gains_forwarder = forwarder([A])
    assert send_all(gains_forwarder) == {A: TABLE.class_gains("coxa")}
    assert gains_forwarder.waiting_for() == [B]
    assert gains_forwarder.summary(0.0).level is Level.WARN
    gains_forwarder.announced(B, Gains(99.0), new_connection=True)
    assert send_all(gains_forwarder) == {B: TABLE.class_gains("femur")}
    assert gains_forwarder.summary(0.0).text == "2 of 2 joints have the gains of the page"


def test_a_controller_that_has_the_values_is_left_alone():
    gains_forwarder = forwarder()
    gains_forwarder.announced(A, TABLE.class_gains("coxa"), new_connection=True)
    assert send_all(gains_forwarder) == {}


def test_a_change_of_one_class_goes_to_that_class_only():
    gains_forwarder = forwarder([A, B])
    send_all(gains_forwarder)
    changed = GainTable({**TABLE.classes, "femur": Gains(50.0)})
    gains_forwarder.set_requested(changed.for_joints(CLASS_OF))
    assert send_all(gains_forwarder) == {B: Gains(50.0)}


def test_a_restarted_controller_gets_the_values_again():
    gains_forwarder = forwarder([A, B])
    send_all(gains_forwarder)
    gains_forwarder.announced(A, TABLE.class_gains("coxa"), new_connection=False)  # the echo
    assert send_all(gains_forwarder) == {}
    gains_forwarder.announced(A, Gains(99.0), new_connection=True)
    assert send_all(gains_forwarder) == {A: TABLE.class_gains("coxa")}


def test_a_call_to_the_controller_that_was_there_before_counts_for_nothing():
    """Its answer comes after the new controller has announced itself: that one still lacks the values."""
    gains_forwarder = forwarder([A])
    name, gains = gains_forwarder.next_due(0.0)
    gains_forwarder.announced(A, Gains(99.0), new_connection=True)
    assert gains_forwarder.next_due(0.0) is None, "one call of a joint at a time"
    assert gains_forwarder.confirmed(name, gains, gains) == ()
    assert send_all(gains_forwarder) == {A: TABLE.class_gains("coxa")}
    assert send_all(gains_forwarder) == {}


def test_a_joint_tuned_directly_is_respected_until_its_class_changes():
    gains_forwarder = forwarder([A, B])
    send_all(gains_forwarder)
    (notice,) = gains_forwarder.announced(A, Gains(33.0), new_connection=False)
    assert "tuned directly" in notice.text and gains_forwarder.tuned_directly() == [A]
    gains_forwarder.set_requested(TABLE.for_joints(CLASS_OF))
    assert send_all(gains_forwarder) == {}
    gains_forwarder.set_requested(GainTable({**TABLE.classes, "coxa": Gains(44.0)}).for_joints(CLASS_OF))
    assert send_all(gains_forwarder) == {A: Gains(44.0)}
    assert gains_forwarder.tuned_directly() == []


def test_late_echoes_of_a_quick_series_are_not_somebody_else():
    gains_forwarder = forwarder([A])
    for p in (1.0, 2.0, 3.0):
        gains_forwarder.set_requested({A: Gains(p)})
        send_all(gains_forwarder)
    for p in (1.0, 2.0, 3.0):
        assert gains_forwarder.announced(A, Gains(p), new_connection=False) == ()
    assert send_all(gains_forwarder) == {} and gains_forwarder.tuned_directly() == []


def test_an_echo_comes_once_so_that_an_earlier_value_is_tuned_directly():
    gains_forwarder = forwarder([A, B])
    send_all(gains_forwarder)
    for p in (1.0, 2.0, 3.0):
        gains_forwarder.set_requested({A: Gains(p)})
        send_all(gains_forwarder)
    gains_forwarder.announced(A, Gains(2.0), new_connection=False)  # a queue of one may drop those before
    gains_forwarder.announced(A, Gains(3.0), new_connection=False)
    (notice,) = gains_forwarder.announced(A, Gains(1.0), new_connection=False)
    assert "tuned directly to Gains(p=1.0" in notice.text
    assert gains_forwarder.summary(0.0).text == f"1 of 2 joints tuned directly: {A}"


def test_failures_are_retried_and_named():
    gains_forwarder = forwarder([A])
    assert gains_forwarder.next_due(10.0)[0] == A
    assert gains_forwarder.next_due(10.0) is None  # in flight
    assert gains_forwarder.not_answering(11.0) == [] and gains_forwarder.not_answering(12.5) == [A]
    gains_forwarder.announced(B, Gains(99.0), new_connection=True)
    assert gains_forwarder.not_answering(12.5) == [A, B]  # B waits behind A
    send_all(gains_forwarder, 12.5)
    gains_forwarder.failed(A, 12.5, "connection refused")
    assert gains_forwarder.next_due(12.6) is None and gains_forwarder.next_retry() == 13.0
    assert gains_forwarder.not_answering(14.0) == []  # it may just be starting
    summary = gains_forwarder.summary(14.6)
    assert summary.level is Level.WARN and A in summary.text and "connection refused" in summary.text
    assert send_all(gains_forwarder, 13.0) == {A: TABLE.class_gains("coxa")}
    assert gains_forwarder.not_answering(13.0) == []


def test_a_controller_that_limits_a_value_is_reported_and_not_asked_again():
    gains_forwarder = forwarder([A])
    name, gains = gains_forwarder.next_due(0.0)
    (notice,) = gains_forwarder.confirmed(name, gains, Gains(5.0))
    assert notice.level is Level.WARN and "applied Gains(p=5.0" in notice.text
    assert gains_forwarder.next_due(0.0) is None


@pytest.mark.parametrize(
    ("listeners", "level"),
    [
        ((), Level.WARN),
        (("/teleop_window",), Level.WARN),
        (("/motor_driver_2",), Level.WARN),
        (("/motor_driver",), Level.INFO),
        (("/teleop_window", "/robot_2/motor_driver"), Level.INFO),
    ],
)
def test_one_receiver_of_the_whole_page(listeners, level):
    summary = receiver_summary("motor_driver", listeners)
    assert summary.level is level
    assert "motor_driver" in summary.text
