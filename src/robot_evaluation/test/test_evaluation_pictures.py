# SPDX-License-Identifier: MIT
"""Contact sheets and films."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from PIL import Image, ImageSequence

from robot_evaluation.errors import EvaluationError
from robot_evaluation.pictures import contact_sheet, save_all, save_gif, save_mp4


def test_contact_sheet_holds_every_picture_and_files_are_numbered(tmp_path):
    pictures = {f"moment {i}": np.full((30, 40, 3), 40 * i, np.uint8) for i in range(4)}
    sheet = contact_sheet(pictures, columns=3, tile_width=40)
    assert sheet.shape[1] == 4 + 3 * 44
    for i in range(4):
        row, column = divmod(i, 3)
        assert sheet[4 + row * (30 + 18 + 4) + 15, 4 + column * 44 + 20].tolist() == [40 * i] * 3
    names = [path.name for path in save_all(tmp_path, pictures)]
    assert names == [*(f"{i:02d}_moment_{i}.png" for i in range(4)), "contact_sheet.png"]
    assert Image.open(tmp_path / "03_moment_3.png").getpixel((0, 0)) == (120, 120, 120)
    assert save_all(tmp_path, {}) == []
    with pytest.raises(EvaluationError, match="was the camera running"):
        contact_sheet({})


def test_a_film_is_an_animated_gif_with_a_caption_below_each_picture(tmp_path):
    frames = [(f"frame {i}", np.full((40, 60, 3), 50 * i, np.uint8)) for i in range(4)]
    save_gif(tmp_path / "film.gif", frames, 0.1)
    film = Image.open(tmp_path / "film.gif")
    assert film.n_frames == 4 and film.size == (60, 58) and film.info["duration"] == 100 and film.info["loop"] == 0
    shown = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(film)]
    for now, (_, picture) in zip(shown, frames):  # in the colours of the palette, which Pillow chooses
        assert np.abs(now[:40].astype(int) - picture).max() <= 4, "what changed is there"
    assert all((now[45:, 50:] >= 251).all() for now in shown), "and so is what did not"
    with pytest.raises(EvaluationError, match="no pictures for a film"):
        save_gif(tmp_path / "none.gif", [], 0.1)


@pytest.mark.parametrize("fails", [True, False])
def test_a_film_that_the_encoder_cannot_finish_leaves_the_former_one(tmp_path, monkeypatch, fails):
    program = tmp_path / "ffmpeg"
    program.write_text(f"#!/bin/sh\ncat >/dev/null\nfor file; do :; done\necho half > $file\nexit {int(fails)}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    film = tmp_path / "film.mp4"
    film.write_text("former")
    with pytest.raises(EvaluationError, match="ffmpeg cannot write .*film.mp4") if fails else contextlib.nullcontext():
        save_mp4(film, [("a", np.zeros((16, 16, 3), np.uint8))], 0.04)
    assert film.read_text() == ("former" if fails else "half\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ffmpeg", "film.mp4"]
