# SPDX-License-Identifier: MIT
"""Parameters of the command filter, checked when they are made."""

from __future__ import annotations

from dataclasses import dataclass

from shellbot_common import Settings, number
from shellbot_control.errors import ConfigurationError


@dataclass(frozen=True)
class CommandFilterParameters(Settings, error=ConfigurationError):
    """Parameters of :class:`CommandFilter`.

    Raises
    ------
    ConfigurationError
        If a value is out of range.
    """

    #: s; targets older than this are not followed, the last applied command is held
    target_timeout: float = number(0.001, 3600.0, "s", default=0.5)
    #: rad; a way up to this is not a jump. Default 0.1: a loaded servo lags up to 16 · 0.29° = 0.081 rad.
    catch_up_threshold: float = number(1e-6, 10.0, "rad", default=0.1)
    #: rad/s; speed at which a longer way begins after a start, a hold or a stop (estimate: slow enough to react)
    catch_up_velocity: float = number(1e-6, 100.0, "rad/s", default=1.0)
    #: s; in this time the speed grows from there to the joints' own limit, so that moving targets are reached
    catch_up_time: float = number(1e-6, 3600.0, "s", default=0.5)
