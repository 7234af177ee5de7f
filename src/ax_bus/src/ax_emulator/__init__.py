# SPDX-License-Identifier: MIT
"""AX and MX servos without servos: faithful to the byte, in real time on a pty, in virtual time in a process.

Names are imported on first use: the faults, for instance, need no numpy.
"""

from typing import TYPE_CHECKING

from ax_bus.lazy import lazy_names

if TYPE_CHECKING:
    from ax_emulator.battery import Battery, BatteryParameters
    from ax_emulator.chain import EmulatedChain, equal_servos
    from ax_emulator.coupled_chain import CoupledChain, World
    from ax_emulator.errors import EmulationError
    from ax_emulator.faults import KINDS, Fault, FaultInjector, load_faults
    from ax_emulator.latency_timer import LatencyTimerChain
    from ax_emulator.motor_bank import MotorBank
    from ax_emulator.pty_server import PtyServer
    from ax_emulator.servo import EmulatedServo, ServoBehaviour
    from ax_emulator.virtual_port import VirtualPort

_MODULES = {
    "battery": "Battery BatteryParameters",
    "chain": "EmulatedChain equal_servos",
    "coupled_chain": "CoupledChain World",
    "errors": "EmulationError",
    "faults": "KINDS Fault FaultInjector load_faults",
    "latency_timer": "LatencyTimerChain",
    "motor_bank": "MotorBank",
    "pty_server": "PtyServer",
    "servo": "EmulatedServo ServoBehaviour",
    "virtual_port": "VirtualPort",
}
__getattr__, __dir__ = lazy_names(__name__, _MODULES)

__all__ = [
    "KINDS",
    "Battery",
    "BatteryParameters",
    "CoupledChain",
    "EmulatedChain",
    "EmulatedServo",
    "EmulationError",
    "Fault",
    "FaultInjector",
    "LatencyTimerChain",
    "MotorBank",
    "PtyServer",
    "ServoBehaviour",
    "VirtualPort",
    "World",
    "equal_servos",
    "load_faults",
]
