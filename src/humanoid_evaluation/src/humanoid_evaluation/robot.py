# SPDX-License-Identifier: MIT
"""Simulator and core of the humanoid in one process, with one tick of latency between them, as on the wire."""

from __future__ import annotations

from pathlib import Path
from typing import Optional, Union

import numpy as np

import humanoid_description
from humanoid_motion.foot_wrenches import wrench_of_cells
from humanoid_motion.interface import Feedback
from humanoid_motion.parameters import WalkParameters
from humanoid_motion.robot_core import HumanoidCore
from shellbot_common import package_file
from shellbot_simulator.core.config import SimulatorConfig
from shellbot_simulator.core.simulator import Simulator


def parameters() -> WalkParameters:
    """Return the engine's parameters as they are delivered."""
    return WalkParameters.load(package_file("humanoid_motion", "config/walk.yaml"))


class Robot:
    """One robot in one world.

    Parameters
    ----------
    world : SimulatorConfig, optional
        Floor, friction, masses; the simulator's own settings if not given.
    seed : int, optional
        Of start deviations and sensor noise; none if not given.
    motors : str
        ``peak`` or ``rated``.
    heading : str
        ``imu`` or ``feet``.
    contacts : str
        What the engine feels of its soles: ``wrench``, ideal, or ``cells``, the four force sensors.
    motions_file : str or Path
        Motions of the user's.

    Attributes
    ----------
    simulator, core
        Its parts.
    state : SimState
        The truth, and what is measured.
    """

    def __init__(
        self,
        world: Optional[SimulatorConfig] = None,
        seed: Optional[int] = None,
        motors: str = "peak",
        heading: str = "imu",
        contacts: str = "wrench",
        motions_file: Union[str, Path] = "",
    ) -> None:
        urdf, profile = humanoid_description.urdf_text(motors), humanoid_description.profile()
        self.simulator = Simulator(urdf, profile, world)
        self.core = HumanoidCore(urdf, profile, parameters(), heading=heading, motions_file=motions_file)
        self.state = self.simulator.reset(seed=seed)
        self.command: Optional[np.ndarray] = None
        self._contacts = contacts

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self.simulator.time

    def tick(self) -> None:
        """Advance by 10 ms."""
        imu = self.state.imu
        assert imu.orientation is not None  # the simulator's settings have one
        wrenches = self.state.contacts.foot_wrench if self._contacts == "wrench" else self._cell_wrenches()
        attitude = imu.orientation.tolist()
        command = self.core.step(Feedback(self.state.q, attitude, imu.angular_velocity, wrenches, imu.specific_force))
        if self.command is not None:
            self.simulator.command(self.command)
        self.command = command
        self.simulator.step_tick()
        self.state = self.simulator.state()

    def _cell_wrenches(self) -> np.ndarray:
        """Return the soles' wrenches (2, 6) as their load cells have them."""
        places, forces = self.simulator.load_cell_places, self.simulator.load_cells()
        return np.array([wrench_of_cells(places[sole], force) for sole, force in forces.items()])
