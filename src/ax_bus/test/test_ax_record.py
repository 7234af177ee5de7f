# SPDX-License-Identifier: MIT
"""What servos say is recorded: on the chain in memory, with full disks and echoes."""

from __future__ import annotations

import csv
import math
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from servo_bench import QUIET, Bench

from ax_bus import AX_12A, MX_28, Bus, Timeouts
from ax_emulator import EmulatedChain, EmulatedServo, Fault, VirtualPort
from ax_tools import record
from ax_tools.errors import ToolError


def test_a_recording_as_csv(tmp_path):
    bench = Bench(ids=(1, 2))
    bench.port.sleep(1000.0)  # the clock of a machine that has been up for long
    bench.faults.add(Fault("dead", servo=2, start=1000.5))
    file = tmp_path / "new" / "log.csv"
    said = record.record(bench.bus, (1, 2), file, rate=10.0, seconds=1.0)
    date, *lines = file.read_text().splitlines()
    recorded = datetime.fromisoformat(date.split()[3].rstrip(","))
    assert date.startswith("# recording started 20")
    assert abs((datetime.now().astimezone() - recorded).total_seconds()) < 60
    rows = list(csv.DictReader(lines))
    assert 0.0 <= float(rows[0]["time_s"]) < 0.01 and 0.9 <= float(rows[-1]["time_s"]) < 1.0
    assert len(rows) == 20 and "10 samples of 2 servo(s)" in said and "5 missed replies" in said
    assert rows[0]["id"] == "1" and float(rows[0]["position_deg"]) == pytest.approx(0.15, abs=0.01)
    assert float(rows[0]["voltage_v"]) == 12.0 and rows[-1]["position_deg"] == ""
    assert [r["time_s"] for r in rows[::2]] == sorted(r["time_s"] for r in rows[::2])


def test_a_recording_is_in_the_units_of_each_model(tmp_path):
    servos = [EmulatedServo(1, position=700, behaviour=QUIET), EmulatedServo(2, MX_28, position=3000, behaviour=QUIET)]
    bus = Bus(VirtualPort(EmulatedChain(servos)), Timeouts(link_latency=1e-4))
    table, arrays = tmp_path / "log.csv", tmp_path / "log.npz"
    record.record(bus, (1, 2), table, seconds=1e-4)
    record.record(bus, (1, 2), arrays, seconds=1e-4)
    rows = list(csv.DictReader(table.read_text().splitlines()[1:]))
    with np.load(arrays) as data:
        for i, model in enumerate((AX_12A, MX_28)):
            position = servos[i].motor.steps * model.rad_per_step
            assert data["position"][0, i] == pytest.approx(position)
            assert float(rows[i]["position_deg"]) == pytest.approx(math.degrees(position - model.centre), abs=0.1)


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


def test_a_full_disk_ends_a_csv_in_words_that_say_what_is_saved(tmp_path):
    bench = Bench(ids=(1, 2))
    samples = []

    def fill(duration, sleep=bench.port.sleep):
        samples.append(duration)
        sleep(duration)
        if len(samples) == 3:
            file.stream_is_full()

    class Full(record.CsvFile):
        def stream_is_full(self):
            self._stream.flush()
            self._stream = open("/dev/full", "w", newline="")  # noqa: SIM115 - closed by CsvFile
            self._writer = csv.writer(self._stream)

    bench.port.sleep = fill
    path = tmp_path / "log.csv"
    file = None

    def make(*arguments):
        nonlocal file
        file = Full(*arguments)
        return file

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "CsvFile", make)
        with pytest.raises(ToolError, match=r"log.csv cannot be written \(No space left.*first 3 samples are in it"):
            record.record(bench.bus, (1, 2), path, rate=10.0, seconds=2.0)
    assert len(path.read_text().splitlines()) == 2 + 3 * 2


def test_a_disk_that_is_full_from_the_start_is_known_before_the_recording(tmp_path):
    path = tmp_path / "log.csv"
    path.symlink_to("/dev/full")
    bench = Bench(ids=(1,))
    with pytest.raises(ToolError, match=r"log.csv cannot be written \(No space left on device\); give another --out"):
        record.record(bench.bus, (1,), path, seconds=1.0)
    assert bench.counts.exchanges == 0


def test_arrays_that_do_not_fit_are_rescued_to_another_folder(tmp_path, monkeypatch):
    full = tmp_path / "full"
    full.mkdir()
    (full / "log.npz.part").symlink_to("/dev/full")
    (tmp_path / "spare").mkdir()
    monkeypatch.setattr(record.tempfile, "gettempdir", lambda: str(tmp_path / "spare"))
    bench = Bench(ids=(1,))
    with pytest.raises(ToolError, match="log.npz cannot be written.*all 10 samples are in .*spare.* instead") as end:
        record.record(bench.bus, (1,), full / "log.npz", rate=10.0, seconds=1.0)
    with np.load(Path(str(end.value).split(" are in ")[1].split(" instead")[0])) as data:
        assert data["position"].shape == (10, 1)
    assert not (full / "log.npz.part").exists()


def test_nothing_saved_is_said_too(tmp_path, monkeypatch):
    (tmp_path / "log.npz.part").symlink_to("/dev/full")
    monkeypatch.setattr(record.tempfile, "gettempdir", lambda: str(tmp_path / "none"))
    with pytest.raises(ToolError, match="nothing was saved, .*none.* cannot be written .* free some space"):
        record.record(Bench(ids=(1,)).bus, (1,), tmp_path / "log.npz", rate=10.0, seconds=1.0)


def test_an_echo_that_begins_during_a_recording_is_said_in_words(tmp_path):
    bench = Bench(ids=(1,))
    bench.fault("echo", after=2.0)
    lines = []
    summary = record.record(bench.bus, (1,), tmp_path / "log.csv", rate=10.0, seconds=5.0, report=lines.append)
    assert not any("echo" in line for line in lines[:2])
    words = next(line for line in lines if "echo" in line)
    assert "what is sent comes back" in words and "--direction echo" in words
    begin = float(words.split("from ")[1].split(" s")[0])
    assert 1.9 < begin <= 3.1 and "what is sent comes back" in summary and "0 missed replies" in summary
