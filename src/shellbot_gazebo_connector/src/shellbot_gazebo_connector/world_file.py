# SPDX-License-Identifier: MIT
"""A world file of the user's, checked before Gazebo starts: it ends, hangs or goes on without saying which is wrong."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Union

from shellbot_common import TICK

TEMPLATE = "copy shellbot_gazebo_connector/worlds/shellbot.world and change it"


def world_complaint(path: Union[str, Path], model: str) -> str:
    """Return what keeps a robot from being spawned in a world file, and what to do; empty if nothing does.

    Parameters
    ----------
    path : str or Path
        An SDF file.
    model : str
        Name under which the robot is spawned.
    """
    try:
        root = ElementTree.fromstring(Path(path).read_bytes())
    except OSError as error:
        return f"cannot read {path}: {error.strerror}; give the path of a world file"
    except ElementTree.ParseError as error:
        return f"{path} is not XML ({error}); correct it, or {TEMPLATE}"
    world = root.find("world")
    if root.tag != "sdf" or world is None:
        return f"{path} has no <world> in an <sdf>; {TEMPLATE}"
    name = world.get("name")
    if not name:
        return f"the <world> of {path} has no name; write <world name='floor'>"
    if name == model:
        return f"the world of {path} is named '{name}' as the robot, whose spawning would never end; rename the world"
    step = world.findtext("physics/max_step_size", "0.001")
    try:
        steps = TICK / float(step)
    except (ValueError, ZeroDivisionError):
        steps = math.nan
    if not (steps >= 1.0 and math.isclose(steps, round(steps), rel_tol=1e-6)):
        return f"max_step_size of {path} is {step} s and does not divide the tick of {TICK} s; use 0.001 or 0.002"
    return ""
