# SPDX-License-Identifier: MIT
"""Compile the kernels into numba's cache, so that the robot's first start does not wait for them."""

from __future__ import annotations

import numpy as np

from robot_mechanics import InverseKinematics
from shellbot_action_manager.body.geometry import load_geometry
from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig
from shellbot_description import expand
from shellbot_kinematics import Frame, ShellbotModel, ShellbotSolver, packed

_CLOSING = 14.0  # s of simulated time: a robot closes in 8 to 11


def main() -> None:
    """Compile by using: the calls that kinematics server and action manager make at their start, the packed calls, one
    leg's generated kernels, its derivatives, and the general inverse; then those of a robot that stands up, walks with
    feed-forward and closes. Kernels over batches are left to their first use.
    """
    urdf = expand("simulation")
    ShellbotSolver(urdf).warm_up()
    legs = load_geometry("simulation").legs
    legs.solve(legs.forward(np.zeros((6, 4)))[:, None, :])
    model = ShellbotModel(urdf)
    packed.warm_up(model)
    leg = model.chain("lower_1", Frame.FOOT)
    leg.compile().warm_up()
    q = np.zeros(leg.n)
    leg.jacobian(q)
    leg.jacobian_dot(q, q)
    leg.hessian(q)
    InverseKinematics(leg).solve(leg.fk([0.0, 0.0, -0.5, 1.8])[:3, 3])
    chain = Chain(ChainConfig(feed_forward=1.0, record=False))
    chain.stand_up()
    chain.walk((0.1, 0.0, 0.2), 1.0)
    chain.request_mode("shell")
    chain.run(_CLOSING)


if __name__ == "__main__":
    main()
