# SPDX-License-Identifier: MIT
"""Source of the damped normal equations: A = J J' and (A + lam I) y = e, in scalars or in loops of constant length."""

from __future__ import annotations

from typing import List

from robot_mechanics.codegen.expressions import Vector, code

FREE = 1e30  # beside it all else is nothing; its cube, of three free rows, is a number, too
COFACTORS = (("m00", "m10", "m20"), ("m10", "m11", "m21"), ("m20", "m21", "m22"))  # of `write_factors` with 3 rows


def write_normal(rows: int, n: int, J: List[Vector]) -> List[str]:  # noqa: N803
    """Return statements that keep J (rows, n) in scalars j<row>_<column>, and A in a<row>_<row>."""
    lines: List[str] = []
    entries = [[i for i in range(n) if J[r][i] != 0.0] for r in range(rows)]
    for r in range(rows):
        lines += [f"j{r}_{i} = {code(J[r][i])}" for i in entries[r]]
    lines += normal_from_scalars(rows, entries)
    return lines


def normal_from_scalars(rows: int, entries: List[List[int]]) -> List[str]:
    """Return statements for A from the scalars j<row>_<column>, of which `entries` exist (the others are zero)."""
    lines = []
    for r in range(rows):
        for c in range(r + 1):
            lines.append(f"a{r}_{c} = {pairs([f'j{r}_{i}*j{c}_{i}' for i in entries[r] if i in entries[c]])}")
    return lines


def pairs(terms: List[str]) -> str:
    """Return the sum of the terms, added in pairs, whose latency is that of fewer additions in a row."""
    if len(terms) > 2:
        half = (len(terms) + 1) // 2
        return f"({pairs(terms[:half])}) + ({pairs(terms[half:])})"
    return " + ".join(terms) if terms else "0.0"


def write_free(rows: int, floor: float = 0.0) -> List[str]:
    """Return statements for g<row>, which is added to A's diagonal: `floor`, or where w<row> is 0 (a free row) so much
    that this row's y becomes nothing. So J need not be multiplied by w in each step.
    """
    return [f"g{r} = {FREE!r}*(1.0 - w{r})" + (f" + {floor!r}" if floor else "") for r in range(rows)]


def write_factors(rows: int) -> List[str]:
    """Return statements for the decomposition L D L' of A + lam I; for three rows its cofactors and the determinant's
    inverse `det`.
    """
    if rows == 3:
        return [
            *(f"d{r} = (a{r}_{r} + g{r}) + lam" for r in range(3)),
            "m00 = d1*d2 - a2_1*a2_1",
            "m10 = a2_0*a2_1 - a1_0*d2",
            "m20 = a1_0*a2_1 - a2_0*d1",
            "m11 = d0*d2 - a2_0*a2_0",
            "m21 = a1_0*a2_0 - d0*a2_1",
            "m22 = d0*d1 - a1_0*a1_0",
            "det = 1.0/((d0*m00 + a1_0*m10) + (a2_0*m20 + 1e-300))",
        ]
    lines = []
    for j in range(rows):
        terms = "".join(f" - l{j}_{k}*u{j}_{k}" for k in range(j))
        lines.append(f"v{j} = 1.0/(a{j}_{j}{terms} + (lam + g{j} + 1e-300))")
        for i in range(j + 1, rows):
            terms = "".join(f" - l{i}_{k}*u{j}_{k}" for k in range(j))
            lines += [f"u{i}_{j} = a{i}_{j}{terms}", f"l{i}_{j} = u{i}_{j}*v{j}"]
    return lines


def write_product(right: str, out: str, rows: int = 3) -> List[str]:
    """Return statements for the solution <out><row> with the right side <right><row>, from `write_factors`.

    For three rows it is still to be multiplied by `det`.
    """
    if rows == 3:
        return [f"{out}{r} = " + " + ".join(f"{m}*{right}{c}" for c, m in enumerate(COFACTORS[r])) for r in range(3)]
    lines = []
    for i in range(rows):
        lines.append(f"z{i} = {right}{i}" + "".join(f" - l{i}_{k}*z{k}" for k in range(i)))
    for i in reversed(range(rows)):
        lines.append(f"{out}{i} = z{i}*v{i}" + "".join(f" - l{k}_{i}*{out}{k}" for k in range(i + 1, rows)))
    return lines


def write_step(i: int, rows: List[int], scaled: bool, y: str = "y") -> str:
    """Return the expression of column i of J' y, of the rows in which J has one."""
    total = pairs([f"j{r}_{i}*{y}{r}" for r in rows])
    return f"({total})*det" if scaled else total
