# SPDX-License-Identifier: MIT
"""What a picture shows: from where a robot is seen, and what is drawn into the scene. Plain data for any renderer.

Loaded by those who need it and not with the package, because it needs numpy.
"""

from __future__ import annotations

from typing import NamedTuple, Tuple

import numpy as np


class View(NamedTuple):
    """A camera that stands free in the world, for close-ups."""

    target: Tuple[float, float, float]  #: Point in the middle of the picture, world frame, m
    distance: float  #: m from there
    #: azimuth_deg, elevation_deg: Direction in which it looks; elevation negative: from above
    azimuth_deg: float
    elevation_deg: float


class Mark(NamedTuple):
    """Something drawn into the scene beside the model, in the world's axes."""

    #: `line`: through all points; `arrow`: first to second point; `sphere` and `disc` (flat): at each point; `area`:
    #: each three points are a triangle, seen from where they run counter-clockwise; `text`: at each point
    kind: str
    points: np.ndarray  #: (n, 3) m
    size: float  #: Line: width in pixels; arrow: width, m; sphere and disc: diameter, m
    colour: Tuple[float, float, float, float]  #: Red, green, blue, alpha, 0..1
    text: str = ""
