# SPDX-License-Identifier: MIT
"""Generators against the equations of the source, and the three spellings against each other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from snake_motion.chassis import BodyGeometry, body_poses
from snake_motion.engine import SnakeEngine
from snake_motion.engine_io import Feedback
from snake_motion.errors import SnakeMotionError
from snake_motion.families import family
from snake_motion.gait_shape import GaitShape
from snake_motion.gait_table import GaitTable, ServoLimits, load_rows, split_request
from snake_motion.waves import Wave, WaveRow

MODULES = 16
AX = ServoLimits(math.radians(90.0), 5.5)
# A_v, A_h, o_h, dphi_v, dphi_h, dphi_vh, phi_0 in deg: the table of the source with 16 modules
SOURCE = {
    "straight": (28.28, 0, 0, 90, 0, 0, 0),
    "turning": (28.28, 0, 22.5, 90, 0, 0, 0),
    "side_winding": (3.83, 30.61, 0, 45, 45, 0, 0),
    "inclined": (21.65, 21.65, 0, 45, 45, 0, 0),
    "flapping": (1.5, 1.5, 0, 0, 0, 90, 0),
    "s_rotation": (7.07, 30.61, 0, 90, 45, 0, 0),
    "u_rotation": (7.07, 22.5, 0, 90, 0, 90, 0),
    "rolling": (22.5, 22.5, 0, 0, 0, 90, 90),
}


def source_angles(row, n, total, direction):
    """sequence_generation() of the source, with the direction where its functions put it."""
    a_v, a_h, o_h, d_v, d_h, d_vh, phi_0 = row
    angles = []
    for i in range(MODULES):
        time = 2.0 * math.pi * n / total
        if i % 2 == 0:
            angles.append(a_v * math.sin(time + math.radians(direction * d_v * (i / 2) + phi_0)))
        else:
            phase = direction * d_h * (i - 1) / 2 + direction * d_vh + phi_0
            angles.append(a_h * math.sin(time + math.radians(phase)) + o_h)
    return np.array(angles)


@pytest.mark.parametrize("name", SOURCE)
@pytest.mark.parametrize("direction", [1, -1])
def test_the_eight_gaits_are_those_of_the_source(name, direction):
    shape = GaitTable(load_rows(), MODULES, AX).shape(name)
    for n in range(0, 32, 5):
        ours = np.degrees(shape.angles(2.0 * math.pi * n / 32, MODULES, direction))
        assert ours == pytest.approx(source_angles(SOURCE[name], n, 32, direction), abs=0.006)


def test_a_long_straight_snake_waves_as_that_of_the_source():
    rows = load_rows()
    for modules in (16, 128):
        first = GaitTable(rows, modules, AX).shape("straight_long").angles(0.7, modules)[:MODULES]
        assert first == pytest.approx(GaitTable(rows, MODULES, AX).shape("straight").angles(0.7, MODULES), abs=1e-7)


def shape_of(wave):
    """Winding angle, undulations and arc of the offset: `serpenoid_curve` turned round."""
    slope = math.sin(0.5 * abs(wave.step))
    alpha = wave.amplitude / (2.0 * slope) if slope else 0.5 * wave.amplitude * MODULES
    return alpha, abs(wave.step) * MODULES / (4.0 * math.pi), 0.5 * wave.offset * MODULES


def test_spellings_agree():
    shape_space = WaveRow(alpha_deg=30.0, k=1.5, arc_deg=80.0, phase_deg=20.0).wave(MODULES, 0)
    alpha, k, arc = shape_of(shape_space)
    assert np.degrees([alpha, arc]) == pytest.approx([30.0, 80.0]) and k == pytest.approx(1.5)
    control = WaveRow(
        amplitude_deg=math.degrees(shape_space.amplitude), step_deg=math.degrees(shape_space.step),
        offset_deg=10.0, phase_deg=20.0,
    )  # fmt: skip
    for one, other in zip(_numbers(control.wave(MODULES, 0)), _numbers(shape_space)):
        assert one == pytest.approx(other)
    circular = WaveRow(alpha_deg=180.0, k=0.0).wave(MODULES, 1)
    assert shape_of(circular)[:2] == pytest.approx((math.pi, 0.0))


def test_the_serpenoid_is_one_wave_over_all_joints():
    """beta + A sin(wS n + wT t + delta) at joint n, without the alternating signs of robots mounted by turns."""
    pitch = WaveRow(serpenoid_deg=30.0, spatial_deg=25.0, delta_deg=40.0, beta_deg=5.0)
    yaw = WaveRow(serpenoid_deg=20.0, spatial_deg=15.0, delta_deg=-10.0)
    shape = GaitShape(pitch.wave(MODULES, 0), yaw.wave(MODULES, 1), 1.0)
    n = np.arange(MODULES)
    for theta in (0.0, 0.7, 4.0):
        even = 5.0 + 30.0 * np.sin(np.radians(25.0 * n + 40.0) + theta)
        odd = 20.0 * np.sin(np.radians(15.0 * n - 10.0) + theta)
        assert np.degrees(shape.angles(theta, MODULES)) == pytest.approx(np.where(n % 2, odd, even))


def test_direction_plays_the_cycle_backwards_half_a_cycle_later_or_mirrors_it():
    table = GaitTable(load_rows(), MODULES, AX)
    for name in ("inclined", "u_rotation"):
        shape = table.shape(name)
        assert shape.angles(0.3, MODULES, -1) == pytest.approx(-shape.angles(-0.3, MODULES, 1))
    mirror = np.where(np.arange(MODULES) % 2, -1.0, 1.0)
    fast = table.shape("side_fast")
    assert fast.angles(0.3, MODULES, -1) == pytest.approx(mirror * fast.angles(0.3, MODULES, 1))


def test_waves_that_stand_turn_a_body_that_is_the_same_from_both_ends():
    shape, geometry = family("rotation").shape((1.0, -90.0), 64), BodyGeometry(64, 0.018, 0.013, 0.013)
    first, later = shape.angles(0.3, 64), shape.angles(0.6, 64)
    ratios = later / first
    for group in (ratios[0::2], ratios[1::2]):
        assert group == pytest.approx(np.full(32, group[0]))
    middle = replace(shape, pitch=replace(shape.pitch, standing=0.0), yaw=replace(shape.yaw, standing=-0.5 * math.pi))
    centre = body_poses(middle.angles(0.7, 64), geometry).centre
    bends = centre[8:] - 2.0 * centre[4:-4] + centre[:-8]
    assert np.abs(bends).max() > 1e-3
    lengths = np.linalg.norm(bends, axis=1)
    assert lengths == pytest.approx(lengths[::-1], abs=0.15 * lengths.max())


def test_a_body_on_its_side_swaps_its_joints():
    """Rolled to the right by 90 deg, a pitch joint turns about the vertical: the shape in space is the same."""
    shape, geometry = GaitShape(Wave(0.02, 0.2, 0.2), Wave(0.015, 0.15, 1.0), 1.0), BodyGeometry(64, 0.036, 0.05, 0.05)
    upright = body_poses(shape.angles(0.4, 64), geometry).centre
    rolled = body_poses(shape.angles(0.4, 64, roll=0.5 * math.pi), geometry).centre
    rolled = rolled @ np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]).T  # about x by 90 deg
    one, other = (
        c[8:] - 2.0 * c[4:-4] + c[:-8] for c in (upright, rolled)
    )  # bends over four joints, two of each group
    assert np.abs(one[:, 1:]).max(axis=0) == pytest.approx([0.0043, 0.0057], rel=0.02)
    assert other[:, 1:] == pytest.approx(one[:, 1:], abs=1.5e-3)


@pytest.mark.parametrize("modules", [1, 2, 4, 7, 16, 64, 128])
def test_gaits_of_any_number_of_modules_stay_within_the_servos_or_say_why_not(modules):
    table = GaitTable(load_rows(), modules, AX)
    for shape in table.shapes.values():
        assert shape.greatest_angle <= AX.angle and shape.greatest_speed <= AX.speed
        assert np.isfinite(shape.angles(1.0, modules)).all()
    if modules == 2:
        assert "bends a joint to" in table.refusals["rolling"] and "use more modules" in table.refusals["rolling"]
    if modules >= 16:
        assert not table.refusals


def test_too_fast_a_gait_and_other_nonsense_are_refused_in_words(tmp_path):
    slow = ServoLimits(1.5, 2.0)
    table = GaitTable(load_rows(), MODULES, slow)
    with pytest.raises(SnakeMotionError, match=r"gait straight turns a joint at 3.10 rad/s, above the servos' 2.00"):
        table.shape("straight")
    with pytest.raises(SnakeMotionError, match="gait 'moonwalk' does not exist; choose from still"):
        table.shape("moonwalk")
    for modules in (0, 1000):
        with pytest.raises(SnakeMotionError, match=f"modules is {modules}; give a whole number from 1 to 128"):
            GaitTable(load_rows(), modules, AX)
    file = tmp_path / "gaits.yaml"
    for text, words in (
        ("a: {pitch: {alpha_deg: 20, step_deg: 90}}", "use the keys of one spelling"),
        ("a: {pitch: {alpha_deg: .nan}}", "alpha_deg is nan"),
        ("a: {period: 0}", "period is 0; give a number from 0.1 to 60 s"),
        ("a: {pich: {}}", "is pitch meant"),
        ("a: 3", "a is 3; give it keys"),
        ("two words: {}", "'two words' cannot be requested; give the gait a name of one word"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(SnakeMotionError, match=words):
            load_rows(file)
    with pytest.raises(SnakeMotionError, match="NAME toggle"):
        split_request("straight backwards")


def test_it_is_told_that_a_short_snake_shows_fewer_undulations():
    short, long = (SnakeEngine(GaitTable(load_rows(), modules, AX)) for modules in (8, 16))
    for engine, words in ((short, "gait s_rotation, direction +1: k 2 is bounded to 1.33 by 8 modules"),
                          (long, "gait s_rotation, direction +1")):  # fmt: skip
        engine.step(0.0, Feedback(np.zeros(engine.gaits.modules)))
        assert engine.request_gait("s_rotation") == (True, words)


def _numbers(wave):
    return wave.amplitude, wave.step, wave.phase, wave.offset


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf])
def test_a_scale_of_time_that_no_gait_can_have_is_refused(scale):
    with pytest.raises(SnakeMotionError, match="time_scale is .*; give a number from 0.01 to 100"):
        GaitTable(load_rows(), 16, ServoLimits(1.57, 5.5), scale)
