# SPDX-License-Identifier: MIT
"""Settings and mode table: what is accepted, and what each refusal says."""

from __future__ import annotations

import copy

import pytest
import yaml

from shellbot_action_manager.config import load_config
from shellbot_action_manager.errors import ConfigError, UnknownGaitError
from shellbot_action_manager.modes.mode_machine import ModeMachine
from shellbot_action_manager.modes.mode_table import Mode, load_mode_table
from shellbot_common import package_file


def write(tmp_path, data):
    path = tmp_path / "file.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


@pytest.fixture
def settings():
    return yaml.safe_load(package_file("shellbot_action_manager", "config/action_manager.yaml").read_text())


@pytest.fixture
def modes():
    return yaml.safe_load(package_file("shellbot_action_manager", "config/modes.yaml").read_text())


def test_shipped_settings_load():
    config = load_config()
    assert config.cmd_vel_timeout == 0.5
    assert config.gaits["tripod"].speed_cap[0] == 0.40


@pytest.mark.parametrize(
    ("section", "key", "value", "message"),
    [
        ("heading", "gain", -1.0, "heading.gain is -1.0; give a number from 0 to 10 1/s"),
        ("body", "tilt_range", [0.1, 0.1], "body.tilt_range is .*; give a list of 3 numbers"),
        ("body", "z_range", [0.05, -0.05], "the first number must not be the greater one"),
        ("posture", "rise_time", "slow", "posture.rise_time is 'slow'; give a number from 0.3 to 20 s"),
        ("upper", "surprise", 1, "upper.surprise does not exist; there are joint_rate"),
    ],
)
def test_bad_setting_is_named_with_its_range(tmp_path, settings, section, key, value, message):
    settings[section][key] = value
    with pytest.raises(ConfigError, match=message):
        load_config(path=write(tmp_path, settings))


def test_missing_section_unknown_gait_and_start_mode_are_refused(tmp_path, settings):
    with pytest.raises(UnknownGaitError, match="there is no gait 'moonwalk'; the gaits are"):
        load_config(gait="moonwalk")
    with pytest.raises(ConfigError, match="start_mode is 'fly'; choose from stand, hexapod, shell, sit"):
        load_config(start_mode="fly")
    former = dict(settings, acceleration_share=settings["acceleration_fraction"])
    with pytest.raises(ConfigError, match="acceleration_share does not exist; is acceleration_fraction meant"):
        load_config(path=write(tmp_path, former))
    del settings["heading"]
    with pytest.raises(ConfigError, match="heading is missing; required are cmd_vel_timeout"):
        load_config(path=write(tmp_path, settings))
    settings["heading"] = 3
    with pytest.raises(ConfigError, match="heading is 3; give a mapping with the keys gain"):
        load_config(path=write(tmp_path, settings))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["transitions"][0].update(goal="fly"), "there is no mode 'fly'"),
        (
            lambda d: d["modes"]["sit"].update(obey=[]),
            r"mode table: modes\.sit: obey does not exist; is obeys meant\?",
        ),
        (lambda d: d["transitions"][0].update(request="fly"), "there is no request 'fly'"),
        (
            lambda d: d["transitions"][0].update(steps=["jump"]),
            "there is no behaviour 'jump'; choose from centre_body",
        ),
        (lambda d: d["transitions"].append(copy.deepcopy(d["transitions"][0])), "stands there twice"),
        (lambda d: d["transitions"][0].pop("goal"), r"transitions\[0\]: goal is missing"),
        (lambda d: d["refusals"].append(3), r"refusals\[\d+\]: 3 is no mapping; give the keys from, request, text"),
        (lambda d: d.update(refusals="none"), "refusals is str; expected a list"),
        (lambda d: d["modes"]["stand"].update(behaviour="hover"), "there is no behaviour 'hover'; choose from"),
        (lambda d: d["modes"]["stand"].update(obeys=["wishes"]), "there is no command 'wishes'; choose from cmd_vel"),
        (lambda d: d["modes"].pop("stopped"), "modes lacks stopped; add its row"),
        (lambda d: d["modes"].pop("stand"), "there is no mode 'stand'; choose from"),
        (lambda d: d["take_over"][0].update(modes=["fly"]), "there is no mode 'fly'"),
        (lambda m: m["transitions"][0].update(steps=3), "steps is 3; give a list"),
        (lambda m: m["modes"]["sit"].update(obeys=None), "obeys is None; give a list"),
        (lambda m: m["refusals"][0].update(request=True), "request is True; give a list"),
        (lambda m: m["take_over"][0].update(modes=0), "modes is 0; give a list"),
    ],
)
def test_bad_mode_table_is_refused(tmp_path, modes, change, message):
    change(modes)
    with pytest.raises(ConfigError, match=message):
        load_mode_table(write(tmp_path, modes))


def test_every_mode_answers_every_request_in_words():
    table = load_mode_table()
    for mode in Mode:
        for request in ("hexapod", "shell", "sit", "stand", "relax", "fly", ""):
            transition, reason = table.find(mode, request)
            assert (transition is None) == bool(reason), (mode, request)
            assert "{" not in reason


def accept(behaviours, before):
    return None


def test_a_refusal_on_the_way_is_that_of_the_mode_that_is_left():
    machine = ModeMachine(load_mode_table())
    machine.enter(Mode.SHELL)
    assert machine.request("stand", accept)[0]
    assert machine.request("relax", accept) == (False, "the ball would fall open; request sit first, then relax")
    machine.finish_step()
    assert machine.request("relax", accept)[1].startswith("the robot would drop from its feet")


def test_machine_queues_a_request_behind_the_running_transition():
    machine = ModeMachine(load_mode_table())
    machine.enter(Mode.SIT)
    assert machine.request("hexapod", accept) == (True, "going to hexapod: stand up")
    assert machine.request("sit", accept) == (True, "going to sit: stand up")
    assert machine.steps == ("stand_up", "stop_walking", "centre_body", "step_out", "sit_down")
    assert machine.status("", 0.5, "").progress == pytest.approx(0.1)
    machine.enter(Mode.HEXAPOD)
    machine.request("shell", accept)
    machine.finish_step()
    machine.finish_step()
    assert machine.status("", 0.0, "").progress == pytest.approx(2.0 / 12.7), "closing takes longest"
    machine.enter(Mode.SIT)
    machine.request("hexapod", accept)
    machine.request("sit", accept)
    for _ in range(4):
        machine.finish_step()
    assert machine.mode == Mode.SIT
    assert machine.step == "sit_down"
    machine.finish_step()
    assert (machine.mode, machine.goal, machine.step) == (Mode.SIT, Mode.SIT, None)
