# SPDX-License-Identifier: MIT
"""Straight-line source from a kernel: it runs once on numbers that write down what is done to them.

So the algorithm stands in one place, as a loop over a table that a reader can follow, and what one robot needs of it
comes out with its constants folded and its zeros left out (as CasADi does it with whole functions).
"""

from __future__ import annotations

import types
from typing import Any, Callable, Dict, Tuple, Union

import numpy as np

from robot_mechanics.codegen.expressions import Value, Writer

Number = Union[float, "Traced"]
_MOST_TERMS = 4  # of a sum that is written into another one; longer ones get a variable


class Traced:
    """A sum of factors times variables, or products of two, that becomes a variable where it is multiplied."""

    __array_ufunc__ = None  # numpy's numbers leave the arithmetic to this class
    __slots__ = ("_terms", "_w")

    def __init__(self, w: Writer, terms: Dict[str, float]) -> None:
        self._w, self._terms = w, terms

    @property
    def real(self) -> Traced:
        """The number itself."""
        return self

    def value(self) -> Value:
        """Return the variable, or number, that holds the sum, which is written now if it is new."""
        terms = dict(self._terms)
        made = self._w.combine(terms, terms.pop("", 0.0))
        self._terms = _terms_of(made)
        return made

    def __add__(self, other: Number) -> Traced:
        added = dict(self._short())
        for key, number in (other._short() if isinstance(other, Traced) else {"": float(other)}).items():
            added[key] = added.get(key, 0.0) + number
        return Traced(self._w, added)

    def __mul__(self, other: Number) -> Number:
        if not isinstance(other, Traced):
            number = float(other)
            return Traced(self._w, {key: number * x for key, x in self._terms.items()}) if number else 0.0
        a, b = self.value(), other.value()
        if isinstance(a, float):
            return other * a
        if isinstance(b, float):
            return self * b
        sign = -1.0 if a.startswith("-") != b.startswith("-") else 1.0
        return Traced(self._w, {"*".join(sorted((a.lstrip("-"), b.lstrip("-")))): sign})

    def __neg__(self) -> Number:
        return self * -1.0

    def __sub__(self, other: Number) -> Traced:
        return self + -other

    def __rsub__(self, other: float) -> Number:
        return -self + other

    def __rtruediv__(self, other: float) -> Number:
        made = self.value()
        return other / made if isinstance(made, float) else Traced(self._w, {self._w.name(f"{other!r} / {made}"): 1.0})

    def __gt__(self, other: float) -> bool:
        """Return True: the source goes on only if it is so, and returns the next of `Writer.otherwise` if not."""
        otherwise, made = self._w.otherwise.pop(0), self.value()
        if isinstance(made, float):
            return made > other
        self._w.line(f"if not {made} > {other!r}:")
        self._w.line(f"    return {otherwise}")
        return True

    __radd__, __rmul__ = __add__, __mul__

    def _short(self) -> Dict[str, float]:
        if len(self._terms) > _MOST_TERMS:
            self.value()
        return self._terms


class Memory:
    """What a traced kernel takes for an array: numbers by index, each of which becomes a variable as it is stored."""

    def __init__(self, w: Writer, *shape: int) -> None:
        self.shape = shape
        self.numbers: Dict[Tuple[int, ...], Number] = {}
        self._w = w

    def __getitem__(self, at: Union[int, Tuple[int, ...]]) -> Traced:
        number = self.numbers[at if isinstance(at, tuple) else (at,)]
        return number if isinstance(number, Traced) else Traced(self._w, {"": number})

    def __setitem__(self, at: Union[int, Tuple[int, ...], slice], number: Number) -> None:
        if isinstance(at, slice):  # of all, the only one that kernels use
            self.numbers.update(dict.fromkeys(np.ndindex(self.shape), number))
            return
        if isinstance(number, Traced):
            number.value()
        self.numbers[at if isinstance(at, tuple) else (at,)] = number


def value_of(number: Number) -> Value:
    """Return the variable or number behind an element of a memory."""
    return number.value() if isinstance(number, Traced) else float(number)


def traceable(module: types.ModuleType, **replaced: Callable[..., Any]) -> types.SimpleNamespace:
    """Return the functions of a module of kernels as plain Python that call each other, some of them replaced."""
    names = dict(vars(module))
    for name, made in vars(module).items():
        function = getattr(made, "py_func", made)
        if isinstance(function, types.FunctionType):
            names[name] = types.FunctionType(function.__code__, names)
    names.update(replaced)
    return types.SimpleNamespace(**names)


def _terms_of(value: Value) -> Dict[str, float]:
    if isinstance(value, str):
        return {value.lstrip("-"): -1.0 if value.startswith("-") else 1.0}
    return {"": float(value)} if value else {}
