# SPDX-License-Identifier: MIT
"""The experiment terrain: boxes that stop the flat gait are walked over by one that feels for the ground."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shellbot_chain.chain import Chain
from shellbot_evaluation import feed_forward_experiment, gaits_experiment, limp_experiment
from shellbot_evaluation.terrain_experiment import TERRAIN, Case, conditions, execute
from shellbot_simulator.core.terrain import rubble


def run(gait):
    return execute(Case(7, "rubble", 0.04, gait, 0.5, 0.1, 0.8))


def test_rubble_stops_the_tripod_and_not_the_gait_for_rough_ground():
    flat, rough = run("tripod"), run("rough")
    assert flat["fraction"] < 0.7 < 0.85 < rough["fraction"] and not rough["fell"]
    assert abs(rough["odometry_m"] - rough["walked_m"]) < 0.05, "its own estimate ends the run"
    table = TERRAIN.report([flat, rough], TERRAIN.summary([flat, rough]), "it")
    assert "rubble 40 mm" in table and "1 of 1" in table


def test_a_seed_is_the_same_rubble_again_and_meets_every_ground():
    assert rubble(3, 0.06, 1.0) == rubble(3, 0.06, 1.0) != rubble(4, 0.06, 1.0)
    heights = np.array([box[4] for box in rubble(3, 0.06, 2.0)])
    assert 0.006 <= heights.min() < 0.01 and 0.055 < heights.max() <= 0.06
    cases = conditions(1, ("tripod", "rough"), 1.0, 0.1, (0.6, 1.0))
    assert len({case.label for case in cases}) == 16 and all(0.6 <= case.friction <= 1.0 for case in cases)


@pytest.mark.parametrize("drawn", [gaits_experiment, limp_experiment, feed_forward_experiment, None])
def test_the_floor_of_a_seed_has_nothing_to_do_with_its_start(drawn):
    ends = (("tripod",), 1.0, 0.1, (0.6, 1.0))
    seeds = range(300)
    floors = [(drawn.conditions(seed) if drawn else conditions(seed, *ends))[0].friction for seed in seeds]
    starts = [np.random.default_rng(seed) for seed in seeds]
    for draw in ("uniform", "standard_normal"):
        assert abs(np.corrcoef(floors, [getattr(rng, draw)() for rng in starts])[0, 1]) < 0.2
    assert 0.6 <= min(floors) < 0.61 and 0.99 < max(floors) <= 1.0


@pytest.mark.parametrize(
    "given, words",
    [
        (["--friction", "0.9", "0.6"], "give two numbers with 0 < low <= high"),
        (["--distance", "0"], "distance_m is 0.0; give a number of at least"),
        (["--speed", "nan"], "speed_m_s is nan; give a finite number"),
        (["--speed", "0.45"], "gait 'tripod' at 0.4 m/s at most; give --speed 0.4 or less"),
        (["--gait", "trot"], "there is no gait 'trot'; the gaits are"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(given, words, capsys):
    assert TERRAIN.main(["--seeds", "1", *given]) == 2
    assert words in capsys.readouterr().err


def test_on_the_flat_no_foot_touches_down_in_the_air():
    chain = Chain(seed=3, gait="rough", record=False)
    chain.stand_up()
    terrain, found = chain.manager._robot.engine.terrain, []
    sense = terrain.sense

    def watched(z_measured):
        touched = sense(z_measured)
        found.extend(chain.state.foot_height[touched])
        return touched

    terrain.sense = watched
    chain.walk((0.1, 0.0, 0.0), seconds=5.0, settle=False)
    assert len(found) > 10 and max(found) < 0.001


def test_rough_ground_is_left_without_a_jump():
    chain = Chain(seed=3, gait="rough", record=False, boxes=rubble(3, 0.04, 1.0))
    chain.stand_up()
    chain.walk((0.1, 0.0, 0.0), seconds=4.0, settle=False)
    engine = chain.manager._robot.engine
    assert np.ptp(engine.terrain.z[engine.standing]) > 0.003, "feet stand at different heights"
    chain.commands = replace(chain.commands, gait="tripod")
    height = engine.p_walk[:, 2]
    for _ in range(400):
        chain.tick()
        assert np.abs(engine.p_walk[:, 2] - height).max() < 0.006, "m in a tick: a swing of the tripod"
        height = engine.p_walk[:, 2]
    assert engine.gait.name == "tripod" and not engine.rough
