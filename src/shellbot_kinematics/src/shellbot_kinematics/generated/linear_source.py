# SPDX-License-Identifier: MIT
"""Source of the damped normal equations: A = J J' and (A + lam I) y = e, in scalars or in loops of constant length."""

from __future__ import annotations

from typing import List

from shellbot_kinematics.generated.expressions import Value, Vector, code


def write_normal(rows: int, n: int, J: List[Vector], masked: bool = True) -> List[str]:  # noqa: N803
    """Return statements that keep J (rows, n) in scalars j<row>_<column>, its masked rows zero, and A in a<row>_<row>.

    w<row> is 1 for a row that counts and 0 for a free one, whose diagonal element becomes 1.
    """
    lines: List[str] = []
    kept = [[i for i in range(n) if J[r][i] != 0.0] for r in range(rows)]
    for r in range(rows):
        lines += [f"j{r}_{i} = w{r}*{_factor(J[r][i])}" for i in kept[r]]
    lines += normal_from_scalars(rows, kept)
    return lines


def normal_from_scalars(rows: int, kept: List[List[int]]) -> List[str]:
    """Return statements for A from the scalars j<row>_<column>, of which `kept` exist (the others are zero)."""
    lines = []
    for r in range(rows):
        for c in range(r + 1):
            terms = [f"j{r}_{i}*j{c}_{i}" for i in kept[r] if i in kept[c]]
            if r == c:
                terms.append(f"(1.0 - w{r})")
            lines.append(f"a{r}_{c} = {' + '.join(terms) if terms else '0.0'}")
    return lines


def write_solve3() -> List[str]:
    """Return statements for y0..y2 of the symmetric 3x3 system by cofactors: a single division."""
    return [
        "d0 = a0_0 + lam",
        "d1 = a1_1 + lam",
        "d2 = a2_2 + lam",
        "m00 = d1*d2 - a2_1*a2_1",
        "m10 = a2_0*a2_1 - a1_0*d2",
        "m20 = a1_0*a2_1 - a2_0*d1",
        "m11 = d0*d2 - a2_0*a2_0",
        "m21 = a1_0*a2_0 - d0*a2_1",
        "m22 = d0*d1 - a1_0*a1_0",
        "det = 1.0/(d0*m00 + a1_0*m10 + a2_0*m20 + 1e-300)",
        "y0 = (m00*e0 + m10*e1 + m20*e2)*det",
        "y1 = (m10*e0 + m11*e1 + m21*e2)*det",
        "y2 = (m20*e0 + m21*e1 + m22*e2)*det",
    ]


def write_solve(rows: int) -> List[str]:
    """Return statements for y by the decomposition L D L' of A + lam I."""
    if rows == 3:
        return write_solve3()
    lines = []
    for j in range(rows):
        terms = "".join(f" - l{j}_{k}*u{j}_{k}" for k in range(j))
        lines.append(f"v{j} = 1.0/(a{j}_{j} + lam{terms} + 1e-300)")
        for i in range(j + 1, rows):
            terms = "".join(f" - l{i}_{k}*u{j}_{k}" for k in range(j))
            lines += [f"u{i}_{j} = a{i}_{j}{terms}", f"l{i}_{j} = u{i}_{j}*v{j}"]
    for i in range(rows):
        lines.append(f"z{i} = e{i}" + "".join(f" - l{i}_{k}*z{k}" for k in range(i)))
    for i in reversed(range(rows)):
        lines.append(f"y{i} = z{i}*v{i}" + "".join(f" - l{k}_{i}*y{k}" for k in range(i + 1, rows)))
    return lines


def _factor(value: Value) -> str:
    text = code(value)
    return f"({text})" if text.startswith("-") else text
