# SPDX-License-Identifier: MIT
"""Search by CMA-ES for the numbers with which seeded runs score best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Sequence, Tuple

import numpy as np

from robot_evaluation.errors import EvaluationError

Numbers = Tuple[Tuple[str, float], ...]  #: Name and value, each
Rows = Sequence[Mapping[str, Any]]
DEVIATION = 0.15  # of the first candidates, as a fraction of the ranges
_SEED = 1  # of the search itself


@dataclass(frozen=True)
class Search:
    """A search within ranges."""

    knobs: Mapping[str, Tuple[float, float]]  #: Names of the numbers, and their ranges
    start: Mapping[str, float]  #: The numbers as shipped, where the search begins
    trial: Callable[[int, Numbers], Any]  #: Seed and numbers to one run; no numbers stand for those shipped
    #: Rows of a candidate, and of the shipped numbers, to what the candidate is worth; less is better
    score: Callable[[Rows, Rows], float]
    seeds: Tuple[int, ...]  #: Of tuning
    generations: int
    population: int = 8  #: Candidates of a generation
    runs: int = 0  #: Seeds of a generation; the next one has other seeds. 0: all seeds in each
    #: Rows of the shipped numbers to a sentence why there is nothing to search; empty: there is
    refusal: Callable[[Rows], str] = lambda rows: ""

    def trials(self, numbers: Numbers, seeds: Sequence[int]) -> List[Tuple[str, Any]]:
        """Return label and trial of each run of a candidate."""
        return [(f"{'found' if numbers else 'shipped'}, seed {seed}", self.trial(seed, numbers)) for seed in seeds]

    def best(self, carry_out: Callable[[List[Tuple[str, Any]]], List[Dict[str, Any]]]) -> Numbers:
        """Return the numbers with the least score; none if nothing beat those shipped.

        With `runs` these are the mean of the distribution after the last generation. Of few noisy runs the best
        candidate is the luckiest one; the mean averages over all of them.

        Parameters
        ----------
        carry_out : callable
            Carries out labelled trials and returns their rows in order.

        Raises
        ------
        EvaluationError
            If the package cma is not installed, or for `refusal`.
        """
        try:
            import cma
        except ImportError:
            raise EvaluationError(
                "the search needs the package cma, which is not installed: .venv/bin/pip install cma"
            ) from None
        shipped = carry_out(self.trials((), self.seeds))
        if self.refusal(shipped):
            raise EvaluationError(self.refusal(shipped))
        low, high = np.array(list(self.knobs.values())).T
        start = (np.array([self.start[name] for name in self.knobs]) - low) / (high - low)
        options = {"bounds": [0.0, 1.0], "seed": _SEED, "popsize": self.population, "verbose": -9}
        strategy = cma.CMAEvolutionStrategy(np.clip(start, 0.05, 0.95), DEVIATION, options)

        def numbers_at(point: np.ndarray) -> Numbers:
            return tuple(zip(self.knobs, np.round(low + point * (high - low), 5).tolist()))

        least = self.score(shipped, shipped)
        best: Numbers = ()
        for generation in range(self.generations):
            points = strategy.ask()
            candidates = [numbers_at(point) for point in points]
            seeds = self._seeds_of(generation)
            rows = carry_out([trial for numbers in candidates for trial in self.trials(numbers, seeds)])
            count = len(seeds)
            scores = [self.score(rows[i * count : (i + 1) * count], shipped) for i in range(len(candidates))]
            strategy.tell(points, scores)
            if min(scores) < least:
                least, best = min(scores), candidates[int(np.argmin(scores))]
        return numbers_at(strategy.result.xfavorite) if self.runs else best

    def _seeds_of(self, generation: int) -> Tuple[int, ...]:
        first = generation * self.runs
        return tuple(self.seeds[(first + i) % len(self.seeds)] for i in range(self.runs)) or self.seeds
