# SPDX-License-Identifier: MIT
"""Everything the simulator publishes at each tick."""

from __future__ import annotations

import math

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState, PointCloud, Range
from std_msgs.msg import Bool, Float32

from shellbot_common import TICK
from shellbot_common.diagnostics_conversions import diagnostic_status, diagnostics
from shellbot_common.publisher_node import Publisher
from shellbot_msgs.msg import Contacts
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.core.state import SimState

from . import sensor_conversions as convert
from .lockstep import Phase

_DIAGNOSTICS_PERIOD = 1.0  # s of wall time
_SLOW = 0.9  # below this fraction of the commanded factor the status is a warning
_QUEUE = 100  # messages for a node that is late: a recording of a fast simulation misses none


class StatePublisher:
    """Clock, joint states, IMU, load cells, ranges, bumpers, ground truth and the achieved real-time factor.

    Parameters
    ----------
    simulator : Simulator
        Whose joints and settings to tell.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._names = list(simulator.joint_names)
        self._feet = tuple(simulator.profile.contacts)
        self._covariance = convert.ImuCovariance(simulator.config)
        self._base = simulator.profile.base.link
        self._imu_frame = simulator.profile.imu or self._base
        self._clock = Publisher("/clock", Clock, queue_size=10)
        self._joint_states = Publisher("joint_states", JointState, queue_size=_QUEUE)
        self._imu = Publisher("imu/data", Imu, queue_size=_QUEUE)
        self._odometry = Publisher("ground_truth/odom", Odometry, queue_size=_QUEUE)
        self._contacts = Publisher("ground_truth/foot_contacts", Contacts, queue_size=_QUEUE)
        self._wrenches = [
            (index, link, Publisher(f"contact_wrenches/{link}", WrenchStamped, queue_size=_QUEUE))
            for index, (link, contact) in enumerate(simulator.profile.contacts.items())
            if contact.kind == "plate"  # other contacts have no force sensors
        ]
        self._load_cells = {
            link: (places, Publisher(f"load_cells/{link}", PointCloud, queue_size=_QUEUE))
            for link, places in simulator.load_cell_places.items()
        }
        self._ranges = [
            (link, sensor, round(1.0 / (sensor.rate * TICK)), Publisher(f"range/{link}", Range, queue_size=_QUEUE))
            for link, sensor in simulator.profile.range_sensors.items()
        ]
        self._bumpers = [
            (link, Publisher(f"bumpers/{link}", Bool, queue_size=_QUEUE)) for link in simulator.profile.bumpers
        ]
        self._diagnostics = Publisher("/diagnostics", DiagnosticArray, queue_size=1)
        self._factor = Publisher("~real_time_factor", Float32, queue_size=1)
        self._next_diagnostics = 0.0

    def publish(self, state: SimState) -> None:
        """Publish the present tick. joint_states starts the other nodes: what they read with it goes before."""
        stamp = convert.stamp_of(state.tick)
        self._clock.publish(clock=stamp)
        if self._imu.get_num_connections():
            self._imu.publish(convert.imu_message(state, stamp, self._covariance, self._imu_frame))
        for index, link, wrench in self._wrenches:
            if wrench.get_num_connections():
                wrench.publish(convert.wrench_message(state.contacts.foot_wrench[index], stamp, link))
        self._joint_states.publish(convert.joint_state_message(state, stamp, self._names))
        if self._odometry.get_num_connections():
            self._odometry.publish(convert.odometry_message(state, stamp, self._base))
        if self._contacts.get_num_connections():
            self._contacts.publish(convert.contacts_message(state, stamp, self._feet, self._base))
        if any(cells.get_num_connections() for _, cells in self._load_cells.values()):
            for link, forces in self._simulator.load_cells().items():
                places, cells = self._load_cells[link]
                cells.publish(convert.load_cells_message(forces, places, stamp, link))
        for link, sensor, period, publisher in self._ranges:
            if state.tick % period == 0 and publisher.get_num_connections():
                publisher.publish(convert.range_message(self._simulator.range(link), sensor, stamp, link))
        for link, publisher in self._bumpers:
            if publisher.get_num_connections():
                publisher.publish(self._simulator.bumper(link))
        self._stamp = stamp
        self._state = state

    def publish_diagnostics(self, now: float, factor: float, phase: Phase, target: float) -> None:
        """Publish the achieved real-time factor (nan: not measured yet), once per second of wall time `now` (s)."""
        if now < self._next_diagnostics:
            return
        self._next_diagnostics = now + _DIAGNOSTICS_PERIOD
        contacts = self._state.contacts
        is_measured = not math.isnan(factor)
        measured = f"{factor:.2f}" if is_measured else "not measured yet"
        level, text = DiagnosticStatus.OK, f"real-time factor {measured}, {phase.value}"
        if phase is Phase.FALLBACK:
            level, text = DiagnosticStatus.WARN, "no stamped commands: holding the last one"
        elif phase is Phase.LOCKED and target and factor < _SLOW * target:
            level, text = DiagnosticStatus.WARN, f"slower than requested: real-time factor {factor:.2f} of {target:g}"
        hot = self._simulator.overheated_joints
        if hot:
            level, text = DiagnosticStatus.WARN, f"too hot, without torque until the reset: {', '.join(hot)}"
        values = {
            "real_time_factor": f"{factor:.3f}",
            "phase": phase.value,
            "feet on the ground": int(contacts.foot_contact.sum()),
            "other links on the ground": ", ".join(contacts.other_links) or "none",
            "greatest penetration [mm]": f"{1e3 * contacts.max_penetration:.2f}",
            "supply [V]": f"{self._simulator.supply_voltage:.2f}",
            "hottest winding [deg C]": f"{self._simulator.winding_temperature.max():.0f}",
        }
        status = diagnostic_status("simulator: physics", level, text, values, self._simulator.config.engine)
        self._diagnostics.publish(diagnostics(self._stamp, status))
        if is_measured:
            self._factor.publish(factor)
