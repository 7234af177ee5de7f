# SPDX-License-Identifier: MIT
"""Servos from the box are set up and verified, and what they say is recorded; on the chain in memory."""

from __future__ import annotations

import csv
import math
from datetime import datetime

import numpy as np
import pytest
from servo_bench import QUIET, Bench

from ax_bus import Bus, Timeouts
from ax_emulator import EmulatedChain, EmulatedServo, Fault, VirtualPort
from ax_tools import record
from ax_tools.errors import ToolError
from shellbot_motor_driver import ServoMap
from shellbot_motor_driver.tools import cli, prepare


class Box:
    """The walker's servos with the factory's EEPROM but for their IDs."""

    def __init__(self):
        self.map = ServoMap.load("walker")
        servos = [EmulatedServo(e.servo_id, e.model, behaviour=QUIET) for e in self.map.entries]
        self.chain = EmulatedChain(servos)
        self.port = VirtualPort(self.chain)
        self.bus = Bus(self.port, Timeouts(link_latency=1e-4))

    def plan(self, **how):
        return prepare.plan(self.bus, self.map, self.map.entries, prepare.Preparation(**how))


def test_from_the_box_to_the_robot_and_a_second_time_nothing():
    box = Box()
    before = [servo.table.as_dict() for servo in box.chain.servos]
    changes = box.plan()
    assert [servo.table.as_dict() for servo in box.chain.servos] == before  # a plan writes nothing
    lines = []
    written = prepare.carry_out(box.bus, box.map, changes, lines.append)
    assert len(lines) == len(changes) == 19 * 5 and written == sum(c.is_needed for c in changes) > 19 * 2
    limits = box.map.limits_steps()
    for servo in box.chain.servos:
        table = servo.table
        assert (table["cw_angle_limit"], table["ccw_angle_limit"]) == limits[servo.servo_id]
        assert table["return_delay_time"] == 0 and table["status_return_level"] == 2 and table["lock"] == 1
    assert any("servo   0 lower_1_fan" in t and f"-> {limits[0][0]} " in t and "written, read back" in t for t in lines)
    again = box.plan()
    assert prepare.carry_out(box.bus, box.map, again, lines.append) == 0


def test_a_locked_servo_is_named_and_nothing_is_written():
    box = Box()
    box.chain.servo(7).table["lock"] = 1
    with pytest.raises(ToolError, match=r"servo 7 \(lower_3_coxa\) is locked.*power off"):
        box.plan()
    assert box.chain.servo(1).table["return_delay_time"] == 250


def test_missing_and_foreign_servos_are_named():
    box = Box()
    box.chain.servo(4).is_dead = True
    with pytest.raises(ToolError, match="servo 4 .* does not answer, nothing is changed"):
        box.plan()
    box.chain.servo(4).is_dead = False
    box.chain.servo(2).table["model_number"] = 12
    with pytest.raises(ToolError, match="servo 2 .* is AX-12A, the servo map wants AX-18A"):
        box.plan()


def test_a_register_that_does_not_stay_written_ends_it():
    box = Box()
    changes = box.plan()
    box.chain.servo(3).table["lock"] = 1  # meanwhile: refuses from here on
    lines = []
    with pytest.raises(ToolError, match="register.* were written before"):
        prepare.carry_out(box.bus, box.map, changes, lines.append)
    assert 0 < len(lines) < len(changes)


@pytest.mark.parametrize("how", [{"return_delay": 255}, {"status_level": 0}])
def test_senseless_set_ups_are_refused(how):
    with pytest.raises(ToolError, match="give"):
        prepare.Preparation(**how)


def test_an_id_that_the_map_lacks_is_refused(capsys, monkeypatch):
    box = Box()
    arguments = cli.parser().parse_args(["prepare", "--port", "x", "--ids", "3,77"])
    with pytest.raises(ToolError, match="has no ID 77"):
        cli._prepare(box.bus, arguments)
    arguments = cli.parser().parse_args(["prepare", "--port", "x", "--ids", "3"])
    assert cli._prepare(box.bus, arguments) == 0
    said = capsys.readouterr().out
    assert "servo   3 lower_1_tibia" in said and "add --go" in said and "servo   4" not in said
    assert box.chain.servo(3).table["return_delay_time"] == 250


def test_a_recording_as_csv(tmp_path):
    bench = Bench(ids=(1, 2))
    bench.port.sleep(1000.0)  # the clock of a machine that has been up for long
    bench.faults.add(Fault("dead", servo=2, start=1000.5))
    file = tmp_path / "new" / "log.csv"
    said = record.record(bench.bus, (1, 2), file, rate=10.0, seconds=1.0)
    date, *lines = file.read_text().splitlines()
    recorded = datetime.fromisoformat(date.split()[3])
    assert date.startswith("# recorded from 20") and abs((datetime.now().astimezone() - recorded).total_seconds()) < 60
    rows = list(csv.DictReader(lines))
    assert 0.0 <= float(rows[0]["time_s"]) < 0.01 and 0.9 <= float(rows[-1]["time_s"]) < 1.0
    assert len(rows) == 20 and "10 samples of 2 servo(s)" in said and "5 missed replies" in said
    assert rows[0]["id"] == "1" and float(rows[0]["position_deg"]) == pytest.approx(0.15, abs=0.01)
    assert float(rows[0]["voltage_v"]) == 12.0 and rows[-1]["position_deg"] == ""
    assert [r["time_s"] for r in rows[::2]] == sorted(r["time_s"] for r in rows[::2])


def test_a_recording_as_arrays_survives_ctrl_c(tmp_path):
    bench = Bench(ids=(1, 2))
    samples = []

    def interrupt(duration, sleep=bench.port.sleep):
        samples.append(duration)
        if len(samples) == 5:
            raise KeyboardInterrupt
        sleep(duration)

    bench.port.sleep(1000.0)
    bench.port.sleep = interrupt
    bench.servo(2).is_dead = True
    file = tmp_path / "log.npz"
    record.record(bench.bus, (1, 2), file, rate=50.0)
    with np.load(file) as data:
        assert data["ids"].tolist() == [1, 2] and data["time"].shape == (5,)
        assert data["position"].shape == data["flags"].shape == (5, 2)
        assert data["position"][:, 0] == pytest.approx(math.radians(512 * 300 / 1023))
        assert np.isnan(data["voltage"][:, 1]).all() and (data["voltage"][:, 0] == 12.0).all()
        assert np.diff(data["time"]).min() > 0.015 and 0.0 <= data["time"][0] < 0.015
        assert datetime.fromisoformat(str(data["date"])).tzinfo is not None


@pytest.mark.parametrize(
    "change, words",
    [({"path": "log.txt"}, "ends in .csv or .npz"), ({"rate": 0.0}, "give 0.1 to 200"),
     ({"seconds": 0.0}, "give a time"), ({"path": "/proc/none/log.csv"}, "cannot be written")],
)  # fmt: skip
def test_recordings_that_cannot_be_are_refused_first(tmp_path, change, words):
    bench = Bench()
    arguments = {"path": tmp_path / "log.csv", **change}
    path = tmp_path / arguments.pop("path")
    with pytest.raises(ToolError, match=words):
        record.record(bench.bus, (1,), path, **arguments)
