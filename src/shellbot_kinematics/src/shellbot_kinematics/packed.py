# SPDX-License-Identifier: MIT
"""Shellbot's closed forms and closed loop as bare kernels on packed arrays: a call costs little more than its numbers.

The functions are numba dispatchers. They take two contiguous float64 arrays, the packed robot (read-only,
`ShellbotModel.packed`, or one leg of it, `ShellbotModel.legs[i]`) and a block that holds question and answer; the
classes `LegBlock`, `ShellBlock`, `LimbsBlock` and `ClikBlock` name the parts of the blocks as views; `clik_follow`
takes a `ClikLoop` and a task instead. Sizes are checked, values are not: NaN in is NaN out.

Examples
--------
>>> import numpy as np
>>> from shellbot_description import expand
>>> from shellbot_kinematics import ShellbotModel
>>> from shellbot_kinematics.packed import LegBlock, foot_inverse
>>> leg, ask = ShellbotModel(expand("walker")).legs[0], LegBlock()
>>> ask.point[:] = 0.270, 0.0, -0.1623
>>> foot_inverse(leg, ask.data)
0.0
>>> np.degrees(ask.joints).round(1)
array([  0. , -16.8,  -9.4, 110.2])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shellbot_kinematics._layout import CLIK_TASK, SHELL
from shellbot_kinematics.packed_blocks import ClikBlock, ClikLoop, LegBlock, LimbsBlock, ShellBlock
from shellbot_kinematics.packed_clik import clik_follow, clik_step
from shellbot_kinematics.packed_limbs import (
    foot_forward,
    foot_inverse,
    foot_inverse_free_fan,
    limbs_forward,
    limbs_inverse,
    shell_inverse,
)

if TYPE_CHECKING:
    from shellbot_kinematics.shellbot_model import ShellbotModel

__all__ = [
    "ClikBlock",
    "ClikLoop",
    "LegBlock",
    "LimbsBlock",
    "ShellBlock",
    "clik_follow",
    "clik_step",
    "foot_forward",
    "foot_inverse",
    "foot_inverse_free_fan",
    "limbs_forward",
    "limbs_inverse",
    "shell_inverse",
    "warm_up",
]


def warm_up(model: ShellbotModel) -> None:
    """Compile all calls of this module, or load them from the cache on disk, by calling each of them once.

    Parameters
    ----------
    model : ShellbotModel
        Any variant; the machine code is the same for all.
    """
    leg, limbs, loop = LegBlock(), LimbsBlock(), ClikLoop(model.packed)
    shell = model.shells[0] if len(model.shells) else np.ones(SHELL)
    shell.setflags(write=False)  # as those of a model: whether it may be written to is part of an array's type
    foot_forward(model.legs[0], leg.data)
    foot_inverse(model.legs[0], leg.data)
    foot_inverse_free_fan(model.legs[0], leg.data)
    shell_inverse(shell, ShellBlock().data)
    limbs_forward(model.packed, limbs.data)
    limbs_inverse(model.packed, limbs.data)
    clik_step(model.packed, ClikBlock().data)
    clik_follow(loop.data, np.zeros(CLIK_TASK))
