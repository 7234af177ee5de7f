# SPDX-License-Identifier: MIT
"""Inverse dynamics of the Robotics Toolbox for robots from URDF: `Robot.rne`.

It is timed only. It fails on links without a joint, so these are left out, and it leaves the tensors of inertia out and
brings forces into the parent's frame in another way, so its torques are not those of the other libraries.
"""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path
from typing import Any, Dict

import numpy as np
from roboticstoolbox import Robot
from roboticstoolbox.tools.urdf import URDF
from worker import Case, cycle

VERSIONS = {name: importlib.metadata.version(name) for name in ("roboticstoolbox-python", "numpy")}


def cases(options: Dict[str, Any]) -> Dict[str, Case]:
    """Return what is timed of each robot on a fixed base."""
    made: Dict[str, Case] = {}
    for name, robot in options["robots"].items():
        if not robot["floating"]:
            file = Path(options["models"], f"{name}.urdf").absolute()
            file.write_text(re.sub(r"(?s)<(visual|collision)\b.*?</\1>", "", robot["urdf"]), encoding="utf-8")
            links = [link for link in URDF.load(str(file)).elinks if link.isjoint]
            links[0]._parent = None
            state = [np.array(x) for x in robot["state"]]
            made[f"{name}_inverse"] = Case(cycle(Robot(links).rne, [state]))
    return made
