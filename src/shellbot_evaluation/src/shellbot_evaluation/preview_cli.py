# SPDX-License-Identifier: MIT
"""scripts/action preview: an action or a gait as pictures and curves, or as a film, without ROS and display."""

from __future__ import annotations

import argparse
import io
import itertools
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
from PIL import Image

from robot_evaluation.console import Progress, say, seed_of
from robot_evaluation.errors import DefinitionError, EvaluationError
from robot_evaluation.pictures import contact_sheet, find_ffmpeg, save_gif, save_mp4
from robot_evaluation.plot_canvas import new_figure, shrunk
from shellbot_action_manager.actions.library import ActionLibrary
from shellbot_action_manager.errors import ActionManagerError
from shellbot_action_manager.gait.gait_table import Gait
from shellbot_common import TICK, named_numbers, write_file

from .preview import Recording, pictures, record_action, record_gait, spread
from .preview_figure import draw_action, draw_gait

FOLDER = Path("results/preview")
FRAME_S = {".gif": 0.1, ".mp4": 0.04}  # that a picture is shown for
MOST_FRAMES = {".gif": 160, ".mp4": 500}  # of a film, which is faster than the robot if the action is long: below 3 MB
PARTS = 8  # that a film is drawn in, for the progress
COLUMNS, TILE_WIDTH = 4, 300  # of a contact sheet
TWIST = (0.2, 0.0, 0.0)
_DPI = 100
_EXAMPLES = """examples:
  scripts/action preview wave leg=3
  scripts/action preview nod_to leg=2 --folder ~/my_actions --out nod.gif
  scripts/action preview --gait ripple --twist 0.1 0 0.3
"""


def add_command(commands: Any) -> None:
    """Add the command to those of scripts/action."""
    text = "see an action or a gait before the robot does it: pictures and curves, or a film; neither ROS nor a display"
    command = commands.add_parser(
        "preview", help=text, description=text, epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_argument("action", nargs="?", help="its name; scripts/action list has them all")
    add_parameters(command)
    command.add_argument("--gait", metavar="NAME", help="a gait instead of an action: two cycles of it")
    command.add_argument(
        "--twist",
        nargs=3,
        type=float,
        metavar=("X", "Y", "RATE"),
        help="to walk with: m/s ahead, m/s to the left, rad/s (default 0.2 0 0)",
    )
    command.add_argument("--folder", action="append", default=[], help="with actions of your own; may be repeated")
    command.add_argument(
        "--out", type=Path, metavar="FILE", help=f".png (default {FOLDER}/NAME.png), or a film: .gif, or .mp4 by ffmpeg"
    )
    command.add_argument("--frames", type=int, default=8, metavar="N", help="pictures of the robot (default 8)")
    command.add_argument(
        "--azimuth",
        type=float,
        metavar="DEG",
        help="where the camera stands: 0 ahead, 90 to the left (default: near the leg that is lifted)",
    )
    command.add_argument("--plots-only", action="store_true", help="no pictures of the robot: where none can be drawn")
    command.add_argument("--seed", type=seed_of, default=0, help="of the simulator (default 0)")
    command.add_argument("--variant", default="simulation", help="simulation (default) or walker")


def add_parameters(command: argparse.ArgumentParser) -> None:
    """Add the parameters of an action, which `parameters_of` reads."""
    command.add_argument(
        "values", nargs="*", metavar="PARAMETER=VALUE", default=[], help="those that differ from their defaults"
    )


def parameters_of(arguments: argparse.Namespace) -> Dict[str, float]:
    """Return the parameters of an action that are given.

    Raises
    ------
    EvaluationError
        If one is none.
    """
    return named_numbers(arguments.values, "leg=3")


def preview(arguments: argparse.Namespace) -> int:
    """Simulate and write the file; returns 0, or 1 if the action did not end."""
    name, path = _checked(arguments)
    is_film = path.suffix.lower() in FRAME_S
    count = 0 if arguments.plots_only else PARTS if is_film else arguments.frames
    progress = Progress(count + 2)
    gait: Optional[Gait] = None
    if arguments.gait:
        twist = TWIST if arguments.twist is None else arguments.twist
        recording, gait = record_gait(name, twist, arguments.seed, arguments.variant)
    else:
        values = parameters_of(arguments)
        recording = record_action(name, values, arguments.folder, arguments.seed, arguments.variant)
    progress.step(f"{recording.t[-1]:.1f} s simulated")
    if is_film:
        _write_film(path, recording, arguments.azimuth, progress)
    else:
        _write_sheet(path, recording, gait, count, arguments.azimuth, progress)
    progress.step("written")
    say(f"{recording.title}: {recording.t[-1]:.1f} s, {path}, {path.stat().st_size / 1e3:.0f} kB")
    if recording.failure:
        say(f"it did not end: {recording.failure}")
    return 1 if recording.failure else 0


def _checked(arguments: argparse.Namespace) -> Tuple[str, Path]:
    """Return the name of the action or gait, and the file; refuse what cannot work before anything is simulated."""
    if bool(arguments.action) == bool(arguments.gait):
        raise DefinitionError("give either the name of an action or --gait NAME; scripts/action list has the actions")
    if arguments.twist is not None and not arguments.gait:
        raise DefinitionError("--twist is for a gait; give --gait NAME, or leave it out")
    if not 1 <= arguments.frames <= 64:
        raise DefinitionError(f"--frames is {arguments.frames}; give 1 to 64 pictures")
    if arguments.azimuth is not None and not abs(arguments.azimuth) <= 360.0:
        raise DefinitionError(f"--azimuth is {arguments.azimuth}; give -360 to 360 degrees")
    if arguments.action:
        values = parameters_of(arguments)
        try:
            ActionLibrary(arguments.folder).find(arguments.action).values(values)
        except ActionManagerError as error:
            raise EvaluationError(str(error)) from error
    name = arguments.gait or arguments.action
    path = arguments.out or FOLDER / f"{'gait_' if arguments.gait else ''}{name}.png"
    suffix = path.suffix.lower()
    if suffix not in (".png", *FRAME_S):
        raise DefinitionError(f"--out {path} does not end in .png, .gif or .mp4; the ending chooses pictures or a film")
    if suffix != ".png" and arguments.plots_only:
        raise DefinitionError(f"--plots-only has no pictures for the film {path}; give --out FILE.png")
    if suffix == ".mp4":
        find_ffmpeg(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DefinitionError(f"the folder of --out {path} cannot be made: {error.strerror}") from None
    return name, path


def _write_sheet(
    path: Path, recording: Recording, gait: Optional[Gait], count: int, azimuth: Optional[float], progress: Progress
) -> None:
    """Write pictures, if any, and under them the curves."""
    ticks = spread(recording, count)
    shown = {}
    for caption, picture in pictures(recording, ticks, azimuth_deg=azimuth):
        shown[caption] = picture
        progress.step(caption.strip())
    sheet = contact_sheet(shown, COLUMNS, TILE_WIDTH) if shown else None
    width = COLUMNS * TILE_WIDTH if sheet is None else sheet.shape[1]
    panels = 2 + len(recording.groups()) if gait else (4 + len(recording.groups())) // 2
    figure = new_figure((width / _DPI, 1.2 + (1.55 if gait else 2.0) * panels), show=False)
    failed = f"\ndid not end: {recording.failure}" if recording.failure else ""
    figure.suptitle(recording.title + failed, fontsize=11)
    if gait is not None:
        draw_gait(figure, recording, gait.duty_factor, ticks)
    else:
        draw_action(figure, recording, ticks)
    figure.canvas.draw()
    curves = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    if sheet is not None:
        across = min(sheet.shape[1], curves.shape[1])  # inches round to pixels
        curves = np.vstack((sheet[:, :across], curves[:, :across]))
    try:
        stream = io.BytesIO()
        Image.fromarray(np.ascontiguousarray(curves)).save(stream, "png")
        write_file(path, shrunk(stream.getvalue()))
    except OSError as error:
        raise DefinitionError(f"{path} cannot be written: {error.strerror}") from None


def _write_film(path: Path, recording: Recording, azimuth: Optional[float], progress: Progress) -> None:
    """Write a film at the robot's speed, or faster if that were too many pictures."""
    suffix = path.suffix.lower()
    frame_s, duration = FRAME_S[suffix], recording.t[-1] + TICK
    speed = max(1.0, duration / (frame_s * MOST_FRAMES[suffix]))
    ticks = spread(recording, max(2, round(duration / (speed * frame_s))))
    frames: List[Tuple[str, np.ndarray]] = []
    drawn = pictures(recording, ticks, speed, azimuth)
    for part in np.array_split(ticks, PARTS):
        frames.extend(itertools.islice(drawn, len(part)))
        progress.step(f"{len(frames)} of {len(ticks)} pictures")
    recording.simulator.close()
    try:
        (save_gif if suffix == ".gif" else save_mp4)(path, frames, frame_s)
    except OSError as error:
        raise DefinitionError(f"{path} cannot be written: {error.strerror}") from None
