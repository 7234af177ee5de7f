# SPDX-License-Identifier: MIT
"""Models by number or name, baud rates by register, and what else callers need to know of control tables."""

from __future__ import annotations

from types import MappingProxyType
from typing import Mapping, Union

from ax_bus.control_tables import (
    AX_12A,
    AX_18A,
    MODELS,
    MX_28,
    MX_64,
    POSITION_MAX,
    POSITION_RANGE,
    RAD_PER_S_PER_STEP,
    RAD_PER_STEP,
)
from ax_bus.errors import RegisterError
from ax_bus.model import BAUD_BASE, Access, Area, Model, Register

__all__ = [
    "AX_12A",
    "AX_18A",
    "BAUD_BASE",
    "BAUD_REGISTERS",
    "FEEDBACK_ADDRESS",
    "FEEDBACK_COUNT",
    "MODELS",
    "MX_28",
    "MX_64",
    "POSITION_MAX",
    "POSITION_RANGE",
    "RAD_PER_STEP",
    "RAD_PER_S_PER_STEP",
    "TABLE_SIZE",
    "Access",
    "Area",
    "Model",
    "Register",
    "baud_of",
    "baud_register",
    "model_of",
]

TABLE_SIZE = 50  # bytes of an AX's table; an MX has these and more, see Model.table_size
FEEDBACK_ADDRESS, FEEDBACK_COUNT = 36, 8  # position, speed, load, voltage, temperature in one READ
# The register values that the manual lists; others are possible but no adapter needs them.
BAUD_REGISTERS: Mapping[int, int] = MappingProxyType(
    {
        1_000_000: 1,
        500_000: 3,
        400_000: 4,
        250_000: 7,
        200_000: 9,
        115_200: 16,
        57_600: 34,
        19_200: 103,
        9_600: 207,
    }
)


def model_of(which: Union[int, str]) -> Model:
    """Return a model by number or name, in any case and with or without the hyphen: 12, "AX-12A", "ax12a".

    Raises
    ------
    RegisterError
        If there is no such model.
    """
    for model in MODELS.values():
        if which == model.number or _plain(which) == _plain(model.name):
            return model
    choices = ", ".join(f"{model.name} ({model.number})" for model in MODELS.values())
    raise RegisterError(f"servo model {which!r} is not known; choose from {choices}, or add it to control_tables.py")


def _plain(name: object) -> str:
    return str(name).replace("-", "").lower()


def baud_of(register: int) -> float:
    """Return the baud rate that a value of ``baud_rate`` means."""
    return BAUD_BASE / (register + 1)


def baud_register(baud: int) -> int:
    """Return the value of ``baud_rate`` for a baud rate.

    Raises
    ------
    RegisterError
        If the manual does not list the rate.
    """
    if baud not in BAUD_REGISTERS:
        raise RegisterError(f"baud rate {baud} is not one of {', '.join(map(str, BAUD_REGISTERS))}; choose one of them")
    return BAUD_REGISTERS[baud]
