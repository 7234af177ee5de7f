# SPDX-License-Identifier: MIT
"""The live table: what it shows, that it fits, and that the terminal is left as it was."""

from __future__ import annotations

import fcntl
import itertools
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest
from emulated_pty import PATIENT_MS, emulated
from servo_bench import Bench

from ax_tools.monitor import Monitor, layout


def test_a_line_has_steps_degrees_errors_and_age():
    bench = Bench(ids=(1, 2))
    monitor = Monitor(bench.bus, (1, 2, 9))
    bench.fault("voltage", servo=2, value=5.5)
    bench.port.sleep(0.01)
    lines = layout(monitor.read(), monitor.footer(), 100, 24)
    assert lines[0].split() == ["id", "step", "deg", "deg/s", "load", "V", "C", "age", "s", "errors"]
    assert lines[1].split() == ["1", "512", "0.1", "0", "0", "12.0", "25", "0.0", "-"]
    assert lines[2].split() == ["2", "512", "0.1", "0", "0", "5.5", "25", "0.0", "input_voltage"]
    assert "does not answer" in lines[3] and "4 replies" in lines[4]
    bench.fault("dead", servo=1)
    bench.port.sleep(2.0)
    assert layout(monitor.read(), (), 100, 24)[1].split()[7] == "2.0"
    assert layout(monitor.read(), (), 60, 24)[1].split()[-2:] == ["2.0s", "ago"]
    assert [line.split()[-1] for line in layout(monitor.read(), (), 60, 24)[2:]] == ["voltage", "silent"]


@pytest.mark.parametrize("count", [1, 19, 31])
def test_the_table_fits_whatever_the_terminal(count):
    bench = Bench(ids=range(count))
    monitor = Monitor(bench.bus, range(count))
    rows, footer = monitor.read(), monitor.footer()
    for width, height in itertools.product([12, 20, 40, 60, 79, 80, 120, 200], [4, 10, 24, 50]):
        lines = layout(rows, footer, width, height)
        assert len(lines) <= height and all(len(line) <= width for line in lines), (width, height)
        text = "\n".join(lines)
        missing = re.search(r"(\d+) more", text)
        assert missing or len(re.findall(r"\b512\b", text)) == count, (width, height)
        if (width, height) in ((80, 24), (120, 50)):
            assert not missing and "12.0" in text


def test_31_servos_fit_80_by_24_with_all_that_matters():
    bench = Bench(ids=range(31))
    monitor = Monitor(bench.bus, range(31))
    lines = layout(monitor.read(), monitor.footer(), 80, 24)
    assert lines[0].split() == ["id", "step", "deg", "load", "V", "C"] * 2 and len(lines) < 24
    assert lines[1].split() == ["0", "512", "0.1", "0", "12.0", "25", "ok", "16", "512", "0.1", "0", "12.0", "25", "ok"]


def test_an_echo_that_begins_is_said_in_words():
    bench = Bench(ids=(1,))
    monitor = Monitor(bench.bus, (1,))
    monitor.read()
    assert len(monitor.footer()) == 1
    bench.fault("echo", stop=bench.port.now() + 1.0)
    bench.port.sleep(0.1)
    monitor.read()
    assert "what is sent comes back" in monitor.footer()[0]
    assert all(len(line) <= 80 for line in layout(monitor.read(), monitor.footer(), 80, 24))
    bench.port.sleep(10.0)
    monitor.read()
    assert len(monitor.footer()) == 1  # over


def size(fd, columns, lines):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("4H", lines, columns, 0, 0))


def read_until(fd, done, limit=60.0):
    text, end = "", time.monotonic() + limit
    while not done(text):
        assert time.monotonic() < end, text
        if select.select([fd], [], [], 0.2)[0]:
            try:
                text += os.read(fd, 65536).decode()
            except OSError:  # the other end is closed
                break
    return text


def test_a_real_terminal_is_redrawn_when_resized_and_left_clean():
    master, slave = os.openpty()
    size(slave, 80, 24)
    with emulated("--ids", "0-30") as port:
        command = [sys.executable, "-m", "ax_tools.cli", "monitor", "0-30", "--rate", "0.1", "--port", port]
        process = subprocess.Popen(
            [*command, "--latency-ms", PATIENT_MS], stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        try:
            text = read_until(master, lambda text: "replies" in text)
            assert text.startswith("\x1b[?1049h\x1b[?25l") and text.count("\r\n") == 17
            size(slave, 40, 40)  # no signal reaches it here: it looks
            again = read_until(master, lambda text: "replies" in text)
            assert again.count("\r\n") >= 31
            # from what was read before, not at the next reading 10 s later
            assert re.findall(r"\d+ replies", again) == re.findall(r"\d+ replies", text)
            process.send_signal(signal.SIGINT)
            os.close(slave)
            slave = -1
            text = read_until(master, lambda text: False)
            assert text.endswith("\x1b[?25h\x1b[?1049l") and process.wait(60) == 130
        finally:
            process.kill()
            process.wait()
            os.close(master)
            if slave >= 0:
                os.close(slave)
