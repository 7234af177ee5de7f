# SPDX-License-Identifier: MIT
"""The page of gains as compliance of the servos that a robot has."""

from __future__ import annotations

from typing import Mapping, Optional

from ax_bus.errors import ServoError
from shellbot_common import Level, Notice
from shellbot_control import ConfigurationError, EffortOffset, GainTable
from shellbot_motor_driver.driving.driver_config import ComplianceStart
from shellbot_motor_driver.map.compliance import Compliance, compliance_from_gains, springs
from shellbot_motor_driver.map.driven_robot import DrivenRobot
from shellbot_motor_driver.process.bus_process import BusProcess
from shellbot_motor_driver.safety.health import Health, HealthLine


class GainsPage:
    """The page's latest values, and what became of them.

    Parameters
    ----------
    robot : DrivenRobot
        Whose servos.
    start : ComplianceStart
        Margin and punch, which the page does not have.

    Attributes
    ----------
    values : mapping of str to float, or None
        The page, ``<class>_<p|i|d>`` and ``stiffness``; None until it was received.
    efforts : EffortOffset
        Knows the servos' stiffness in force.
    line : HealthLine
        For /diagnostics.
    """

    def __init__(self, robot: DrivenRobot, start: ComplianceStart) -> None:
        self._robot, self._start = robot, start
        self.values: Optional[Mapping[str, float]] = None
        started = Compliance(start.slope, start.margin, start.punch)
        self.efforts = EffortOffset(robot.limits)
        self.efforts.set_stiffness(*springs(dict.fromkeys(robot.classes, started), robot))
        self.line = HealthLine("gains", Health.OK, "no page of gains received: compliance as in driver.yaml")

    def send(self, process: Optional[BusProcess]) -> Optional[Notice]:
        """Bring the gains to the servos, if both are there; return what is to be logged, if anything."""
        if process is None or self.values is None:
            return None
        start, robot = self._start, self._robot
        try:
            gains = GainTable.from_page(self.values, robot.classes)
            table, words = compliance_from_gains(gains, start.margin, start.punch, robot)
            accepted, reason = process.set_compliance(table)
        except (ConfigurationError, ServoError) as error:
            self.line = HealthLine("gains", Health.WARN, f"page of gains not used: {error}")
            return Notice("gains", Level.WARN, self.line.message)
        if accepted:
            self.efforts.set_stiffness(*springs(table, robot))
        level = Health.OK if accepted else Health.WARN
        values = tuple((name, f"slope {c.slope}, margin {c.margin}, punch {c.punch}") for name, c in table.items())
        self.line = HealthLine("gains", level, "; ".join((reason, *words)), values)
        return None
