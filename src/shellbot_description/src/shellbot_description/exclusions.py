# SPDX-License-Identifier: MIT
"""Link pairs that may not collide, from the patterns of config/collision_exclusions.yaml."""

from __future__ import annotations

from functools import lru_cache
from typing import FrozenSet, Tuple

from shellbot_description.profile import complete_profile, robot_profile

LinkPair = FrozenSet[str]


def colliding_links(variant: str = "simulation") -> Tuple[str, ...]:
    """Return the links that carry mass and may have collision shapes: chassis, then the legs' links."""
    profile = robot_profile(variant)
    gores = (f"{limb}_gore_link" for limb in profile.limbs if limb != "fan")
    return ("chassis", *(f"{joint}_link" for joint in profile.joints), *gores)


@lru_cache(maxsize=None)
def collision_exclusions(variant: str = "simulation") -> FrozenSet[LinkPair]:
    """Return the pairs of links that may not collide with each other, each a frozenset of two link names."""
    present = set(colliding_links(variant))
    pairs = complete_profile().excluded_pairs(colliding_links("simulation"))
    return frozenset(pair for pair in pairs if pair <= present)
