# SPDX-License-Identifier: MIT
"""What the tests of the bus share: a chain, a port into it and a bus, in virtual time."""

from __future__ import annotations

from ax_bus import Bus, Timeouts
from ax_emulator import EmulatedChain, Fault, FaultInjector, ServoBehaviour, VirtualPort, equal_servos

QUIET = ServoBehaviour(interrupts=False)
POSITION = 36


class Bench:
    """A bus with ``ids`` on it, and faults that can be added while it runs."""

    def __init__(self, ids=(1, 2, 3), faults=(), seed=0, echoes=False, host_hold=0.0, return_delay=0, retries=1,
                 behaviour=QUIET, timeouts=None, **port):  # fmt: skip
        self.faults = FaultInjector(faults, seed)
        servos = equal_servos(ids, return_delay=return_delay, behaviour=behaviour, seed=seed)
        self.chain = EmulatedChain(servos, faults=self.faults, echoes=echoes, host_hold=host_hold)
        self.port = VirtualPort(self.chain, **port)
        self.bus = Bus(self.port, timeouts if timeouts is not None else Timeouts(link_latency=0.1e-3), retries)

    @property
    def counts(self):
        return self.bus.statistics

    def servo(self, servo_id):
        return self.chain.servo(servo_id)

    def fault(self, kind, after=0.0, **options):
        self.faults.add(Fault(kind, start=self.port.now() + after, **options))

    def position(self, servo_id, **options):
        return int.from_bytes(self.bus.read(servo_id, POSITION, 2, **options).data, "little")

    def row(self, name):
        return self.chain.servos[0].table.model.register(name)

    def write(self, servo_id, name, number):
        row = self.row(name)
        return self.bus.write(servo_id, row.address, row.to_bytes(number))

    def read(self, servo_id, name):
        return self.bus.read_register(servo_id, self.row(name))
