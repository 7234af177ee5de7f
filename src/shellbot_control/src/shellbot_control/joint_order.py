# SPDX-License-Identifier: MIT
"""Bring named joint values of any order into the order of the driven joints."""

from __future__ import annotations

import math
from typing import Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from shellbot_control.errors import TargetsError

Array = np.ndarray
_SHOWN = 4  # names in a message


def shorten(names: Iterable[str]) -> str:
    """Join names for a message, the first few of them.

    Returns
    -------
    str
        ``a, b, c, d and 3 more``.
    """
    names = list(names)
    remaining = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {remaining} more" if remaining > 0 else "")


class JointOrder:
    """The order of the driven joints.

    Parameters
    ----------
    names : sequence of str
        Driven joints in their order.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        # The names of a topic hardly ever change: remember the last ones and where each driven joint stands in them.
        self._seen: Optional[Tuple[Tuple[str, ...], bool]] = None
        self._index = np.zeros(0, dtype=np.intp)

    def pick(
        self,
        names: Sequence[str],
        values: Union[Sequence[float], Array],
        allow_extra: bool = False,
        what: str = "position",
    ) -> Array:
        """Return the driven joints' values in the driven order.

        Parameters
        ----------
        names : sequence of str
            Joint names in any order.
        values : sequence of float
            One value per name.
        allow_extra : bool
            Whether joints that are not driven may be among them (measured joints: yes, targets: no).
        what : str
            What a value is, for the sentence of an error.

        Returns
        -------
        (n,) array
            Values in the driven order, finite.

        Raises
        ------
        TargetsError
            If lengths differ, a name repeats, is unknown or missing, or a value is not finite.
        """
        names = tuple(names)
        if len(values) != len(names):
            raise TargetsError(
                f"{len(names)} names but {len(values)} {what}s; publish one {what} per name "
                f"for the {len(self._names)} driven joints"
            )
        if self._seen != (names, allow_extra):
            self._index = self._find(names, allow_extra)
            self._seen = (names, allow_extra)
        picked = np.asarray(values, dtype=np.float64)[self._index]
        # the former takes a third of the time
        if not math.isfinite(picked.dot(picked)) and not np.isfinite(picked).all():
            bad = [name for name, good in zip(self._names, np.isfinite(picked)) if not good]
            raise TargetsError(f"{shorten(bad)}: not a finite number; check the node that publishes it")
        return picked

    def _find(self, names: Tuple[str, ...], allow_extra: bool) -> np.ndarray:
        """Return where each driven joint stands in ``names``, or say what is wrong with them."""
        if not names:
            raise TargetsError(f"no joint names; name each of the {len(self._names)} driven joints")
        place = {name: index for index, name in enumerate(names)}
        problems: List[str] = []
        if len(place) != len(names):
            repeated = sorted({name for name in names if names.count(name) > 1})
            problems.append(f"{shorten(repeated)} more than once")
        unknown = [name for name in names if name not in set(self._names)]
        if unknown and not allow_extra:
            problems.append(f"unknown joints {shorten(unknown)}")
        missing = [name for name in self._names if name not in place]
        if missing:
            problems.append(f"no value for {shorten(missing)}")
        if problems:
            raise TargetsError(
                "; ".join(problems) + f"; {len(self._names)} joints are driven, {self._names[0]} to {self._names[-1]}: "
                "start all nodes with the same variant"
            )
        return np.array([place[name] for name in self._names], dtype=np.intp)
