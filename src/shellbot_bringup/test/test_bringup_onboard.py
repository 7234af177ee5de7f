# SPDX-License-Identifier: MIT
"""onboard.launch and its arguments, scripts/onboard, and what it installs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
LAUNCH = ROOT / "src" / "shellbot_bringup" / "launch"
SCRIPT = ROOT / "scripts" / "onboard"
HEADLESS = ("gui:=false", "teleop:=none")


def load(file, *arguments):
    from roslaunch.config import ROSLaunchConfig
    from roslaunch.xmlloader import XmlLoader

    config = ROSLaunchConfig()
    XmlLoader(resolve_anon=False).load(str(LAUNCH / file), config, argv=list(arguments), verbose=False)
    return config


def parameters(config):
    return {name: entry.value for name, entry in config.params.items()}


def run(*arguments, **environment):
    return subprocess.run(
        [str(SCRIPT), *map(str, arguments)],
        env={**os.environ, "ROS_IP": "", "ROS_HOSTNAME": "", **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


# ---------------------------------------------------------------------------------------------------- launch files


def test_on_board_the_driver_takes_the_place_of_connector_and_simulator():
    config = load("onboard.launch", *HEADLESS)
    nodes = {node.name for node in config.nodes}
    robot = {"action_manager", "odometry", "transform_and_roll"}
    assert {"motor_driver", "kinematics", *robot, "gains", "robot_state_publisher"} == nodes
    values = parameters(config)
    assert values["/use_sim_time"] is False
    assert values["/motor_driver/port"] == "/dev/shellbot-servos"
    assert values["/motor_driver/variant"] == values["/action_manager/variant"] == "walker"
    assert values["/action_manager/start_mode"] == "sit", "it must not stand up by itself with power just switched on"
    assert values["/gains/receiver"] == "motor_driver"
    assert len(values["/shellbot_legs_controller/joints"]) == 24


def test_above_the_joint_targets_nothing_changes():
    """The same nodes with the same parameters as in simulation, but for where they end."""
    sim, onboard = load("sim.launch", *HEADLESS, "variant:=walker"), load("onboard.launch", *HEADLESS)
    above = {"kinematics", "action_manager", "odometry", "robot_state_publisher"}

    def chain(config):
        return {(n.name, n.package, n.type, n.respawn) for n in config.nodes if n.name in above}

    assert chain(sim) == chain(onboard)
    names = [f"/{node}/" for node in above]
    a, b = (
        {k: v for k, v in parameters(c).items() if k.startswith(tuple(names)) and not k.endswith("start_mode")}
        for c in (sim, onboard)
    )
    assert a == b
    assert "gazebo_connector" in {n.name for n in sim.nodes}
    assert parameters(sim)["/gains/receiver"] == "controllers"


def test_emulated_servos_and_driver_share_a_port(monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    config = load("onboard.launch", *HEADLESS, "emulated:=true", "variant:=full", "seed:=3", "faults:=/tmp/f.yaml")
    values = parameters(config)
    assert values["/emulated_robot/port"] == values["/motor_driver/port"] == "/run/user/7/shellbot-servos"
    assert values["/emulated_robot/variant"] == values["/motor_driver/variant"] == "full"
    assert (values["/emulated_robot/seed"], values["/emulated_robot/faults"]) == (3, "/tmp/f.yaml")
    assert values["/action_manager/start_mode"] == "hexapod"
    assert values["/motor_driver/priority"] == 0
    assert [n.required for n in config.nodes if n.name == "emulated_robot"] == [True]


@pytest.mark.parametrize(
    ("arguments", "uri", "port"),
    [
        ([], "", "/run/user/7/shellbot-servos"),
        ([], "http://localhost:11311/", "/run/user/7/shellbot-servos"),
        ([], "http://localhost:11500", "/run/user/7/shellbot-servos-11500"),
        (["-p", "11312"], "http://localhost:11500", "/run/user/7/shellbot-servos-11312"),
        (["--port=11312"], "", "/run/user/7/shellbot-servos-11312"),
        (["-p11312"], "", "/run/user/7/shellbot-servos-11312"),
        (["-p", "11312", "port:=/tmp/mine"], "", "/tmp/mine"),
    ],
)
def test_a_second_emulated_robot_has_servos_of_its_own(arguments, uri, port):
    done = run("--check", "--emulated", *arguments, ROS_MASTER_URI=uri, XDG_RUNTIME_DIR="/run/user/7")
    assert done.returncode == 0
    assert f"port: {port}, made by the emulated chain" in done.stderr


def test_a_port_is_that_of_the_callers_folder():
    """The nodes run in another one, where the driver would wait for the port for ever."""
    assert f"port: {Path.cwd()}/no_port is not there" in run("--check", "port:=no_port").stderr
    assert f"port: {Path.cwd()}/my_bus, made by" in run("--check", "--emulated", "port:=my_bus").stderr


@pytest.mark.parametrize("value", ["yes", "TRUE", ""])
def test_what_is_neither_true_nor_false_starts_no_real_servos(value):
    done = run("--check", f"emulated:={value}")
    assert done.returncode == 1
    assert f"emulated:={value}: choose one of true, false" in done.stderr and "port:" not in done.stderr


def test_the_driver_is_respawned_and_starts_armed():
    (node,) = [n for n in load("onboard.launch", *HEADLESS).nodes if n.name == "motor_driver"]
    assert node.respawn
    assert "/motor_driver/" in load("onboard.launch", *HEADLESS).clear_params


def test_the_driver_takes_what_the_launch_file_gives_it():
    """Every private parameter of the launch file is one that the node knows."""
    from shellbot_motor_driver.node.node_parameters import NodeParameters

    given = ("direction:=gpio", "gpio:=/dev/gpiochip0:149", "latency_ms:=3.5", "baud:=500000", "priority:=40")
    values = parameters(load("onboard.launch", *HEADLESS, *given))
    private = {k.rsplit("/", 1)[1]: v for k, v in values.items() if k.startswith("/motor_driver/")}
    read = NodeParameters.from_mapping(private)
    assert (read.direction, read.baud, read.priority, read.latency_ms) == ("gpio", 500000, 40, 3.5)


def test_the_emulated_robot_takes_what_the_launch_file_gives_it():
    from shellbot_chain.emulated_robot_params import EmulatedRobotParams

    values = parameters(load("onboard.launch", *HEADLESS, "emulated:=true", "friction:=0.7"))
    private = {k.rsplit("/", 1)[1]: v for k, v in values.items() if k.startswith("/emulated_robot/")}
    read = EmulatedRobotParams.from_mapping(private)
    assert (read.friction, read.viewer, read.variant) == (0.7, "false", "walker")


def test_the_operator_s_launch_starts_nothing_of_the_robot():
    assert [n.name for n in load("operator.launch", "teleop:=none").nodes] == []
    assert [n.type for n in load("operator.launch", "teleop:=window").nodes] == ["teleop_window"]
    assert not any("use_sim_time" in name for name in parameters(load("operator.launch", "teleop:=window")))


# ------------------------------------------------------------------------------------------------- scripts/onboard


def test_a_missing_port_is_told_with_the_next_step():
    done = run("--check", "port:=/dev/shellbot-nowhere")
    assert done.returncode == 1
    assert "/dev/shellbot-nowhere is not there" in done.stderr
    assert "scripts/onboard install" in done.stderr
    assert re.search(r"ROS_IP=\d+\.\d+\.\d+\.\d+ ", done.stderr), "an address although ROS_IP was empty"


def test_a_port_that_is_there_passes_and_one_in_use_does_not(tmp_path):
    master, slave = os.openpty()
    link = tmp_path / "servos"
    link.symlink_to(os.ttyname(slave))
    try:
        if shutil.which("fuser"):
            busy = run("--check", f"port:={link}")
            assert busy.returncode == 1
            assert "another program" in busy.stderr
        os.close(slave)
        free = run("--check", f"port:={link}")
        assert free.returncode == 0, free.stderr
        assert "there and usable" in free.stderr
    finally:
        os.close(master)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open every port")
def test_a_port_without_permission_is_told_with_the_next_step(tmp_path):
    file = tmp_path / "servos"
    file.touch(mode=0)
    done = run("--check", f"port:={file}")
    assert done.returncode == 1
    assert "usermod -a -G" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--no-setup", "directon:=gpio"), "do you mean direction?"),
        (("--no-setup", "variant:=simulation"), "choose one of walker, full"),
        (("operator",), "which robot?"),
        (("operator", "rviz:=true"), "is not a host"),
        (("operator", "no-such-machine.invalid"), "no machine is called 'no-such-machine.invalid'"),
        (("install", "--now"), "unknown argument '--now'"),
    ],
)
def test_nonsense_is_refused_in_words_and_starts_nothing(arguments, words):
    done = run(*arguments)
    assert done.returncode == 1
    assert words in done.stderr


# ------------------------------------------------------------------------------------------------------ deployment


def test_a_dry_run_shows_all_and_writes_nothing():
    done = run("install", "--dry-run")
    assert done.returncode == 0, done.stderr
    for place in (
        "/etc/udev/rules.d/99-shellbot-servo-bus.rules",
        "/etc/systemd/system/shellbot-onboard.service",
        "/etc/security/limits.d/99-shellbot-realtime.conf",
        "/etc/default/shellbot-onboard",
    ):
        assert f"### {place}" in done.stdout
    assert "### would run: udevadm control --reload" in done.stdout
    assert "@" not in re.sub(r"@dialout|between @ signs", "", done.stdout), "a place holder is left"


def test_a_folder_whose_name_systemd_would_expand_is_refused(tmp_path):
    """%h is the home folder in a unit file."""
    clone = tmp_path / "50%hours"
    for part in ("scripts", "src/shellbot_bringup/deploy"):
        shutil.copytree(ROOT / part, clone / part)
    command = [str(clone / "scripts" / "onboard"), "install", "--dry-run"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "a unit file cannot take" in done.stderr


def test_another_root_gets_the_files_and_keeps_its_settings(tmp_path):
    settings = tmp_path / "etc/default/shellbot-onboard"
    settings.parent.mkdir(parents=True)
    settings.write_text("SHELLBOT_ARGUMENTS=mine\n", encoding="utf-8")
    done = run("install", "--root", tmp_path)
    assert done.returncode == 0, done.stderr
    assert settings.read_text(encoding="utf-8") == "SHELLBOT_ARGUMENTS=mine\n"
    unit = (tmp_path / "etc/systemd/system/shellbot-onboard.service").read_text(encoding="utf-8")
    assert f"ExecStart={ROOT}/scripts/onboard --no-setup $SHELLBOT_ARGUMENTS" in unit
    assert "Restart=on-failure" in unit


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit_is_one_that_systemd_takes(tmp_path):
    run("install", "--root", tmp_path)
    unit = tmp_path / "etc/systemd/system/shellbot-onboard.service"
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, timeout=600, check=False
    )
    complaints = [text for text in done.stderr.splitlines() if "shellbot-onboard" in text]
    assert done.returncode == 0 and not complaints, done.stderr


def test_the_unit_waits_for_the_robot_to_sit():
    sitting = pytest.importorskip("shellbot_motor_driver.node.motor_driver_node").SITTING_S

    text = (ROOT / "src/shellbot_bringup/deploy/shellbot-onboard.service").read_text(encoding="utf-8")
    (said,) = re.findall(r"lets the robot sit, then switches the torque off: (\d+) s at most", text)
    (limit,) = re.findall(r"^TimeoutStopSec=(\d+)$", text, flags=re.MULTILINE)
    assert sitting < int(said) < int(limit)


def test_the_settings_are_arguments_that_the_launch_file_takes():
    text = (ROOT / "src/shellbot_bringup/deploy/shellbot-onboard.default").read_text(encoding="utf-8")
    (arguments,) = re.findall(r'^SHELLBOT_ARGUMENTS="(.*)"$', text, flags=re.MULTILINE)
    load("onboard.launch", *arguments.split())
    names = [argument.partition(":=")[0] for argument in arguments.split()]
    assert set(names) <= {a.get("name") for a in _root("onboard.launch").findall("arg")}


def _root(file):
    import xml.etree.ElementTree as ElementTree

    return ElementTree.parse(str(LAUNCH / file)).getroot()


KEYS = re.compile(r"^[A-Z_]+(\{[A-Za-z_./]+\})?$")
MATCH = {"ACTION", "SUBSYSTEM", "SUBSYSTEMS", "DRIVER", "KERNEL", "ATTRS"}
SET = {"ATTR", "SYMLINK", "GROUP", "MODE", "ENV"}


def rules():
    text = (ROOT / "src/shellbot_bringup/deploy/99-shellbot-servo-bus.rules").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("# ")]
    examples = [line[2:] for line in text.splitlines() if line.startswith("# ACTION")]
    return [line for line in lines if not line.startswith("#")], examples


def test_the_udev_rules_parse_and_give_the_stable_name():
    active, examples = rules()
    assert len(active) == 3 and len(examples) == 2
    for line in (*active, *examples):
        for part in line.split(","):
            found = re.match(r'^\s*([A-Z_]+(?:\{[^}]+\})?)(==|!=|\+=|=)"([^"]*)"\s*$', part)
            assert found, f"{part!r} of {line!r}"
            key, operator, _ = found.groups()
            assert KEYS.match(key)
            assert key.split("{")[0] in (MATCH if operator in ("==", "!=") else SET), part
    named = [line for line in (*active, *examples) if "SYMLINK" in line]
    assert len(named) == 4
    assert all('SYMLINK+="shellbot-servos"' in line and 'GROUP="dialout"' in line for line in named)
    assert any('ATTR{latency_timer}="1"' in line for line in active)


@pytest.mark.skipif(shutil.which("udevadm") is None, reason="udev is not installed")
def test_the_udev_rules_are_ones_that_udev_takes():
    rule = str(ROOT / "src/shellbot_bringup/deploy/99-shellbot-servo-bus.rules")
    done = subprocess.run(["udevadm", "verify", rule], capture_output=True, text=True, timeout=600, check=False)
    if "Unknown command" in done.stderr or "unrecognized" in done.stderr.lower():
        pytest.skip("this udev cannot verify")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["hardware.md", "onboard.md"])
def test_the_pages_name_commands_and_arguments_that_exist(page):
    """What the pages tell to type is taken by the programs' own parsers."""
    from shellbot_evaluation.leg_view.cli import parser as leg_parser
    from shellbot_motor_driver.tools.cli import parser

    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for command in re.findall(r"(?:^    |`)scripts/servo ([^`#\n]+)", text, flags=re.MULTILINE):
        words = command.replace("--direction ...", "--direction auto").split()
        if words[0] == "leg":  # the view stands above the driver and has a parser of its own
            leg_parser().parse_args(words[1:])
        elif len(words) == 1:
            assert re.search(rf"[{{,]{re.escape(words[0])}[,}}]|\b{words[0]}\b", parser().format_help()), command
        else:
            parser().parse_args(words)  # exits, and so fails, on nonsense
    arguments = {a.get("name") for a in _root("onboard.launch").findall("arg")}
    named = re.findall(r"(?:scripts/onboard[^`\n]*?|`)\b([a-z_]+):=", text)
    assert set(named) <= arguments, set(named) - arguments


def test_the_page_has_the_driver_s_voltages():
    text = (ROOT / "docs" / "hardware.md").read_text(encoding="utf-8")
    own = yaml.safe_load((ROOT / "src/shellbot_motor_driver/config/driver.yaml").read_text(encoding="utf-8"))["voltage"]
    rows = re.findall(r"^\| (\d+\.\d) V \|", text, flags=re.MULTILINE)
    assert [float(row) for row in rows] == [own[name] for name in ("warn", "derate", "sit", "cut")]
