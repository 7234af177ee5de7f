# SPDX-License-Identifier: MIT
"""scripts/action preview: pictures of the real robot, curves of what it does, films, and what it refuses."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from PIL import Image

from robot_evaluation.plot_canvas import new_figure
from shellbot_evaluation import preview_cli
from shellbot_evaluation.action_cli import main
from shellbot_evaluation.preview import pictures, record_action, record_gait, spread
from shellbot_evaluation.preview_figure import draw_action, draw_gait
from shellbot_simulator.core.errors import RenderError
from shellbot_simulator.core.simulator import Simulator


@pytest.fixture(scope="module")
def wave():
    return record_action("wave", {"leg": 3, "times": 1})


@pytest.fixture(scope="module")
def tripod():
    return record_gait("tripod", (0.15, 0.0, 0.2))


@pytest.fixture
def recorded(monkeypatch, wave, tripod):
    """The commands show what is recorded once for all tests."""
    monkeypatch.setattr(preview_cli, "record_action", lambda *_: wave)
    monkeypatch.setattr(preview_cli, "record_gait", lambda *_: tripod)


def test_an_action_is_recorded_with_its_steps(wave):
    names = [name for _, name in wave.boundaries]
    assert names == ["lean away", "lift", "wave", "put down", "back to rest"] and not wave.failure
    assert wave.boundaries[1][0] > 0.3 and wave.t[-1] > 3.0
    highest = 1e3 * wave.foot_height.max(axis=0)
    assert 50.0 < highest[2] < 65.0 and np.delete(highest, 2).max() < 2.0  # of leg 3; height is 60 mm
    assert 20.0 < 1e3 * np.linalg.norm(wave.position[:, :2], axis=1).max() < 40.0  # leans away
    assert np.degrees(np.abs(wave.joints - wave.commanded)).max() < 3.0
    assert list(wave.groups()) == ["coxa", "femur", "tibia"], "neither fan nor shells move"
    assert wave.azimuth_deg == pytest.approx(120.0 - 25.0), "the camera stands near leg 3"


def test_curves_show_what_was_recorded(wave):
    panels = draw_action(new_figure((8.0, 6.0), show=False), wave, spread(wave, 4))
    heights, coxa = panels[2], panels[3]
    assert coxa.get_ylabel() == "coxa / deg"
    assert np.allclose(heights.lines[2].get_ydata(), 1e3 * wave.foot_height[:, 2])
    columns = wave.groups()["coxa"]
    assert np.allclose(coxa.lines[2].get_ydata(), np.degrees(wave.joints[:, columns[2]]))
    assert np.ptp(coxa.lines[2].get_ydata()) > 20.0
    assert [text.get_text() for text in panels[0].texts][:2] == ["lean away", "lift"]


def test_a_gait_shows_two_cycles(tripod):
    recording, gait = tripod
    passed = np.mod(np.diff(recording.phase[:, 0]), 1.0).sum()
    assert passed == pytest.approx(2.0, abs=0.1)
    assert recording.contact.sum(axis=1).min() >= 2 and recording.position[-1, 0] > 0.1
    above, _, diagram, heights, *joints = draw_gait(new_figure((8.0, 8.0), show=False), recording, gait.duty_factor)
    x, y = above.lines[0].get_data()  # leg 1 on the ground
    assert np.nanmin(x) > 200.0 and np.nanmax(x) < 400.0 and np.nanmax(np.abs(y)) < 60.0
    stance = [bars.get_paths() for bars in diagram.collections[::2]]  # by the gait
    assert len(stance) == 6 and all(2 <= len(paths) <= 3 for paths in stance)
    width = sum(np.ptp(path.vertices[:, 0]) for path in stance[0])
    assert width / recording.t[-1] == pytest.approx(gait.duty_factor, abs=0.05)
    assert max(line.get_ydata().max() for line in heights.lines[:6]) > 15.0 and len(joints) == 3


def test_pictures_and_curves_in_one_file(recorded, wave, tmp_path, capsys):
    file = tmp_path / "new" / "wave.png"
    assert main(["preview", "wave", "leg=3", "--frames", "3", "--out", str(file)]) == 0
    assert f"{file}, " in capsys.readouterr().out
    with Image.open(file) as picture:
        assert picture.width > 880 and picture.height > 800
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    first, second = pixels[4:238, 4:304], pixels[4:238, 308:608]
    orange = (first[..., 0] > 200) & (first[..., 2] < 90)  # the shells of the lower legs
    assert orange.mean() > 0.02, "no robot in the picture"
    assert np.abs(first - second).mean() > 1.0, "the leg moved between the pictures"


def test_a_film(recorded, wave, tmp_path, monkeypatch):
    monkeypatch.setitem(preview_cli.MOST_FRAMES, ".gif", 12)
    file = tmp_path / "wave.gif"
    assert main(["preview", "wave", "--out", str(file)]) == 0
    with Image.open(file) as film:
        assert film.n_frames == 12 and film.size == (360, 300)
    assert file.stat().st_size < 3e6 * 12 / 160, "160 such pictures are to stay below 3 MB"


@pytest.mark.filterwarnings("error::UserWarning")  # of a layout that has no room
def test_curves_need_no_pictures(recorded, tmp_path, monkeypatch, capsys):
    def fail(*_):
        raise RenderError("no offscreen rendering here (egl: none). Install libegl1")

    monkeypatch.setattr(Simulator, "render", fail)
    out = str(tmp_path / "gait.png")
    assert main(["preview", "--gait", "tripod", "--out", out]) == 2
    assert "Install libegl1; or give --plots-only" in capsys.readouterr().err
    assert main(["preview", "--gait", "tripod", "--out", out, "--plots-only"]) == 0
    with Image.open(out) as picture:
        assert picture.size[0] == 1200 and len(picture.getcolors(1 << 16)) > 20


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["wavve"], "there is no action 'wavve'; is wave meant"),
        (["wave", "leg=9"], "leg of wave is 9; give a whole number from 1 to 6"),
        ([], "give either the name of an action or --gait NAME"),
        (["wave", "--gait", "tripod"], "give either the name of an action or --gait NAME"),
        (["wave", "--twist", "0.1", "0", "-0.2"], "--twist is for a gait"),
        (["wave", "--out", "wave.jpg"], "does not end in .png, .gif or .mp4"),
        (["wave", "--out", "wave.gif", "--plots-only"], "--plots-only has no pictures for the film"),
        (["wave", "--frames", "0"], "--frames is 0; give 1 to 64"),
        (["wave", "--azimuth", "nan"], "--azimuth is nan; give -360 to 360 degrees"),
        (["--gait", "tripod", "--twist", "0", "0", "0"], "one of them not 0"),
        (["--gait", "tripot"], "there is no gait 'tripot'"),
        (["bow", "--variant", "walkr"], "walkr"),
        (["bow", "--out", "bow.mp4"], "bow.mp4 needs the program ffmpeg; install the package ffmpeg, or write a .gif"),
    ],
)
def test_mistakes_get_a_sentence(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert main(["preview", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_pictures_are_of_the_ticks_and_leave_nothing_running(wave):
    highest = int(wave.foot_height[:, 2].argmax())
    ((caption, _),) = pictures(wave, [highest])
    assert caption == f"{wave.t[highest]:5.2f} s  {wave.step_name(highest)}"
    shown = wave.simulator.state()
    assert np.allclose(shown.q, wave.states[highest].q) and shown.foot_height[2] > 0.04
    assert wave.simulator._renderer is None
