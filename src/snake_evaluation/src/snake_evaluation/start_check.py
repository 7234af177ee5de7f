# SPDX-License-Identifier: MIT
"""What scripts/sim and scripts/onboard check of the snake's arguments together, before anything is started."""

from __future__ import annotations

from pathlib import Path
from typing import Mapping, Optional

from snake_motion.velocity_map import load_maps

from .snake_run import Setup


def check_start(given: Mapping[str, str]) -> None:
    """Refuse what the node snake_motion would refuse again and again, as it is respawned.

    Parameters
    ----------
    given : mapping of str to str
        Arguments of the launch file by name.

    Raises
    ------
    SettingsError
        If this robot cannot do the gait of the start or any of the table, or one of its velocity maps is broken.
    """

    def path(name: str) -> Optional[Path]:
        return Path(given[name]) if given.get(name) else None

    modules, servo = int(float(given["modules"])), given.get("servo", "ax")
    setup = Setup(modules, servo, variables_file=path("variables"), gaits_file=path("gaits_file"))
    gaits = setup.gaits
    lies = setup.gaits_file is not None or given.get("emulated") == "false"  # the launch files' defaults
    gait = given.get("gait", "" if lies else "straight")
    if gait:
        gaits.shape(gait)
    load_maps(modules, path("maps_folder"))
