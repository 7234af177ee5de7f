# SPDX-License-Identifier: MIT
"""The servo tools: on the chain in memory, and once through the command line as a user calls it."""

from __future__ import annotations

import json

import pytest
from emulated_pty import PATIENT_MS, emulated
from servo_bench import QUIET, Bench

from ax_bus.registers import RAD_PER_STEP
from ax_emulator import EmulatedServo
from ax_tools import bench as bus_bench
from ax_tools import cli, display, motion, search, settings
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
    found = search.search(bench.bus, (1_000_000,), range(10))
    assert [hit.servo_id for hit in found] == [1, 2]
    assert found[0].model_name == "unknown model 350"
    assert found[1].is_garbled and "two servos of this ID" in search.table(found)


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


@pytest.mark.parametrize(
    "setup,call,words",
    [
        (lambda b: None, lambda bus: settings.set_id(bus, 1, 42), "2 servos are on the bus"),
        (lambda b: None, lambda bus: settings.set_baud(bus, 1, 57_600), "2 servos are on the bus"),
        (lambda b: b.servo(2).table.write(4, b"\x22"), lambda bus: settings.set_id(bus, 1, 42), "2 at 57600"),
        (lambda b: b.servo(2).table.write(3, b"\x01"), lambda bus: settings.set_id(bus, 1, 42), "in pieces"),
        (lambda b: b.chain.servos.pop(0), lambda bus: settings.set_id(bus, 1, 42), "the only servo on the bus is 2"),
        (lambda b: b.fault("dead"), lambda bus: settings.set_id(bus, 1, 42), "no servo answers"),
        (lambda b: None, lambda bus: settings.set_id(bus, 1, 253), "0 to 252"),
        (lambda b: None, lambda bus: settings.set_id(bus, 1, 1), "already"),
        (lambda b: None, lambda bus: settings.set_baud(bus, 1, 12345), "choose one of"),
        (lambda b: None, lambda bus: settings.set_baud(bus, 1, 1_000_000), "would keep"),
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
    with pytest.raises(ToolError, match="nothing is changed"):
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


def test_centre_moves_slowly_and_only_on_demand():
    bench = Bench(ids=(1, 2))
    bench.servo(1).motor.position = 1.0
    bench.port.sleep(0.01)
    how = motion.Centring()
    text = motion.plan(bench.bus, (1, 2), how)
    assert "nothing has moved, add --go" in text and bench.servo(1).table["torque_enable"] == 0
    start = bench.port.now()
    positions = motion.centre(bench.bus, (1, 2), how)
    assert "2 servo(s) at 512" in motion.arrival(positions, how)
    way = 1.618  # rad from 1.0 to the middle, at 10 rpm
    assert bench.port.now() - start == pytest.approx(way / (10.0 * 3.1416 / 30.0), rel=0.15)
    assert bench.servo(1).table["torque_limit"] == round(0.3 * 1023)
    motion.release(bench.bus, (1, 2))
    assert bench.servo(2).table["torque_enable"] == 0


def test_centre_does_not_jump_to_an_old_goal():
    bench = Bench(ids=(1,))
    bench.fault("torque_jump", value=400)
    bench.port.sleep(0.01)
    fastest, goals_at_torque_on, read, write = 0.0, [], bench.bus.read, bench.bus.write

    def watch_read(*args, **options):
        nonlocal fastest
        fastest = max(fastest, abs(bench.servo(1).motor.velocity))
        return read(*args, **options)

    def watch_write(servo_id, address, *args, **options):
        if address == 24:
            goals_at_torque_on.append(bench.servo(servo_id).table["goal_position"])
        return write(servo_id, address, *args, **options)

    bench.bus.read, bench.bus.write = watch_read, watch_write
    bench.servo(1).motor.position = 1.5
    motion.centre(bench.bus, (1,), motion.Centring())
    assert fastest < 1.3  # rad/s; 10 rpm is 1.05, a jump 6
    assert goals_at_torque_on == [round(1.5 / RAD_PER_STEP)]


def test_centre_reports_a_blocked_servo_and_refuses_a_wheel():
    bench = Bench(ids=(1,))
    bench.servo(1).motor.position = 1.0
    bench.servo(1).motor.load_torque = -0.9
    how = motion.Centring(time_limit=1.0)
    with pytest.raises(ToolError, match="something blocks it"):
        motion.arrival(motion.centre(bench.bus, (1,), how), how)
    wheel = Bench(ids=(1,))
    wheel.servo(1).table["ccw_angle_limit"] = 0
    with pytest.raises(ToolError, match="wheel mode"):
        motion.centre(wheel.bus, (1,), motion.Centring())
    assert wheel.servo(1).table["torque_enable"] == 0
    for wrong in ({"position": 2000}, {"speed_rpm": 0.0}, {"torque": 2.0}):
        with pytest.raises(ToolError, match="give"):
            motion.Centring(**wrong)


def test_monitor_shows_values_errors_and_age():
    bench = Bench(ids=(1, 2))
    monitor = display.Monitor(bench.bus, (1, 2, 9))
    bench.fault("voltage", servo=2, value=5.5)
    bench.port.sleep(0.01)
    lines = monitor.table().splitlines()
    assert lines[1].split() == ["1", "0.1", "0", "0", "12.0", "25", "0.0", "-"]
    assert lines[2].split() == ["2", "0.1", "0", "0", "5.5", "25", "0.0", "input_voltage"]
    assert "does not answer" in lines[3] and "2 replies" in lines[4]
    bench.fault("dead", servo=1)
    bench.port.sleep(2.0)
    assert monitor.table().splitlines()[1].split()[6] == "2.0"


def test_info_says_what_numbers_mean():
    bench = Bench(ids=(4,))
    text = display.info(bench.bus, 4)
    for words in ("servo 4: AX-12A", "1000000 baud", "overheating, overload", "150.1 degrees", "12 V", "none"):
        assert words in text


def test_bench_measures_the_wire_in_virtual_time():
    figures = bus_bench.measure(Bench(ids=range(19)).bus, range(19), 100)
    assert figures["round_trip_us_p50"] == pytest.approx(242.0) and figures["lost_reads"] == 0
    with pytest.raises(ToolError, match="10 or more"):
        bus_bench.measure(Bench().bus, (1,), 1)


@pytest.mark.parametrize("text,ids", [("3", [3]), ("0-2,7", [0, 1, 2, 7])])
def test_id_lists(text, ids):
    assert cli.id_list(text) == ids


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
    assert code == 0 and len(out.splitlines()) == 5
    code, out, _ = run(capsys, "centre", "2", "--port", port)
    assert code == 0 and "add --go" in out
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
        (("emulate", "--faults", str(tmp_path / "none")), "cannot be read"),
        (("emulate", "--ids", "1", "--model", "XL-320"), "choose from AX-12A"),
    ):
        code, _, err = run(capsys, *argv)
        assert code == 1 and words in err and "Traceback" not in err
