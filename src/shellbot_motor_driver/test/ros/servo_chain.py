# SPDX-License-Identifier: MIT
"""An emulated chain in a process of its own that a test can look into and disturb while the driver holds its port."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

from ax_bus import AX_12A, AX_18A
from ax_bus.registers import baud_register
from ax_emulator import EmulatedChain, Fault, FaultInjector, PtyServer
from shellbot_motor_driver.emulated_servos import shellbot_servos

MODELS = {model.name: model for model in (AX_12A, AX_18A)}


class ServoChain:
    """Shellbot's servos behind the link ``link``; `close` takes them away."""

    def __init__(self, link, variant="walker", baud=1_000_000, faults=(), model=None):
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        arguments = (theirs, str(link), variant, baud, tuple(faults), model)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        assert self._connection.poll(120), "the emulated chain does not start"
        assert self._connection.recv() == "up"

    def ask(self, word, *content):
        """Return the answer of the process."""
        self._connection.send((word, *content))
        assert self._connection.poll(20), f"the emulated chain does not answer {word}"
        return self._connection.recv()

    def registers(self, name):
        """Return one register of all servos, by ID."""
        return self.ask("registers", name)

    def fault(self, kind, seconds=None, **values):
        """Let a fault begin now, for a time or for good."""
        self.ask("fault", kind, seconds, values)

    def largest_step(self):
        """Return the largest step of any goal since the last call, in steps."""
        return self.ask("largest_step")

    def close(self):
        self._connection.close()
        self._process.join(10)
        if self._process.is_alive():
            self._process.kill()
            self._process.join(10)


def _serve(connection, link, variant, baud, faults, model):
    servos = shellbot_servos(variant)
    for servo in servos:
        servo.table["baud_rate"] = baud_register(baud)
    if model is not None:
        servo_id, number = model
        servos[servo_id].table["model_number"] = number
    injector = FaultInjector([Fault(**values) for values in faults])
    chain = EmulatedChain(servos, baud, injector)
    server = PtyServer(chain, Path(link), precise=False)
    goals = [servo.table["goal_position"] for servo in servos]
    largest = 0

    def look():
        nonlocal goals, largest
        now = [servo.table["goal_position"] for servo in servos]
        # where no torque is, a goal that moves moves nothing
        steps = [abs(a - b) for a, b, servo in zip(goals, now, servos) if servo.table["torque_enable"]]
        goals, largest = now, max([largest, *steps])
        try:
            while connection.poll():
                word, *content = connection.recv()
                if word == "registers":
                    connection.send({servo.servo_id: servo.table[content[0]] for servo in servos})
                elif word == "fault":
                    kind, seconds, values = content
                    stop = float("inf") if seconds is None else chain.time + seconds
                    injector.add(Fault(kind, start=chain.time, stop=stop, **values))
                    connection.send(None)
                elif word == "largest_step":
                    connection.send(largest)
                    largest = 0
        except (EOFError, OSError):
            return True
        return False

    connection.send("up")
    try:
        server.run(look)
    finally:
        server.close()
