# SPDX-License-Identifier: MIT
"""The moving pictures of docs/humanoid.md: python -m humanoid_evaluation.film_cli [--fall] FILE.gif."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Iterator, List, Optional, Sequence

from PIL import Image

from humanoid_evaluation.robot import Robot
from humanoid_evaluation.trial import Trial, world_of

_SEED = 1
_COLOURS = 48
_TWISTS = ((1.0, (0.0, 0.0, 0.0)), (3.0, (0.2, 0.0, 0.0)), (2.0, (0.05, 0.0, 0.8)), (1.5, (0.0, 0.06, 0.0)))  # s, twist
_PUSH, _LONGEST = (-90.0, 30.0, 0.0), 20.0  # N; s


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Walk ahead, in a turn and sideways, or fall and get up, and write the film; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="a .gif; a .png takes one picture")
    parser.add_argument("--size", type=int, nargs=2, default=(240, 200), metavar=("WIDTH", "HEIGHT"))
    parser.add_argument("--every", type=int, default=10, metavar="TICKS", help="between two pictures")
    parser.add_argument("--fall", action="store_true", help="it is pushed over, and gets up")
    options = parser.parse_args(arguments)
    width, height = options.size
    if not (16 <= width <= 2048 and 16 <= height <= 2048):
        parser.error(f"--size is {width} {height}; give 16 to 2048 each")
    if options.every < 1:
        parser.error(f"--every is {options.every}; give at least 1 tick")
    if Path(options.file).suffix not in (".gif", ".png"):
        parser.error(f"{options.file} is neither a .gif nor a .png; name such a file")
    pictures = film(width, height, options.every, options.fall)
    file = Path(options.file)
    if file.suffix == ".png":
        pictures[len(pictures) // 2].save(file)
    else:
        small = [picture.quantize(_COLOURS, dither=Image.Dither.NONE) for picture in pictures]
        small[0].save(file, save_all=True, append_images=small[1:], duration=10 * options.every, loop=0, optimize=True)
    return 0


def film(width: int, height: int, every: int, falls: bool) -> List[Image.Image]:
    """Return pictures of a walk, or of a fall, one in `every` ticks."""
    robot, pictures = Robot(world_of(Trial(1.0, 0.0, 0.1, _SEED)), _SEED), []
    for tick, _ in enumerate(_fall(robot) if falls else _walk(robot)):
        if tick % every == 0:
            pictures.append(Image.fromarray(robot.simulator.render(width, height)))
    robot.simulator.close()
    return pictures


def _walk(robot: Robot) -> Iterator[None]:
    for duration, twist in _TWISTS:
        robot.core.command_twist(twist)
        for _ in range(math.ceil(100 * duration)):
            robot.tick()
            yield


def _fall(robot: Robot) -> Iterator[None]:
    end = math.inf
    while robot.time < min(end, _LONGEST):
        if robot.simulator.tick_count == 100:
            robot.simulator.push(_PUSH, 0.1)
        robot.tick()
        mode = robot.core.status().mode
        if mode == "fallen":
            robot.core.request("recover")
        if mode == "stand" and robot.time > 3.0 and math.isinf(end):
            end = robot.time + 1.0
        yield


if __name__ == "__main__":
    sys.exit(main())
