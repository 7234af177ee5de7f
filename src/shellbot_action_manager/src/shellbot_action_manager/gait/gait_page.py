# SPDX-License-Identifier: MIT
"""What of gaits and feed-forward may be changed while the robot walks, as a page of dynamic_reconfigure."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any, Dict, Mapping, Tuple

from shellbot_action_manager.body.feed_forward import FeedForwardConfig
from shellbot_action_manager.errors import ConfigError
from shellbot_action_manager.gait.gait_table import Gait
from shellbot_common.reconfigure_page import PageNumber, reconfigure_page

_TUNED = {
    "lift_height": "top of the swing above the ground at creeping speed, m",
    "lift_height_fast": "the same at top speed, m; 0: the same as at creeping speed",
    "period_slow": "cycle at creeping speed, s",
    "period_fast": "cycle at top speed, s",
    "stance_radius": "circle on which the feet stand while walking, m",
    "stance_height": "body centre above the ground, m",
    "stride_limit": "longest path of a foot in one stance, m",
    "search_depth": "how deep a foot searches for the ground, m; 0 takes the floor as flat",
}

_FED = {
    "gravity": "feed_forward: fraction of the torques of the commanded motion that is fed forward; 0: off",
    "motion": "feed_forward: the same of what inertia and friction of the joints take",
}


def gait_page(gaits: Mapping[str, Gait], feed_forward: FeedForwardConfig) -> SimpleNamespace:
    """Return what a dynamic_reconfigure server takes for its type.

    Above all `feed_forward_gravity` and `feed_forward_motion`, then a group of numbers for each gait, `GAIT_NAME`.
    """
    ranges: Dict[str, Tuple[float, float]] = {
        item.name: item.metadata["range"] for item in dataclasses.fields(Gait) if item.name in _TUNED
    }
    groups = {
        name: [
            PageNumber(f"{name}_{key}", getattr(gait, key), ranges[key][0], ranges[key][1], f"{name}: {what}")
            for key, what in _TUNED.items()
        ]
        for name, gait in gaits.items()
    }
    head = [PageNumber(f"feed_forward_{key}", getattr(feed_forward, key), 0.0, 1.0, what) for key, what in _FED.items()]
    return reconfigure_page(head, groups)


def feed_forward_from_page(page: Mapping[str, Any], config: FeedForwardConfig) -> FeedForwardConfig:
    """Return the feed-forward with a page's numbers.

    Raises
    ------
    ConfigError
        If a number is out of range.
    """
    return config.replace(**{key: page.get(f"feed_forward_{key}", getattr(config, key)) for key in _FED})


def gaits_from_page(page: Mapping[str, Any], gaits: Mapping[str, Gait]) -> Dict[str, Gait]:
    """Return the gaits with a page's numbers.

    Raises
    ------
    ConfigError
        If a number is out of range, or numbers of a gait contradict each other; names the gait.
    """
    changed = {}
    for name, gait in gaits.items():
        try:
            changed[name] = gait.replace(**{key: page.get(f"{name}_{key}", getattr(gait, key)) for key in _TUNED})
        except ConfigError as error:
            raise ConfigError(f"gait '{name}': {error}") from None
    return changed


def page_from_gaits(gaits: Mapping[str, Gait], feed_forward: FeedForwardConfig) -> Dict[str, float]:
    """Return the numbers of the page that stand for some gaits and a feed-forward."""
    page = {f"{name}_{key}": getattr(gait, key) for name, gait in gaits.items() for key in _TUNED}
    page.update({f"feed_forward_{key}": getattr(feed_forward, key) for key in _FED})
    return page
