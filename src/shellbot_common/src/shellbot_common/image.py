# SPDX-License-Identifier: MIT
"""Raw camera pictures to RGB arrays (no cv_bridge: five encodings are all that simulators send)."""

from __future__ import annotations

import numpy as np

from shellbot_common.errors import ImageError

_CHANNELS = {"rgb8": 3, "bgr8": 3, "rgba8": 4, "bgra8": 4, "mono8": 1}


def rgb_array(height: int, width: int, encoding: str, step: int, data: bytes) -> np.ndarray:
    """Decode a raw picture.

    Parameters
    ----------
    height, width : int
        Pixels.
    encoding : str
        rgb8, bgr8, rgba8, bgra8 or mono8.
    step : int
        Bytes of one row, padding included.
    data : bytes
        At least ``height * step`` bytes.

    Returns
    -------
    ndarray
        (height, width, 3) uint8, RGB, contiguous.

    Raises
    ------
    ImageError
        Unknown encoding, or sizes that do not fit together.
    """
    channels = _CHANNELS.get(encoding)
    if channels is None:
        raise ImageError(
            f"camera encoding {encoding!r} cannot be shown; let the camera send one of {sorted(_CHANNELS)}."
        )
    if height < 1 or width < 1 or step < width * channels or len(data) < height * step:
        raise ImageError(
            f"camera picture of {width} x {height} {encoding} with step {step} has {len(data)} bytes: sizes do not fit."
        )
    rows = np.frombuffer(data, dtype=np.uint8, count=height * step).reshape(height, step)
    pixels = rows[:, : width * channels].reshape(height, width, channels)
    if channels == 1:
        return np.repeat(pixels, 3, axis=2)
    if encoding.startswith("bgr"):
        return np.ascontiguousarray(pixels[:, :, 2::-1])
    return np.ascontiguousarray(pixels[:, :, :3])
