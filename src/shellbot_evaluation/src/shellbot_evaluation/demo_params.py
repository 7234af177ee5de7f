# SPDX-License-Identifier: MIT
"""Parameters of the demo, validated, and when its launch started."""

from __future__ import annotations

import contextlib
import math
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Callable, Optional, Tuple

import psutil

from robot_evaluation.errors import DefinitionError
from shellbot_client.phases import Phase
from shellbot_common import number

from .plans import DemoPlan, MissionPlan

PLANS = ("tour", "mission")


@dataclass(frozen=True)
class DemoParams(DemoPlan):
    """What to do, and how to report it."""

    plan: str = "tour"  #: tour, or mission: walk, close, roll, open, walk
    roll_m: float = number(0.5, 20.0, "m", default=3.0)
    roll_deg: float = number(-180.0, 180.0, "deg", default=0.0)
    #: Folder for summary.json, pictures and film, made if missing; empty: only the table is printed. A relative path
    #: counts from where the launch was started.
    results: str = ""
    pictures: bool = True  #: Whether to take pictures, and of the mission a film, from camera/image_raw
    #: Start of the launch, seconds since the epoch; 0: found from the process table
    start_time: float = number(0.0, math.inf, default=0.0)
    #: Wall seconds after which the demo gives up, whatever the phases' own limits in simulated time
    wall_limit_s: float = number(10.0, 7200.0, default=600.0)
    #: Wall seconds that the robot waits for a picture before it goes on
    picture_patience_s: float = number(0.0, 60.0, default=4.0)

    def conflict(self) -> str:
        """Return, besides, that there is no such plan, if so."""
        return super().conflict() if self.plan in PLANS else f"plan is '{self.plan}'; give {' or '.join(PLANS)}"

    def phases(self) -> Tuple[Phase, ...]:
        """Return the phases of the plan."""
        if self.plan == "tour":
            return super().phases()
        return MissionPlan(roll_m=self.roll_m, roll_deg=self.roll_deg, speed_m_s=self.speed_m_s).phases()

    def films(self) -> bool:
        """Return whether a film is taken: of the mission, where there is a folder for it."""
        return self.plan == "mission" and self.pictures and bool(self.results)

    @staticmethod
    def read(get: Callable[[str, Any], Any]) -> DemoParams:
        """Build from a reader of named parameters with defaults, such as rospy.get_param."""
        return DemoParams.from_mapping(
            {item.name: get("~" + item.name, item.default) for item in fields(DemoParams)}, "~"
        )

    def results_folder(self) -> Optional[Path]:
        """Return the folder for results, made if it was missing; None for none.

        Raises
        ------
        DefinitionError
            If it cannot be made.
        """
        if not self.results:
            return None
        # roslaunch starts nodes in ROS_HOME but leaves PWD as it was in the shell: that is what a user means.
        folder = Path(os.environ.get("PWD", ".")) / Path(self.results).expanduser()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DefinitionError(f"cannot make the results folder {folder}: {error}; choose another one") from error
        return folder


def launch_start_time() -> float:
    """Return when the launch that this process belongs to started, seconds since the epoch.

    That is SHELLBOT_START where scripts/sim has set it; else the start of the parent process if it is roslaunch; else
    that of this process.
    """
    with contextlib.suppress(KeyError, ValueError):
        return float(os.environ["SHELLBOT_START"])
    own = psutil.Process()
    with contextlib.suppress(psutil.Error):
        parent = own.parent()
        if parent is not None and any("roslaunch" in word for word in parent.cmdline()):
            return float(parent.create_time())
    return float(own.create_time())
