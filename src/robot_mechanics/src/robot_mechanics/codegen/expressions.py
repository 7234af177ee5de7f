# SPDX-License-Identifier: MIT
"""Straight-line Python from sums of products: constants folded, zeros and ones skipped, nothing computed twice."""

from __future__ import annotations

import math
from typing import Dict, List, Sequence, Tuple, Union

# a number, or the name of a variable, perhaps with a minus sign before it
Value = Union[float, str]
Vector = List[Value]

SMALL = 1e-15  # rounding errors of pi/2 and the like in tables, far below 1e-13


class Writer:
    """Collects statements; equal expressions get one variable.

    Parameters
    ----------
    indent : str
        Put before every line.
    prefix : str
        Of the variables' names; must differ between blocks of the same function that do not share variables.
    sincos : str
        The function that is called for sines and cosines; `sincos_flat` in loops that are to become SIMD code.
    """

    def __init__(self, indent: str = "    ", prefix: str = "t", sincos: str = "sincos") -> None:
        self.lines: List[str] = []
        self.indent = indent
        self.otherwise: List[int] = []  #: What the source returns where a traced comparison does not hold, one by one
        self._prefix, self._sincos = prefix, sincos
        self._known: Dict[str, str] = {}

    def line(self, text: str) -> None:
        """Add a statement as it is."""
        self.lines.append(self.indent + text)

    def name(self, expression: str) -> str:
        """Return the variable that holds the expression, writing the assignment if it is new."""
        if expression not in self._known:
            variable = f"{self._prefix}{len(self._known)}"
            self._known[expression] = variable
            self.line(f"{variable} = {expression}")
        return self._known[expression]

    def dot(self, products: Sequence[Tuple[Value, Value]], scale: float = 1.0) -> Value:
        """Return scale times the sum of the products."""
        constant, terms = 0.0, {}  # type: float, Dict[str, float]
        for a, b in products:
            number, names = scale, []
            for value in (a, b):
                if isinstance(value, str):
                    number, name = (-number, value[1:]) if value.startswith("-") else (number, value)
                    names.append(name)
                else:
                    number *= value
            if names:
                key = "*".join(sorted(names))
                terms[key] = terms.get(key, 0.0) + number
            else:
                constant += number
        return self.combine(terms, constant)

    def combine(self, terms: Dict[str, float], constant: float = 0.0) -> Value:
        """Return the sum of factors times variables, or products of two, and a constant."""
        terms = {key: snap(number) for key, number in terms.items() if snap(number) != 0.0}
        constant = snap(constant)
        if not terms:
            return constant
        if len(terms) == 1 and constant == 0.0:
            ((key, number),) = terms.items()
            if abs(number) == 1.0:
                variable = key if "*" not in key else self.name(key)
                return variable if number > 0.0 else "-" + variable
        return self.name(_text(terms, constant))

    def tree(self, products: Sequence[Tuple[Value, Value]]) -> Value:
        """Return the sum of the products, added in pairs: less latency than one after the other."""
        if len(products) <= 3:
            return self.dot(products)
        half = (len(products) + 1) // 2
        return self.dot([(1.0, self.tree(products[:half])), (1.0, self.tree(products[half:]))])

    def sum(self, values: Sequence[Value]) -> Value:
        """Return the sum of the values."""
        return self.dot([(value, 1.0) for value in values])

    def cross(self, a: Vector, b: Vector) -> Vector:
        """Return a x b."""
        return [
            self.dot([(a[(i + 1) % 3], b[(i + 2) % 3]), (negative(a[(i + 2) % 3]), b[(i + 1) % 3])]) for i in range(3)
        ]

    def sincos(self, angle: Value) -> Tuple[Value, Value]:
        """Return sine and cosine of an angle in rad."""
        if not isinstance(angle, str):
            return snap(math.sin(angle)), snap(math.cos(angle))
        if angle.startswith("-"):
            s, c = self.sincos(angle[1:])
            return negative(s), c
        key = f"{self._sincos}({angle})"
        if key not in self._known:
            self._known[key] = f"{self._prefix}{len(self._known)}"
            self.line(f"s{self._known[key]}, c{self._known[key]} = {key}")
        return "s" + self._known[key], "c" + self._known[key]

    def turned(self, terms: Sequence[Tuple[Value, Value]]) -> Tuple[Value, Value]:
        """Return sine and cosine of an angle given as a sum of products, in rad."""
        return self.sincos(self.dot(terms))


def negative(value: Value) -> Value:
    """Return minus the value."""
    if isinstance(value, str):
        return value[1:] if value.startswith("-") else "-" + value
    return -value


def snap(number: float) -> float:
    """Return the number, or 0, 1 or -1 if it is that but for rounding."""
    for exact in (0.0, 1.0, -1.0):
        if abs(number - exact) < SMALL:
            return exact
    return number


def code(value: Value) -> str:
    """Return the value as source text."""
    return value if isinstance(value, str) else repr(float(value))


def bracket(text: str) -> str:
    """Return source text that a sign or factor may stand before."""
    return f"({text})" if text.startswith("-") else text


def _text(terms: Dict[str, float], constant: float) -> str:
    """Return the sum as source text, a positive term first if there is one."""
    parts = [(number, key) for key, number in terms.items()]
    if constant != 0.0:
        parts.append((constant, ""))
    parts.sort(key=lambda part: part[0] < 0.0)
    text = ""
    for number, key in parts:
        sign = "-" if number < 0.0 else "+"
        size = abs(number)
        body = repr(size) if not key else key if size == 1.0 else f"{size!r}*{key}"
        text = (("-" if sign == "-" else "") + body) if not text else f"{text} {sign} {body}"
    return text
