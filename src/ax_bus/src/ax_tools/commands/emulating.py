# SPDX-License-Identifier: MIT
"""The command that serves an emulated chain."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional

from ax_tools.console import note, say
from ax_tools.options import Command, id_list

if TYPE_CHECKING:
    from ax_emulator import EmulatedServo


def add_options(c: argparse.ArgumentParser) -> None:
    """Add the options of ``emulate``."""
    c.add_argument("--ids", type=id_list, help="IDs of the servos (default 1)")
    c.add_argument("--model", default="AX-12A", help="model of the servos (default AX-12A)")
    c.add_argument("--baud", type=int, default=1_000_000, help="the servos' rate (default 1000000)")
    c.add_argument("--return-delay", type=int, default=0, metavar="N", help="units of 2 us (default 0)")
    c.add_argument("--link", type=Path, help="also give the pty this stable name")
    c.add_argument("--faults", type=Path, metavar="FILE", help="YAML list of faults, each {kind: ..., servo: ...}")
    c.add_argument("--fault-kinds", action="store_true", help="list the kinds of faults and end")
    c.add_argument("--seed", type=int, default=0, help="random seed (default 0)")
    c.add_argument("--echo", action="store_true", help="emulate a single-wire wiring, which echoes what is sent")
    c.add_argument("--relaxed", action="store_true", help="never spin: replies 0.1 ms late, hardly any CPU")


def run(arguments: argparse.Namespace, servos: Optional[List[EmulatedServo]] = None) -> int:
    """Serve an emulated chain until the process is ended.

    Parameters
    ----------
    arguments : argparse.Namespace
        The options.
    servos : list of EmulatedServo, optional
        Who is on it; by default those of the options.
    """
    import signal

    from ax_bus.registers import baud_register, model_of
    from ax_emulator import KINDS, EmulatedChain, EmulatedServo, FaultInjector, PtyServer, load_faults

    if arguments.fault_kinds:
        say("\n".join(f"{kind:<20} {row.text}" for kind, row in KINDS.items()))
        return 0
    if servos is None:
        model = model_of(arguments.model)
        servos = [EmulatedServo(i, model, 1, arguments.return_delay, seed=arguments.seed) for i in arguments.ids or [1]]
    for servo in servos:
        servo.table["baud_rate"] = baud_register(arguments.baud)
    faults = FaultInjector(load_faults(arguments.faults) if arguments.faults else (), arguments.seed)
    chain = EmulatedChain(servos, arguments.baud, faults, arguments.echo)
    server = PtyServer(chain, arguments.link, precise=not arguments.relaxed)
    ended: List[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, frame: ended.append(received))
    try:
        say(f"{server.name}")
        note(f"{len(servos)} emulated servos, IDs {', '.join(str(s.servo_id) for s in servos)}; end with Ctrl-C")
        server.run(lambda: bool(ended))
    finally:
        server.close()
    struck = ", ".join(f"{kind} {count}" for kind, count in sorted(faults.struck.items()))
    note(f"ended; faults: {struck or 'none'}")
    return 0


COMMANDS: List[Command] = [Command("emulate", "a pty with servos behind it", add_options, run, uses_bus=False)]
