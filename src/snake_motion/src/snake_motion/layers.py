# SPDX-License-Identifier: MIT
"""What the joints do is a sum of layers, each fading in or out: so no change of gait can make them jump."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import List, Optional

import numpy as np

from snake_motion.gait_shape import GaitShape, JointWaves


@dataclass(frozen=True)
class Layer:
    """A gait or a posture, and how its weight goes from `begin` to `end` in time."""

    waves: Optional[JointWaves]  #: None: the posture
    posture: Optional[np.ndarray]  #: (n,) rad
    begin: float
    end: float
    since: float  #: s
    duration: float  #: s

    def weight(self, t: float) -> float:
        """Return the weight at a time: a smoothstep, whose slope is zero at both ends."""
        x = min(max((t - self.since) / self.duration, 0.0), 1.0)
        return self.begin + (self.end - self.begin) * x * x * (3.0 - 2.0 * x)

    def angles(self, theta: float) -> np.ndarray:
        """Return the joint angles at full weight, rad, (n,)."""
        if self.waves is not None:
            return self.waves.angles(theta)
        assert self.posture is not None  # a layer has one of the two
        return self.posture


class Layers:
    """The layers of a robot of so many modules."""

    def __init__(self, modules: int) -> None:
        self._modules = modules
        self._layers: List[Layer] = []

    def clear(self) -> None:
        """Forget them all: straight at once; for a start only."""
        self._layers = []

    def add(self, t: float, duration: float, shape: GaitShape, direction: int = 1, roll: float = 0.0) -> None:
        """Fade a gait in, on the face that the body lies on at a roll, rad."""
        self._layers.append(Layer(shape.joint_waves(self._modules, direction, roll), None, 0.0, 1.0, t, duration))

    def begin_at(self, t: float, duration: float, posture: np.ndarray) -> None:
        """Begin in a posture, rad, (n,), and fade it out; what was before is forgotten."""
        self._layers = [Layer(None, np.array(posture), 1.0, 0.0, t, duration)]

    def fade_out(self, t: float, duration: float) -> None:
        """Let all that is there go to zero."""
        self._layers = [
            layer if layer.end == 0.0 else replace(layer, begin=layer.weight(t), end=0.0, since=t, duration=duration)
            for layer in self._layers
        ]

    def is_steady(self, t: float) -> bool:
        """Return whether no weight is changing."""
        return all(t >= layer.since + layer.duration for layer in self._layers)

    def is_flat(self) -> bool:
        """Return whether nothing is left but the straight body."""
        return not self._layers

    def angles(self, t: float, theta: float) -> np.ndarray:
        """Return the joint angles, rad, (n,); layers that have gone are forgotten."""
        self._layers = [layer for layer in self._layers if layer.end > 0.0 or t < layer.since + layer.duration]
        total = np.zeros(self._modules)
        for layer in self._layers:
            total += layer.weight(t) * layer.angles(theta)
        return total
