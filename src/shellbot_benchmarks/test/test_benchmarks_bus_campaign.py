# SPDX-License-Identifier: MIT
"""Short versions of the campaigns on a bad bus; the long ones are scripts/experiment bus-faults."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ax_emulator import KINDS, Fault
from robot_evaluation.errors import DefinitionError
from shellbot_benchmarks.bus_campaign import cli, fault_walk
from shellbot_benchmarks.bus_campaign.fault_walk import FaultWalk, _Walk, run_fault_walk
from shellbot_benchmarks.bus_campaign.reads import ReadCampaign, run_reads
from shellbot_benchmarks.bus_campaign.recovery import RecoveryCampaign, lossy_walk, run_recovery
from shellbot_benchmarks.bus_campaign.schedule import RANGES, SLOT, Slot, random_schedule
from shellbot_chain.onboard_chain import OnboardChain


def test_a_schedule_has_all_kinds_repeats_with_its_seed_and_leaves_time():
    slots = random_schedule(len(KINDS) * SLOT, range(19), seed=1)
    assert {slot.fault.kind for slot in slots} == set(KINDS) == set(RANGES)
    assert slots == random_schedule(len(KINDS) * SLOT, range(19), seed=1)
    assert slots != random_schedule(len(KINDS) * SLOT, range(19), seed=2)
    for slot, following in zip(slots, slots[1:]):
        assert slot.fault.start <= slot.repair < following.fault.start - 1.0
    with pytest.raises(DefinitionError, match="no time for a fault"):
        random_schedule(5.0, range(19), 0)


def test_reads_with_one_percent_lost_stop_nothing():
    result = run_reads(ReadCampaign(reads=6000, seed=3))
    assert result.met and result.reads >= 6000
    assert 30 <= result.lost <= 90 and result.corrupt >= 1
    assert result.counters["timeouts"] >= result.lost


def test_a_line_that_loses_most_replies_is_seen():
    result = run_reads(ReadCampaign(reads=400, lost=0.95))
    assert not result.met and result.stops and result.false_faults


def test_five_percent_lost_still_walks():
    walked = lossy_walk(seed=0, lost=0.05, seconds=2.5)
    assert walked > 0.22
    assert np.isnan(lossy_walk(seed=0, lost=0.97, seconds=1.5))


def test_replug_brown_out_and_dead_servo_keep_their_times():
    result = run_recovery(RecoveryCampaign(repetitions=1, seed=1))
    assert 0.0 < result.replug[0] < 3.0
    assert 0.0 < result.brown_out[0] < 0.5
    assert 0.0 < result.dead_timeouts_per_half_second[0] <= 1.01
    assert result.rejoin[0] < 3.0


def test_a_walk_through_faults_is_stopped_rearmed_and_goes_on(monkeypatch):
    slots = (
        Slot(Fault("port_error", start=2.0, stop=2.6), 5.0),
        Slot(Fault("change_id", servo=5, start=7.0, stop=7.0, value=77), 8.5),
        Slot(Fault("host_stall", start=13.0, stop=14.5, probability=0.02, value=0.03), 14.5),
    )
    monkeypatch.setattr(fault_walk, "random_schedule", lambda *_: slots)
    result = run_fault_walk(FaultWalk(seconds=16.0, seed=0))
    assert result.ends_walking and result.memory_growth_mb < 10.0
    assert result.stops >= 2 and result.rearmings >= 2
    assert [record.kind for record in result.records] == ["port_error", "change_id", "host_stall"]
    assert all(record.stopped and record.reported_after < 0.3 for record in result.records[:2])
    assert not result.records[2].stopped and result.struck["host_stall"] > 3  # late ticks, and nothing leaps
    assert 0.6 < result.records[0].back_after < 4.0
    assert result.unannounced_falls == []
    assert result.walked > 0.5 and 0.5 < result.greatest_step_fraction <= 1.02
    table = cli.kinds_table(result)
    assert "`port_error`" in table and "bus down" in table


def test_a_fall_that_was_not_announced_is_found():
    chain = OnboardChain(seed=0, record=False)
    chain.stand_up()
    walk = _Walk(chain, FaultWalk(seconds=3.0), ())
    chain.robot.emulated.simulator.push((250.0, 0.0, 0.0), 0.4, at=(0.0, 0.0, 0.1))
    result = walk.run()
    assert result.falls >= 1 and result.unannounced_falls


def test_a_step_beyond_the_speed_limit_is_found(monkeypatch):
    chain = OnboardChain(seed=0, record=False)
    chain.stand_up()
    walk = _Walk(chain, FaultWalk(seconds=1.0), ())
    driver, jump = chain.robot.driver, 0.2
    motion = driver._commander.motion

    def leaping(targets, dt, follow=motion.follow):
        way = follow(targets, dt)
        if 50 <= round(chain.time * 100) % 100 < 51:
            motion.position[3] += jump
        return way

    monkeypatch.setattr(motion, "follow", leaping)
    result = walk.run()
    assert result.greatest_step_fraction > 1.02


def test_the_command_line_writes_its_goals(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("<!-- begin: bus-faults -->\n<!-- end: bus-faults -->\n")
    options = ["reads", "--reads", "600", "--out", str(tmp_path), "--write", str(page)]
    assert cli.main(options) == 0
    said = capsys.readouterr().out
    assert "no stop, no false fault" in said and "| yes" in said
    written = json.loads((tmp_path / "bus-faults.json").read_text())
    assert written["goals"][0]["met"] and written["reads"][0]["reads"] >= 600
    assert "no stop, no false fault" in page.read_text()
    for wrong, words in ((["rads"], "choose from reads"), (["reads", "--seeds", "0"], "of 1 or more, or A:B")):
        assert cli.main(wrong) == 2
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "given, words",
    [
        (["--minutes", "0"], "--minutes is 0; give 0.01 to 1440"),
        (["--repetitions", "0"], "--repetitions is 0; give 1 or more"),
        (["walks"], "no part is called walks; choose from"),
    ],
)
def test_what_no_campaign_can_be_is_refused_before_it_starts(given, words, capsys):
    assert cli.main(given) == 2
    assert words in capsys.readouterr().err
