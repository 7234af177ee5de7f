# SPDX-License-Identifier: MIT
"""A chain of AX servos without servos: faithful to the byte, in real time on a pty, in virtual time in a process."""

from shellbot_motor_driver.emulation.battery import Battery, BatteryParameters
from shellbot_motor_driver.emulation.build import equal_servos, shellbot_servos
from shellbot_motor_driver.emulation.chain import EmulatedChain
from shellbot_motor_driver.emulation.coupled_chain import CoupledChain, World
from shellbot_motor_driver.emulation.faults import KINDS, Fault, FaultInjector, load_faults
from shellbot_motor_driver.emulation.latency_timer import LatencyTimerChain
from shellbot_motor_driver.emulation.motor_bank import MotorBank
from shellbot_motor_driver.emulation.pty_server import PtyServer
from shellbot_motor_driver.emulation.servo import EmulatedServo, ServoBehaviour
from shellbot_motor_driver.emulation.virtual_port import VirtualPort

__all__ = [
    "KINDS",
    "Battery",
    "BatteryParameters",
    "CoupledChain",
    "EmulatedChain",
    "EmulatedServo",
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
    "shellbot_servos",
]
