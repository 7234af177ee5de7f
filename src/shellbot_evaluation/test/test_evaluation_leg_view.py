# SPDX-License-Identifier: MIT
"""The single-leg sliders: limits and offsets, the window under a virtual display, servos on an emulated bus."""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ax_bus import Bus, Timeouts
from ax_emulator import EmulatedChain, Fault, VirtualPort
from robot_evaluation.errors import DefinitionError, EvaluationError
from shellbot_evaluation.leg_view.drives import BusDrive, PictureDrive
from shellbot_evaluation.leg_view.limb import limb_joints, load_map
from shellbot_motor_driver.emulated_servos import shellbot_servos


@pytest.fixture(scope="module")
def walker():
    return load_map("walker")


def bus_to(servos):
    return Bus(VirtualPort(EmulatedChain(servos)), Timeouts(link_latency=1e-4))


def test_a_leg_has_four_joints_with_their_limits_and_offsets(walker):
    joints = limb_joints("lower_2", walker)
    assert [joint.name for joint in joints] == ["lower_1_fan", "lower_2_coxa", "lower_2_femur", "lower_2_tibia"]
    assert joints[0].title == "fan (all six)" and joints[3].title == "tibia"
    assert joints[0].facts == "ID 0 · AX-12A · -123° to 3° · zero at 922 steps · sign +1 · gear 2"
    for joint in joints:
        for angle in np.linspace(joint.entry.lower, joint.entry.upper, 7):
            assert abs(joint.angle(joint.steps(angle)) - angle) < math.radians(0.16)
        assert joint.steps(99.0) == joint.steps(joint.entry.upper)


def test_upper_limbs_belong_to_the_full_variant(walker):
    assert [j.title for j in limb_joints("upper_5", load_map("full"))] == ["shoulder", "shell"]
    with pytest.raises(DefinitionError, match="choose --variant full"):
        limb_joints("upper_5", walker)
    with pytest.raises(DefinitionError, match="choose from lower_1"):
        limb_joints("leg_1", walker)
    with pytest.raises(DefinitionError, match="cannot read /nowhere/servos.yaml"):
        load_map("walker", "/nowhere/servos.yaml")


def test_the_picture_follows_at_the_speed_given(walker):
    joints = limb_joints("lower_1", walker)
    drive = PictureDrive(joints, {joint.name: 0.0 for joint in joints}, speed=0.5)
    drive.command("lower_1_coxa", 1.0)
    assert drive.measure(1.0)["lower_1_coxa"] == pytest.approx(0.5)
    drive.command("lower_1_coxa", 99.0)
    assert drive.measure(60.0)["lower_1_coxa"] == pytest.approx(joints[1].entry.upper)


def test_servos_start_where_they_are_move_slowly_and_go_limp(walker):
    servos = shellbot_servos("walker")
    for servo in servos:
        servo.motor.position += 0.3  # not where the goal register says
    bus = bus_to(servos)
    joints = limb_joints("lower_1", walker)
    drive = BusDrive(bus, joints, torque_fraction=0.5, rpm=10.0)
    before = drive.measure(0.0)
    bus.port.sleep(0.5)
    assert drive.measure(0.0) == pytest.approx(before, abs=0.01)  # the torque came on without a jump
    drive.command("lower_1_femur", before["lower_1_femur"] + 0.3)
    bus.port.sleep(0.1)
    moved = drive.measure(0.0)["lower_1_femur"] - before["lower_1_femur"]
    assert 0.0 < moved < 0.15  # 10 rpm are 1.05 rad/s
    bus.port.sleep(1.0)
    assert drive.measure(0.0)["lower_1_femur"] == pytest.approx(before["lower_1_femur"] + 0.3, abs=0.03)
    assert "12.0 V" in drive.notes()["lower_1_femur"]
    assert servos[2].table["torque_limit"] == round(0.5 * 1023)
    drive.close()
    assert not any(servo.table["torque_enable"] for servo in servos)


def test_a_leg_alone_on_the_table_has_no_fan_and_a_wheel_is_left_alone(walker):
    servos = [servo for servo in shellbot_servos("walker") if servo.servo_id in (1, 2, 3)]
    servos[2].table["cw_angle_limit"] = servos[2].table["ccw_angle_limit"] = 0
    drive = BusDrive(bus_to(servos), limb_joints("lower_1", walker), torque_fraction=0.3, rpm=10.0)
    assert set(drive.measure(0.0)) == {"lower_1_coxa", "lower_1_femur"}
    assert "wheel mode" in drive.notes()["lower_1_tibia"] and drive.notes()["lower_1_fan"]
    drive.command("lower_1_tibia", 0.5)
    assert not servos[2].table["torque_enable"]


def test_a_bus_without_the_limb_is_refused(walker):
    servos = [servo for servo in shellbot_servos("walker") if servo.servo_id == 18]
    with pytest.raises(EvaluationError, match="scripts/servo scan"):
        BusDrive(bus_to(servos), limb_joints("lower_1", walker), torque_fraction=0.3, rpm=10.0)


def stopped_drive(walker, servos):
    bus = bus_to(servos)
    drive = BusDrive(bus, limb_joints("lower_1", walker), torque_fraction=0.5, rpm=10.0)
    drive.command("lower_1_femur", drive.measure(0.0)["lower_1_femur"] + 1.0)
    bus.port.sleep(0.2)
    drive.stop()
    return bus, drive


def test_a_stop_switches_off_at_once_and_stays_until_it_is_undone(walker):
    servos = shellbot_servos("walker")
    for servo in servos:
        servo.table["torque_enable"] = 1  # the rest of the robot, too: whoever presses STOP means it
    bus, drive = stopped_drive(walker, servos)
    assert not any(servo.table["torque_enable"] for servo in servos)
    assert drive.state() == (False, "STOPPED, NOT CONFIRMED by lower_1_coxa, lower_1_fan, lower_1_femur, "
                             "lower_1_tibia: switch the servos' power off if it holds")  # fmt: skip
    there = drive.measure(0.0)
    assert drive.state() == (True, "STOPPED: no torque, read back from 4 servo(s)") and not drive.movable
    drive.command("lower_1_femur", 0.0)
    servos[2].table["torque_enable"] = 1  # switched on by another program: it is switched off again
    drive.measure(0.0)
    assert servos[2].table["torque_enable"] == 0 and servos[2].table["goal_position"] != 512
    bus.port.sleep(1.0)
    assert drive.measure(0.0) == pytest.approx(there, abs=0.1)  # coasts
    servos[2].motor.position += 0.5  # it sagged meanwhile
    drive.resume()
    before = drive.measure(0.0)
    bus.port.sleep(1.0)
    assert drive.measure(0.0) == pytest.approx(before, abs=0.01)  # no moved back to an old goal
    assert drive.movable == set(before) and servos[2].table["torque_enable"] and not servos[18].table["torque_enable"]


def test_a_stop_reaches_servos_that_do_not_answer_and_says_who_did_not_confirm(walker):
    servos = shellbot_servos("walker")
    bus = bus_to(servos)
    drive = BusDrive(bus, limb_joints("lower_1", walker), torque_fraction=0.5, rpm=10.0)
    bus.port.chain.faults.add(Fault("lost_reply", start=bus.port.now(), stop=bus.port.now() + 5.0))
    drive.stop()
    assert not any(servo.table["torque_enable"] for servo in servos)
    drive.measure(0.0)
    assert not drive.state()[0] and "NOT CONFIRMED by lower_1_coxa, lower_1_fan" in drive.state()[1]
    servos[3].is_dead, servos[3].table["torque_enable"] = True, 1  # holds, and hears nothing for a while
    bus.port.sleep(6.0)
    drive.measure(0.0)
    assert "NOT CONFIRMED by lower_1_tibia:" in drive.state()[1]
    servos[3].is_dead = False
    drive.measure(0.0)
    assert servos[3].table["torque_enable"] == 0  # said again as long as it is not confirmed
    drive.measure(0.0)
    assert drive.state()[0]


def test_a_stop_without_a_port_is_loud_and_sent_when_it_is_back(walker):
    servos = shellbot_servos("walker")
    bus = bus_to(servos)
    drive = BusDrive(bus, limb_joints("lower_1", walker), torque_fraction=0.5, rpm=10.0)
    bus.port.chain.faults.add(Fault("port_error", start=bus.port.now(), stop=bus.port.now() + 1.0))
    drive.stop()
    drive.measure(0.0)
    assert not drive.state()[0] and "STOP COULD NOT BE SENT, switch the servos' power off" in drive.state()[1]
    assert "could not be sent" in drive.close()[0]
    bus.port.sleep(2.0)
    bus.port.reopen()
    drive.measure(0.0)
    drive.measure(0.0)
    assert drive.state()[0] and not servos[1].table["torque_enable"]


def test_a_servo_that_cannot_be_switched_on_again_is_not_sent_anywhere(walker):
    servos = shellbot_servos("walker")
    _, drive = stopped_drive(walker, servos)
    servos[2].is_dead = True
    drive.resume()
    assert "lower_1_femur" not in drive.movable and len(drive.movable) == 3
    servos[2].is_dead = False
    drive.command("lower_1_femur", 0.5)
    assert servos[2].table["torque_enable"] == 0 and drive.measure(0.0)


def test_the_picture_stops_too(walker):
    joints = limb_joints("lower_1", walker)
    drive = PictureDrive(joints, {joint.name: 0.0 for joint in joints}, speed=0.5)
    drive.command("lower_1_coxa", 1.0)
    drive.measure(1.0)
    drive.stop()
    drive.command("lower_1_coxa", 1.0)
    assert drive.measure(5.0)["lower_1_coxa"] == pytest.approx(0.5) and drive.state()[1] == "stopped"
    drive.resume()
    drive.command("lower_1_coxa", 1.0)
    assert drive.measure(5.0)["lower_1_coxa"] == pytest.approx(1.0)


def run_leg(*arguments, display=None):
    environment = dict(os.environ, QT_QPA_PLATFORM="xcb" if display else "offscreen", LIBGL_ALWAYS_SOFTWARE="1")
    if display:
        environment["DISPLAY"] = display
    command = [sys.executable, "-m", "shellbot_evaluation.leg_view.cli", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope="module")
def display():
    if importlib.util.find_spec("python_qt_binding") is None:  # not imported: it sets QT_API for all tests after it
        pytest.skip("the window needs python_qt_binding, which is not installed")
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-noreset", "-displayfd", str(writer), "-screen", "0", "1400x900x24", "-nolisten", "tcp"],
        pass_fds=[writer],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    with os.fdopen(reader) as pipe:
        number = pipe.readline().strip()
    yield f":{number}"
    server.terminate()
    server.wait()


def test_the_window_shows_the_leg_and_its_sliders(display, tmp_path):
    shots = {}
    for limb in ("lower_1", "lower_4"):
        file = tmp_path / f"{limb}.png"
        done = run_leg(limb, "--picture", str(file), display=display)
        assert done.returncode == 0, done.stderr
        shots[limb] = np.asarray(Image.open(file).convert("RGB")).astype(int)
    picture = shots["lower_1"][60:540, 10:490]
    red, green, blue = np.moveaxis(picture, 2, 0)
    orange = (red > 150) & (green > 60) & (blue < 80) & (red > green + 40)
    assert 0.005 < orange.mean() < 0.3  # the gore is there, and only one
    side = shots["lower_1"][:, 500:]
    assert side.std() > 20.0  # letters and sliders, not an empty pane


WINDOW = """
import sys
from python_qt_binding.QtCore import Qt
from python_qt_binding.QtTest import QTest
from python_qt_binding.QtWidgets import QApplication
from ax_bus import Bus, Timeouts
from ax_emulator import EmulatedChain, Fault, VirtualPort
from shellbot_evaluation.leg_view.drives import BusDrive
from shellbot_evaluation.leg_view.limb import limb_joints, load_map
from shellbot_evaluation.leg_view.window import LegWindow
from shellbot_motor_driver.emulated_servos import shellbot_servos

app = QApplication(["leg"])
servos = shellbot_servos("walker")
joints = limb_joints("lower_1", load_map("walker"))
drive = BusDrive(Bus(VirtualPort(EmulatedChain(servos)), Timeouts(link_latency=1e-4)), joints, 0.3, 10.0)
window = LegWindow("leg", joints, drive, "walker", "lower_1")
window.show()
assert QTest.qWaitForWindowExposed(window, 30000)
window.activateWindow()
femur = window.sliders["lower_1_femur"]

def is_on():
    return [servo.table["torque_enable"] for servo in servos[:4]]

def until(condition):
    for _ in range(600):
        if condition():
            return
        QTest.qWait(100)
    raise AssertionError(window.state.text())

until(lambda: window.state.text().startswith("torque on: 4"))
for press in (
    lambda: QTest.mousePress(window.stop_button, Qt.LeftButton),
    lambda: QTest.keyClick(femur.number, Qt.Key_Escape),
    lambda: QTest.keyClick(femur.slider, Qt.Key_F12),
    lambda: QTest.keyClick(window, Qt.Key_Escape),
):
    assert is_on() == [1] * 4 and femur.slider.isEnabled()
    femur.number.setFocus()
    press()
    assert is_on() == [0] * 4, window.state.text()  # at once, not at the next beat
    assert not femur.slider.isEnabled()
    until(lambda: window.state.text() == "STOPPED: no torque, read back from 4 servo(s)")
    if len(sys.argv) > 1 and window.pictures >= 1:
        window.grab().save(sys.argv[1])
    servos[2].motor.position += 0.1
    QTest.mouseClick(window.resume_button, Qt.LeftButton)
    assert abs(femur.joint.steps(femur.slider.value() * 0.1 * 3.14159265 / 180.0) - servos[2].motor.steps) <= 1
    until(lambda: is_on() == [1] * 4)
    until(lambda: window.pictures >= 1)
window.close()
assert is_on() == [0] * 4 and not window.failures
window.deleteLater()
app.processEvents()
sys.stdout.write("done\\n")
"""


def test_stop_works_with_mouse_and_keys_in_the_real_window(display, tmp_path):
    environment = dict(os.environ, QT_QPA_PLATFORM="xcb", DISPLAY=display, LIBGL_ALWAYS_SOFTWARE="1")
    shot = tmp_path / "stopped.png"
    done = subprocess.run(
        [sys.executable, "-c", WINDOW, str(shot)],
        env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "done" in done.stdout, done.stderr
    red, green, blue = np.moveaxis(np.asarray(Image.open(shot).convert("RGB")).astype(int), 2, 0)
    assert 8_000 < ((red > 180) & (green < 20) & (blue < 20)).sum() < 40_000  # a large red button


def test_wrong_arguments_are_told_without_a_display():
    for arguments, words in (
        (("upper_1", "--variant", "walker"), "choose --variant full"),
        (("--torque", "3"), "give 0.05 to 1"),
        (("--port", "/dev/nowhere"), "/dev/nowhere"),
    ):
        done = run_leg(*arguments)
        assert done.returncode == 2 and words in done.stderr, done.stderr


def test_the_wrapper_hands_over():
    script = Path(__file__).resolve().parents[3] / "scripts" / "servo"
    if not (script.parents[1] / "devel" / "setup.sh").exists():
        pytest.skip("the workspace is not built")
    done = subprocess.run([str(script), "leg", "--help"], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0 and "slider for each joint of one limb" in done.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--latency-ms", "nan"), "--latency-ms is nan; give 0 to 100"),
        (("--baud", "0"), "--baud is 0; give 7000 to 4500000"),
        ((), "there is no display for the window"),
    ],
)
def test_what_a_window_cannot_be_opened_with_is_refused(words, complaint, monkeypatch, capsys):
    from shellbot_evaluation.leg_view import cli

    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert cli.main(list(words)) == 2
    assert complaint in capsys.readouterr().err
