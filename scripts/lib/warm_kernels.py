# SPDX-License-Identifier: MIT
"""Compile the kinematics' kernels into numba's cache, so that the robot's first start does not wait for them."""

from __future__ import annotations

import numpy as np

from robot_mechanics import InverseKinematics
from shellbot_action_manager import load_geometry
from shellbot_description import expand
from shellbot_kinematics import Frame, ShellbotModel, ShellbotSolver, packed


def main() -> None:
    """Compile by using: the calls that kinematics server and action manager make at their start, the packed calls, one
    leg's generated kernels, its derivatives, and the general inverse. Kernels over batches are left to their first use.
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


if __name__ == "__main__":
    main()
