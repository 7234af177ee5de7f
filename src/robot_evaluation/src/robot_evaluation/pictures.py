# SPDX-License-Identifier: MIT
"""Pictures of a run: PNG files and one contact sheet with captions."""

from __future__ import annotations

import io
import math
import shutil
import subprocess
from pathlib import Path
from typing import Mapping, Sequence, Tuple

import numpy as np
from PIL import Image, ImageDraw

from shellbot_common import write_file

from .errors import EvaluationError

CAPTION_HEIGHT = 18  # pixels
MARGIN = 4  # pixels
_UNCHANGED = 255  # entry of a GIF's palette, which no colour has


def save_png(path: Path, picture: np.ndarray) -> None:
    """Write a (height, width, 3) uint8 picture."""
    stream = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture, dtype=np.uint8)).save(stream, "png")
    write_file(path, stream.getvalue())


def contact_sheet(pictures: Mapping[str, np.ndarray], columns: int = 4, tile_width: int = 400) -> np.ndarray:
    """Arrange pictures in rows, each above its caption.

    Parameters
    ----------
    pictures : mapping
        Caption to (height, width, 3) uint8 picture, in the order of the sheet.
    columns : int
        Pictures a row.
    tile_width : int
        Width of each picture on the sheet, pixels; heights keep their proportions.

    Returns
    -------
    (height, width, 3) uint8 array

    Raises
    ------
    EvaluationError
        If there are no pictures.
    """
    if not pictures:
        raise EvaluationError("no pictures for a contact sheet; was the camera running?")
    tiles = [_tile(caption, picture, tile_width) for caption, picture in pictures.items()]
    columns = min(columns, len(tiles))
    rows = math.ceil(len(tiles) / columns)
    tile_height = max(tile.height for tile in tiles)
    size = MARGIN + columns * (tile_width + MARGIN), MARGIN + rows * (tile_height + MARGIN)
    sheet = Image.new("RGB", size, "white")
    for i, tile in enumerate(tiles):
        row, column = divmod(i, columns)
        sheet.paste(tile, (MARGIN + column * (tile_width + MARGIN), MARGIN + row * (tile_height + MARGIN)))
    return np.asarray(sheet)


def save_all(folder: Path, pictures: Mapping[str, np.ndarray]) -> Sequence[Path]:
    """Write each picture as NN_caption.png and all as contact_sheet.png; returns the paths (none without pictures)."""
    paths = []
    for i, (caption, picture) in enumerate(pictures.items()):
        paths.append(folder / f"{i:02d}_{caption.replace(' ', '_').replace(':', '_')}.png")
        save_png(paths[-1], picture)
    if pictures:
        paths.append(folder / "contact_sheet.png")
        save_png(paths[-1], contact_sheet(pictures))
    return paths


def save_gif(path: Path, frames: Sequence[Tuple[str, np.ndarray]], frame_s: float, colours: int = 64) -> None:
    """Write pictures with their captions as an animated GIF that repeats.

    Parameters
    ----------
    path : Path
        File.
    frames : sequence of (str, (height, width, 3) uint8 array)
        Caption and picture, all of one size.
    frame_s : float
        For which each is shown, s; a GIF counts in 0.01 s.
    colours : int
        Of one palette for all pictures, at most 255; fewer make the file smaller.

    Raises
    ------
    EvaluationError
        If there are no pictures.
    """
    if not frames:
        raise EvaluationError("no pictures for a film; did the robot stand up?")
    tiles = [_tile(caption, picture, picture.shape[1]) for caption, picture in frames]
    some = tiles[:: max(1, len(tiles) // 12)]
    column = Image.new("RGB", (tiles[0].width, sum(tile.height for tile in some)))
    for i, tile in enumerate(some):
        column.paste(tile, (0, i * tile.height))
    palette = column.quantize(colours, method=Image.MAXCOVERAGE)  # the few pixels of a bright colour count, too
    first, *rest = (tile.quantize(palette=palette, dither=0) for tile in tiles)
    pixels = [np.asarray(tile) for tile in (first, *rest)]
    for tile, before, now in zip(rest, pixels, pixels[1:]):  # what does not change is transparent, and costs nothing
        tile.paste(_UNCHANGED, mask=Image.fromarray(before == now))
    options = {"duration": round(1e3 * frame_s), "transparency": _UNCHANGED, "disposal": 1}
    stream = io.BytesIO()
    first.save(stream, "gif", save_all=True, append_images=rest, loop=0, optimize=False, **options)
    write_file(path, stream.getvalue())


def save_mp4(path: Path, frames: Sequence[Tuple[str, np.ndarray]], frame_s: float) -> None:
    """Write pictures with their captions as a film (H.264), by the program ffmpeg.

    Parameters
    ----------
    path : Path
        File.
    frames : sequence of (str, (height, width, 3) uint8 array)
        Caption and picture, all of one size.
    frame_s : float
        For which each is shown, s.

    Raises
    ------
    EvaluationError
        If there are no pictures, or ffmpeg is not installed or fails.
    """
    if not frames:
        raise EvaluationError("no pictures for a film; did the robot stand up?")
    program = find_ffmpeg(path)
    tiles = [_tile(caption, picture, picture.shape[1]) for caption, picture in frames]
    width, height = (2 * (side // 2) for side in tiles[0].size)  # H.264 with its usual colours takes even sides only
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{1.0 / frame_s:g}", "-i", "-"]
    command = [program, "-y", "-loglevel", "error", *source, "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    pixels = b"".join(tile.crop((0, 0, width, height)).tobytes() for tile in tiles)
    beside = path.with_name(f"{path.stem}.part{path.suffix}")
    done = subprocess.run([*command, str(beside)], input=pixels, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        beside.unlink(missing_ok=True)
        reason = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise EvaluationError(f"ffmpeg cannot write {path}: {' '.join(reason)}; write a .gif")
    beside.replace(path)


def find_ffmpeg(path: Path) -> str:
    """Return the program that writes a film; raise EvaluationError where it is not installed."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise EvaluationError(f"{path.name} needs the program ffmpeg; install the package ffmpeg, or write a .gif")
    return program


def scaled(picture: np.ndarray, width: int) -> np.ndarray:
    """Return a (height, width, 3) uint8 picture with another width and the same proportions."""
    height = max(1, round(picture.shape[0] * width / picture.shape[1]))
    return np.asarray(Image.fromarray(np.ascontiguousarray(picture, dtype=np.uint8)).resize((width, height)))


def _tile(caption: str, picture: np.ndarray, width: int) -> Image.Image:
    small = scaled(picture, width)
    height = small.shape[0]
    tile = Image.new("RGB", (width, height + CAPTION_HEIGHT), "white")
    tile.paste(Image.fromarray(small), (0, 0))
    ImageDraw.Draw(tile).text((MARGIN, height + 3), caption, fill="black")
    return tile
