# SPDX-License-Identifier: MIT
"""The closed loop's gain on the robot: standing and walking by the solver clik in the embedded simulator."""

from __future__ import annotations

from typing import Callable, Dict, List

import numpy as np

from shellbot_chain.chain import Chain
from shellbot_common import TICK
from shellbot_kinematics import SolverConfig

GAINS = (5.0, 10.0, 25.0, 50.0, 100.0, 150.0, 195.0)  # 1/s
SEED = 100  # of tuning
STANDS, WALKS = 2.0, 4.0  # s
SPEED = 0.15  # m/s
HEADS = {
    "gain": "K / (1/s)",
    "k": "k a tick",
    "height": "stands at / mm",
    "shake": "joints move by / °",
    "walked": f"walks in {WALKS:g} s at {SPEED:g} m/s / m",
}
DIGITS = {"gain": 0, "k": 2, "height": 1, "shake": 2, "walked": 3}


def loop_rows(step: Callable[[str], None]) -> List[Dict[str, object]]:
    """Return a row for each gain; `step` is called after each."""
    rows: List[Dict[str, object]] = []
    for gain in GAINS:
        chain = Chain(seed=SEED)
        chain.solver.set_config(SolverConfig(solver="clik", clik_gain=(gain,) * 5))
        chain.stand_up()
        begin = chain.time
        chain.run(STANDS)
        stands = chain.trace().window(begin + STANDS / 2, chain.time)
        begin = chain.time
        chain.walk((SPEED, 0.0, 0.0), seconds=WALKS)
        path = chain.trace().window(begin, chain.time).truth_path.in_start_axes()
        rows.append(
            {
                "gain": gain,
                "k": gain * TICK,
                "height": 1e3 * float(stands.p_world_base[:, 2].mean()),
                "shake": float(np.degrees(np.ptp(stands.joint_position, axis=0).max())),
                "walked": float(path[-1, 0]),
            }
        )
        step(f"{gain:g} 1/s")
    return rows
