# SPDX-License-Identifier: MIT
"""scripts/sim refuses in one line what roslaunch would ignore or what a node would die of again and again."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "lib"))

import sim_arguments  # noqa: E402

ONBOARD = sim_arguments.launch_of(what="onboard")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["demo:=mission"],
        ["rtf:=0", "seed:=3", "friction:=0.7", "results:=/tmp/a folder", "gait:=wave"],
        ["-p", "11312", "--screen", "variant:=walker", "simulator:=gazebo", "demo:=true", "gui:=false"],
    ],
)
def test_right_arguments(arguments):
    assert sim_arguments.sim_complaint(arguments) == ""
    assert sim_arguments.sim_complaint(["robot:=shellbot", *arguments]) == ""


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("robot:=shelbot", "robot:=shelbot: choose one of shellbot"),
        ("simulatr:=gazebo", "do you mean simulator?"),
        ("wonder:=1", "the arguments are simulator, variant,"),
        ("simulator:=foo", "choose one of mujoco, bullet, gazebo"),
        ("gait:=moonwalk", "tripod"),
        ("start_mode:=run", "choose one of hexapod, stand, sit"),
        ("teleop:=foo", "choose one of window, none"),
        ("gui:=maybe", "choose one of true, false"),
        ("demo:=missoin", "choose one of true, false, mission"),
        ("rtf:=-1", "from 0 to 1000"),
        ("rtf:=nan", "from 0 to 1000"),
        ("friction:=abc", "from 0 to 5"),
        ("friction:=7", "from 0 to 5"),
        ("seed:=1.5", "whole"),
        ("seed:=1_000", "whole"),
        ("rtf:=1e1", "give a number in digits alone from 0 to 1000"),
        ("imu_latency:=10", "from 0 to 0.1"),
        ("walker", "NAME:=VALUE"),
    ],
)
def test_wrong_arguments(argument, words):
    assert words in sim_arguments.sim_complaint(["rtf:=1", argument])


def test_a_law_that_needs_the_servos_is_refused_without_them():
    arm = ["robot:=arm", "interface:=effort"]
    words = "law:=servo cannot be had with interface:=effort; by effort choose open_loop"
    assert words in sim_arguments.sim_complaint([*arm, "law:=servo"])
    assert sim_arguments.sim_complaint(["law:=pd_outside", *arm]) == "" == sim_arguments.sim_complaint(arm)


def test_motions_of_the_users_are_read_before_anything_starts(tmp_path):
    file = tmp_path / "mine.yaml"
    given = ["robot:=humanoid", f"motions_file:={file}"]
    assert f"cannot read {file}" in sim_arguments.sim_complaint(given)
    file.write_text("nod: {text: t, frames: [{time: 1, joints_deg: {HeadPitch: 99}}]}\n")
    words = sim_arguments.sim_complaint(given)
    assert words.startswith(f"{file}: nod: frames[0]: HeadPitch is commanded to") and "(99 deg); give" in words
    file.write_text("nod: {text: t, frames: [{time: 1, joints_deg: {HeadPitch: 9}}]}\n")
    assert sim_arguments.sim_complaint(given) == ""
    assert sim_arguments.sim_complaint(["robot:=humanoid", "motions_file:="]) == ""


def test_gaits_of_another_file_are_those_that_may_begin(tmp_path):
    table = tmp_path / "gaits.yaml"
    table.write_text("crawl: {pitch: {alpha_deg: 15, k: 1}}\n")
    robot, given = "robot:=snake", f"gaits_file:={table}"
    assert sim_arguments.sim_complaint([robot, "gait:=crawl", given]) == ""
    assert "choose one of crawl" in sim_arguments.sim_complaint([robot, given, "gait:=straight"])
    assert "straight" in sim_arguments.sim_complaint([robot, "gait:=crawl"])
    table.write_text("crawl: {pitch: {alpha_deg: .nan, k: 1}}\n")
    for what in ("sim", "onboard"):
        wrong = sim_arguments.sim_complaint([robot, "gait:=crawl", given], what)
        assert f"{table}: crawl.pitch.alpha_deg is nan" in wrong, wrong
    table.write_text("a list\n")
    assert "holds no rows" in sim_arguments.sim_complaint([robot, "gait:=crawl", given])
    table.write_text("[")
    assert "is no YAML" in sim_arguments.sim_complaint([robot, "gait:=crawl", given])


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (
            "gaits_file:=/nowhere.yaml",
            "cannot be read (No such file or directory); copy snake_motion/config/",
        ),
        ("variables:=/nowhere.yaml", "copy snake_description/config/snake.yaml"),
        ("maps_folder:=/nowhere", "is no folder; that into which scripts/snake identify"),
        ("maps_folder:=", ""),
    ],
)
def test_a_file_of_the_user_is_there(argument, words):
    found = sim_arguments.sim_complaint(["robot:=snake", argument])
    assert words in found and bool(words) == bool(found)


@pytest.mark.parametrize("what", ["sim", "onboard"])
def test_what_a_snakes_node_would_refuse_for_ever_is_refused_before_it_starts(tmp_path, what):
    too_fast, maps = tmp_path / "gaits.yaml", tmp_path / "maps"
    too_fast.write_text("racer: {pitch: {alpha_deg: 20, k: 2}, period: 0.1}\n", encoding="utf-8")
    maps.mkdir()
    (maps / "forward_8.yaml").write_text("family: forward\n", encoding="utf-8")
    for argument, words in (
        ("gait:=side_winding", "gait side_winding turns a joint at 6.20 rad/s, above the servos' 5.50"),
        (f"gaits_file:={too_fast}", "gait racer turns a joint at"),
        (f"maps_folder:={maps}", "forward_8.yaml: "),
        ("gait:=straight", ""),
    ):
        found = sim_arguments.sim_complaint(["robot:=snake", "modules:=8", argument], what)
        assert words in found and bool(words) == bool(found)


@pytest.mark.parametrize("robot", sim_arguments.robots("onboard"))
@pytest.mark.parametrize("name", ["servo_map", "driver_config", "faults"])
def test_a_file_of_servos_or_faults_that_is_not_there_starts_no_robot(robot, name):
    found = sim_arguments.sim_complaint([f"robot:={robot}", f"{name}:=/nowhere.yaml"], "onboard")
    assert "/nowhere.yaml cannot be read" in found


@pytest.mark.parametrize("launch", [*map(sim_arguments.launch_of, sim_arguments.robots()), ONBOARD])
def test_only_arguments_that_exist_have_rules(launch):
    table, names = sim_arguments.rules(launch), set(sim_arguments.known_names(launch))
    pairs = [argument.partition(":=") for *pair, _ in table.pop("not_together", []) for argument in pair]
    table.pop("together", "")
    assert {*table, *(name for name, _, _ in pairs)} <= names
    assert all(value in table[name] for name, _, value in pairs)


@pytest.mark.parametrize("robot", sim_arguments.robots())
def test_what_every_robot_takes(robot):
    arguments = [f"robot:={robot}", "gui:=true", "teleop:=none", "web:=true", "rviz:=true", "rtf:=0"]
    assert sim_arguments.sim_complaint(arguments) == ""


def test_choices_match_the_packages():
    import shellbot_description

    assert sim_arguments.rules(sim_arguments.launch_of())["variant"] == list(shellbot_description.VARIANTS)


def test_the_last_robot_that_is_named_is_started():
    assert sim_arguments.take_robot(["robot:=arm", "rtf:=0", "robot:=snake"]) == ("snake", ["rtf:=0"])
    assert sim_arguments.take_robot(["rtf:=0"]) == ("shellbot", ["rtf:=0"])
    assert sim_arguments.robots()[0] == "shellbot"


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("variant:=simulation", "choose one of walker, full"),
        ("simulator:=gazebo", "there is no argument"),
        ("direction:=automatic", "choose one of auto, rs485, echo, gpio, rts, write-only"),
        ("baud:=115200.5", "from 7000"),
        ("baud:=1e6", "in digits alone from 7000"),
        ("priority:=100", "from 0 to 99"),
        ("latency_ms:=500", "from 0 to 100"),
        ("walker", "see scripts/onboard --help"),
    ],
)
def test_wrong_arguments_on_board(argument, words):
    assert words in sim_arguments.complaint([argument], ONBOARD)


def test_the_file_of_faults_is_a_list_of_faults(tmp_path):
    file = tmp_path / "faults.yaml"
    for text, words in (
        ("- {kind: lost_reply, servo: 3, start: 1.0, stop: 2.0}\n", ""),
        ("[]\n", ""),
        ("- {kind: lost_replies}\n", "lost_replies"),
        ("kind: lost_reply\n", f"{file} is not a list"),
    ):
        file.write_text(text, encoding="utf-8")
        found = sim_arguments.sim_complaint(["emulated:=true", f"faults:={file}"], "onboard")
        assert words in found and bool(words) == bool(found), found
    assert "cannot be read" in sim_arguments.sim_complaint([f"faults:={file}.yaml"], "onboard")
    assert sim_arguments.sim_complaint(["faults:="], "onboard") == ""


def test_frictions_are_those_that_the_simulator_takes():
    from shellbot_chain.emulated_robot_params import EmulatedRobotParams
    from shellbot_simulator.node.node_parameters import NodeParameters

    for node, what in ((NodeParameters, "sim"), (EmulatedRobotParams, "onboard")):
        for robot in sim_arguments.robots(what):
            rule = sim_arguments.rules(sim_arguments.launch_of(robot, what)).get("friction", {"high": 1.0})
            assert node.from_mapping({"friction": rule["high"]}, "~").friction == rule["high"]


def test_right_arguments_on_board():
    arguments = ["variant:=full", "direction:=gpio", "gpio:=/dev/gpiochip0:149", "baud:=1000000", "emulated:=true"]
    assert sim_arguments.complaint(arguments, ONBOARD) == ""


@pytest.mark.parametrize(
    "argument, words", [("rvz:=true", "do you mean rviz?"), ("teleop:=foo", "choose one of window, none"), ("", "")]
)
def test_arguments_of_the_operator_are_checked(argument, words):
    script = ROOT / "scripts" / "lib" / "sim_arguments.py"
    command = [sys.executable, str(script), "--launch", "operator", *filter(None, [argument])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert words in done.stderr and done.returncode == bool(words)
    assert "--launch operator" in (ROOT / "scripts" / "onboard").read_text(encoding="utf-8")


def test_choices_on_board_match_the_driver():
    from ax_bus import DIRECTIONS

    assert sim_arguments.rules(ONBOARD)["direction"] == list(DIRECTIONS)


def test_the_script_says_so_and_starts_nothing():
    done = subprocess.run(
        [str(ROOT / "scripts" / "sim"), "rft:=0"], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 1
    assert "do you mean rtf?" in done.stderr
    assert "SUMMARY" not in done.stdout


def test_folders_of_actions_are_those_of_the_caller(tmp_path):
    """Relative ones, those below ~ and several; one that does not exist ends the script before anything starts."""
    for name in ("mine", "home"):
        (tmp_path / name).mkdir()
    common = ROOT / "scripts" / "lib" / "common.sh"
    script = f'. {common}; args=(); for arg in "$@"; do args+=("$(absolute_folders "$arg")"); done; echo "${{args[@]}}"'

    def resolved(value):
        command = ["bash", "-c", script, "sim", f"action_folders:={value}"]
        environment = dict(os.environ, HOME=str(tmp_path))
        return subprocess.run(command, cwd=str(tmp_path), env=environment, capture_output=True, text=True, check=False)

    assert resolved("mine:~/home").stdout.strip() == f"action_folders:={tmp_path}/mine:{tmp_path}/home"
    assert resolved("").stdout.strip() == "action_folders:="
    wrong = resolved("mine:nowhere")
    assert wrong.returncode == 1 and f"{tmp_path}/nowhere does not exist" in wrong.stderr


@pytest.mark.parametrize("what", ["sim", "onboard"])
def test_files_of_the_caller_are_made_absolute(what):
    """A node runs in another folder: what a launch file takes as a file or folder is in the script's list of them."""
    paths = set()
    for robot in sim_arguments.robots(what):
        table = sim_arguments.rules(sim_arguments.launch_of(robot, what))
        paths |= {name for name, rule in table.items() if isinstance(rule, dict) and {"path", "file"} & set(rule)}
    script = (ROOT / "scripts" / what).read_text(encoding="utf-8")
    assert {name for name in paths if f"{name}:=*" not in script} == set()
    assert "odometry_file" in paths


def written(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("robot", sim_arguments.robots())
def test_the_shipped_servos_are_settings_of_every_robot(robot):
    file = ROOT / "src" / "shellbot_simulator" / "config" / "servos_ax12a.yaml"
    assert sim_arguments.sim_complaint([f"robot:={robot}", f"settings:={file}"]) == ""


@pytest.mark.parametrize("robot", sim_arguments.robots())
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("servo_mrgin_deg: 1", "settings.yaml: servo_mrgin_deg does not exist; is servo_margin_deg meant?"),
        ("servo_backlash_deg: 9", "settings.yaml: servo_backlash_deg is 9; give a number from 0 to 5 deg"),
        ("engine: bullet", "has an argument of its own; leave it out and give simulator:=bullet"),
        ("friction: 0.5", "has an argument of its own; leave it out and give friction:=0.5"),
    ],
)
def test_wrong_settings_end_in_a_sentence(tmp_path, robot, text, words):
    file = written(tmp_path, "settings.yaml", text)
    assert words in sim_arguments.sim_complaint([f"settings:={file}", f"robot:={robot}"])


def test_a_file_for_the_other_simulator_is_refused_with_what_there_is_instead(tmp_path):
    world = written(tmp_path, "my.world", "<sdf version='1.6'><world name='hall'/></sdf>")
    assert sim_arguments.sim_complaint([f"world:={world}", "simulator:=gazebo"]) == ""
    words = sim_arguments.sim_complaint([f"world:={world}"])
    assert "world:=FILE is for simulator:=gazebo" in words and "terrain:=NAME, one of flat, slope" in words
    settings = written(tmp_path, "my.yaml", "servo_punch: 0.03")
    assert "its world file, world:=FILE" in sim_arguments.sim_complaint(["simulator:=gazebo", f"settings:={settings}"])
    for robot in ("shellbot", "snake", "humanoid"):
        given = [f"robot:={robot}", "simulator:=gazebo"]
        words = sim_arguments.sim_complaint([*given, "rtf:=0.2"])
        assert (
            "rtf:=0.2 is for the embedded simulator" in words
            and "real_time_update_rate, in steps a second, to 200" in words
        )
        assert sim_arguments.sim_complaint([*given, "rtf:=1"]) == ""


@pytest.mark.parametrize("robot", ["shellbot", "snake", "humanoid"])
def test_a_world_of_the_robots_name_is_refused(tmp_path, robot):
    world = written(tmp_path, "my.world", f"<sdf version='1.6'><world name='{robot}'/></sdf>")
    words = sim_arguments.sim_complaint([f"robot:={robot}", f"world:={world}", "simulator:=gazebo"])
    assert f"is named '{robot}' as the robot" in words


def test_files_are_those_of_the_callers_folder(tmp_path):
    written(tmp_path, "mine.yaml", "servo_mrgin_deg: 1")
    command = [str(ROOT / "scripts" / "sim"), "settings:=mine.yaml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1 and f"{tmp_path}/mine.yaml: servo_mrgin_deg does not exist" in done.stderr


def test_all_that_gazebo_lacks_is_named_in_one_sentence():
    def words(*arguments, lacks=()):
        return sim_arguments.missing_for_gazebo(arguments, lambda package: package not in lacks)

    lacks = ("gazebo_plugins", "effort_controllers")
    found = words("rtf:=1", "simulator:=gazebo", lacks=lacks)
    assert "needs gazebo_plugins, effort_controllers: " in found
    assert "sudo apt install ros-noetic-gazebo-plugins ros-noetic-effort-controllers; " in found
    assert (
        words("simulator:=gazebo")
        == words(lacks=lacks)
        == words("simulator:=gazebo", "simulator:=mujoco", lacks=lacks)
        == ""
    )


def test_what_gazebo_needs_is_in_the_manifest_and_in_the_controllers_files():
    manifest = (ROOT / "src/shellbot_gazebo_connector/package.xml").read_text(encoding="utf-8")
    assert all(f"<exec_depend>{package}<" in manifest for package in sim_arguments.GAZEBO_PACKAGES)
    for file in (ROOT / "src").glob("*/config/controllers*.yaml"):
        types = re.findall(r"^ *type: (\w+)/", file.read_text(encoding="utf-8"), re.MULTILINE)
        assert types and set(types) <= set(sim_arguments.GAZEBO_PACKAGES), file


def test_without_gazebo_the_script_says_what_is_missing():
    if shutil.which("gzserver"):
        pytest.skip("Gazebo is installed")
    command = [str(ROOT / "scripts" / "sim"), "robot:=snake", "simulator:=gazebo"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1 and "simulator:=gazebo needs gazebo_ros, gazebo_ros_control" in done.stderr


def parameters(robot, *arguments, environment=None):
    command = ["roslaunch", "--dump-params", str(sim_arguments.launch_of(robot)), "teleop:=none", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return yaml.safe_load(done.stdout)


@pytest.mark.parametrize("robot", sim_arguments.robots())
def test_settings_reach_the_simulator_of_every_robot(robot):
    assert parameters(robot, "settings:=/my/servos.yaml")["/simulator/settings"] == "/my/servos.yaml"


def test_the_latency_of_the_imu_reaches_both_nodes_that_read_it():
    found = parameters("shellbot", "imu_latency:=0.012")
    assert found["/action_manager/imu_latency"] == found["/odometry/imu_latency"] == 0.012
    assert not any("imu_latency" in name for name in parameters("shellbot"))


@pytest.mark.parametrize("robot", ["shellbot", "snake", "humanoid"])
def test_a_world_reaches_gazebo(robot, with_gazebo):
    found = parameters(robot, "simulator:=gazebo", "world:=/my/hall.world", environment=with_gazebo)
    assert found["/world_of_gazebo"] == "/my/hall.world"
