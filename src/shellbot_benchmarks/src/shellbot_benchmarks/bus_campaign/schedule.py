# SPDX-License-Identifier: MIT
"""Random faults over all kinds, from a seed, and what a technician puts right again."""

from __future__ import annotations

import random
from typing import Dict, List, NamedTuple, Sequence, Tuple

from ax_bus.registers import baud_register
from ax_emulator import EmulatedServo, Fault
from robot_evaluation.errors import DefinitionError

SLOT = 10.0  # s between faults: time to recover, stand up and walk again
REPAIR_AFTER = 3.0  # s after which what does not end by itself is put right


class Ranges(NamedTuple):
    """Of what a kind's faults are drawn: duration s, probability, value; whether one servo is the victim."""

    duration: Tuple[float, float]
    probability: Tuple[float, float] = (1.0, 1.0)
    value: Tuple[float, float] = (0.0, 0.0)
    one_servo: bool = False
    victims: Tuple[int, ...] = ()  # instead of any servo


RANGES: Dict[str, Ranges] = {
    "lost_reply": Ranges((1.0, 5.0), (0.02, 0.6)),
    "late_reply": Ranges((1.0, 3.0), (0.05, 0.3), (0.002, 0.02)),
    "head_cut": Ranges((1.0, 3.0), (0.05, 0.6), (1, 3)),
    "tail_cut": Ranges((1.0, 3.0), (0.05, 0.6), (1, 3)),
    "bit_flip": Ranges((1.0, 3.0), (0.05, 0.6), (1, 8)),
    "noise": Ranges((1.0, 3.0), (0.05, 0.6), (1, 20)),
    "error_bit": Ranges((1.0, 3.0), (0.02, 0.3), (1, 127)),
    "wrong_id": Ranges((1.0, 3.0), (0.05, 0.5), (30, 99)),
    "echo": Ranges((0.2, 2.0)),
    "partial_echo": Ranges((0.2, 2.0), (0.1, 1.0), (1, 8)),
    "stuck_line": Ranges((0.05, 1.0)),
    "garbled_instruction": Ranges((1.0, 3.0), (0.01, 0.1)),
    "dead": Ranges((0.2, 3.0), one_servo=True),
    "reboot": Ranges((0.0, 0.0), one_servo=True),
    "overload": Ranges((0.0, 0.0), one_servo=True),
    # coxae are AX-12A: within 5 K of their limit of 70 degrees, but not beyond it, which ends all walking for 20 min
    "overheat": Ranges((0.0, 0.0), value=(66.0, 69.0), one_servo=True, victims=(1, 4, 7, 10, 13, 16)),
    "voltage": Ranges((1.0, 4.0), value=(8.8, 10.4)),
    "change_id": Ranges((0.0, 0.0), value=(1, 40), one_servo=True),
    "change_baud": Ranges((0.0, 0.0), value=(3, 34), one_servo=True),
    "status_level": Ranges((0.0, 0.0), value=(0, 1), one_servo=True),
    "torque_jump": Ranges((0.0, 0.0), value=(-300, 300), one_servo=True),
    "link_latency": Ranges((0.5, 2.0), value=(0.002, 0.016)),
    "host_stall": Ranges((0.5, 2.0), (0.002, 0.05), (0.01, 0.1)),
    "port_error": Ranges((0.3, 2.0)),
}
_WHOLE = {"bit_flip", "head_cut", "tail_cut", "noise", "error_bit", "wrong_id", "partial_echo"}
_WHOLE |= {"change_id", "change_baud", "status_level", "torque_jump"}


class Slot(NamedTuple):
    """One fault and when it is put right, s of the campaign."""

    fault: Fault
    repair: float


def random_schedule(seconds: float, servo_ids: Sequence[int], seed: int, slot: float = SLOT) -> List[Slot]:
    """Return one fault a slot; every kind comes once before one comes twice.

    Parameters
    ----------
    seconds : float
        Length of the campaign.
    servo_ids : sequence of int
        Possible victims.
    seed : int
        Of everything.
    slot : float
        s between the starts of two faults. In one shorter than `SLOT` they overlap.

    Raises
    ------
    DefinitionError
        If there is no time for a fault.
    """
    if seconds < slot:
        raise DefinitionError(f"a campaign of {seconds} s has no time for a fault; give {slot:g} s or more")
    chance = random.Random(f"schedule/{seed}")
    slots: List[Slot] = []
    bag: List[str] = []
    start = 0.2 * slot
    while start + REPAIR_AFTER + 0.2 * slot <= seconds:
        if not bag:
            bag = chance.sample(list(RANGES), len(RANGES))
        slots.append(_slot(bag.pop(), start + chance.uniform(0.0, 0.2 * slot), servo_ids, chance))
        start += slot
    return slots


def _slot(kind: str, start: float, servo_ids: Sequence[int], chance: random.Random) -> Slot:
    ranges = RANGES[kind]
    value = chance.uniform(*ranges.value) if ranges.value != (0.0, 0.0) else None
    if value is not None and kind in _WHOLE:
        value = round(value)
    fault = Fault(
        kind,
        chance.choice(ranges.victims or list(servo_ids)) if ranges.one_servo else None,
        start,
        start + chance.uniform(*ranges.duration),
        chance.uniform(*ranges.probability),
        value=value,
    )
    return Slot(fault, max(fault.stop, start + REPAIR_AFTER))


def repair_servos(servos: Sequence[EmulatedServo], originals: Sequence[Dict[str, int]], baud: int) -> None:
    """Do what a technician does: IDs, baud rates and status levels as they were, hot motors cooled.

    Parameters
    ----------
    servos : sequence of EmulatedServo
        The chain's.
    originals : sequence of dict
        The registers of each before any fault, as ``servo.table.as_dict()`` returns them.
    baud : int
        Rate of the host, bit/s.
    """
    for servo, original in zip(servos, originals):
        for name in ("id", "status_return_level"):
            servo.table[name] = original[name]
        servo.table["baud_rate"] = baud_register(baud)
        if servo.motor.temperature > 50.0:
            servo.motor.temperature = 40.0
