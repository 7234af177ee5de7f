# SPDX-License-Identifier: MIT
"""Servos from the box are set up and verified; on the chain in memory."""

from __future__ import annotations

import pytest
from servo_bench import QUIET

from ax_bus import Bus, Timeouts
from ax_emulator import EmulatedChain, EmulatedServo, VirtualPort
from ax_tools.errors import ToolError
from shellbot_motor_driver import ServoMap, ServoMapError
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


@pytest.mark.parametrize("found, required", [(0, 2), (1, 2), (2, 1), (0, 1)])
def test_any_status_level_is_set_up(found, required, capsys):
    """The driver sends whoever has such a servo here; below level 2 it acknowledges nothing, at 0 it cannot be read."""
    box = Box()
    table = box.chain.servo(2).table
    table["status_return_level"] = found
    words = ["prepare", "--port", "x", "--ids", "1-3", "--status-level", str(required)]
    assert cli._prepare(box.bus, cli.parser().parse_args(words)) == 0
    assert table["status_return_level"] == found and table["return_delay_time"] == 250  # a plan writes nothing
    assert cli._prepare(box.bus, cli.parser().parse_args([*words, "--go"])) == 0
    limits = box.map.limits_steps()
    for servo_id in (1, 2, 3):
        table = box.chain.servo(servo_id).table
        assert table["status_return_level"] == required and table["return_delay_time"] == 0 and table["lock"] == 1
        assert (table["cw_angle_limit"], table["ccw_angle_limit"]) == limits[servo_id]
    printed = capsys.readouterr().out
    assert ("servo 2 is read once its status return level is written" in printed) == (found == 0)


def test_what_was_written_before_a_servo_could_be_read_is_not_denied():
    box = Box()
    table = box.chain.servo(2).table
    table["status_return_level"], table["model_number"] = 0, 12
    words = ["prepare", "--port", "x", "--ids", "1,2", "--go"]
    with pytest.raises(ToolError, match=r"is AX-12A, .*; 5 register\(s\) were written before: correct the map"):
        cli._prepare(box.bus, cli.parser().parse_args(words))
    assert table["status_return_level"] == 2 and box.chain.servo(1).table["return_delay_time"] == 0


def test_a_locked_servo_is_named_and_nothing_is_written():
    box = Box()
    box.chain.servo(7).table["lock"] = 1
    with pytest.raises(ToolError, match=r"servo 7 \(lower_3_coxa\) is locked.*power off"):
        box.plan()
    assert box.chain.servo(1).table["return_delay_time"] == 250


def test_missing_and_foreign_servos_are_named():
    box = Box()
    box.chain.servo(4).is_dead = True
    with pytest.raises(ToolError, match="servo 4 .* does not answer, nothing was changed"):
        box.plan()
    box.chain.servo(4).is_dead = False
    box.chain.servo(2).table["model_number"] = 12
    with pytest.raises(ToolError, match="servo 2 .* is AX-12A, the servo map has AX-18A"):
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
    with pytest.raises(ServoMapError, match="has no ID 77"):
        cli._prepare(box.bus, arguments)
    arguments = cli.parser().parse_args(["prepare", "--port", "x", "--ids", "3"])
    assert cli._prepare(box.bus, arguments) == 0
    said = capsys.readouterr().out
    assert "servo   3 lower_1_tibia" in said and "add --go" in said and "servo   4" not in said
    assert box.chain.servo(3).table["return_delay_time"] == 250
