# SPDX-License-Identifier: MIT
"""Motion seen from above: headings, and displacement in the axes of the start pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

import numpy as np

from shellbot_common.rotations import wrap_angle

from .errors import EvaluationError


def interpolated(t: Union[float, np.ndarray], times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the columns of `values` (m, k), given at `times` (m,), at the times t (j,): (j, k); at one time (k,)."""
    return np.stack([np.interp(t, times, column) for column in values.T], axis=-1)


def displacement_in_start_axes(p_world: np.ndarray, yaw_start: Union[float, np.ndarray]) -> np.ndarray:
    """Turn world displacements into the axes that the body had at the start.

    Parameters
    ----------
    p_world : (..., 2) array
        Displacements in world axes, m.
    yaw_start : float or (...) array
        Heading at the start, rad; of each displacement its own if there are several.

    Returns
    -------
    (..., 2) array
        Forward and leftward displacement, m.
    """
    p = np.asarray(p_world, dtype=float)
    x, y, c, s = p[..., 0], p[..., 1], np.cos(yaw_start), np.sin(yaw_start)
    forward, leftward = c * x + s * y, c * y - s * x
    return np.stack((forward, leftward), axis=-1)


class YawUnwrapper:
    """Counts whole turns while headings in -pi..pi arrive one by one."""

    def __init__(self) -> None:
        self._yaw: float = float("nan")

    def update(self, yaw: float) -> float:
        """Take the newest heading (rad, any turn) and return it without jumps, rad."""
        self._yaw = yaw if np.isnan(self._yaw) else self._yaw + wrap_angle(yaw - self._yaw)
        return self._yaw


@dataclass(frozen=True)
class PlanarPath:
    """A path seen from above: t (m,) in s, xy (m, 2) in m, yaw (m,) in rad without jumps."""

    t: np.ndarray
    xy: np.ndarray
    yaw: np.ndarray

    def at(self, t: Union[float, np.ndarray]) -> np.ndarray:
        """Return x, y and yaw at some times, (j, 3), or at one, (3,)."""
        return interpolated(t, self.t, np.column_stack((self.xy, self.yaw)))

    def between(self, t_start: float, t_end: float) -> PlanarPath:
        """Cut out a window; its ends are interpolated between the neighbouring samples.

        Raises
        ------
        EvaluationError
            If the path does not cover the window to within 0.1 s.
        """
        if self.t.size < 2 or t_start < self.t[0] - 0.1 or t_end > self.t[-1] + 0.1 or t_end <= t_start:
            covered = f"{self.t[0]:.2f}..{self.t[-1]:.2f} s" if self.t.size else "nothing"
            raise EvaluationError(
                f"the recorded path covers {covered}, not {t_start:.2f}..{t_end:.2f} s; record the whole phase"
            )
        inside = self.t[(self.t > t_start) & (self.t < t_end)]
        t = np.concatenate(([t_start], inside, [t_end]))
        x, y, yaw = self.at(t).T
        return PlanarPath(t, np.stack((x, y), axis=1), yaw)

    def in_start_axes(self) -> np.ndarray:
        """Displacement from the first sample in the axes of its heading, (m, 2)."""
        return displacement_in_start_axes(self.xy - self.xy[0], float(self.yaw[0]))
