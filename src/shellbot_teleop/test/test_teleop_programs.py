# SPDX-License-Identifier: MIT
"""The programs started as an operator would, without a roscore: messages, exit codes, the terminal left as it was."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from teleop_pty import TerminalProcess
from tornado.websocket import websocket_connect
from Xlib.display import Display

from shellbot_common.testing import wait_until

NODES = Path(__file__).resolve().parents[1] / "nodes"


def command(program, *arguments):
    return [sys.executable, str(NODES / f"teleop_{program}"), *arguments]


@pytest.fixture
def nowhere():
    """Address of a ROS master that is not there, for programs that look for it."""
    pytest.importorskip("rospy", reason="the programs need rospy, which is not installed")
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return {"ROS_MASTER_URI": f"http://localhost:{probe.getsockname()[1]}"}


@pytest.fixture
def terminal(nowhere):
    process = TerminalProcess(command("terminal"), nowhere)
    yield process
    process.close()


def test_the_terminal_waits_for_the_master_says_so_and_ends_on_ctrl_c(terminal):
    assert terminal.wait_for("Waiting for the ROS master", 60.0), terminal.text
    assert terminal.wait_for("EMERGENCY STOP", 60.0)  # a picture may come in parts
    assert terminal.wait_for("Ctrl+Q", 60.0)
    terminal.type(b"w")
    assert terminal.wait_for("Monitor mode, nothing was sent: no operator is in control. F2 takes control", 60.0)
    terminal.type(b"\x1bOQ")
    assert terminal.wait_for("the command went nowhere", 60.0)
    assert not terminal.restored()
    terminal.type(b"\x03")
    assert terminal.wait(60.0) == 0
    assert terminal.restored()


def test_the_terminal_switches_the_layout_and_quits_by_its_key(terminal):
    assert terminal.wait_for("layout walk", 60.0)
    terminal.type(b"\t")
    assert terminal.wait_for("layout tilt", 60.0)
    terminal.type(b"\x11")
    assert terminal.wait(60.0) == 0 and terminal.restored()


def test_a_terminal_refuses_to_be_a_dead_man_switch(nowhere):
    process = TerminalProcess(command("terminal", "--dead-man"), nowhere)
    assert process.wait(60.0) == 2 and "a terminal reports no key releases" in process.text
    process.close()


@pytest.mark.parametrize("term", ["linux", "screen"])
def test_terminals_of_other_kinds_are_drawn_in_80_by_24_and_read(nowhere, term):
    process = TerminalProcess(command("terminal"), dict(nowhere, TERM=term), size=(24, 80))
    assert process.wait_for("Ctrl+Q quit", 60.0), process.shown
    process.type(b"\x1b[[A\x1b[A\x1bOR")
    assert process.wait_for("Actions, search:", 60.0), process.shown
    process.type(b"\x03")
    assert process.wait(60.0) == 0 and process.restored()
    process.close()


def test_a_terminal_that_can_only_write_lines_is_refused_in_words(nowhere):
    process = TerminalProcess(command("terminal"), dict(nowhere, TERM="dumb"))
    assert process.wait(60.0) == 3 and "TERM is dumb" in process.text and "TERM=xterm" in process.text
    process.close()


@pytest.mark.parametrize("broken", ["screen", "TerminalProgram._key"])
def test_an_error_of_its_own_ends_the_terminal_and_leaves_it_as_it_was(nowhere, broken):
    code = f"import sys, shellbot_teleop.terminal_node as node; node.{broken} = lambda *_: 1 / 0; sys.exit(node.main())"
    process = TerminalProcess([sys.executable, "-c", code], nowhere)
    assert process.wait_for("\x1b[?1049h", 60.0)
    process.type(b"w")
    assert process.wait(60.0) == 1 and "ZeroDivisionError" in process.text and process.restored()
    process.close()


@pytest.mark.parametrize("program", ["terminal"])
def test_without_a_terminal_it_says_what_to_do(program, nowhere):
    result = subprocess.run(
        command(program),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        env=dict(os.environ, **nowhere),
    )
    assert result.returncode == 3
    assert "needs a terminal" in result.stderr and "ssh -t" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize("display", ["", ":987"])
def test_without_a_display_the_window_names_the_terminal_version(display, nowhere):
    environment = {
        name: value for name, value in os.environ.items() if name not in ("WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    result = subprocess.run(
        command("window"),
        capture_output=True,
        text=True,
        timeout=600,
        env=dict(environment, DISPLAY=display, **nowhere),
    )
    assert result.returncode == 3
    assert "scripts/teleop --terminal" in result.stderr and "Traceback" not in result.stderr


@pytest.mark.parametrize("option, content", [("--keymap", "bindings: ["), ("--config", "speed: 1")])
def test_an_unreadable_file_ends_the_window_with_its_name(tmp_path, option, content, teleop_display, nowhere):
    path = Path(tmp_path) / "file.yaml"
    path.write_text(content)
    result = subprocess.run(
        command("window", option, str(path)),
        capture_output=True,
        text=True,
        timeout=600,
        env=dict(os.environ, DISPLAY=teleop_display, **nowhere),
    )
    assert result.returncode == 2
    assert result.stderr.startswith("teleop_window:") and "Traceback" not in result.stderr


def test_the_window_lives_without_a_master_and_ends_on_sigterm(teleop_display, nowhere, tmp_path):
    log = tmp_path / "log"
    with log.open("w") as stream:
        process = subprocess.Popen(
            command("window"), stdout=stream, stderr=stream, env=dict(os.environ, DISPLAY=teleop_display, **nowhere)
        )
    display = Display(teleop_display)
    windows = display.screen().root.query_tree
    before = len(windows().children)
    try:
        wait_until(lambda: len(windows().children) > before or process.poll() is not None)
        assert process.poll() is None, log.read_text()
    finally:
        display.close()
        process.terminate()
    assert process.wait(timeout=600) == 0
    assert "Traceback" not in log.read_text()


def test_the_page_says_that_there_is_no_master_and_ends_on_sigterm(nowhere):
    process = subprocess.Popen(
        command("web", "--port", "0"), stdout=subprocess.PIPE, text=True, env=dict(os.environ, **nowhere)
    )
    try:
        address = process.stdout.readline().split()[-1]

        async def read():
            page = await websocket_connect(address.replace("http", "ws") + "live")
            while True:
                message = json.loads(await asyncio.wait_for(page.read_message(), 60.0))
                if "Waiting for the ROS master" in message.get("link", {}).get("text", ""):
                    return message

        assert asyncio.run(read())["link"]["connected"] is False
    finally:
        process.terminate()
    assert process.wait(timeout=60) == 0


def test_a_page_for_other_machines_prints_an_address_with_a_token(nowhere):
    process = subprocess.Popen(
        command("web", "--port", "0", "--host", "0.0.0.0"),
        stdout=subprocess.PIPE,
        text=True,
        env=dict(os.environ, **nowhere),
    )
    first = process.stdout.readline()
    process.terminate()
    assert process.wait(timeout=60) == 0
    assert "?token=" in first and len(first.rpartition("=")[2]) > 20
    again = subprocess.run(
        command("web", "--layout", "moon"), capture_output=True, text=True, timeout=600, env=dict(os.environ, **nowhere)
    )
    assert again.returncode == 2 and "--layout moon: choose from walk, tilt" in again.stderr
    assert "Traceback" not in again.stderr


@pytest.mark.parametrize(
    "arguments, mapping, words",
    [
        ([], "axes: [", "is not valid YAML in line 2"),
        ([], "axes: [{axis: 1, action: drive.fly}]\nbuttons: []", "axes[0].action is 'drive.fly'"),
        (["--dead-man"], None, "the mapping has no button for control.dead_man"),
    ],
)
def test_a_wrong_mapping_ends_the_joystick_with_a_sentence(tmp_path, nowhere, arguments, mapping, words):
    path = tmp_path / "pad.yaml"
    shipped = NODES.parent / "config" / "joystick.yaml"
    path.write_text(mapping or "".join(x for x in shipped.open(encoding="utf-8") if "control.dead_man}" not in x))
    result = subprocess.run(
        command("joystick", "--mapping", str(path), *arguments),
        capture_output=True,
        text=True,
        timeout=600,
        env=dict(os.environ, **nowhere),
    )
    assert result.returncode == 2 and words in result.stderr and "Traceback" not in result.stderr, result.stderr


def test_the_joystick_waits_for_the_master_and_ends_on_sigterm(nowhere):
    process = subprocess.Popen(command("joystick"), stdout=subprocess.PIPE, text=True, env=dict(os.environ, **nowhere))
    assert "Waiting for the ROS master" in process.stdout.readline()
    process.terminate()
    assert process.wait(timeout=60) == 0


def joy_package(folder, program):
    """A package joy whose joy_node is a shell script."""
    (folder / "joy").mkdir()
    (folder / "joy" / "package.xml").write_text(
        "<package format='2'><name>joy</name><version>1.0.0</version><description>joy</description>"
        "<maintainer email='a@example.org'>a</maintainer><license>MIT</license></package>"
    )
    node = folder / "joy" / "joy_node"
    node.write_text(f"#!/bin/sh\n{program}\n")
    node.chmod(0o755)


def test_a_joy_node_is_started_with_repeats_and_ended_and_its_death_is_reported_once(tmp_path, monkeypatch):
    pytest.importorskip("rospy", reason="the programs need rospy, which is not installed")
    from shellbot_teleop.joystick_node import JoyDriver

    monkeypatch.setattr(sys, "argv", ["teleop_joystick", "joy:=pad", "__name:=x", "--armed"])
    notices = []
    driver = JoyDriver("/dev/input/js7", notices.append)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    driver.start()
    assert len(notices) == 1 and "not installed" in notices[0].text and "ros-noetic-joy" in notices[0].text
    notices.clear()
    joy_package(tmp_path, f'echo "$@" > {tmp_path}/arguments; [ -e {tmp_path}/dies ] && exit 3; exec sleep 600')
    for dies in (False, True):
        if dies:
            (tmp_path / "dies").touch()
        (tmp_path / "arguments").unlink(missing_ok=True)
        driver.start()
        wait_until((tmp_path / "arguments").exists, meanwhile=driver.watch)
        if dies:
            wait_until(lambda: notices, meanwhile=driver.watch)
        driver.watch()
        assert [notice.text for notice in notices] == (
            ["joy_node ended with status 3: start this program again."] if dies else []
        )
    assert (tmp_path / "arguments").read_text().split() == [
        "_autorepeat_rate:=50",
        "_deadzone:=0.0",
        "joy:=pad",
        "_dev:=/dev/input/js7",
    ]
    driver.close()
