# SPDX-License-Identifier: MIT
"""Streams of random numbers of one seed: what draws by a seed has a number of its own here.

Two that shared a stream would draw the same numbers. The start's deviations and the IMU's noise have the seed alone,
which numpy takes for ``[seed, 0]``; rubble has its height in mm, below 1000.
"""

from __future__ import annotations

from enum import IntEnum, unique

import numpy as np

GREATEST_SEED = 2**31 - 1  # of a run


@unique
class Stream(IntEnum):
    """What is drawn."""

    HUMANOID_PUSH = 7
    IMU_BIAS = 11
    ROLLING = 12  # attitude, bearing and floor of a ball
    MISSION = 13  # its floor and goals
    OPTIMISE_FLOOR = 17
    PERTURBATIONS = 19  # and the number of the perturbation
    LOAD_CELLS = 21  # and the numbers behind it, one a contact, each with the tick
    PUSH = 23  # of ``--perturb push_n``
    RANGE_SENSORS = 121  # and the numbers behind it, one a sensor, each with the tick
    JOINT_ZEROS = 1001  # errors of the zeros of joints
    TRANSFORMATION = 1002  # its floor and masses
    FLOOR = 1003  # friction in gaits, limp, feed_forward and terrain
    LIMP_PHASE = 1004  # when in a stride a leg goes limp
    TERRAIN_PUSH = 1005
    HUMANOID_WORLD = 1006  # friction, masses, and what stands on the floor of its walks
    HUMANOID_FALL = 1007  # its floor and masses, and how it falls
    RECOVERY = 1008  # its floor and masses, and how the robot is thrown


def seeded(seed: int, *stream: int) -> np.random.Generator:
    """Return the generator of a seed's stream; `stream` is a `Stream`, and numbers that divide it further."""
    return np.random.default_rng([seed, *stream])
