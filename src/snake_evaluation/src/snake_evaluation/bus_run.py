# SPDX-License-Identifier: MIT
"""The snake on its servos in one process: motor driver, bytes, emulated AX-12A modules, rigid bodies; no ROS."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional, Sequence

import numpy as np
import yaml

from robot_evaluation.tables import markdown_table
from shellbot_chain.chain_config import ChainConfig
from shellbot_chain.emulated_robot import EmulatedBody
from shellbot_chain.onboard_chain import BusOptions, OnboardRobot
from snake_description import expand, servo_map, snake_profile

from .cycles import CycleResult, request_cycles, run_cycles
from .snake_run import Setup, SnakeRun


class BusRun(SnakeRun):
    """A `SnakeRun` in which the engine sees what the driver has read from the bus, and its angles go over the bus.

    Parameters
    ----------
    setup : Setup
        Robot, floor, seed; the servo is `ax`.
    options : BusOptions, optional
        Of the bus, faults among them.
    """

    def __init__(self, setup: Setup, options: Optional[BusOptions] = None) -> None:
        super().__init__(setup)
        variables = setup.variables
        texts = (expand(variables), snake_profile(variables).to_text(), yaml.safe_dump(servo_map(variables)))
        # of the variant only the name is looked at: bodies and servos are those of the texts
        config = ChainConfig(variant="walker", seed=setup.seed, friction=setup.friction, timestep=setup.timestep)
        self.robot = OnboardRobot(config, BusOptions() if options is None else options, EmulatedBody.from_texts(*texts))
        self.robot.restart(setup.seed)
        self.simulator = self.robot.simulator

    def _measured(self) -> np.ndarray:
        return self.robot.measured(self.simulator.state())

    def _advance(self, position: np.ndarray) -> None:
        self.robot.apply(position)
        self.robot.advance()


@dataclass(frozen=True)
class BusCase:
    """One gait with and without the bus."""

    direct: CycleResult  #: Torques of the simulator's own servos
    bus: CycleResult  #: Motor driver, bytes, emulated servos
    feedback_hz: float  #: Rate at which the driver read each servo
    announced: bool  #: Whether the driver had more than a warning to say at the end


def bus_case(setup: Setup, gait: str, direction: int, cycles: int) -> BusCase:
    """Measure a gait on the simulator's servos and on the bus, from the same start."""
    run = BusRun(setup)
    found = request_cycles(run, gait, direction, cycles)
    state = run.robot.driver.state()
    return BusCase(run_cycles(setup, gait, direction, cycles), found, state.timing.feedback_hz, run.robot.is_announced)


def bus_table(modules: Sequence[int], gaits: Sequence[str], setup: Setup, cycles: int) -> str:
    """Return a Markdown table of steps on the bus beside those on the simulator's servos."""
    rows = []
    for count in modules:
        for gait in gaits:
            case = bus_case(replace(setup, modules=count), gait, 1, cycles)
            errors = (case.bus.odometry_error_percent, case.direct.odometry_error_percent)
            rows.append(
                {
                    "modules": count,
                    "gait": gait,
                    "on the bus": _steps(case.bus),
                    "simulator's servos": _steps(case.direct),
                    "odometry off, %": "{:.1f}, {:.1f}".format(*errors),
                    "cost of transport": f"{case.bus.cost_of_transport:.2f}, {case.direct.cost_of_transport:.2f}",
                    "reads of a servo, Hz": f"{case.feedback_hz:.0f}",
                    "announced": case.announced,
                }
            )
    return markdown_table(rows)


def _steps(result: CycleResult) -> str:
    return f"{result.forward_mm:.1f}, {result.left_mm:.1f} mm, {result.yaw_deg:.1f} deg"
