# SPDX-License-Identifier: MIT
"""Parameters of the connector, checked when they are read."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Mapping

from shellbot_control import CommandFilterParameters, ConfigurationError


@dataclass(frozen=True)
class ConnectorParameters:
    """What the node reads from its private parameters; meaning and unit of each in ``config/connector.yaml``.

    Raises
    ------
    ConfigurationError
        If a value is not positive and finite.
    """

    target_timeout: float = 0.5
    arrival_tolerance: float = 0.05
    status_rate: float = 20.0
    catch_up_threshold: float = 0.1
    catch_up_velocity: float = 1.0
    catch_up_time: float = 0.5

    def __post_init__(self) -> None:
        """Check the ranges."""
        for field in fields(self):
            value = getattr(self, field.name)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not math.isfinite(value) or value <= 0.0:
                raise ConfigurationError(
                    f"parameter ~{field.name} is {value!r}; give a positive number, see connector.yaml"
                )

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> ConnectorParameters:
        """Return the parameters in ``values``; what is not named there keeps its default.

        Raises
        ------
        ConfigurationError
            For an unknown name or a bad value.
        """
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ConfigurationError(f"unknown parameter ~{unknown[0]}; there are {', '.join(known)}")
        return cls(**values)

    def command_filter(self) -> CommandFilterParameters:
        """Return the part that the command filter takes."""
        return CommandFilterParameters(
            target_timeout=self.target_timeout,
            catch_up_threshold=self.catch_up_threshold,
            catch_up_velocity=self.catch_up_velocity,
            catch_up_time=self.catch_up_time,
        )
