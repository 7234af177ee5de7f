# SPDX-License-Identifier: MIT
"""The library as somebody with one servo and no robot uses it: Bus("/dev/..."), servo.goal_deg, bulk read, imports."""

from __future__ import annotations

import ast
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from emulated_pty import PATIENT_MS, emulated
from servo_bench import QUIET, Bench

import ax_bus
import ax_emulator
from ax_bus import (
    AX_12A,
    MODELS,
    MX_28,
    MX_64,
    Bus,
    ErrorFlags,
    ImplausibleReadingError,
    NoReplyError,
    NoSuchRegisterError,
    PacketError,
    PortError,
    RefusedError,
    RegisterError,
    Timeouts,
    protocol,
)
from ax_emulator import EmulatedChain, EmulatedServo, Fault, VirtualPort


def chain_of(*models, **options):
    """A bus with one servo of each model, IDs from 1."""
    behaviour = options.pop("behaviour", QUIET)
    servos = [EmulatedServo(i, model, return_delay=0, behaviour=behaviour) for i, model in enumerate(models, 1)]
    chain = EmulatedChain(servos)
    return Bus(VirtualPort(chain), Timeouts(link_latency=0.1e-3), **options), chain


def settle(bus, seconds=3.0):
    bus.port.sleep(seconds)


# --- a servo's attributes
@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
def test_a_servo_goes_to_degrees_from_its_middle(model):
    bus, chain = chain_of(model)
    servo = bus.servo(1)
    assert servo.model is model and servo.servo_id == 1 and model.name in repr(servo)
    assert servo.present_deg == pytest.approx(0.0, abs=0.3)
    servo.torque = True
    for goal in (30.0, -60.0):
        servo.goal_deg = goal
        assert servo.goal_deg == pytest.approx(goal, abs=0.15)
        settle(bus)
        assert servo.present_deg == pytest.approx(goal, abs=1.0) and chain.servos[0].motor.velocity == pytest.approx(0)
    assert servo.voltage == pytest.approx(12.0) and servo.temperature == 25.0
    assert servo.speed_deg_s == 0.0 and abs(servo.load) < 0.1


def test_registers_are_attributes_raw_and_in_si():
    bus, chain = chain_of(AX_12A)
    servo = bus.servo(1)
    servo.moving_speed = 100
    assert chain.servos[0].table["moving_speed"] == 100
    assert servo.moving_speed_deg_s == pytest.approx(66.6, abs=0.1) and servo.moving_speed_si == pytest.approx(
        1.162, rel=1e-3
    )
    servo.moving_speed_deg_s = 33.3
    assert servo.moving_speed == 50
    servo.return_delay_time_si = 100e-6  # EEPROM: the servo is deaf for a while
    assert chain.servos[0].table["return_delay_time"] == 50
    servo.led = 1
    assert servo.led == 1 and servo.model_number == 12 and servo.id == 1
    assert {"goal_position", "goal_position_si", "led", "goal_deg"} <= set(dir(servo)) and "led_si" not in dir(servo)
    assert hasattr(servo, "punch") and not hasattr(servo, "p_gain") and hasattr(chain_of(MX_28)[0].servo(1), "p_gain")


@pytest.mark.parametrize(
    "name,value,error,words",
    [
        ("gaol_position", 3, NoSuchRegisterError, "AX-12A has no register 'gaol_position'; is it goal_position"),
        ("led_si", 1, NoSuchRegisterError, "no register 'led_si'"),
        ("xyz", 1, NoSuchRegisterError, r"dir\(servo\)"),
        ("present_position", 3, RegisterError, "present_position is read-only"),
        ("voltage", 3, RegisterError, "voltage is read-only"),
        ("goal_position", 1024, RegisterError, "give a whole number 0 to 1023"),
        ("goal_deg", 151.0, RegisterError, "give -150.0 to 150.0, the angle limits of servo 1"),
        ("goal_deg", float("nan"), RegisterError, "goal_deg is nan"),
        ("moving_speed_si", 99.0, RegisterError, "rad/s"),
        ("moving_speed_deg_s", 0.3, RegisterError, r"give 0 \(no limit\), or"),
        ("id", 3, RegisterError, "ax-servo set-id"),
        ("baud_rate", 3, RegisterError, "ax-servo set-baud"),
        ("punch", True, RegisterError, "True"),
    ],
)
def test_what_cannot_be_set_is_refused_in_words(name, value, error, words):
    bus, chain = chain_of(AX_12A)
    servo, before = bus.servo(1), chain.servos[0].table.as_dict()
    with pytest.raises(error, match=words) as caught:
        setattr(servo, name, value)
    assert isinstance(caught.value, ax_bus.ServoError)
    assert chain.servos[0].table.as_dict() == before and name not in vars(servo)
    with pytest.raises(AttributeError, match="is it goal_position"):
        servo.gaol_position  # noqa: B018


def test_angle_limits_bound_the_goal_and_modes_change_its_meaning():
    bus, chain = chain_of(AX_12A, MX_28)
    servo = bus.servo(1)
    servo.cw_angle_limit_si, servo.ccw_angle_limit_si = 1.745, 3.491  # 100 and 200 degrees
    servo.goal_deg = 50.0
    with pytest.raises(RegisterError, match=r"give -50\.\d to 50\.\d, the angle limits"):
        servo.goal_deg = 51.0
    with pytest.raises(RefusedError, match="angle_limit"):
        servo.goal_position = 1000
    servo.cw_angle_limit = servo.ccw_angle_limit = 0
    with pytest.raises(RegisterError, match="wheel mode"):
        servo.goal_deg = 0.0
    turning = bus.servo(2)
    turning.cw_angle_limit = turning.ccw_angle_limit = 4095
    turning.torque = True
    turning.goal_deg = -900.0
    assert turning.goal_position == round((-900 + 180) * 4096 / 360)
    settle(bus, 10.0)
    assert turning.present_deg == pytest.approx(-900.0, abs=1.0)
    turning.torque = False  # the goal in the register is about to mean another angle
    turning.resolution_divider, turning.multi_turn_offset = 4, 100
    assert turning.present_deg == pytest.approx(-900.0, abs=1.0)
    with pytest.raises(RegisterError, match=r"goal_deg is 20000; give -\d+\.\d to \d+\.\d"):
        turning.goal_deg = 20000.0


# --- torque
def test_torque_comes_on_where_the_horn_is():
    bus, chain = chain_of(AX_12A)
    servo, inner = bus.servo(1), chain.servos[0]
    inner.table["goal_position"] = 900
    servo.torque = True
    assert servo.torque and inner.table["goal_position"] == 512
    settle(bus)
    assert inner.motor.steps == 512
    inner.table["goal_position"] = 600  # it goes on doing what it does
    servo.torque = True
    assert inner.table["goal_position"] == 600
    servo.torque = False
    assert not servo.torque and inner.table["torque_enable"] == 0


@pytest.mark.parametrize("kind", ["voltage", "moving"])
def test_no_torque_on_an_implausible_position(kind):
    bus, chain = chain_of(AX_12A)
    servo, inner = bus.servo(1), chain.servos[0]
    if kind == "voltage":
        chain.faults.add(Fault("voltage", value=5.5))
    else:
        steps = iter((300, 512, 700, 100))
        inner.motor.__class__ = type("Wild", (type(inner.motor),), {"steps": property(lambda _: next(steps, 0))})
    with pytest.raises(ImplausibleReadingError, match="torque of servo 1 stays off"):
        servo.torque = True
    assert inner.table["torque_enable"] == 0 and inner.table["goal_position"] == 512


def test_a_wheel_gets_torque_standing():
    bus, chain = chain_of(AX_12A)
    servo, inner = bus.servo(1), chain.servos[0]
    servo.cw_angle_limit = servo.ccw_angle_limit = 0
    servo.moving_speed = 800
    servo.torque = True
    assert inner.table["moving_speed"] == 0 and inner.table["torque_enable"] == 1
    servo.moving_speed_si = -1.0
    assert inner.table["moving_speed"] > 1024


def test_a_servo_that_is_not_there_and_one_that_is_not_known():
    bus, chain = chain_of(AX_12A)
    with pytest.raises(NoReplyError, match="servo 9"):
        bus.servo(9)
    chain.servos[0].table["model_number"] = 350
    with pytest.raises(RegisterError, match="350.*choose from"):
        bus.servo(1)
    assert bus.servo(1, "ax-12a").model is AX_12A and bus.servo(1, MX_28).model is MX_28


# --- a bus on a device
def test_a_bus_opens_and_closes_its_device_and_leaves_the_torque():
    with emulated("--ids", "1,2", "--model", "MX-64") as name:
        patient = Timeouts(link_latency=float(PATIENT_MS) * 1e-3)
        with Bus(name, patient, 20) as bus:
            servo = bus.servo(2)
            servo.torque, servo.goal_deg = True, 30
            assert bus.timeouts is patient and not bus.port.echoes
        with pytest.raises((PortError, ValueError, TypeError)):
            bus.ping(2)
        with Bus(Path(name), patient, 20, baud=57_600, direction="echo") as bus:
            assert (bus.port.baud, bus.port.echoes) == (57_600, True)
        with Bus(name, retries=20) as bus:
            assert bus.servo(2).torque and bus.servo(2).goal_deg == pytest.approx(30, abs=0.1)
            assert bus.timeouts.link_latency >= 16e-3  # a USB adapter as it comes
    with pytest.raises(PortError, match="does not exist"):
        Bus("/nonexistent/ttyUSB0")


# --- BULK READ
BLOCKS = {1: (36, 2), 2: (36, 8), 3: (0, 74)}
BLOCKS_OF_TWO = {1: (36, 2), 2: (36, 2)}


def test_one_instruction_reads_several_mx_and_each_answers_in_turn():
    bus, chain = chain_of(MX_28, MX_64, MX_28)
    chain.servo(2).motor.position = 1.0
    chain.servo(3).table["return_delay_time"] = 250  # counts for the first of a chain only
    start = bus.port.now()
    found = bus.bulk_read(BLOCKS)
    assert list(found.replies) == [1, 2, 3] and found.missing == ()
    assert [len(reply.data) for reply in found.replies.values()] == [2, 8, 74]
    assert int.from_bytes(found.replies[2].data[:2], "little") == round(1.0 / MX_64.rad_per_step)
    # the instruction, and for each its latency and its bytes
    wire = (6 + 10) * 10e-6 + sum(22e-6 + (6 + n) * 10e-6 for n in (2, 8, 74))
    assert bus.port.now() - start == pytest.approx(wire, abs=1e-6)
    assert (bus.statistics.exchanges, bus.statistics.replies, bus.statistics.retries) == (3, 3, 0)


def test_a_missing_servo_silences_those_behind_it_and_is_named():
    bus, _ = chain_of(MX_28, MX_28, MX_28)
    blocks = {1: (36, 2), 9: (36, 2), 3: (36, 2), 2: (36, 2)}
    found = bus.bulk_read(blocks, retries=0)
    assert list(found.replies) == [1] and found.missing == (9, 3, 2)
    bus.port.sleep(0.1)
    found = bus.bulk_read(blocks, retries=1)  # the silent one last
    assert list(found.replies) == [1, 3, 2] and found.missing == (9,)


@pytest.mark.parametrize("kind", ["lost_reply", "tail_cut", "bit_flip", "head_cut"])
def test_a_reply_that_is_not_whole_is_not_believed_and_asked_for_again(kind):
    bus, chain = chain_of(MX_28, MX_28, MX_28)
    chain.faults.add(Fault(kind, servo=2, times=1))
    found = bus.bulk_read({1: (36, 2), 2: (36, 2), 3: (36, 2)}, retries=0)
    assert list(found.replies) == [1] and found.missing == (2, 3)
    chain.faults.add(Fault(kind, servo=2, start=bus.port.now(), times=1))
    found = bus.bulk_read({1: (36, 2), 2: (36, 2), 3: (36, 2)})
    assert list(found.replies) == [1, 2, 3] and found.missing == ()


def test_a_late_reply_is_not_taken_for_the_next_one():
    """An adapter holds the first replies back until the next instruction is out; same lengths, other registers."""
    confusable, whole = 0, 0
    for late in range(10, 60):
        bus, chain = chain_of(MX_28, MX_28)
        for servo in chain.servos:
            servo.motor.position = 1.0
            servo.advance(0.0)
        assert not bus.bulk_read(BLOCKS_OF_TWO).missing  # known to understand it: nobody is asked for the model
        chain.faults.add(Fault("link_latency", start=bus.port.now(), times=1, value=late * 1e-4))
        confusable += bool(bus.bulk_read(BLOCKS_OF_TWO, retries=0).missing)
        found = bus.bulk_read({1: (30, 2), 2: (30, 2)}, retries=0)
        assert all(reply.data == b"\x00\x08" for reply in found.replies.values()), late
        whole += not found.missing
    assert confusable > 20 and whole > 40  # an instruction sent into a reply garbles both, as on a real wire


def test_a_reply_that_collides_on_the_wire_silences_those_behind_it():
    bus, chain = chain_of(MX_28, MX_28, MX_28)
    chain.servo(2).motor.position = 1.0
    chain.servo(2).table["id"] = 1
    assert bus.bulk_read({1: (36, 2), 3: (36, 2)}, retries=0) == ({}, (1, 3))
    assert chain.line.collisions and bus.statistics.foreign_ids == 0


def test_replies_may_be_torn_by_the_motor_interrupt():
    bus, _ = chain_of(MX_28, MX_28, MX_28, behaviour=type(QUIET)(), retries=0)
    for _ in range(200):
        assert bus.bulk_read(BLOCKS).missing == ()


def test_an_ax_refuses_bulk_read_in_words():
    bus, _ = chain_of(MX_28, AX_12A, MX_28)
    with pytest.raises(RefusedError, match="servo 2 is an AX-12A, which does not support BULK READ"):
        bus.bulk_read({1: (36, 2), 2: (36, 2), 3: (36, 2)})


@pytest.mark.parametrize(
    "blocks,words",
    [
        ({}, "0 servo"),
        ({1: (36, 2)}, "use READ for one"),
        (dict.fromkeys(range(46), (36, 2)), "2 to 45"),
        ({1: (0, 1), 254: (0, 1)}, "254"),
        ({1: (0, 300), 2: (0, 1)}, "not a byte"),
    ],
)
def test_bulk_reads_that_cannot_be_sent(blocks, words):
    bus, _ = chain_of(MX_28, MX_28)
    with pytest.raises(PacketError, match=words):
        bus.bulk_read(blocks)
    assert bus.statistics.exchanges == 0


def test_bulk_read_is_the_manuals_packet():
    """Protocol 1.0, Bulk Read, the example."""
    assert protocol.bulk_read({1: (30, 2), 2: (36, 2)}) == bytes.fromhex("ff ff fe 09 92 00 02 01 1e 02 02 24 1d")


def test_a_silent_level_and_a_deaf_servo_do_not_answer_bulk_read():
    bench = Bench(ids=(1,))
    assert bench.bus.bulk_read({8: (0, 1), 9: (0, 1)}, retries=0).missing == (8, 9)
    bus, chain = chain_of(MX_28, MX_28)
    chain.servo(1).table["status_return_level"] = 0
    assert bus.bulk_read({2: (0, 1), 1: (0, 1)}, retries=0).missing == (1,)
    chain.servo(1).table["status_return_level"] = 1
    bus.port.sleep(0.1)
    assert bus.bulk_read({2: (0, 1), 1: (0, 1)}, retries=0).missing == ()
    assert bus.bulk_read({2: (70, 9), 1: (0, 1)}, retries=0).missing == (2, 1)  # a range error carries no data


# --- the README, and pip
README = Path(__file__).resolve().parents[1] / "README.md"


def example():
    """The first program of the README, and what it prints."""
    text = README.read_text(encoding="utf-8")
    program, said = (text.split(f"```{kind}\n")[1].split("```")[0] for kind in ("python", "text"))
    assert sum(not line.startswith("from ") for line in program.strip().splitlines() if line) == 9
    return program, said


def test_the_program_of_the_readme_prints_what_it_says():
    program, said = example()
    with emulated("--ids", "1") as name:
        # patient only because the machine that runs tests may be busy
        code = program.replace('Bus("/dev/ttyUSB0")', f"Bus({name!r}, retries=100)")
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert (found.stdout, found.stderr) == (said, "")


def test_pip_installs_it_without_the_workspace_and_without_ros(tmp_path):
    """No network: built and installed with what the interpreter has."""
    setuptools = pytest.importorskip("setuptools", reason="pip builds with it")
    pytest.importorskip("pip", reason="it installs")
    version = tuple(int(part) for part in setuptools.__version__.split(".")[:2])
    if version < (61, 0):
        pytest.skip(f"setuptools {setuptools.__version__} does not read pyproject.toml; 61 does")
    if version < (70, 1):
        pytest.importorskip("wheel", reason="setuptools before 70.1 needs it to build")
    # pip leaves its build folder beside the sources
    shutil.copytree(
        README.parent, tmp_path / "source", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
    )
    target = tmp_path / "target"
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(tmp_path / "source")]
    installed = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert installed.returncode == 0, installed.stderr
    only = {**{k: v for k, v in os.environ.items() if not k.startswith("ROS")}, "PYTHONPATH": str(target)}
    program, said = example()
    with emulated("--ids", "1", environment=only) as name:
        code = program.replace('Bus("/dev/ttyUSB0")', f"Bus({name!r}, retries=100)")
        code += "\nimport ax_bus, sys\nprint(ax_bus.__file__, 'rospy' in sys.modules)"
        found = subprocess.run([sys.executable, "-c", code], env=only, cwd=tmp_path, capture_output=True, text=True,
                               timeout=600)  # fmt: skip
    assert (found.stdout, found.stderr) == (f"{said}{target / 'ax_bus' / '__init__.py'} False\n", "")
    script = subprocess.run([sys.executable, str(target / "bin" / "ax-servo"), "--help"], env=only, cwd=tmp_path,
                            capture_output=True, text=True, timeout=600)  # fmt: skip
    assert script.returncode == 0 and "emulate" in script.stdout


# --- imports
@pytest.mark.parametrize("statement", ["import ax_bus", "from ax_bus import Bus", "import ax_emulator.faults"])
def test_an_import_costs_neither_numpy_nor_pyserial_nor_yaml(statement):
    code = f"{statement}\nimport sys\nprint([m for m in ('numpy', 'serial', 'yaml') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize("package", [ax_bus, ax_emulator], ids=lambda package: package.__name__)
def test_lazy_names_are_those_that_editors_see(package):
    # in catkin's devel space the package itself is a stub that runs the source
    folder = Path(importlib.import_module(f"{package.__name__}.errors").__file__).parent
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    seen = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith(f"{package.__name__}."):
            seen.update({alias.name: node.module.partition(".")[2] for alias in node.names})
    lazy = {name: module for module, names in package._MODULES.items() for name in names.split()}
    eager = {"DIRECTIONS": "direction", "Direction": "direction", "direction": "direction"} if package is ax_bus else {}
    assert {k: v for k, v in seen.items() if v != "lazy"} == {**lazy, **eager}
    assert sorted(package.__all__) == sorted({**lazy, **eager}) and set(package.__all__) <= set(dir(package))
    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Buss'"):
        package.Buss  # noqa: B018


def test_a_name_that_is_also_a_module_stays_the_function():
    code = "import ax_bus.serial_port, ax_bus; from ax_bus import direction; print(direction('auto').name)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=True)
    assert found.stdout.strip() == "auto"


def test_alarm_flags_do_not_keep_a_servo_from_being_read():
    bus, chain = chain_of(AX_12A)
    chain.servos[0].raise_alarm(ErrorFlags.OVERLOAD)
    assert bus.servo(1).present_position == 512
