# SPDX-License-Identifier: MIT
"""The guided calibration: what it asks and makes of it, the file it writes, and the program at a real terminal."""

from __future__ import annotations

import contextlib
import math
import os
import queue
import re
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from dataclasses import replace

import pytest
import yaml
from emulated_pty import PATIENT_MS

from ax_bus.registers import RAD_PER_STEP
from ax_emulator import EmulatedChain, PtyServer
from ax_tools.errors import ToolError
from shellbot_description import load_variables
from shellbot_motor_driver import ServoMap, ServoMapError
from shellbot_motor_driver.emulated_servos import shellbot_servos
from shellbot_motor_driver.map.shellbot import config_file
from shellbot_motor_driver.tools import map_file
from shellbot_motor_driver.tools.calibration import POSES, Calibration, evaluate, steady

MAP = ServoMap.load("walker")
COXA, FEMUR, FAN = MAP.entries[1], MAP.entries[2], MAP.entries[0]


def limits(kind):
    row = load_variables().limits(kind)
    return row.lower, row.upper


def test_sign_zero_and_range_come_from_three_positions():
    result = evaluate(COXA, limits("coxa"), 500, 100, 900)
    assert result.row == {"id": 1, "zero": 500, "sign": 1, "range_deg": [-116.3, 116.3]} and not result.remark
    turned = evaluate(COXA, limits("coxa"), 500, 900, 100)
    assert turned.row == {"id": 1, "zero": 500, "sign": -1, "range_deg": [-116.3, 116.3]}
    fan = evaluate(FAN, limits("fan"), 925, 70, 930)  # gear 2, and zero nearly at its end
    assert fan.row["sign"] == 1 and fan.row["range_deg"] == [pytest.approx(-124.4, abs=0.1), 0.0]


def test_a_range_short_of_the_limits_is_looked_at_before_it_is_kept():
    result = evaluate(FEMUR, limits("femur"), 498, 160, 850)
    assert "it reaches -99 to 103 degrees, the description has -149 to 149" in result.remark
    rows = map_file.rows(config_file().read_text())
    with pytest.raises(ServoMapError, match="the servo has 0 to 1023"):  # this zero alone leaves no room ...
        ServoMap.from_rows("walker", {**rows, FEMUR.joint: {"id": 2, "zero": 498, "sign": 1}})
    measured = ServoMap.from_rows("walker", {**rows, FEMUR.joint: result.row})  # ... but the range that is there has it
    low, high = measured.limits_steps()[2]
    assert 160 < low < 166 and 844 < high < 850


@pytest.mark.parametrize(
    "positions, words",
    [((500, 490, 510), "only 20 steps"), ((950, 100, 900), "not between the ends"), ((50, 100, 900), "not between")],
)
def test_positions_that_cannot_be_are_refused(positions, words):
    with pytest.raises(ToolError, match=words):
        evaluate(COXA, limits("coxa"), *positions)


def test_every_class_of_joint_has_its_poses():
    assert set(POSES) == {entry.joint.rsplit("_", 1)[1] for entry in ServoMap.load("full").entries}


def start(*entries):
    return Calibration(entries, {entry.joint: limits(entry.joint.rsplit("_", 1)[1]) for entry in entries})


def test_the_questions_follow_the_answers():
    now = start(COXA, FEMUR)
    assert now.question == "ZERO POSE: the leg straight out from its arm"
    now = now.record(500)
    assert now.question.startswith("LOWER END") and now.back().question.startswith("ZERO POSE")
    now = now.record(100)
    assert now.question.startswith("UPPER END") and now.back().question.startswith("LOWER END")
    now = now.record(900)
    assert now.entry is FEMUR and [r.joint for r in now.results] == [COXA.joint] and "zero 500" in now.message
    assert now.back().entry is COXA and now.back().results  # what is saved stays until it is measured again
    now = now.record(500).record(160).record(850)
    assert "LOOK: it reaches" in now.question and not now.is_over
    assert now.back().question.startswith("UPPER END") and now.back().pending is None
    assert now.record(0).is_over and len(now.record(0).results) == 2
    assert now.skip().is_over and len(now.skip().results) == 1


def test_a_wrong_motion_starts_the_joint_again():
    now = start(COXA).record(500).record(500).record(502)
    assert now.question.startswith("ZERO POSE") and "only 2 steps" in now.message and not now.results


def test_a_joint_that_moves_is_not_recorded():
    assert steady([500, 501, 502, 501, 500]) == 501
    with pytest.raises(ToolError, match="still moves .480 to 520"):
        steady([480, 490, 500, 510, 520])


TEXT = """# my robot
servos:
  # the fan
  lower_1_fan: {id: 0, zero: 922, sign: 1}  # new gear
  lower_1_coxa:   # in a block
    id: 1
    zero: 511.5
    sign: 1
  # the knee
  lower_1_femur: {id: 2, zero: 511.5, sign: 1, range_deg: [-90.0, 90.0]}
"""


def test_rows_are_replaced_and_everything_else_stays():
    row = {"id": 0, "zero": 925, "sign": -1, "range_deg": [-120.0, 2.0]}
    text = map_file.with_row(TEXT, "lower_1_fan", row)
    assert text.splitlines()[3] == ("  lower_1_fan: {id: 0, zero: 925, sign: -1, range_deg: [-120.0, 2.0]}  # new gear")
    assert [a for a, b in zip(TEXT.splitlines(), text.splitlines()) if a != b] == [TEXT.splitlines()[3]]
    text = map_file.with_row(TEXT, "lower_1_coxa", {**row, "id": 1})
    assert yaml.safe_load(text)["servos"]["lower_1_coxa"]["zero"] == 925
    for comment in ("# my robot", "# the fan", "# new gear", "# in a block", "# the knee"):
        assert comment in text
    with pytest.raises(ToolError, match="no row lower_9_coxa"):
        map_file.with_row(TEXT, "lower_9_coxa", row)


def test_a_map_that_would_not_be_taken_or_does_not_fit_the_disk_is_not_written(tmp_path):
    text = config_file().read_text()
    path = tmp_path / "servos.yaml"
    map_file.save(path, text, "walker")
    (tmp_path / "link.yaml").symlink_to(path)
    map_file.save(tmp_path / "link.yaml", text + "# end\n", "walker")
    assert (tmp_path / "link.yaml").is_symlink() and path.read_text().endswith("# end\n")
    with pytest.raises(ToolError, match="as it was before"):
        map_file.save(path, text.replace("id: 1,", "id: 0,"), "walker")
    (tmp_path / "servos.yaml.part").symlink_to("/dev/full")
    with pytest.raises(ToolError, match="No space left on device.*as it was before"):
        map_file.save(path, text, "walker")
    assert path.read_text().endswith("# end\n") and not (tmp_path / "servos.yaml.part").exists()


@pytest.mark.parametrize(
    "measured", ["wide", [1.0], [10.0, 20.0], [0, 0], [-400.0, 0.0], [True, 1.0], [-1.0, float("nan")]]
)
def test_ranges_that_cannot_be_are_refused(measured):
    rows = map_file.rows(config_file().read_text())
    with pytest.raises(ServoMapError, match="range_deg"):
        ServoMap.from_rows(
            "walker", {**rows, "lower_1_coxa": {"id": 1, "zero": 511.5, "sign": 1, "range_deg": measured}}
        )


def test_a_measured_range_narrows_the_limits_and_never_widens_them():
    rows = map_file.rows(config_file().read_text())
    row = {"id": 1, "zero": 511.5, "sign": 1, "range_deg": [-50.0, 140.0]}
    entry = ServoMap.from_rows("walker", {**rows, "lower_1_coxa": row}).entries[1]
    assert entry.lower == pytest.approx(math.radians(-50.0)) and entry.upper == limits("coxa")[1]


class Workbench:
    """Servos behind a pty in this process; their horns can be moved by hand."""

    def __init__(self):
        self.servos = {servo.servo_id: servo for servo in shellbot_servos("walker")}
        for servo in self.servos.values():
            servo.table["torque_enable"] = 1
        self.server = PtyServer(EmulatedChain(self.servos.values()), precise=False)
        self._hands = queue.Queue()
        self._is_over = False
        self._thread = threading.Thread(target=self.server.run, args=(self._between,), daemon=True)
        self._thread.start()

    def _between(self):
        """Move horns in the thread of the chain; asked at every turn of its loop."""
        with contextlib.suppress(queue.Empty):
            while True:
                servo_id, steps, done = self._hands.get_nowait()
                self.servos[servo_id].motor.position = steps * RAD_PER_STEP
                done.set()
        return self._is_over

    def turn(self, servo_id, steps):
        done = threading.Event()
        self._hands.put((servo_id, steps, done))
        assert done.wait(60.0)

    def close(self):
        self._is_over = True
        self._thread.join(60.0)
        self.server.close()


class Person:
    """The program at a terminal, its keys and its screen."""

    def __init__(self, port, *options):
        self.fd, slave = os.openpty()
        self.before = termios.tcgetattr(slave)
        command = [sys.executable, "-m", "shellbot_motor_driver.tools.cli", "calibrate", "--port", port]
        self.process = subprocess.Popen(
            [*command, "--latency-ms", PATIENT_MS, *map(str, options)],
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        )  # fmt: skip
        self.slave = slave
        self.screen = ""

    def see(self, words):
        """Wait until words are on the screen, and forget everything up to them."""
        end = time.monotonic() + 60.0
        while True:
            match = re.search(words, self.screen)
            if match:
                self.screen = self.screen[match.end() :]
                return match.group()
            assert time.monotonic() < end, f"{words!r} is not on the screen: {self.screen[-1500:]}"
            if select.select([self.fd], [], [], 0.2)[0]:
                self.screen += os.read(self.fd, 65536).decode().replace("\r\n", "\n")

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        """Return the exit status; the terminal is as it was."""
        code = self.process.wait(60.0)
        assert termios.tcgetattr(self.slave) == self.before
        return code

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.fd)
        os.close(self.slave)


@pytest.fixture
def bench():
    workbench = Workbench()
    yield workbench
    workbench.close()


@contextlib.contextmanager
def person(port, *options):
    somebody = Person(port, *options)
    try:
        yield somebody
    finally:
        somebody.close()


def measure(bench, somebody, servo_id, zero, lower, upper):
    for pose, steps in (("ZERO POSE", zero), ("LOWER END", lower), ("UPPER END", upper)):
        somebody.see(rf"servo {servo_id}\n  {pose}")
        bench.turn(servo_id, steps)
        somebody.see(rf"\b{steps} steps")
        somebody.type("\n")


def test_a_person_calibrates_at_a_terminal_stops_and_goes_on(bench, tmp_path):
    out = tmp_path / "servos.yaml"
    out.write_text("# the robot in the lab\n" + config_file().read_text(), encoding="utf-8")
    options = ("--ids", "0-3", "--out", out)
    with person(bench.server.name, *options) as somebody:
        somebody.see("torque of 4 servo.s. goes off: support the robot")
        assert bench.servos[2].table["torque_enable"] == 1  # not before somebody is ready
        somebody.type("\n")
        measure(bench, somebody, 0, 925, 70, 945)
        somebody.see("lower_1_fan: zero 925, sign .1")
        assert not any(bench.servos[i].table["torque_enable"] for i in range(4))
        assert all(bench.servos[i].table["torque_enable"] for i in range(4, 19))  # the others hold on
        measure(bench, somebody, 1, 505, 900, 110)  # the other way round
        somebody.see("lower_1_coxa: zero 505, sign -1")
        somebody.see("lower_1_femur, servo 2\n  ZERO POSE")
        somebody.type("\n")
        somebody.see("LOWER END")
        somebody.type("q")
        somebody.see(r"2 joint.s. calibrated, saved in .*\nnot calibrated: lower_1_femur, lower_1_tibia")
        assert somebody.end() == 1
    half = ServoMap.load("walker", out)
    assert (half.entries[1].zero, half.entries[1].sign, half.entries[2].zero) == (505, -1, 511.5)
    with person(bench.server.name, *options) as somebody:
        somebody.see("2 of 4 joints are calibrated already")
        somebody.see("Enter begins")
        somebody.type("\n")
        measure(bench, somebody, 2, 498, 160, 850)
        somebody.see("LOOK: it reaches -99 to 103 degrees")
        somebody.type("b")  # measure the upper end again
        somebody.see("UPPER END")
        bench.turn(2, 860)
        somebody.see(r"\b860 steps")
        somebody.type("\n")
        somebody.see("LOOK: it reaches -99 to 106 degrees")
        somebody.type("\n")
        somebody.see("lower_1_tibia, servo 3")
        somebody.type("s")
        somebody.see("lower_1_tibia is left as it is")
        assert somebody.end() == 1
    text = out.read_text(encoding="utf-8")
    assert text.startswith("# the robot in the lab\n") and "# Zeros and signs are those" in text
    done = ServoMap.load("walker", out)  # the round trip: what was measured is what the driver will use
    fan, coxa, femur, tibia = done.entries[:4]
    assert (fan.zero, fan.sign, coxa.zero, coxa.sign, femur.zero, femur.sign) == (925, 1, 505, -1, 498, 1)
    assert tibia == MAP.entries[3] and done.entries[4:] == MAP.entries[4:]
    assert math.degrees(femur.upper) == pytest.approx((860 - 498) * 300.0 / 1023.0 - 1.0, abs=0.1)
    assert replace(coxa, zero=511.5, sign=1) == MAP.entries[1]  # it reaches its limits: they stay the description's


def test_a_servo_that_moves_or_is_silent_is_not_recorded(bench, tmp_path):
    with person(bench.server.name, "--ids", "1", "--out", tmp_path / "servos.yaml") as somebody:
        bench.servos[1].is_dead = True
        somebody.see("Enter begins")
        somebody.type("\n")
        somebody.see("servo 1: torque off is not confirmed")
        somebody.see("servo 1 does not answer")
        somebody.type("\n")
        somebody.see("servo 1 gave no valid answer")
        bench.servos[1].is_dead = False
        somebody.see("512 steps")
        somebody.type("\n")
        somebody.see("servo 1 had torque; it is off now")
        somebody.see("512 steps")
        somebody.type("\n")
        somebody.see("LOWER END")
        somebody.process.send_signal(signal.SIGINT)
        somebody.see("0 joint.s. calibrated")
        assert somebody.end() == 1


def test_without_a_terminal_it_is_refused(bench):
    command = [sys.executable, "-m", "shellbot_motor_driver.tools.cli", "calibrate", "--port", bench.server.name]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600, check=False)
    assert done.returncode == 1 and "needs a person at a terminal" in done.stderr
