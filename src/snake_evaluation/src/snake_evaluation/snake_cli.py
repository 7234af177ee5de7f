# SPDX-License-Identifier: MIT
"""Command line of scripts/snake: velocity maps, films, plots and the servo bus of the snake."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import List, Optional

from robot_evaluation.console import add_seeds, run_tool, say, seeds_of
from robot_evaluation.journal import Journal
from robot_evaluation.parallel import add_workers
from shellbot_common import add_command, package_file, read_yaml
from snake_motion.errors import SnakeMotionError
from snake_motion.families import FAMILIES

from .cycles import CycleResult
from .film import film_all
from .identify import identify, write_map
from .results import write_results
from .shape_plot import draw_shapes
from .slips import FAMILY_ROWS, identify_slips, pack_steps, unpack_steps, write_slips
from .snake_run import TIMESTEPS, Setup
from .speed import speed_table

_MODULES, _FRICTION = "1 to 128 (default {})", "sliding friction of the floor (default 0.8)"
_GAITS = "table of gaits (default: gaits.yaml of snake_motion)"
_VARIABLES = "body and servos (default: snake.yaml of snake_description)"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/snake", description="Velocity maps, films, plots and the servo bus of the snake."
    )
    commands = p.add_subparsers(dest="command", required=True)
    one = add_command(commands, "identify", "measure the velocity map of a family, which cmd_vel uses")
    one.add_argument("--family", choices=(*FAMILIES, "all"), default="all", help="of commands (default all)")
    one.add_argument("--modules", type=int, default=16, help=_MODULES.format("16"))
    one.add_argument("--friction", type=float, nargs="+", default=[0.5, 0.8], help="floors (default 0.5 0.8)")
    one.add_argument("--variables", type=Path, metavar="FILE", help=_VARIABLES)
    one.add_argument("--out", type=Path, help="folder (default: config/maps of snake_motion)")
    one.add_argument(
        "--amplitude",
        type=float,
        nargs=2,
        metavar=("LOW", "HIGH"),
        help="fraction of the family's (default: all)",
    )
    one.add_argument(
        "--steering", type=float, nargs=2, metavar=("LOW", "HIGH"), help="offset or phase, deg (default: the family's)"
    )
    add_workers(one, scheduler=False)
    add_seeds(one, "100:101", "a start with small deviations")
    slips = add_command(commands, "slips", "measure how gaits slip, which the odometry corrects")
    slips.add_argument(
        "--friction", type=float, nargs="+", default=[0.2, 0.4, 0.6, 0.8, 1.0], help="floors (default 0.2 to 1.0)"
    )
    slips.add_argument("--modules", type=int, default=16, help=_MODULES.format("16"))
    slips.add_argument(
        "--out", type=Path, help="file (default: config/odometry.yaml of snake_motion; not 16 modules: odometry_N.yaml)"
    )
    add_workers(slips, scheduler=False)
    slips.add_argument(
        "--gait",
        nargs="+",
        default=[],
        metavar="NAME",
        help=f"only these gaits, or families ({', '.join(FAMILY_ROWS)}); other rows of the file stay",
    )
    slips.add_argument("--gaits", type=Path, metavar="FILE", help=_GAITS + "; then also give --out")
    add_seeds(slips, "0:2", "a run of each case")
    results = add_command(commands, "results", "write the page of results out of files of scripts/experiment snake")
    results.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON of scripts/experiment snake")
    results.add_argument(
        "--odometry", nargs="+", type=Path, default=[], metavar="FILE", help="other runs for its table"
    )
    results.add_argument(
        "--modules", nargs="+", type=Path, default=[], metavar="FILE", help="runs for a table of the number of modules"
    )
    results.add_argument(
        "--write",
        type=Path,
        metavar="PAGE",
        help="page to write (default docs/results/snake.md; of runs over winding angle or undulations snake_shapes.md)",
    )
    film = add_command(commands, "film", "write gaits as GIFs")
    film.add_argument("--gait", nargs="+", help="names (default: the eight of the source)")
    film.add_argument("--modules", type=int, default=16, help=_MODULES.format("16"))
    film.add_argument("--friction", type=float, default=0.8, help=_FRICTION)
    film.add_argument("--gaits", type=Path, metavar="FILE", help=_GAITS)
    film.add_argument("--variables", type=Path, metavar="FILE", help=_VARIABLES)
    film.add_argument("--out", type=Path, default=Path("docs/pictures"), help="folder (default docs/pictures)")
    shapes = add_command(commands, "shapes", "draw the steps of gaits over winding angle and undulations")
    shapes.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="JSON of scripts/experiment snake --alpha-scale X ... --k-scale X ...",
    )
    shapes.add_argument("--out", type=Path, metavar="PICTURE", help="to write (default: a png beside the first file)")
    bus = add_command(commands, "bus", "measure gaits on AX-12A servos behind the motor driver, emulated byte by byte")
    bus.add_argument(
        "--gait",
        nargs="+",
        default=["straight", "inclined", "roll"],
        help="names in gaits.yaml (default straight inclined roll)",
    )
    bus.add_argument("--gaits", type=Path, metavar="FILE", help=_GAITS)
    bus.add_argument("--modules", type=int, nargs="+", default=[8, 16], help=_MODULES.format("8 16"))
    bus.add_argument("--friction", type=float, default=0.8, help=_FRICTION)
    bus.add_argument("--cycles", type=int, default=4, help="cycles that count (default 4)")
    speed = add_command(commands, "speed", "measure the CPU time of the simulation against simulated time")
    speed.add_argument(
        "--gait",
        nargs="+",
        default=["straight", "straight_long"],
        help="names in gaits.yaml (default straight straight_long)",
    )
    speed.add_argument("--gaits", type=Path, metavar="FILE", help=_GAITS)
    speed.add_argument(
        "--modules", type=int, nargs="+", default=[16, 32, 64, 128], help=_MODULES.format("16 32 64 128")
    )
    speed.add_argument("--friction", type=float, default=0.8, help=_FRICTION)
    speed.add_argument(
        "--timestep", type=float, default=0.002, help=f"of the physics, s, at most {TIMESTEPS[1]} (default 0.002)"
    )
    speed.add_argument("--seconds", type=float, default=2.0, help="simulated time of each case (default 2)")
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0, or 2 after an error."""
    given = sys.argv[1:] if argv is None else argv
    options = parser().parse_args(given)
    options.words = " ".join(["scripts/snake", *given])
    tools = {"identify": _identify, "slips": _slips, "results": _results, "film": _film, "shapes": _shapes}
    tools.update(bus=_bus, speed=_speed)
    return run_tool(lambda: tools[options.command](options))


def _film(options: argparse.Namespace) -> int:
    files = {"variables_file": options.variables, "gaits_file": options.gaits}
    setup = Setup(modules=options.modules, friction=options.friction, **files)
    names = options.gait or [name for name, row in setup.gaits.rows.items() if row.source]
    for path in film_all(setup, names, options.out):
        say(f"{path}: {path.stat().st_size // 1024} KB")
    return 0


def _shapes(options: argparse.Namespace) -> int:
    picture = options.out or options.files[0].with_suffix(".png")
    draw_shapes(options.files, picture)
    say(str(picture))
    return 0


def _bus(options: argparse.Namespace) -> int:
    from .bus_run import bus_table  # which loads packages of Shellbot

    setup = Setup(friction=options.friction, seed=1000, gaits_file=options.gaits)
    say(bus_table(options.modules, options.gait, setup, options.cycles))
    return 0


def _speed(options: argparse.Namespace) -> int:
    setup = Setup(friction=options.friction, seed=1000, timestep=options.timestep, gaits_file=options.gaits)
    say(speed_table(options.modules, options.gait, setup, options.seconds))
    return 0


def _results(options: argparse.Namespace) -> int:
    say(str(write_results(options.files, options.write, options.odometry, options.modules)))
    return 0


def _slips(options: argparse.Namespace) -> int:
    setup, path = Setup(modules=options.modules, gaits_file=options.gaits), options.out
    if path is None:
        if options.gaits:
            raise SnakeMotionError("the package's corrections are of its own gaits; with --gaits give --out FILE, too")
        path = package_file("snake_motion", "config/odometry.yaml")
        path = path if options.modules == 16 else path.with_name(f"odometry_{options.modules}.yaml")
    seeds = seeds_of(options.seeds)
    with Journal.beside(path, f"snake slips {setup.digest}".strip(), pack_steps, unpack_steps) as journal:
        found = identify_slips(setup, seeds, options.friction, options.jobs, options.gait, journal)
        former = read_yaml(path, SnakeMotionError) if options.gait and path.is_file() else {}
        write_slips({**former, **found}, path)
    say(str(path))
    return 0


def _identify(options: argparse.Namespace) -> int:
    folder = options.out or package_file("snake_motion", "config/maps")
    seeds = tuple(seeds_of(options.seeds))
    setup = Setup(modules=options.modules, variables_file=options.variables)
    names = FAMILIES if options.family == "all" else (options.family,)
    ranges = [tuple(given) if given else None for given in (options.amplitude, options.steering)]
    if any(ranges) and len(names) > 1:
        raise SnakeMotionError("--amplitude and --steering are of one family; name it with --family")
    beside = folder / f"identify_{options.modules}.yaml"
    with Journal.beside(
        beside, f"snake identify {setup.digest}", asdict, lambda packed: CycleResult(**packed)
    ) as journal:
        # maps are written last: they belong to the code whose digest the journal checks when it goes on
        maps = [
            identify(
                name,
                setup,
                seeds,
                options.friction,
                options.jobs,
                amplitude=ranges[0],
                steering=ranges[1],
                journal=journal,
            )
            for name in names
        ]
        for found in maps:
            path = folder / f"{found.family}_{options.modules}.yaml"
            write_map(found, path, options.words)
            forward, left, yaw = found.residual
            say(f"{path}: leaves {1e3 * forward:.1f} mm, {1e3 * left:.1f} mm, {57.3 * yaw:.2f} deg a cycle")
    return 0


if __name__ == "__main__":
    sys.exit(main())
