# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment optimise_roll."""

from __future__ import annotations

import argparse
import math
from typing import Callable, Dict, Sequence, Tuple

import numpy as np

from robot_evaluation.errors import DefinitionError
from shellbot_action_manager.body.rolling import load_rolling

from .optimisation import Optimisation, Shown
from .optimise_roll_experiment import KNOBS, RollTrial, changed, execute, numbers_of, ratios, score
from .search import Rows, Search


def _add(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--runs",
        type=int,
        default=2,
        metavar="N",
        help="tuning seeds with which each generation rolls, others in the next one (default 2)",
    )


def _search(arguments: argparse.Namespace, seeds: Tuple[int, ...]) -> Tuple[str, Search, Shown]:
    if not 1 <= arguments.runs <= len(seeds):
        raise DefinitionError(f"--runs is {arguments.runs}; give 1 to the number of --seeds, {len(seeds)}")
    law = load_rolling()
    search = Search(
        KNOBS,
        numbers_of(law),
        RollTrial,
        score,
        seeds,
        arguments.generations,
        arguments.population,
        arguments.runs,
    )
    return "optimise_roll", search, lambda numbers: numbers_of(changed(law, numbers))


def _line(rows: Rows) -> Dict[str, str]:
    met = [{key: value <= 1.0 for key, value in ratios(row).items()} for row in rows]

    def median(key: str, worst: Callable[[Sequence[float]], float] = max) -> str:
        found = [row[key] for row in rows if math.isfinite(row[key])]
        return f"{np.median(found):.2f} ({worst(found):.2f})" if found else "–"

    def within(key: str) -> str:
        return f"{sum(one[key] for one in met)} of {len(rows)}"

    arrived = sum(one["point_error_m"] and math.isfinite(row["point_s"]) for one, row in zip(met, rows))
    return {
        "score": f"{score(rows):.2f}",
        "speed_m_s": median("speed_m_s", min),
        "heading": within("heading_error_deg"),
        "turn": within("turn_s"),
        "slow": within("slow_m_s"),
        "point": f"{arrived} of {len(rows)}",
        "point_s": median("point_s"),
        "upright": within("upright_s"),
        "upright_s": median("upright_s"),
    }


ROLL = Optimisation(
    name="optimise_roll",
    description="Searches the numbers of the rolling law (CMA-ES over pushers, window, gains and brake) for one that "
    "rolls 5 m from rest fast, turns, rolls slowly, stops at a point 3 m away and rolls upright. Score: these figures "
    "in multiples of what is required, 3 at most, squared, summed, mean of the runs. Attitude, direction, friction and "
    "errors of the joints' zeros are drawn as by scripts/experiment roll. The mean of the candidates, not the luckiest "
    "of them, is then compared with the shipped law on other seeds.",
    example="--workers 4",
    defaults={"seeds": "2000:2024", "report_seeds": "7000:7020", "generations": 14, "population": 12},
    file="rolling.yaml",
    columns={
        "speed_m_s": "5 m from rest / m/s",
        "heading_error_deg": "heading error / deg",
        "turn_s": "corner / s",
        "slow_m_s": "slowly / m/s",
        "point_s": "point / s",
        "point_error_m": "point error / m",
        "upright_s": "upright / s",
    },
    digits={"heading_error_deg": 1, "point_s": 1, "upright_s": 1},
    heads={
        "score": "score, less is better",
        "speed_m_s": "5 m from rest, median (worst) / m/s",
        "heading": "heading within 10°",
        "turn": "corner within 2 s",
        "slow": "slowly within 20 %",
        "point": "there in 15 s within 10 cm",
        "point_s": "there after, median (worst) / s",
        "upright": "upright within 20 s",
        "upright_s": "upright after, median (worst) / s",
    },
    line=_line,
    execute=execute,
    add=_add,
    search=_search,
)
