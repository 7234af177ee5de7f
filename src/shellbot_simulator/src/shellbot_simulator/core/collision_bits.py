# SPDX-License-Identifier: MIT
"""Which links may collide, as MuJoCo's bit masks; its list of excluded bodies is searched anew for each near pair."""

from __future__ import annotations

import dataclasses
from typing import AbstractSet, Dict, FrozenSet, List, Mapping, Sequence, Tuple

ALL_BITS = (1 << 31) - 1  # the masks are signed integers of 32 bits


@dataclasses.dataclass(frozen=True)
class CollisionBits:
    """Bit masks of the shapes of each link, and the pairs they cannot express."""

    of_link: Mapping[str, Tuple[int, int]]  #: contype, conaffinity
    excluded: Tuple[Tuple[str, str], ...]  #: Pairs left to be excluded by name


def collision_bits(
    links: Sequence[str], excluded: AbstractSet[FrozenSet[str]], self_collision: bool = True
) -> CollisionBits:
    """Express excluded pairs by bit masks.

    Links that collide with the same others, and not among themselves, form a class, and each class has a bit. A robot
    with more classes than bits keeps its list of pairs.

    Parameters
    ----------
    links : sequence of str
        Links that have shapes.
    excluded : set of frozenset of str
        Pairs of them that do not collide.
    self_collision : bool
        False: no two links collide; what tests against `ALL_BITS` (the ground) still meets each of them.
    """
    without: Dict[str, set] = {link: {link} for link in links}
    for one, other in (tuple(pair) for pair in excluded):
        without[one].add(other)
        without[other].add(one)
    classes: List[FrozenSet[str]] = sorted({frozenset(others) for others in without.values()}, key=sorted)
    if not self_collision:
        return CollisionBits(dict.fromkeys(links, (1, 0)), ())
    if 1 << len(classes) > ALL_BITS + 1:
        pairs = sorted((min(pair), max(pair)) for pair in excluded)
        return CollisionBits(dict.fromkeys(links, (1, 1)), tuple(pairs))
    bit = {link: 1 << classes.index(frozenset(others)) for link, others in without.items()}
    return CollisionBits(
        {link: (bit[link], sum({bit[other] for other in links if other not in without[link]})) for link in links}, ()
    )
