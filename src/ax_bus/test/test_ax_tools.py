# SPDX-License-Identifier: MIT
"""The servo tools: on the chain in memory, and once through the command line as a user calls it."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest
from emulated_pty import PATIENT_MS, emulated
from servo_bench import QUIET, Bench

from ax_bus import DIRECTIONS, PortError, Timeouts, serial_port
from ax_emulator import EmulatedServo
from ax_tools import bench as bus_bench
from ax_tools import cli, options, search, settings
from ax_tools.console import Progress
from ax_tools.errors import ToolError


def test_scan_finds_every_servo_at_its_rate():
    bench = Bench(ids=(0, 7, 252))
    bench.servo(7).table["baud_rate"] = 34
    bench.servo(252).table["baud_rate"] = 207
    found = search.search(bench.bus)
    assert [(hit.servo_id, hit.baud, hit.model_name) for hit in found] == [
        (0, 1_000_000, "AX-12A"), (7, 57_600, "AX-12A"), (252, 9_600, "AX-12A")]  # fmt: skip
    assert bench.port.baud == 1_000_000
    assert "3 servo(s)" in search.table(found) and "57600    7  AX-12A" in search.table(found)
    assert "check power" in search.table([])


def test_scan_names_two_servos_of_one_id_and_unknown_models():
    bench = Bench(ids=(1, 2))
    bench.chain.servos.append(EmulatedServo(2, position=100, return_delay=3, behaviour=QUIET))
    bench.servo(1).table["model_number"] = 350
    found = search.search(bench.bus, search.rounds((1_000_000,), range(10)))
    assert [hit.servo_id for hit in found] == [1, 2]
    assert found[0].model_name == "unknown model 350"
    assert found[1].is_garbled and "two servos with this ID" in search.table(found)


def test_scan_on_an_echoing_wire_does_not_find_253_servos():
    bench = Bench()
    bench.fault("echo")
    with pytest.raises(ToolError, match="--direction echo"):
        search.search(bench.bus)


def test_set_id_and_set_baud_are_verified():
    bench = Bench(ids=(1,))
    settings.set_id(bench.bus, 1, 42)
    assert bench.servo(42).table["id"] == 42
    settings.set_baud(bench.bus, 42, 57_600)
    assert bench.port.baud == 57_600 and bench.servo(42).table["baud_rate"] == 34
    settings.set_baud(bench.bus, 42, 1_000_000)
    assert bench.bus.ping(42)


def at_57600(bench, servo_id, new_id=b""):
    bench.servo(servo_id).table.write(4, b"\x22")
    bench.servo(servo_id).table.write(3, new_id)


def test_the_quick_check_takes_seconds_and_misses_only_a_third_id_at_another_rate():
    bench = Bench(ids=(1, 2), timeouts=Timeouts(link_latency=2e-3))
    at_57600(bench, 2)
    progress = []
    settings.set_id(bench.bus, 1, 42, progress=lambda text, share: progress.append((text, share)))
    assert bench.port.now() < 4.0  # s of the bus's time
    assert bench.servo(42).table["id"] == 42
    texts = list(dict.fromkeys(text for text, _ in progress))
    assert texts[0] == "1000000 baud: querying 253 IDs" and texts[1:] and all("querying 2 IDs" in t for t in texts[1:])
    assert [share for _, share in progress] == sorted(share for _, share in progress) and progress[-1][1] < 1.0
    start = bench.port.now()
    with pytest.raises(ToolError, match="2 servos are on the bus"):
        settings.set_id(bench.bus, 42, 43, search.rounds())
    assert bench.port.now() - start > 15.0


def test_lost_replies_do_not_end_in_two_servos_of_one_id():
    bench = Bench(ids=(1, 2))
    bench.fault("lost_reply", servo=2, times=2)  # as often as the search tries
    with pytest.raises(ToolError, match="a servo with ID 2 answers already, so nothing was changed"):
        settings.set_id(bench.bus, 1, 2)
    assert bench.servo(1).table["id"] == 1


@pytest.mark.parametrize("where", [search.rounds((1_000_000,)), search.quick_rounds(57_600, (3, 4))])
def test_a_lost_reply_does_not_hide_a_servo(where):
    """Where others answer, or few IDs are tried: silence of all is no reason to try all IDs again."""
    bench = Bench(ids=(2, 3, 4))
    for servo_id in (3, 4):
        bench.fault("lost_reply", servo=servo_id, times=1)
    found = search.search(bench.bus, where)
    assert [hit.servo_id for hit in found if hit.servo_id != 2] == [3, 4]


class Stream(io.StringIO):
    def __init__(self, is_terminal):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_says_how_long_it_still_takes(is_terminal):
    now = [0.0]
    stream = Stream(is_terminal)
    progress = Progress(stream, lambda: now[0])
    for i in range(100):
        now[0] = 0.5 * i
        progress("9600 baud", i / 100)
    progress.close()
    text = stream.getvalue()
    assert "9600 baud (40%, about 30 s left)" in text
    if is_terminal:
        assert "\n" not in text and text.endswith("\r\x1b[K")
    else:
        assert "\r" not in text and len(text.splitlines()) == 5


@pytest.mark.parametrize(
    "setup,call,words",
    [
        (lambda b: None, lambda bus: settings.set_id(bus, 1, 42), "2 servos are on the bus"),
        (lambda b: None, lambda bus: settings.set_baud(bus, 1, 57_600), "2 servos are on the bus"),
        (lambda b: at_57600(b, 2), lambda bus: settings.set_id(bus, 1, 42, search.rounds()), "2 at 57600"),
        (lambda b: at_57600(b, 2), lambda bus: settings.set_id(bus, 1, 2), "2 at 57600"),
        (lambda b: at_57600(b, 2, b"\x01"), lambda bus: settings.set_id(bus, 1, 42), "1 at 57600"),
        (lambda b: at_57600(b, 2, b"\x2a"), lambda bus: settings.set_id(bus, 1, 42), "42 at 57600"),
        (lambda b: b.servo(2).table.write(3, b"\x01"), lambda bus: settings.set_id(bus, 1, 42), "garbled replies"),
        (lambda b: b.chain.servos.pop(0), lambda bus: settings.set_id(bus, 1, 42), "the only servo on the bus is 2"),
        (lambda b: b.fault("dead"), lambda bus: settings.set_id(bus, 1, 42), "no servo answers"),
        (lambda b: None, lambda bus: settings.set_id(bus, 1, 253), "0 to 252"),
        (lambda b: None, lambda bus: settings.set_id(bus, 1, 1), "already"),
        (lambda b: None, lambda bus: settings.set_baud(bus, 1, 12345), "choose one of"),
        (lambda b: None, lambda bus: settings.set_baud(bus, 1, 1_000_000), "already has"),
    ],
)
def test_settings_change_nothing_unless_one_servo_is_alone(setup, call, words):
    bench = Bench(ids=(1, 2))
    bench.servo(2).motor.position = 1.0
    bench.servo(2).table["firmware_version"] = 22
    setup(bench)
    before = [servo.table.read(3, 2) for servo in bench.chain.servos]
    with pytest.raises(ToolError, match=words):
        call(bench.bus)
    assert [servo.table.read(3, 2) for servo in bench.chain.servos] == before


def test_a_locked_servo_keeps_its_settings_and_the_port_its_rate():
    bench = Bench(ids=(1,))
    bench.write(1, "lock", 1)
    with pytest.raises(ToolError, match="range"):
        settings.set_id(bench.bus, 1, 42)
    with pytest.raises(ToolError, match="nothing was changed"):
        settings.set_baud(bench.bus, 1, 57_600)
    assert bench.port.baud == 1_000_000 and bench.bus.ping(1)


def test_a_lost_order_is_noticed_by_reading_back():
    for call, words in (
        (lambda bus: settings.set_id(bus, 1, 42), "does not answer as 42"),
        (lambda bus: settings.set_baud(bus, 1, 57_600), "does not answer at it"),
    ):
        bench = Bench(ids=(1,))
        write = bench.bus.write

        def lose(*args, write=write, bench=bench, **options):
            bench.fault("stuck_line", stop=bench.port.now() + 0.02)
            return write(*args, **options)

        bench.bus.write = lose
        with pytest.raises(ToolError, match=words):
            call(bench.bus)
        bench.port.sleep(0.1)
        assert bench.port.baud == 1_000_000 and bench.bus.ping(1)


def test_bench_measures_the_wire_in_virtual_time():
    figures = bus_bench.measure(Bench(ids=range(19)).bus, range(19), 100)
    assert figures["round_trip_us_p50"] == pytest.approx(242.0) and figures["lost_reads"] == 0
    with pytest.raises(ToolError, match="10 or more"):
        bus_bench.measure(Bench().bus, (1,), 1)


@pytest.mark.parametrize(
    "port, trusted", [("ttyUSB0", False), ("servos", False), ("usb-FTDI", False), ("ttyTHS1", True), (None, False)]
)
def test_a_gpio_beside_an_adapter_is_not_trusted_under_any_name(tmp_path, monkeypatch, port, trusted):
    (tmp_path / "ttyUSB0").touch()
    (tmp_path / "servos").symlink_to("ttyUSB0")  # such as /dev/shellbot-servos
    found = []

    def open_port(*given):
        found.append(given)
        raise PortError("enough")

    monkeypatch.setattr(cli, "Path", lambda _folder: SimpleNamespace(glob=lambda _pattern: [tmp_path / "servos"]))
    monkeypatch.setattr(serial_port, "SerialPort", open_port)
    words = ["ping", "1", "--direction", "gpio", "--gpio", "/dev/gpiochip0:7"]
    assert cli.main(words + (["--port", str(tmp_path / port)] if port else [])) == 1
    name, _, turning = found[0]
    assert turning.reads_trusted is trusted and name == str(tmp_path / (port or "servos"))


def test_bench_moves_and_changes_nothing():
    """A wheel stands still, a slow servo stays slow: its speed is its own, as is its goal."""
    bench = Bench(ids=(1, 2))
    wheel, slow = bench.servo(1), bench.servo(2)
    wheel.table["ccw_angle_limit"] = 0
    slow.table["moving_speed"], slow.table["goal_position"] = 5, 700
    for servo in (wheel, slow):
        servo.table["torque_enable"] = 1
    bus_bench.measure(bench.bus, (1, 2), 100)
    assert wheel.motor.steps == 512
    assert (wheel.table["moving_speed"], slow.table["moving_speed"], slow.table["goal_position"]) == (0, 5, 700)


@pytest.mark.parametrize("text,ids", [("3", [3]), ("0-2,7", [0, 1, 2, 7])])
def test_id_lists(text, ids):
    assert options.id_list(text) == ids


def test_the_directions_offered_are_those_of_the_bus():
    assert tuple(DIRECTIONS) == options.DIRECTION_NAMES


@pytest.mark.parametrize("argv", [[], ["scan", "--ids", "x"], ["info", "1,1"], ["ping", "253"], ["fly"],
                                  ["scan", "--direction", "sleep"]])  # fmt: skip
def test_the_command_line_refuses_nonsense_with_usage(argv, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(argv)
    assert end.value.code == 2 and "usage: ax-servo" in capsys.readouterr().err


@pytest.fixture(scope="module")
def port():
    with emulated("--ids", "0-18", "--model", "AX-18A") as name:
        yield name


def run(capsys, *argv):
    code = cli.main([*argv, "--latency-ms", PATIENT_MS] if argv[0] != "emulate" else list(argv))
    out = capsys.readouterr()
    return code, out.out, out.err


def test_the_tools_work_on_the_emulated_robot(port, capsys, tmp_path):
    code, out, _ = run(capsys, "scan", "--port", port, "--only-baud", "--ids", "0-18")
    assert code == 0 and "19 servo(s)" in out and out.count("AX-18A") == 19
    code, out, _ = run(capsys, "ping", "3", "--port", port)
    assert code == 0 and "servo 3 answers" in out
    code, out, _ = run(capsys, "info", "2", "--port", port)
    assert code == 0 and "servo 2: AX-18A" in out
    code, out, _ = run(capsys, "monitor", "0-2", "--port", port, "--count", "1")
    assert code == 0 and len(out.splitlines()) == 5 and "\x1b" not in out
    code, out, _ = run(capsys, "centre", "2", "--port", port)
    assert code == 0 and "add --go" in out
    code, out, _ = run(capsys, "read", "2", "present_position", "--port", port)
    assert code == 0 and out.startswith("servo 2: present_position 512 (0.1 degrees)")
    code, out, _ = run(capsys, "write", "2,3", "punch", "5%", "--port", port)
    assert code == 0 and "servo 3: punch 32 -> 51 (5.0 %)" in out and "2 servo(s) written and read back" in out
    code, out, _ = run(capsys, "led", "on", "0-18", "--port", port)
    assert code == 0 and "19 servo(s) with the LED on" in out
    code, out, _ = run(capsys, "move", "2", "-5deg", "--speed", "20", "--wait", "--port", port)
    assert code == 0 and "1 servo(s) at 494; they hold" in out
    code, out, _ = run(capsys, "torque", "on", "2-4", "--port", port)
    assert code == 0 and "3 servo(s) hold where they are" in out
    code, out, _ = run(capsys, "torque", "off", "all", "--port", port)
    assert code == 0 and "sent to all servos" in out
    code, out, _ = run(capsys, "torque", "off", "2,99,3", "--port", port)
    assert code == 1 and "2 servo(s) without torque" in out and "failed: 1 of 3 servo(s): 99" in out
    code, out, _ = run(capsys, "centre", "99,2", "--release", "--port", port)
    assert code == 1 and "1 servo(s) without torque" in out and "failed: 1 of 2 servo(s): 99" in out
    code, out, _ = run(capsys, "wiring", "0-3", "--rounds", "3", "--port", port)
    assert code == 0 and "can be trusted" in out
    file = tmp_path / "figures.json"
    code, out, _ = run(capsys, "bench", "0-3", "--reads", "20", "--port", port, "--json", str(file))
    assert code == 0 and json.loads(file.read_text(encoding="utf-8"))["reads"] == 20


def test_failures_end_in_words_and_status_1(port, capsys, tmp_path):
    for argv, words in (
        (("ping", "3", "--port", str(tmp_path / "none")), "does not exist"),
        (("monitor", "3", "--rate", "1000", "--port", port), "0.1 to 50"),
        (("scan", "--direction", "gpio", "--gpio", "12", "--port", port), "CHIP:LINE"),
        (("info", "3", "--direction", "write-only", "--port", port), "does not let replies through"),
        (("torque", "on", "all", "--port", port), "give their IDs"),
        (("move", "3", "200deg", "--port", port), "-150.0deg to 150.0deg"),
        (("bench", "3", "--reads", "10", "--json", "/dev/full", "--port", port), "No space left"),
        (("emulate", "--faults", str(tmp_path / "none")), "cannot be read"),
        (("emulate", "--ids", "1", "--model", "XL-320"), "choose from AX-12A"),
    ):
        code, _, err = run(capsys, *argv)
        assert code == 1 and words in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("option", "value", "bounds"),
    [("--baud", "0", "7000 to 4500000"), ("--latency-ms", "nan", "0 to 100"), ("--latency-ms", "-5", "0 to 100")],
)
def test_numbers_of_the_line_that_cannot_be_are_refused(option, value, bounds, capsys):
    assert cli.main(["scan", "--port", "/dev/null", option, value]) == 1
    assert f"{option} is {value}; give {bounds}" in capsys.readouterr().err
