# SPDX-License-Identifier: MIT
"""Arguments that are checked in many places, each refused in one sentence."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, List, Sequence

import numpy as np

from robot_mechanics.errors import InvalidConfigError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def vector(values: ArrayLike, n: int, name: str, order: str = "") -> np.ndarray:
    """Return n finite numbers as an array of their own; ShapeError, with their order if given, if they are none."""
    ordered = f", in the order of {order}" if order else ""
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise ShapeError(f"{name} is {values!r}; expected {n} numbers{ordered} ({error})") from None
    if array.shape != (n,):
        raise ShapeError(f"{name} has shape {array.shape}; expected ({n},){ordered}")
    if not np.isfinite(array).all():
        raise ShapeError(f"{name} is {array.tolist()}; expected finite numbers")
    return array


def gains(values: ArrayLike, n: int, name: str) -> np.ndarray:
    """Return one number from 0 for all of n coordinates, or one for each, as (n,).

    Raises
    ------
    ShapeError, InvalidConfigError
        If they are neither, or one is below 0.
    """
    array = vector([values] * n if isinstance(values, numbers.Real) else values, n, name)
    if array.min(initial=0.0) < 0.0:
        raise InvalidConfigError(f"{name} is {values!r}; expected numbers from 0: one, or {n}")
    return array


def from_zero(value: object, name: str) -> float:
    """Return a finite number from 0; InvalidConfigError if it is none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0.0 <= float(value) < math.inf:
        raise InvalidConfigError(f"{name} is {value!r}; expected a finite number from 0")
    return float(value)


def above_zero(value: object, name: str, unit: str = "") -> float:
    """Return a finite number above 0; InvalidConfigError, with its unit if given, if it is none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0.0 < float(value) < math.inf:
        raise InvalidConfigError(f"{name} is {value!r}{f' {unit}' * bool(unit)}; expected a finite number above 0")
    return float(value)


def negative_numbers(words: Sequence[str]) -> List[str]:
    """Return command line arguments with a space before -2.9e-05, so that argparse takes it for no option."""
    found = []
    for word in words:
        try:
            is_number = word.startswith("-") and math.isfinite(float(word))
        except ValueError:
            is_number = False
        found.append(f" {word}" if is_number else word)
    return found


def flag(value: object, name: str) -> bool:
    """Return a truth value; InvalidConfigError for anything else, such as the text "no"."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidConfigError(f"{name} is {value!r}; expected True or False")
    return bool(value)
