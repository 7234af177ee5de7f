# SPDX-License-Identifier: MIT
"""The packed tables that `table_kernels` and `lm_kernels` read: moving joints only, constants between them merged."""

from __future__ import annotations

from typing import List, NamedTuple

import numpy as np

from robot_mechanics.models.parameters import ChainParameters


class ChainTables(NamedTuple):
    """Arrays of the m moving joints of a serial chain, as described in `table_kernels`."""

    constants: np.ndarray
    kind: np.ndarray
    column: np.ndarray
    ratio: np.ndarray
    offset: np.ndarray


def chain_tables(p: ChainParameters) -> ChainTables:
    """Return the tables of a serial chain's parameters."""
    constants: List[np.ndarray] = []
    constant = np.eye(4)
    for i, kind in enumerate(p.kind):
        constant = constant @ p.pre[i]
        if kind != 2:
            constants.append(constant[:3])
            constant = np.eye(4)
        constant = constant @ p.post[i]
    constants.append(constant[:3])
    moving = p.kind != 2
    return ChainTables(
        np.ascontiguousarray(constants), p.kind[moving], p.column[moving], p.ratio[moving], p.offset[moving]
    )


def unit_length(p: ChainParameters) -> float:
    """Return the length by which distances become comparable with angles: a quarter of what the links add up to, m."""
    lengths = np.linalg.norm(p.pre[:, :3, 3], axis=1).sum() + np.linalg.norm(p.post[:, :3, 3], axis=1).sum()
    return max(0.25 * float(lengths), 1e-3)


def whole_turns(p: ChainParameters) -> List[bool]:
    """Return for every coordinate whether a whole turn of it changes nothing: only revolute joints, whole ratios."""
    return [
        all(p.kind[j] == 0 and float(p.ratio[j]).is_integer() for j in np.flatnonzero(p.column == i))
        for i in range(p.n)
    ]
