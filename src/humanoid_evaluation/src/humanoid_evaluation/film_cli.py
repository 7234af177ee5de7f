# SPDX-License-Identifier: MIT
"""The moving picture of docs/humanoid.md: python -m humanoid_evaluation.film_cli FILE.gif."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import List, Optional, Sequence

from PIL import Image

import humanoid_description
from humanoid_evaluation.trial import Trial, parameters, world_of
from humanoid_motion.engine import WalkingEngine
from humanoid_motion.interface import Feedback
from shellbot_simulator.core.simulator import Simulator

_SEED = 1
_COLOURS = 48
_TWISTS = ((1.0, (0.0, 0.0, 0.0)), (3.0, (0.2, 0.0, 0.0)), (2.0, (0.05, 0.0, 0.8)), (1.5, (0.0, 0.06, 0.0)))  # s, twist


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Walk ahead, in a turn and sideways, and write the film; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="a .gif; a .png takes one picture")
    parser.add_argument("--size", type=int, nargs=2, default=(240, 200), metavar=("WIDTH", "HEIGHT"))
    parser.add_argument("--every", type=int, default=10, metavar="TICKS", help="between two pictures")
    options = parser.parse_args(arguments)
    width, height = options.size
    pictures = film(width, height, options.every)
    file = Path(options.file)
    if file.suffix == ".png":
        pictures[len(pictures) // 2].save(file)
    else:
        small = [picture.quantize(_COLOURS, dither=Image.Dither.NONE) for picture in pictures]
        small[0].save(file, save_all=True, append_images=small[1:], duration=10 * options.every, loop=0, optimize=True)
    return 0


def film(width: int, height: int, every: int) -> List[Image.Image]:
    """Return pictures of a walk, one in `every` ticks."""
    urdf, profile = humanoid_description.urdf_text(), humanoid_description.profile()
    simulator = Simulator(urdf, profile, world_of(Trial(1.0, 0.0, 0.1, _SEED)))
    engine = WalkingEngine(urdf, profile, parameters())
    state, command, pictures, tick = simulator.reset(seed=_SEED), None, [], 0
    for duration, twist in _TWISTS:
        engine.command_twist(twist)
        for _ in range(math.ceil(100 * duration)):
            imu = state.imu
            assert imu.orientation is not None  # the simulator's settings have one
            following = engine.step(
                Feedback(state.q, imu.orientation.tolist(), imu.angular_velocity, state.contacts.foot_wrench)
            )
            if command is not None:
                simulator.command(command)
            command = following
            simulator.step_tick()
            state = simulator.state()
            if tick % every == 0:
                pictures.append(Image.fromarray(simulator.render(width, height)))
            tick += 1
    simulator.close()
    return pictures


if __name__ == "__main__":
    sys.exit(main())
