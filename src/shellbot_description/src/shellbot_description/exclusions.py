# SPDX-License-Identifier: MIT
"""Link pairs that may not collide, from the patterns of config/collision_exclusions.yaml."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import product
from typing import Any, Dict, FrozenSet, List, Mapping, Sequence, Tuple

from shellbot_common import read_yaml
from shellbot_description.errors import DescriptionError
from shellbot_description.files import package_path
from shellbot_description.names import LEG_COUNT, LOWER_CLASSES, UPPER_CLASSES, has_upper_legs

LinkPair = FrozenSet[str]


def colliding_links(variant: str = "simulation") -> Tuple[str, ...]:
    """Return the links that carry mass and may have collision shapes: chassis, then the legs' links."""
    legs = range(1, LEG_COUNT + 1)
    lower = [f"lower_{k}_{name}_link" for k in legs for name in (*LOWER_CLASSES, "gore")]
    upper = [f"upper_{k}_{name}_link" for k in legs for name in (*UPPER_CLASSES, "gore")]
    return ("chassis", *lower, *(upper if has_upper_legs(variant) else ()))


def _bindings(patterns: Sequence[str]) -> List[Dict[str, int]]:
    letters = [letter for letter in ("k", "j") if any("{" + letter + "}" in pattern for pattern in patterns)]
    return [dict(zip(letters, legs)) for legs in product(range(1, LEG_COUNT + 1), repeat=len(letters))]


def expand_patterns(data: Mapping[str, Any], variant: str, where: str = "exclusions") -> FrozenSet[LinkPair]:
    """Return the pairs that the patterns of an exclusions file mean for a variant.

    Raises
    ------
    DescriptionError
        If an entry is no pair of texts, or fits no link of the complete robot (a typing error).
    """
    rows = data.get("exclusions")
    if not isinstance(rows, list):
        raise DescriptionError(f"{where}: needs a list `exclusions` of pairs of link patterns")
    links, present = colliding_links("simulation"), set(colliding_links(variant))
    pairs = set()
    for row in rows:
        if not (isinstance(row, list) and len(row) == 2 and all(isinstance(text, str) for text in row)):
            raise DescriptionError(f"{where}: {row!r} is no pair of link patterns; write [first, second]")
        found = set()
        for binding in _bindings(row):
            try:
                first, second = (text.format(**binding) for text in row)
            except (KeyError, IndexError, ValueError) as error:
                raise DescriptionError(f"{where}: {row!r} uses a letter other than {{k}} and {{j}}") from error
            ones = [link for link in links if fnmatchcase(link, first)]
            others = [link for link in links if fnmatchcase(link, second)]
            found |= {frozenset((one, other)) for one in ones for other in others if one != other}
        if not found:
            raise DescriptionError(f"{where}: {row!r} fits no link; links are chassis, lower_<k>_fan_link, ...")
        pairs |= found
    return frozenset(pair for pair in pairs if pair <= present)


@lru_cache(maxsize=None)
def collision_exclusions(variant: str = "simulation") -> FrozenSet[LinkPair]:
    """Return the pairs of links that may not collide with each other, each a frozenset of two link names."""
    path = package_path() / "config" / "collision_exclusions.yaml"
    return expand_patterns(read_yaml(path, DescriptionError), variant, str(path))
