# SPDX-License-Identifier: MIT
"""Figures of scripts/plot: made without a display unless one is asked for, written to a file, shown in a window."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, Tuple

from shellbot_common import write_file

from .errors import DefinitionError

FORMATS = ("png", "svg", "pdf")
COLOURS = ("#1f6fb4", "#d95f02", "#2a9d54", "#c1272d", "#7b4ea3", "#8c6239")
"""One per leg or curve; distinct in print, too."""


def check_file(path: Path) -> Path:
    """Return the picture's file if it can be written there.

    Raises
    ------
    DefinitionError
        If the ending is no picture format, or the folder cannot be made.
    """
    if path.suffix.lstrip(".").lower() not in FORMATS:
        raise DefinitionError(f"--out {path} does not end in .png, .svg or .pdf; the ending chooses the format")
    if path.is_dir():
        raise DefinitionError(f"--out {path} is a folder; name a file in it, such as {path / 'reach.png'}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DefinitionError(f"the folder of --out {path} cannot be made: {error.strerror}") from None
    return path


def check_display(show: bool) -> None:
    """Raise DefinitionError if a window is requested and there is no display; before work that ends in it."""
    if show and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise DefinitionError("--show needs a display and there is none; leave it out and open the file instead")


def new_figure(size: Tuple[float, float], show: bool) -> Any:
    """Return an empty figure of a size in inches; for a window where one is requested.

    Raises
    ------
    DefinitionError
        If a window is requested and there is no display, or none that can be used.
    """
    if not show:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=size, constrained_layout=True)
        FigureCanvasAgg(figure)
        return figure
    check_display(show)
    from matplotlib import pyplot

    try:
        pyplot.switch_backend("qt5agg")
        return pyplot.figure(figsize=size, constrained_layout=True)
    except (ImportError, RuntimeError) as error:  # no Qt; no answer from the display
        raise DefinitionError(
            f"--show cannot open a window ({error}); leave it out and open the file instead"
        ) from None


def finish(figure: Any, path: Path, show: bool) -> None:
    """Write the figure, and keep its window open until it is closed.

    Raises
    ------
    DefinitionError
        If the file cannot be written.
    """
    try:
        # no date in the file: the same figure gives the same bytes, which keeps committed pictures still
        metadata = (
            {"Date": None} if path.suffix == ".svg" else {"CreationDate": None} if path.suffix == ".pdf" else None
        )
        drawn = io.BytesIO()
        kind = path.suffix[1:] or None
        figure.savefig(drawn, format=kind, dpi=100, metadata=metadata, bbox_inches="tight", pad_inches=0.15)
        write_file(path, shrunk(drawn.getvalue()) if path.suffix == ".png" else drawn.getvalue())
    except OSError as error:
        raise DefinitionError(f"{path} cannot be written: {error.strerror}") from None
    if show:
        from matplotlib import pyplot

        pyplot.show()


def shrunk(png: bytes) -> bytes:
    """Return a PNG with a palette: a third of the size, and no difference to the eye.

    Half of the palette are the colours that cover most, as they are, or the pale fills of two legs would become one;
    the other half are the best for all the rest, rare ones included.
    """
    import numpy as np
    from PIL import Image

    with Image.open(io.BytesIO(png)) as picture:
        full = picture.convert("RGB")
    # one number a colour: sorting rows of three takes seconds
    numbers = np.asarray(full).astype(np.uint32) @ np.array((1 << 16, 1 << 8, 1), dtype=np.uint32)
    found, place, count = np.unique(numbers.ravel(), return_inverse=True, return_counts=True)
    seen = np.stack((found >> 16, found >> 8 & 255, found & 255), axis=1)
    most = seen[np.argsort(count, kind="stable")[::-1][:128]]
    rest = full.quantize(256 - len(most), method=1, dither=0).getpalette()  # 1: keep rare colours, too
    palette = np.vstack((most, np.reshape(rest, (-1, 3))[: 256 - len(most)])).astype(np.int32)
    nearest = [int(np.abs(palette - colour).sum(axis=1).argmin()) for colour in seen.astype(np.int32)]
    pixels = np.array(nearest, dtype=np.uint8)[place].reshape(full.height, full.width)
    small = Image.fromarray(pixels, mode="P")
    small.putpalette(palette.astype(np.uint8).ravel().tolist())
    stream = io.BytesIO()
    small.save(stream, "png", optimize=True)
    return stream.getvalue()


def equal_axes(axes: Any, x: str, y: str) -> None:
    """Give two axes the same scale, a grid and names; data in mm."""
    axes.set_aspect("equal", adjustable="box")
    axes.grid(True, alpha=0.25, linewidth=0.6)
    axes.set_xlabel(f"{x} / mm")
    axes.set_ylabel(f"{y} / mm")
