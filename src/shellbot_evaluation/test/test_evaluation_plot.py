# SPDX-License-Identifier: MIT
"""scripts/plot: real files of the kind asked for, with what they should show, and errors in words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robot_evaluation import plot_bodies
from robot_evaluation.plot_canvas import COLOURS
from robot_mechanics import model_path
from robot_mechanics.dynamics.cli import load
from robot_mechanics.dynamics.simulation import simulate
from shellbot_benchmarks.virtual_display import virtual_display
from shellbot_evaluation import plot_cli, plot_parser, plot_shellbot

ROOT = Path(__file__).resolve().parents[3]
KINDS = {
    "reach": ["reach", "--step", "0.004"],
    "reach of one leg, fan turned": ["reach", "--leg", "2", "--fan", "-60", "--step", "0.005", "--height", "0.15"],
    "reach of a sphere centre": ["reach", "--leg", "lower_3", "--frame", "sphere_centre", "--step", "0.005"],
    "reach of an upper limb": ["reach", "--leg", "upper_4", "--step", "0.005"],
    "reach of an arm": ["reach", "--model", "ur5", "--samples", "800"],
    "walkspace": ["walkspace", "--gait", "ripple"],
    "walkspace of one leg": ["walkspace", "--leg", "5", "--height", "0.18", "--stance", "0.28", "--margin", "8"],
    "singularity": ["singularity", "--leg", "1", "--step", "0.005"],
    "singularity of an upper limb": ["singularity", "--leg", "upper_1", "--step", "0.005"],
    "singularity of an arm": ["singularity", "--model", "puma560", "--joints", "shoulder", "elbow"],
    "frames": ["frames"],
    "frames of all": ["frames", "--leg", "all", "--pose", "closed"],
    "frames of one": ["frames", "--leg", "upper_2", "--q", "10", "20"],
    "bodies of an arm": ["bodies", "arm4", "--q", "20", "25", "40", "30"],
    "frames of an arm": ["frames", "--model", "puma560"],
}


@pytest.fixture(autouse=True, scope="module")
def each_walkspace_is_computed_once():
    """1800 strokes over heights and stances take seconds, and most pictures show those of the same leg and margin."""
    found, compute = {}, plot_shellbot.walkspace

    def computed_once(legs, heights, stances, *numbers, **options):
        key = repr((legs.names, numbers, options))
        if key not in found:
            found[key] = compute(legs, heights, stances, *numbers, **options)
        return found[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plot_shellbot, "walkspace", computed_once)
        yield


@pytest.mark.parametrize("words", list(KINDS.values()), ids=list(KINDS))
def test_every_kind_writes_a_picture_that_shows_something(words, tmp_path, capsys):
    out = tmp_path / "sub" / "picture.png"
    assert plot_cli.main([*words, "--out", str(out)]) == 0
    assert f"picture in {out}" in capsys.readouterr().out
    with Image.open(out) as picture:
        width, height = picture.size
        colours = picture.convert("RGB").getcolors(width * height)
        pixels = np.asarray(picture.convert("RGB"))
    assert 550 <= width <= 1700 and 400 <= height <= 1000
    assert len(colours) > 30
    drawn = (pixels != 255).any(axis=2)
    assert drawn.mean() > 0.005
    for edge in (drawn[0], drawn[-1], drawn[:, 0], drawn[:, -1]):
        assert not edge.any()  # nothing is cut off


@pytest.mark.parametrize("ending, start", [("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_other_formats(ending, start, tmp_path):
    out = tmp_path / f"frames.{ending}"
    assert plot_cli.main(["frames", "--leg", "1", "--out", str(out)]) == 0
    assert out.read_bytes()[:5].startswith(start) and out.stat().st_size > 3000


def test_the_same_picture_has_the_same_bytes(tmp_path):
    for name in ("a.svg", "b.svg"):
        assert plot_cli.main(["reach", "--leg", "1", "--step", "0.01", "--out", str(tmp_path / name)]) == 0
    lines = [(tmp_path / name).read_text(encoding="utf-8").splitlines() for name in ("a.svg", "b.svg")]
    assert not [line for line in lines[0] if "<dc:date>" in line]
    assert len(lines[0]) == len(lines[1])


def test_a_film_of_random_torques_is_that_of_its_seed(tmp_path):
    films = {}
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        words = ["bodies", "arm4", "--seconds", "0.5", "--seed", seed, "--film", str(tmp_path / f"{name}.gif")]
        assert plot_cli.main([*words, "--out", str(tmp_path / "picture.png")]) == 0
        films[name] = (tmp_path / f"{name}.gif").read_bytes()
    assert films["a"] == films["b"] != films["c"]
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == 11
        first = np.asarray(film.convert("RGB")).astype(int)
        film.seek(10)
        assert (np.abs(np.asarray(film.convert("RGB")) - first).sum(axis=2) > 100).sum() > 200


@pytest.mark.parametrize(
    "law, first, most",
    [("computed_torque", 0, 0.01), ("gravity_pd", 1, 0.1), ("pd_outside", 0, 0.05), ("open_loop", 0, 0.01)],
)
def test_the_laws_of_films_follow_their_swing(law, first, most):
    arguments = plot_parser.parse(["bodies", "arm4", "--law", law])
    model = load("arm4", floating=False)
    start = np.array([0.2, -0.1, 0.1, 0.0])
    follow = plot_bodies.law_of(arguments, model, start)
    motion = simulate(model, follow, start, np.zeros(4), 1.25, 0.002)
    # half a period: one rad from the start; gains outside the mass matrix are weak where a joint's inertia grows
    assert np.abs(motion.q[-1] - start - 1.0)[first:].max() < most


def test_gains_as_printed_diverge_and_are_filmed_with_a_warning(tmp_path, capsys):
    words = ["bodies", "arm4", "--law", "pd_outside", "--kp", "1", "--kd", "2", "--film", str(tmp_path / "film.gif")]
    words += ["--step", "1.5", "--method", "explicit", "--out", str(tmp_path / "picture.png")]
    assert plot_cli.main(words) == 0
    printed = capsys.readouterr().out
    assert "take 0.276 ms or less" in printed and "diverges: arm_joint_1 is beyond" in printed
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 12  # the start and 11 steps
    for more, says in ((["--step", "0"], "--step is 0 ms; expected above 0 to 50"), (["--kd", "-1"], "kd is -1.0")):
        assert plot_cli.main([*words, *more]) == 2
        assert says in capsys.readouterr().err
    assert plot_cli.main([*words, "--law", "open_loop"]) == 2
    assert "--law open_loop has no gains; those with" in capsys.readouterr().err


def test_default_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert plot_cli.main(["walkspace", "--leg", "1"]) == 0
    assert (tmp_path / "results" / "plots" / "walkspace_162mm.png").exists()
    assert "results/plots/walkspace_162mm.png" in capsys.readouterr().out


def test_urdf_of_another_robot(tmp_path):
    import shellbot_description

    file = tmp_path / "robot.urdf"
    file.write_text(shellbot_description.expand("walker"), encoding="utf-8")
    words = ["reach", "--model", str(file), "--base", "base_link", "--tip", "lower_2_foot", "--samples", "300"]
    assert plot_cli.main([*words, "--out", str(tmp_path / "a.png")]) == 0
    copy = tmp_path / "arm.yaml"
    copy.write_text(model_path("ur5").read_text(encoding="utf-8"), encoding="utf-8")
    assert plot_cli.main(["frames", "--model", str(copy), "--out", str(tmp_path / "b.png")]) == 0


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["reach", "--leg", "9"], "unknown limb 'lower_9'; use one of lower_1"),
        (["reach", "--leg", "upper_1", "--frame", "foot"], "limb upper_1 has no frame"),
        (["reach", "--fan", "50"], "--fan 50 is outside the fan's range, -123.2 to 2.9 degrees"),
        (["reach", "--fan", "nan"], "--fan is nan; give degrees"),
        (["reach", "--step", "0"], "step is 0.0; expected 0.0001 to 0.05 m"),
        (["reach", "--height", "-1"], "--height is -1.0; expected 0.02 to 1 m"),
        (["reach", "--out", "picture.jpg"], "does not end in .png, .svg or .pdf"),
        (["walkspace", "--height", "nan"], "--height is nan"),
        (["walkspace", "--gait", "gallop"], "--gait gallop does not exist; choose from tripod"),
        (["walkspace", "--leg", "upper_1"], "no lower leg 'upper_1'"),
        (["walkspace", "--margin", "-3"], "joint_margin is -0.05"),
        (["frames", "--pose", "asleep"], "pose 'asleep' does not exist; choose one of"),
        (["frames", "--q", "1"], "--q is for one limb; name it with --leg"),
        (["bodies", "arm4", "--q", "0", "0", "nan", "0"], "--q is 0.0 0.0 nan 0.0; give finite numbers, deg"),
        (["bodies", "arm4", "--film", "a.gif", "--seed", "-1"], "--seed is -1; expected 0 or more"),
        (["frames", "--leg", "1", "--q", "1"], "--q has 1 values; lower_1 has 4"),
        (["reach", "--model", "nothing.yaml"], "--model nothing.yaml cannot be read"),
        (["reach", "--model", "ur5", "--samples", "0"], "--samples is 0; expected 1 to 2000000"),
        (["reach", "--model", "ur5", "--samples", "9999999999"], "--samples is 9999999999; expected 1 to"),
        (["reach", "--model", "ur5", "--seed", "-1"], "--seed is -1; expected 0 or more"),
        (["reach", "--model", "ur5", "--leg", "2"], "--leg is about Shellbot; leave it out, or --model ur5"),
        (["reach", "--model", "ur5", "--tip", "tool"], "is no URDF, so it says itself where it ends"),
        (["reach", "--samples", "5"], "--samples is about another robot; name it with --model FILE"),
        (["singularity", "--joints", "a", "b"], "--joints is about another robot"),
        (["frames", "--leg", "1", "--pose", "stand", "--q", "1", "2", "3", "4"], "give one of them"),
        (["reach", "--height", "0.9"], "no leg reaches so far below the body; give 0.2"),
        (["walkspace", "--height", "0.5"], "there is one within heights of 0.060 to 0.240 m"),
        (["walkspace", "--stance", "0.9"], "and stances of 0.215 to 0.400 m"),
        (["walkspace", "--margin", "400"], "with 400.0 degrees margin to joint limits; give less --margin"),
        (["bodies", "arm4", "--q", "1"], "--q has 1 values; arm4 has 4: arm_joint_1, arm_joint_2"),
        (["bodies", "arm4", "--film", "arm.avi"], "--film arm.avi does not end in .gif or .mp4"),
        (["bodies", "arm4", "--film", "arm.gif", "--seconds", "60"], "--seconds is 60; expected above 0 to 20"),
        (["bodies", "arm5"], "arm5"),
        (["bodies", "nothing.urdf"], "nothing.urdf"),
        (["singularity", "--model", "ur5", "--joints", "elbow", "knee"], "has no joint 'knee'; it has shoulder_pan"),
    ],
)
def test_errors_are_one_sentence(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert plot_cli.main(words) == 2
    said = capsys.readouterr().err
    assert sentence in said and said.startswith("error: ") and said.count("\n") == 1
    assert not list(tmp_path.rglob("*.png"))


def test_a_urdf_needs_its_links(tmp_path, capsys):
    file = tmp_path / "robot.urdf"
    file.write_text("<robot name='r'><link name='a'/></robot>", encoding="utf-8")
    assert plot_cli.main(["reach", "--model", str(file)]) == 2
    assert "say which chain of it with --base LINK --tip LINK" in capsys.readouterr().err


def test_a_window_needs_a_display(tmp_path, monkeypatch, capsys):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert plot_cli.main(["frames", "--leg", "1", "--show", "--out", str(tmp_path / "a.png")]) == 2
    assert "--show needs a display and there is none" in capsys.readouterr().err


SHOW = """
import sys
from pathlib import Path
from robot_evaluation.plot_canvas import finish, new_figure
figure = new_figure((3.0, 2.0), True)
figure.subplots().plot([0, 1])
timer = figure.canvas.new_timer(interval=300)  # closes the window as a user would
timer.add_callback(figure.canvas.manager.window.close)
timer.start()
finish(figure, Path(sys.argv[1]), True)
print("closed")
"""


def test_a_window_opens_and_the_file_is_written_when_there_is_a_display(tmp_path):
    pytest.importorskip("PyQt5", reason="the window needs PyQt5, which is not installed")
    with virtual_display() as display:
        environment = dict(os.environ, DISPLAY=display, MPLBACKEND="Agg")
        for name in ("QT_QPA_PLATFORM", "QT_API"):  # what other tests of this process chose
            environment.pop(name, None)
        out = tmp_path / "a.png"
        done = subprocess.run(
            [sys.executable, "-c", SHOW, str(out)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0 and done.stdout.strip() == "closed", done.stderr
        assert out.exists()


def test_a_display_that_does_not_answer_is_said(tmp_path):
    code = "import sys; from shellbot_evaluation import plot_cli; sys.exit(plot_cli.main(sys.argv[1:]))"
    words = ["frames", "--leg", "1", "--show", "--out", str(tmp_path / "a.png")]
    environment = dict(os.environ, DISPLAY=":3987")
    environment.pop("WAYLAND_DISPLAY", None)
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 2 and "--show cannot open a window" in done.stderr


def test_a_folder_that_cannot_be_written_to(tmp_path, capsys):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert plot_cli.main(["frames", "--out", str(tmp_path / "file" / "a.png")]) == 2
    assert "the folder of --out" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, sentence",
    [
        (
            [],
            "name what to draw: reach, walkspace, singularity, frames, bodies, bag, stability, humanoid; scripts/plot",
        ),
        (
            ["walkspace", "--model", "ur5"],
            "walkspace takes no --model, only reach, singularity and frames do; scripts/plot w",
        ),
        (["reach", "--gait=tripod"], "reach takes no --gait, only walkspace does"),
        (["frames", "--fan", "3"], "frames takes no --fan, only reach and walkspace do"),
        (["reach", "2"], "2 is not known here; scripts/plot reach --help lists"),
        (["reach", "--fan", "far"], "invalid float value: 'far'"),
        (["rech"], "invalid choice: 'rech'"),
    ],
)
def test_words_that_are_not_known_are_answered_in_one_sentence(words, sentence, capsys):
    with pytest.raises(SystemExit) as stop:
        plot_cli.main(words)
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert sentence in said and said.startswith("error: ") and said.count("\n") == 1


def test_a_leg_keeps_its_number_and_colour(tmp_path):
    from matplotlib.colors import to_hex

    words = ["walkspace", "--leg", "5", "--out", str(tmp_path / "a.png")]
    arguments = plot_parser.parse(words)
    plot_parser.check(arguments)
    figure, _ = plot_shellbot.walkspace_of(arguments)
    above = figure.axes[0]
    assert [text.get_text() for text in above.texts] == ["5"]
    assert to_hex(above.lines[0].get_color()) == COLOURS[4]


def test_pale_fills_of_two_legs_stay_apart(tmp_path):
    """The palette of a picture must not take one leg's colour for another's."""
    out = tmp_path / "a.png"
    assert plot_cli.main(["walkspace", "--out", str(out)]) == 0
    with Image.open(out) as picture:
        colours = picture.convert("RGB").getcolors(picture.width * picture.height)
    wide = np.array([colour for count, colour in colours if count > 2000])
    for colour in COLOURS:
        paint = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
        fill = 255 + 0.18 * (paint - 255)
        assert np.abs(wide - fill).max(axis=1).min() <= 6, f"no fill of {colour}"


def test_matplotlib_is_loaded_only_for_a_picture():
    code = "import sys, shellbot_evaluation.plot_cli as p; p.parser(); print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    assert done.stdout.strip() == "False"


def test_the_script_draws_from_any_folder(tmp_path):
    done = subprocess.run(
        [str(ROOT / "scripts" / "plot"), "frames", "--leg", "1", "--out", "leg.svg"],
        cwd=str(tmp_path),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "leg.svg").exists()
