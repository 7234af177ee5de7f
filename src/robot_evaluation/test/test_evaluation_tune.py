# SPDX-License-Identifier: MIT
"""scripts/tune: figures of known responses, the system behind a step, and gains that do what they promise."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import threading
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from PIL import Image

from robot_evaluation.errors import EvaluationError
from robot_evaluation.tuning.cli import main
from robot_evaluation.tuning.described_robot_conversions import PARAMETER, described_robot
from robot_evaluation.tuning.response import Joint, Response, identify, propose, second_order
from robot_evaluation.tuning.step import StepRig
from shellbot_common import RobotProfile
from shellbot_control import Gains, GainTable
from shellbot_control.gains_file import GainsFile


@pytest.fixture(scope="module")
def arm():
    urdf, text = described_robot("arm")
    return urdf, RobotProfile.from_text(text)


def test_ctrl_c_reaches_no_program_that_makes_the_texts(monkeypatch):
    masks = []

    def load(_, __, config, **___):
        config.params = {"/robot_description": SimpleNamespace(value=""), f"/{PARAMETER}": SimpleNamespace(value="")}
        other = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT))
        other.start()  # as a terminal sends it to all, of which any thread takes it
        other.join()
        masks.append(subprocess.check_output(["grep", "SigBlk", "/proc/self/status"], text=True))

    monkeypatch.setattr("robot_evaluation.tuning.described_robot_conversions.XmlLoader.load", load)
    with pytest.raises(KeyboardInterrupt):
        described_robot("arm")
    assert int(masks[0].split()[1], 16) & 1 << (signal.SIGINT - 1)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def response_of(frequency, ratio, step=0.1, error=0.0):
    t = np.arange(0.0, 1.501, 0.01)
    y = second_order(t, frequency, ratio)
    rate = (second_order(t + 1e-6, frequency, ratio) - y) / 1e-6
    return Response("joint", t, step * y - error, step * rate, np.zeros_like(t), 0.0, step)


@pytest.mark.parametrize("ratio", [0.2, 0.5, 1.0, 2.0])
def test_figures_are_those_of_the_theory(ratio):
    frequency = 30.0
    response = response_of(frequency, ratio, step=-0.1, error=0.01)
    expected = math.exp(-math.pi * ratio / math.sqrt(1.0 - ratio**2)) if ratio < 1.0 else 0.0
    assert response.overshoot == pytest.approx(expected, abs=0.004)
    assert response.steady_error == pytest.approx(0.01, abs=1e-4)
    y = second_order(np.arange(0.0, 2.0, 1e-5), frequency, ratio)
    assert response.rise == pytest.approx(1e-5 * (np.argmax(y > 0.9) - np.argmax(y > 0.1)), abs=0.002)
    assert response.settling == pytest.approx(1e-5 * np.flatnonzero(np.abs(y - 1.0) > 0.05)[-1], abs=0.003)
    gains = Gains(18.0, 0.0, 0.1)
    joint = identify(response, gains)
    assert joint.inertia == pytest.approx(18.0 / frequency**2, rel=0.02) and joint.misfit < 0.01
    assert joint.damping_ratio(gains) == pytest.approx(ratio, rel=0.03)


def test_the_rule_gives_the_damping_ratio_and_no_negative_gain():
    joint = Joint(inertia=0.007, friction=0.24, misfit=0.0)
    gains = propose(joint, Gains(18.0, 0.5), 0.7, 2.0)
    assert (gains.p, gains.i) == (36.0, 0.5) and joint.damping_ratio(gains) == pytest.approx(0.7)
    assert propose(joint, Gains(18.0), 0.1).d == 0.0


def test_a_joint_that_does_not_move_is_named():
    t = np.arange(0.0, 1.0, 0.01)
    stuck = Response("knee", t, np.zeros_like(t), np.zeros_like(t), np.zeros_like(t), 0.0, 0.1)
    with pytest.raises(EvaluationError, match="knee does not follow its command"):
        identify(stuck, Gains(18.0))
    assert math.isnan(stuck.settling) or stuck.settling == 0.0


def test_the_simulated_joint_is_identified_with_its_inertia_and_friction(arm):
    """Against the mass matrix and the damping of the model, about a vertical axis, where no other joint gives way."""
    rig, gains = StepRig(*arm), dict(GainTable.from_profile(arm[1]).classes)
    response = rig.response("arm_joint_1", gains, math.radians(2.0), 1.0)
    assert response.final == pytest.approx(1.0, abs=0.02)
    joint = identify(response, gains["large"])
    model, data = rig._simulator.model, rig._simulator.data
    index = model.joint("arm_joint_1").dofadr[0]
    column = np.zeros(model.nv)
    mujoco.mj_mulM(model, data, column, np.eye(model.nv)[index])
    assert joint.inertia == pytest.approx(column[index], rel=0.05)
    assert joint.friction == pytest.approx(model.dof_damping[index], rel=0.15)
    again = rig.response("arm_joint_1", gains, math.radians(2.0), 1.0)
    np.testing.assert_array_equal(again.position, response.position)


def test_proposed_gains_damp_better_and_are_written_for_scripts_gains(tmp_path, capsys):
    file, picture = tmp_path / "arm.yaml", tmp_path / "arm.png"
    words = ["arm", "--classes", "small", "--save", str(file), "--out", str(picture)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    rows = [line.split("|") for line in printed.splitlines() if "small" in line and line.startswith("|")]
    before, after = (float(row[6]) for row in rows)
    assert before > 25.0 > 15.0 > after, "overshoot in %"
    assert list(GainsFile.load(file).classes) == ["small"] and GainsFile.load(file).classes["small"].d > 0.1
    with Image.open(picture) as image:
        assert image.width > 600
    assert main(["arm", "--classes", "small", "--gains", str(file), "--out", str(picture)]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("| small"))
    assert float(row.split("|")[4]) == pytest.approx(GainsFile.load(file).classes["small"].d, abs=5e-4)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["pony"], "there is no robot 'pony'"),
        (["arm", "modules:=3"], "does not take modules:=3; it has no arguments"),
        (["arm", "--classes", "knee"], "arm has no joint class 'knee'; choose from large, small"),
        (["arm", "--pose", "flying"], "pose 'flying' does not exist; choose one of upright"),
        (["arm", "--step-deg", "900"], "--step-deg is 900; give 0.1 to 45"),
        (["snake", "modules:=16", "--classes", "pitch"], "does not hold straight against gravity"),
        (["arm", "--gains", "none.yaml"], "none.yaml"),
        (["arm", "--out", "picture.txt"], "does not end in .png"),
    ],
)
def test_what_cannot_be_tuned_is_said(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert sentence in capsys.readouterr().err


def test_a_snake_is_stepped_without_weight(tmp_path, capsys):
    words = ["snake", "modules:=4", "--weightless", "--classes", "yaw", "--out", str(tmp_path / "snake.png")]
    assert main(words) == 0
    assert "proposed yaw" in capsys.readouterr().out


def test_every_corner_of_the_page_of_gains_is_stable_in_the_embedded_simulator(arm):
    """It integrates the servos implicitly; with forward Euler the stiffest and most damped corner would explode."""
    rig, limits = StepRig(*arm), arm[1].gain_limits
    for p in (5.0, limits.p):
        for d in (0.0, limits.d):
            gains = {kind: Gains(p, 0.0, d) for kind in arm[1].classes}
            response = rig.response("arm_joint_4", gains, math.radians(1.0), 4.0)
            assert abs(response.velocity[-50:]).max() < 0.05, (p, d)
            assert 0.9 < response.final < 1.1, (p, d)


def test_a_window_without_a_display_is_refused_before_anything_is_measured(monkeypatch, capsys):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("robot_evaluation.tuning.cli.check_file", lambda _: pytest.fail("it goes on"))
    assert main(["arm", "--show"]) == 2
    assert "--show needs a display" in capsys.readouterr().err
