# SPDX-License-Identifier: MIT
"""Gains to and from dynamic_reconfigure messages."""

from __future__ import annotations

from typing import Optional

from dynamic_reconfigure.msg import Config, DoubleParameter

from shellbot_control.errors import ConfigurationError
from shellbot_control.gains import GAIN_NAMES, Gains


def gains_to_config(gains: Gains) -> Config:
    """Return a change of p, i and d alone; clamps and antiwindup of the controller stay as they are."""
    return Config(doubles=[DoubleParameter(name, float(getattr(gains, name))) for name in GAIN_NAMES])


def gains_from_config(config: Config) -> Optional[Gains]:
    """Return the gains of a controller's configuration; None if it has none that can be understood."""
    # A whole number in a YAML file becomes an int on the wire of a Python server.
    values = {entry.name: float(entry.value) for entry in [*config.doubles, *config.ints] if entry.name in GAIN_NAMES}
    try:
        return Gains(**values)
    except (TypeError, ConfigurationError):  # no p, or set to something negative beside the page
        return None
