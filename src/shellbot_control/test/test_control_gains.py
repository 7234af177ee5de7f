# SPDX-License-Identifier: MIT
"""The gain table, its page, and the forwarding to controllers."""

import math

import pytest

import shellbot_control
import shellbot_description
from shellbot_common import Level
from shellbot_control import JOINT_CLASSES, ConfigurationError, Gains, GainTable, controller_joints, joint_class
from shellbot_control.controllers import (
    CONTROLLER,
    config_folder,
    controllers_text,
    file_name,
    load_controllers,
    variants,
)
from shellbot_control.gain_forwarder import GainForwarder, receiver_summary
from shellbot_control.gains import GAIN_NAMES, PAGE_RANGES, STIFFNESS_RANGE, page_name

TABLE = GainTable({name: Gains(10.0 + i, 1.0, 0.1) for i, name in enumerate(JOINT_CLASSES)})


def test_joint_classes_are_those_of_the_description():
    """They stand here again only because the page is generated before the description can be imported."""
    assert shellbot_description.JOINT_CLASSES == JOINT_CLASSES


def test_exports_exist():
    assert all(hasattr(shellbot_control, name) for name in shellbot_control.__all__)


@pytest.mark.parametrize("variant", ["simulation", "full", "walker"])
def test_controllers_yaml_is_up_to_date(variant):
    path = config_folder() / file_name(variant)
    assert path.read_text(encoding="utf-8") == controllers_text(variant), "run scripts/generate_controllers"


def test_every_variant_has_a_file_with_its_joints():
    from shellbot_description import driven_joint_names

    for variant in variants():
        parameters = load_controllers(config_folder() / file_name(variant))
        assert parameters["joint_state_controller"]["publish_rate"] == 100
        assert parameters[CONTROLLER]["type"] == "effort_controllers/JointGroupPositionController"
        assert controller_joints(parameters[CONTROLLER]) == driven_joint_names(variant)


def test_default_p_is_full_torque_over_the_compliance_slope():
    parameters = load_controllers(config_folder() / file_name("simulation"))[CONTROLLER]
    table = GainTable.from_controllers(parameters)
    slope = math.radians(16 * 0.29)
    expected = {"coxa": 1.5, "femur": 1.8, "tibia": 1.8, "shoulder": 1.5, "shell": 1.5, "fan": 1.5 * 2**2 / 6}
    for name, torque in expected.items():
        assert table.classes[name].p == pytest.approx(torque / slope, rel=2e-3), name
        assert (table.classes[name].i, table.classes[name].d) == (0.0, 0.0)
    assert parameters["lower_1_fan"]["pid"]["i_clamp_max"] == -parameters["lower_1_fan"]["pid"]["i_clamp_min"] == 0.25


def test_stiffness_multiplies_p_and_i_and_leaves_d():
    table = GainTable(TABLE.classes, 0.5)
    assert table.joint_gains("lower_3_coxa") == Gains(5.5, 0.5, 0.1)
    assert GainTable(TABLE.classes, 0.0).joint_gains("upper_6_shell") == Gains(0.0, 0.0, 0.1)


def test_page_round_trip():
    table = GainTable(TABLE.classes, 1.25)
    assert GainTable.from_page(table.to_page()) == table
    page = table.to_page()
    del page["tibia_d"]
    with pytest.raises(ConfigurationError, match="tibia_d"):
        GainTable.from_page(page)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, "soft", True, None])
def test_gains_are_checked(bad):
    with pytest.raises(ConfigurationError, match="gain p"):
        Gains(bad)


def test_table_is_checked():
    with pytest.raises(ConfigurationError, match="'wing'"):
        GainTable({"wing": Gains(1.0)})
    with pytest.raises(ConfigurationError, match="stiffness is 1.6"):
        GainTable({}, 1.6)
    with pytest.raises(ConfigurationError, match="'shell'"):
        GainTable({"fan": Gains(1.0)}).joint_gains("upper_1_shell")
    with pytest.raises(ConfigurationError, match="wheel"):
        joint_class("left_wheel")


def test_controllers_with_unequal_joints_of_a_class_are_named():
    parameters = {"joints": ["lower_1_coxa", "lower_2_coxa"], "lower_1_coxa": {"pid": {"p": 1}}}
    with pytest.raises(ConfigurationError, match="lower_2_coxa/pid/p is missing"):
        GainTable.from_controllers(parameters)
    parameters["lower_2_coxa"] = {"pid": {"p": 2}}
    with pytest.raises(ConfigurationError, match="lower_2_coxa has .* lower_1_coxa has"):
        GainTable.from_controllers(parameters)
    with pytest.raises(ConfigurationError, match="joints is None"):
        controller_joints({})


def test_the_generated_page_has_the_ranges_and_derived_defaults():
    config = pytest.importorskip("shellbot_control.cfg.GainsConfig", reason="the workspace is not built")
    defaults = GainTable.from_controllers(load_controllers(config_folder() / file_name("full"))[CONTROLLER]).to_page()
    assert config.defaults == defaults
    for name in JOINT_CLASSES:
        for gain in GAIN_NAMES:
            entry = page_name(name, gain)
            low, high = config.min[entry], config.max[entry]
            assert (low, high) == PAGE_RANGES[gain]
            assert low <= defaults[entry] <= high / 4 or defaults[entry] == low
    assert (config.min["stiffness"], config.max["stiffness"]) == STIFFNESS_RANGE
    groups = [group["name"] for group in config.config_description["groups"]]
    assert tuple(groups) == JOINT_CLASSES


A, B = "lower_1_coxa", "lower_1_femur"


def forwarder(announce=()):
    result = GainForwarder([A, B], retry_period=0.5, patience=2.0)
    result.set_wanted(TABLE.for_joints([A, B]))
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
    assert send_all(gains_forwarder) == {A: TABLE.joint_gains(A)}
    assert gains_forwarder.waiting_for() == [B]
    assert gains_forwarder.summary(0.0).level is Level.WARN
    gains_forwarder.announced(B, Gains(99.0), new_connection=True)
    assert send_all(gains_forwarder) == {B: TABLE.joint_gains(B)}
    assert gains_forwarder.summary(0.0).text == "2 of 2 joints have the gains of the page"


def test_a_controller_that_has_the_values_is_left_alone():
    gains_forwarder = forwarder()
    gains_forwarder.announced(A, TABLE.joint_gains(A), new_connection=True)
    assert send_all(gains_forwarder) == {} and gains_forwarder.done()


def test_a_change_of_one_class_goes_to_that_class_only():
    gains_forwarder = forwarder([A, B])
    send_all(gains_forwarder)
    changed = GainTable({**TABLE.classes, "femur": Gains(50.0)})
    gains_forwarder.set_wanted(changed.for_joints([A, B]))
    assert send_all(gains_forwarder) == {B: Gains(50.0)}


def test_a_restarted_controller_gets_the_values_again():
    gains_forwarder = forwarder([A, B])
    send_all(gains_forwarder)
    gains_forwarder.announced(A, TABLE.joint_gains(A), new_connection=False)  # the echo
    assert send_all(gains_forwarder) == {}
    gains_forwarder.announced(A, Gains(99.0), new_connection=True)
    assert send_all(gains_forwarder) == {A: TABLE.joint_gains(A)}


def test_a_joint_tuned_directly_is_respected_until_its_class_changes():
    gains_forwarder = forwarder([A, B])
    send_all(gains_forwarder)
    (notice,) = gains_forwarder.announced(A, Gains(33.0), new_connection=False)
    assert "tuned directly" in notice.text and gains_forwarder.tuned_directly() == [A]
    gains_forwarder.set_wanted(TABLE.for_joints([A, B]))
    assert send_all(gains_forwarder) == {}
    gains_forwarder.set_wanted(GainTable({**TABLE.classes, "coxa": Gains(44.0)}).for_joints([A, B]))
    assert send_all(gains_forwarder) == {A: Gains(44.0)}
    assert gains_forwarder.tuned_directly() == []


def test_late_echoes_of_a_quick_series_are_not_somebody_else():
    gains_forwarder = forwarder([A])
    for p in (1.0, 2.0, 3.0):
        gains_forwarder.set_wanted({A: Gains(p)})
        send_all(gains_forwarder)
    for p in (1.0, 2.0, 3.0):
        assert gains_forwarder.announced(A, Gains(p), new_connection=False) == ()
    assert gains_forwarder.done() and gains_forwarder.tuned_directly() == []


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
    assert send_all(gains_forwarder, 13.0) == {A: TABLE.joint_gains(A)}
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
