# SPDX-License-Identifier: MIT
"""A ground for Gazebo: ``rosrun shellbot_simulator terrain rubble --seed 3 > rubble.sdf``."""

from __future__ import annotations

import argparse
import sys
from typing import List, Optional

from .core.config import load_config
from .core.errors import ConfigError
from .core.terrain import sdf_model, terrain


def main(argv: Optional[List[str]] = None) -> None:
    """Print a ground as a static SDF model, such as `spawn_model -sdf` of gazebo_ros takes."""
    parser = argparse.ArgumentParser(prog="terrain", description=main.__doc__)
    parser.add_argument("name", help="of config/terrains.yaml")
    parser.add_argument("--seed", type=int, default=0, help="of what is drawn (default 0; below 0: as 0)")
    parser.add_argument("--friction", type=float, help="sliding friction (default: the embedded simulator's)")
    arguments = parser.parse_args(argv)
    try:
        config = load_config()
        if arguments.friction is not None:
            config = config.replace(friction=arguments.friction)
        sys.stdout.write(sdf_model(terrain(arguments.name), config.friction, max(0, arguments.seed)) + "\n")
    except ConfigError as error:
        parser.error(str(error))
