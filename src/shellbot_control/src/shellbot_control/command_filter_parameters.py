# SPDX-License-Identifier: MIT
"""Parameters of the command filter."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from shellbot_common import GAP
from shellbot_control.errors import ConfigurationError


@dataclass(frozen=True)
class CommandFilterParameters:
    """Parameters of :class:`CommandFilter`.

    Parameters
    ----------
    target_timeout : float
        s; targets older than this are not followed, the last applied command is held.
    catch_up_threshold : float
        rad; a way up to this is not a jump. Default 0.1: a loaded servo lags up to 16 · 0.29° = 0.081 rad.
    catch_up_velocity : float
        rad/s; speed at which a longer way begins after a start, a hold or a stop (estimate: slow enough to react).
    catch_up_time : float
        s; in this time the speed grows from there to the joints' own limit, so that moving targets are reached.
    nominal_dt : float
        s; the tick, taken as the time step of the first command.
    max_dt : float
        s; ticks farther apart are a gap and count as this much, so that a pause earns no long step.

    Raises
    ------
    ConfigurationError
        If a value is not positive and finite.
    """

    target_timeout: float = 0.5
    catch_up_threshold: float = 0.1
    catch_up_velocity: float = 1.0
    catch_up_time: float = 0.5
    nominal_dt: float = 0.01
    max_dt: float = GAP

    def __post_init__(self) -> None:
        """Check the ranges."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0.0):
                raise ConfigurationError(f"{field.name} is {value}; give a positive finite number")
