# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment optimise."""

from __future__ import annotations

import argparse
from typing import Dict, Tuple

from robot_evaluation.errors import DefinitionError
from robot_evaluation.stats import spread
from shellbot_action_manager.errors import ActionManagerError
from shellbot_action_manager.gait.gait_table import find_gait, load_gaits

from .optimisation import Optimisation, Shown
from .optimise_experiment import KNOBS, Trial, changed, execute, numbers_of, refusal, score
from .search import Numbers, Rows, Search

COLUMNS = {
    "speed_m_s": "speed / m/s",
    "electrical_cost": "cost of transport, electrical",
    "cost": "mechanical",
    "electrical_w": "electrical power / W",
    "torque_nm": "root of sum of squared torques / N m",
    "peak": "greatest torque / stall torque",
    "tilt_deg": "greatest tilt / deg",
    "height_mm": "height ± mm",
    "foot_mm": "lowest foot / mm",
}
DIGITS = {"speed_m_s": 3, "electrical_w": 1}


def _add(p: argparse.ArgumentParser) -> None:
    p.add_argument("--gait", default="tripod", help="gait of the action manager to begin with (default tripod)")
    p.add_argument("--speed", type=float, default=0.2, metavar="M_S", help="commanded, m/s (default 0.2)")
    p.add_argument(
        "--torque-limit", type=float, default=1.0, metavar="F", help="of every servo, of its stall torque (default 1.0)"
    )


def _search(arguments: argparse.Namespace, seeds: Tuple[int, ...]) -> Tuple[str, Search, Shown]:
    if not 0.0 < arguments.speed <= 5.0:
        raise DefinitionError(f"--speed is {arguments.speed:g}; give more than 0 and at most 5 m/s")
    if not 0.1 <= arguments.torque_limit <= 1.0:
        raise DefinitionError(f"--torque-limit is {arguments.torque_limit:g}; give 0.1 to 1 of the stall torque")
    try:
        gait = find_gait(load_gaits(), arguments.gait)
    except ActionManagerError as error:
        raise DefinitionError(str(error)) from error

    def trial(seed: int, numbers: Numbers) -> Trial:
        return Trial(seed, gait.name, numbers, arguments.speed, arguments.torque_limit)

    def shown(numbers: Numbers) -> Dict[str, float]:
        other = changed(gait, numbers)
        values = {"period_slow": other.period_slow, **numbers_of(other)}
        return {"slip_scale.forward" if key == "slip_scale" else key: value for key, value in values.items()}

    search = Search(
        KNOBS,
        numbers_of(gait),
        trial,
        score,
        seeds,
        arguments.generations,
        arguments.population,
        refusal=refusal,
    )
    return f"optimise_{gait.name}", search, shown


def _line(rows: Rows) -> Dict[str, str]:
    done = [row for row in rows if row["success"]]
    line = {"runs": f"{len(done)} of {len(rows)}"}
    for key in COLUMNS if done else ():
        found, digits = spread(row[key] for row in done), DIGITS.get(key, 2)
        line[key] = f"{found.mean:.{digits}f} ± {found.std:.{digits}f}"
    return line


GAIT = Optimisation(
    name="optimise",
    description="Searches the numbers of a gait (CMA-ES) for one that walks straight on at the same true speed for "
    "less: electrical power over weight and speed, by the servo model, with every servo's torque limited. "
    "Candidates walk with the tuning seeds; shipped gait and result are then compared on others.",
    example="--gait sprint --speed 0.55 --workers 4",
    defaults={"seeds": "900:902", "report_seeds": "950:960", "generations": 14, "population": 8},
    file="gaits.yaml",
    columns=COLUMNS,
    digits=DIGITS,
    heads={"runs": "walked", **COLUMNS},
    line=_line,
    execute=execute,
    add=_add,
    search=_search,
)
