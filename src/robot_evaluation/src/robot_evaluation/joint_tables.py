# SPDX-License-Identifier: MIT
"""Joint angles over time as CSV files, of any robot."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import List, Sequence, Tuple

import numpy as np

from shellbot_common import write_file

from .errors import EvaluationError

_PREFIXES = ("field.name", "field.position")  # of the columns of `rostopic echo -p joint_states`


def write_joints(file: Path, names: Sequence[str], t: Sequence[float], q: np.ndarray) -> None:
    """Write joint positions as `read_joints` reads them: a column of time, s, and one for each joint, rad."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(["t", *names])
    writer.writerows([f"{time:.4f}", *(f"{angle:.6f}" for angle in row)] for time, row in zip(t, q))
    write_file(file, stream.getvalue())


def read_joints(file: Path) -> Tuple[Sequence[str], List[float], np.ndarray]:
    """Return names, times (s) and positions (m, n) in rad from a CSV file.

    Its first line has t and the names of the joints, or it is what `rostopic echo -p joint_states` printed.

    Raises
    ------
    EvaluationError
        If it cannot be read, or is no such file.
    """
    try:
        with file.open(newline="", encoding="utf-8") as stream:
            lines = [row for row in csv.reader(stream) if row]
        if len(lines) < 2:
            raise ValueError("it has no rows of joints")
        head, *rows = lines
        if head[0] == "%time":
            kinds = [[i for i, key in enumerate(head) if key.startswith(prefix)] for prefix in _PREFIXES]
            names = [rows[0][i] for i in kinds[0]]
            stamp = head.index("field.header.stamp")
            t, columns = [1e-9 * float(row[stamp]) for row in rows], kinds[1]
        else:
            names, columns = head[1:], list(range(1, len(head)))
            t = [float(row[0]) for row in rows]
        return names, t, np.array([[float(row[i]) for i in columns] for row in rows]).reshape(len(rows), len(names))
    except (OSError, ValueError, IndexError) as problem:
        raise EvaluationError(
            f"cannot read joints from {file}: {problem}; give a CSV file whose first line is t and the joints' names, "
            "or what rostopic echo -p joint_states printed"
        ) from None
