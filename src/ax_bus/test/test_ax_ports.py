# SPDX-License-Identifier: MIT
"""Ports and direction controls on real file descriptors; the line as a pty lets it be tested."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import subprocess
import sys
import termios
import threading
import time

import pytest
from emulated_pty import PATIENT_MS, emulated

from ax_bus import (
    DIRECTIONS,
    Bus,
    PortError,
    PortLostError,
    ReadsNotTrustedError,
    SerialPort,
    Timeouts,
    direction,
    protocol,
)
from ax_bus.direction import AutoDirection, GpioDirection, RtsDirection, WriteOnly
from ax_bus.direction_lines import TransmitterEmpty
from ax_bus.errors import PortMissingError
from ax_bus.wire_time import bytes_time
from ax_emulator import EmulatedChain, Fault, FaultInjector, PtyServer, equal_servos
from ax_emulator.errors import EmulationError

PATIENT = Timeouts(link_latency=float(PATIENT_MS) * 1e-3)


@pytest.fixture
def pair():
    master, slave = os.openpty()
    yield master, os.ttyname(slave)
    for fd in (master, slave):
        os.close(fd)


def test_bytes_go_and_come_as_they_are(pair):
    master, name = pair
    every = bytes(range(256))
    with SerialPort(name) as port:
        port.write(every)
        assert os.read(master, 512) == every
        os.write(master, every)
        got = b""
        while len(got) < 256:
            got += port.read(1.0)
        assert got == every
        assert port.read(0.0) == b""
        before = port.now()
        assert port.read(0.02) == b"" and port.now() - before >= 0.019
        assert port.latency_timer_ms() is None
    port.close()


@pytest.mark.parametrize("baud", [1_000_000, 500_000, 400_000, 250_000, 200_000, 115_200, 57_600, 19_200, 9_600])
def test_every_rate_of_the_servos_can_be_set(pair, baud):
    with SerialPort(pair[1]) as port:
        port.set_baud(baud)
        assert port.baud == baud
        # what the other end of the pty sees: the emulated chain goes by it
        assert struct.unpack("4I20B2I", fcntl.ioctl(pair[0], 0x802C542A, bytes(44)))[-1] == baud


def test_a_port_that_does_not_open_says_why(pair, tmp_path):
    with pytest.raises(PortMissingError, match="does not exist; "):
        SerialPort(str(tmp_path / "ttyUSB9"))
    with SerialPort(pair[1]), pytest.raises(PortError, match="in use by"):
        SerialPort(pair[1])
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    with pytest.raises(PortError, match="is it a serial port"):
        SerialPort(str(file))


def is_exclusive(master):
    return bool(struct.unpack("i", fcntl.ioctl(master, 0x80045440, bytes(4)))[0])  # TIOCGEXCL


def test_the_kernel_keeps_out_programs_that_ask_for_no_lock(pair):
    """flock is advisory: `cat` or another library would open the port all the same."""
    slave = os.open(pair[1], os.O_RDWR | os.O_NOCTTY)  # keeps the terminal alive between the ports, as an emulator does
    os.chmod(pair[1], 0o666)
    script = (
        "import os, sys; os.setuid(65534) if os.getuid() == 0 else 0; os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)"
    )
    opens = lambda: subprocess.run([sys.executable, "-c", script, pair[1]], capture_output=True, text=True, timeout=600)  # noqa: E731
    with SerialPort(pair[1]) as port:
        assert is_exclusive(slave)
        assert "Device or resource busy" in opens().stderr
        port.reopen()
        assert is_exclusive(slave)
    assert not is_exclusive(slave) and opens().returncode == 0
    os.close(slave)


def test_a_busy_port_names_its_user(pair, monkeypatch):
    with SerialPort(pair[1]), pytest.raises(PortError, match=rf"in use by .*\(process {os.getpid()}\).*; stop it"):
        SerialPort(pair[1])

    def refuse(path, *_):
        raise OSError(errno.EBUSY, "Device or resource busy", path)

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr("ax_bus.serial_port.Path.glob", lambda *_: [])
    with pytest.raises(PortError, match="in use by another program .sudo fuser -v"):
        SerialPort(pair[1])


def test_a_killed_program_does_not_keep_an_emulated_port_closed():
    """The emulator has the slave open, so that the kernel never sees its last user go."""
    with emulated("--ids", "1") as name:
        fd = os.open(name, os.O_RDWR | os.O_NOCTTY)
        fcntl.ioctl(fd, termios.TIOCEXCL)
        deadline = time.monotonic() + 60.0
        while is_exclusive(fd) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not is_exclusive(fd)
        os.close(fd)


def test_a_port_without_permission_says_which_group(pair, monkeypatch):
    """Root may open everything: the refusal is the kernel's, at the call where it comes."""

    def refuse(path, *_):
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PortError, match="dialout"):
        SerialPort(pair[1])


def test_a_port_that_hangs_up_is_lost(tmp_path):
    master, slave = os.openpty()
    name = tmp_path / "port"  # as udev links it; the bare name may be another program's as soon as it is free
    name.symlink_to(os.ttyname(slave))
    port = SerialPort(str(name))
    name.unlink()
    os.close(slave)
    os.close(master)
    with pytest.raises(PortLostError, match="plug it in again"):
        port.read(0.1)
    with pytest.raises(PortLostError):
        port.write(b"\x00")
    with pytest.raises(PortError):
        port.reopen()
    port.close()


def test_a_port_that_takes_no_bytes_is_reported(pair):
    with SerialPort(pair[1]) as port, pytest.raises(PortError, match="accepts no more bytes"):
        for _ in range(10_000):  # nobody reads the other end
            port.write(bytes(142))


def test_an_emulated_chain_outlives_a_program_that_never_reads():
    with emulated("--ids", "1") as name:
        with SerialPort(name) as port:
            for _ in range(1500):  # 84 kB of answers, more than the kernel keeps
                port.write(protocol.read(1, 0, 50))
                port.sleep(0.8e-3)
        with SerialPort(name) as port:
            bus = Bus(port, PATIENT, retries=400)  # a minute: on a busy machine it is still answering those
            assert bus.ping(1)


def test_kinds_are_choices_and_say_what_they_promise():
    assert set(DIRECTIONS) == {"auto", "rs485", "echo", "gpio", "rts", "write-only"}
    trusted = {name for name in DIRECTIONS if direction(name).reads_trusted}
    assert trusted == {"auto", "rs485", "echo", "gpio"}
    assert [name for name in DIRECTIONS if direction(name).echoes] == ["echo"]
    assert not GpioDirection(is_usb=True).reads_trusted
    assert all(direction(name).advice for name in DIRECTIONS)
    with pytest.raises(PortError, match="choose from auto"):
        direction("sleep")
    with pytest.raises(PortError, match="does not take"):
        direction("auto", line=3)


def test_kernel_rs485_says_when_the_port_has_none(pair):
    with pytest.raises(PortError, match="no kernel RS-485.*'auto'"):
        SerialPort(pair[1], direction=direction("rs485"))
    SerialPort(pair[1]).close()  # and leaves it free


def test_gpio_without_libgpiod_says_what_to_install(pair, monkeypatch):
    monkeypatch.setitem(sys.modules, "gpiod", None)
    with pytest.raises(PortError, match="python3-libgpiod"):
        SerialPort(pair[1], direction=direction("gpio"))


class Recorder:
    """A gpiod of the 1.x kind that keeps what the line did and when."""

    LINE_REQ_DIR_OUT = 3

    def __init__(self):
        self.log = []

    def Chip(self, name):  # noqa: N802 - gpiod's name
        if name != "/dev/gpiochip7":
            raise OSError(2, "No such file or directory")
        return self

    def get_line(self, offset):
        self.log.append(("line", offset))
        return self

    def request(self, **_):
        pass

    def set_value(self, value):
        self.log.append((value, time.monotonic()))

    def release(self):
        self.log.append(("released", None))


def test_gpio_holds_the_line_for_the_wire_time_and_no_longer(pair, monkeypatch):
    """This checks the order and the minimum; the maximum is the machine's affair."""
    recorder = Recorder()
    monkeypatch.setitem(sys.modules, "gpiod", recorder)
    with SerialPort(pair[1], 9_600, direction("gpio", chip="/dev/gpiochip7", line=12)) as port:
        port.write(bytes(8))
        states = [value for value, _ in recorder.log]
        assert states == ["line", 0, 1, 0]
        held = recorder.log[3][1] - recorder.log[2][1]
        assert held >= bytes_time(8, 9_600)
    assert recorder.log[-1][0] == "released"
    with pytest.raises(PortError, match="gpioinfo"):
        SerialPort(pair[1], direction=direction("gpio", chip="/dev/gpiochip9"))


def test_rts_is_raised_while_sending(pair):
    log = []

    class Lines:
        """A serial port whose RTS is watched; a pty has none."""

        rts = property(None, lambda self, value: log.append(value))

        def fileno(self):
            return pair[0]

    rts = RtsDirection()
    rts.prepare(Lines())
    rts.before_write()
    rts.after_write(8, 1_000_000)
    assert log == [False, True, False]


def test_rts_on_a_port_that_has_none_is_refused_in_words(pair):
    with pytest.raises(PortError, match="cannot be turned by 'rts'.*choose another direction control"):
        SerialPort(pair[1], direction=RtsDirection())
    SerialPort(pair[1]).close()  # and leaves it free


@pytest.mark.parametrize("when", ["before_write", "after_write"])
def test_a_line_that_can_no_longer_be_turned_is_a_lost_port(pair, when):
    """So is RTS of an adapter that was unplugged: whoever drives servos opens it again."""

    class Line(RtsDirection):
        def prepare(self, serial):
            pass

        def before_write(self):
            self.turn("before_write")

        def after_write(self, count, baud):
            self.turn("after_write")

        def turn(self, now):
            if now == when:
                raise OSError(errno.EIO, "Input/output error")

        def release(self):
            raise OSError(errno.EIO, "Input/output error")

    with SerialPort(pair[1], direction=Line()) as port:
        with pytest.raises(PortLostError, match="is gone"):
            port.write(b"1")
        port.reopen()


def test_a_transmitter_that_cannot_be_asked_is_given_its_wire_time(pair):
    empty = TransmitterEmpty(pair[0])
    assert not empty.can_query
    start = time.monotonic()
    empty(100, 100_000)
    assert time.monotonic() - start >= 0.01


def test_write_only_writes_and_never_reads(pair):
    master, name = pair
    with SerialPort(name, direction=WriteOnly()) as port:
        bus = Bus(port)
        bus.sync_write(30, {1: b"\x00\x02"})
        assert os.read(master, 99).endswith(b"\x83\x1e\x02\x01\x00\x02\x54")
        with pytest.raises(ReadsNotTrustedError):
            bus.read(1, 36, 2)
    assert AutoDirection().reads_trusted


def test_the_bus_reads_the_emulated_chain_through_a_pty():
    with emulated("--ids", "0-18", "--model", "AX-18A") as name, SerialPort(name) as port:
        bus = Bus(port, PATIENT)
        assert [bus.read(i, 0, 1).data[0] for i in (0, 1, 2, 3)] == [18, 18, 18, 18]
        bus.sync_write(30, {i: (300 + i).to_bytes(2, "little") for i in range(19)})
        assert [int.from_bytes(bus.read(i, 30, 2).data, "little") for i in range(19)] == [300 + i for i in range(19)]
        assert bus.statistics.replies == 23


def test_a_replugged_adapter_is_found_by_its_name(tmp_path):
    """The pty goes away and comes back under another number; the link, like udev's, follows."""
    link = tmp_path / "bus"
    chain = EmulatedChain(equal_servos((1, 2)), faults=FaultInjector([Fault("port_error", start=1e9)]))
    server, stop = PtyServer(chain, link, precise=False), threading.Event()
    first = os.readlink(link)
    thread = threading.Thread(target=server.run, args=(stop.is_set,), daemon=True)
    thread.start()
    try:
        port = SerialPort(str(link))
        bus = Bus(port, PATIENT, retries=0)
        assert bus.ping(1)
        chain.faults.add(Fault("port_error", start=0.0, stop=chain.time + 0.5))
        deadline = time.monotonic() + 20.0
        with pytest.raises(PortLostError):
            while time.monotonic() < deadline:
                bus.read(1, 36, 2, retries=20)
        again = None
        while again is None and time.monotonic() < deadline:
            try:
                bus.reopen()
                again = bus.ping(1)
            except (PortError, TimeoutError):
                time.sleep(0.02)
        assert again is not None and os.path.islink(link) and first
        port.close()
    finally:
        stop.set()
        thread.join(10.0)
        server.close()
    assert not link.exists()


def test_a_link_does_not_overwrite_a_file(tmp_path):
    file = tmp_path / "precious"
    file.write_text("x", encoding="utf-8")
    with pytest.raises(EmulationError, match="is not a link"):
        PtyServer(EmulatedChain(equal_servos((1,))), file)
    assert file.read_text(encoding="utf-8") == "x"


def test_a_chain_may_keep_the_clock_of_the_machine():
    """However long it takes from the chain's making to its being served: a campaign scores it by that clock."""
    chain = EmulatedChain(equal_servos((1,)))
    chain.time = time.monotonic() - 1.0  # made a second ago
    server, stop = PtyServer(chain, precise=False, start=0.0), threading.Event()
    thread = threading.Thread(target=server.run, args=(stop.is_set,), daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + 60.0
        while not -0.5 < time.monotonic() - chain.time < 0.5:
            assert time.monotonic() < deadline, f"it is {time.monotonic() - chain.time:.2f} s behind"
            time.sleep(0.01)
    finally:
        stop.set()
        thread.join(10.0)
        server.close()
