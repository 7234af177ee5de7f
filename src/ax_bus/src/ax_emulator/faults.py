# SPDX-License-Identifier: MIT
"""Faults of a bus: kinds as rows, faults with a time, a chance and a victim, read from YAML."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from ax_bus.protocol import MAX_ID
from ax_emulator.errors import EmulationError


class Layer(Enum):
    """Where a fault acts."""

    REPLY = "reply"  # one status packet
    LINE = "line"  # everything on the wire
    SERVO = "servo"  # the state of a servo, once at its start
    PORT = "port"  # between the line and this program


class KindRow(NamedTuple):
    """What a kind of fault is: layer, meaning, unit and default of its value, allowed range."""

    layer: Layer
    text: str
    unit: str = ""
    value: float = 0.0
    low: float = 0.0
    high: float = 0.0


KINDS: Mapping[str, KindRow] = {
    "lost_reply": KindRow(Layer.REPLY, "a reply is never sent"),
    "late_reply": KindRow(Layer.REPLY, "a reply comes late", "s", 0.01, 0.0, 1.0),
    "head_cut": KindRow(Layer.REPLY, "the first bytes of a reply are lost (late direction switch)", "bytes", 2, 1, 20),
    "tail_cut": KindRow(Layer.REPLY, "the last bytes of a reply are lost", "bytes", 2, 1, 20),
    "bit_flip": KindRow(Layer.REPLY, "bits of a reply flip", "bits", 1, 1, 80),
    "noise": KindRow(Layer.REPLY, "random bytes before a reply", "bytes", 6, 1, 64),
    "error_bit": KindRow(Layer.REPLY, "error bits without a cause, checksum valid", "mask", 4, 1, 127),
    "wrong_id": KindRow(Layer.REPLY, "a reply under another ID, checksum valid", "ID", 99, 0, 253),
    "echo": KindRow(Layer.LINE, "what is sent comes back"),
    "partial_echo": KindRow(Layer.LINE, "the last bytes of what is sent come back", "bytes", 3, 1, 64),
    "stuck_line": KindRow(Layer.LINE, "a transmitter blocks the line: nothing gets through"),
    "garbled_instruction": KindRow(Layer.LINE, "a bit of an instruction flips on its way"),
    "dead": KindRow(Layer.SERVO, "a servo is silent until the fault ends"),
    "reboot": KindRow(Layer.SERVO, "a servo restarts: RAM lost, torque off"),
    "overload": KindRow(Layer.SERVO, "the overload alarm is up, latched"),
    "overheat": KindRow(Layer.SERVO, "the motor is hot", "degC", 75.0, 0.0, 150.0),
    "voltage": KindRow(Layer.SERVO, "the supply sags until the fault ends", "V", 5.5, 0.0, 20.0),
    "change_id": KindRow(Layer.SERVO, "a servo takes another ID (duplicate, if it is another's)", "ID", 1, 0, 253),
    "change_baud": KindRow(Layer.SERVO, "a servo takes another baud rate", "register", 34, 0, 254),
    "status_level": KindRow(Layer.SERVO, "the status return level of a servo drops", "level", 0, 0, 2),
    "torque_jump": KindRow(Layer.SERVO, "the goal is suddenly far from the horn", "steps", 300, -1023, 1023),
    "link_latency": KindRow(Layer.PORT, "the adapter holds bytes back (latency timer)", "s", 0.016, 0.0, 1.0),
    "host_stall": KindRow(Layer.PORT, "the host does not run for that time after sending", "s", 0.03, 0.0, 5.0),
    "port_error": KindRow(Layer.PORT, "the port is gone until the fault ends"),
}

STATES = {"dead", "voltage"}  # of a servo until the fault ends; the other kinds of a servo only happen at its start


@dataclass(frozen=True)
class Fault:
    """One fault.

    Raises
    ------
    EmulationError
        If something is out of range.
    """

    kind: str  #: One of ``KINDS``
    servo: Optional[int] = None  #: The victim's ID, of a reply's or servo's fault; all by default
    start: float = 0.0  #: s of the chain's time
    stop: float = math.inf  #: s of the chain's time
    probability: float = 1.0  #: Chance of each occasion, 0 to 1; a servo's fault begins once, at its start
    times: Optional[int] = None  #: How often at most
    value: Optional[float] = None  #: As the kind's row says; its default otherwise

    def __post_init__(self) -> None:
        """Check."""
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise EmulationError(f"fault kind {self.kind!r} does not exist; choose from {', '.join(KINDS)}")
        row = KINDS[self.kind]
        if self.value is None:
            object.__setattr__(self, "value", row.value)
        for name, low, high in (("probability", 0.0, 1.0), ("value", row.low, row.high)):
            given = getattr(self, name)
            if not isinstance(given, (int, float)) or not low <= given <= high:
                raise EmulationError(f"{name} of fault {self.kind} is {given!r}; give {low:g} to {high:g} {row.unit}")
        for name, low, top, words in (("servo", 0, MAX_ID, f"0 to {MAX_ID}"), ("times", 1, math.inf, "from 1 on")):
            given = getattr(self, name)
            if given is not None and not (isinstance(given, int) and low <= given <= top):
                raise EmulationError(f"{name} of fault {self.kind} is {given!r}; give a whole number {words}")
        if row.layer is Layer.SERVO and (self.probability < 1.0 or (self.times or 1) > 1):
            raise EmulationError(f"fault {self.kind} begins once, at its start; leave out probability and times")
        if row.layer in (Layer.LINE, Layer.PORT) and self.servo is not None:
            raise EmulationError(f"fault {self.kind} acts on the whole line; leave out servo")
        are_numbers = isinstance(self.start, (int, float)) and isinstance(self.stop, (int, float))
        if not (are_numbers and self.start <= self.stop):
            raise EmulationError(f"fault {self.kind} lasts from {self.start} to {self.stop} s; stop after the start")

    @property
    def amount(self) -> float:
        """The value as a number."""
        return float(self.value if self.value is not None else 0.0)


class FaultInjector:
    """Decide when which fault strikes; seeded, so that a run repeats.

    Parameters
    ----------
    faults : iterable of Fault
        The schedule.
    seed : int
        Of every chance.
    """

    def __init__(self, faults: Iterable[Fault] = (), seed: int = 0) -> None:
        self.random = random.Random(f"faults/{seed}")
        self.struck: Dict[str, int] = {}
        self._faults: List[Fault] = []
        self._left: Dict[Tuple[str, int], int] = {}  # of those that strike so many times, by kind and place in its list
        self._pending: List[Fault] = []
        self._ending: List[Fault] = []
        self._by_kind: Dict[str, List[Fault]] = {}
        for fault in faults:
            self.add(fault)

    def add(self, fault: Fault) -> None:
        """Add a fault to the schedule."""
        self._faults.append(fault)
        if KINDS[fault.kind].layer is Layer.SERVO:
            self._pending.append(fault)
        else:
            alike = self._by_kind.setdefault(fault.kind, [])
            if fault.times is not None:
                self._left[fault.kind, len(alike)] = fault.times
            alike.append(fault)

    def strike(self, kind: str, time: float, servo: Optional[int] = None) -> Optional[Fault]:
        """Return the fault of a kind that strikes now, or None; each call is one occasion."""
        for i, fault in enumerate(self._by_kind.get(kind, ())):
            if fault.servo is not None and servo is not None and fault.servo != servo:
                continue
            if not fault.start <= time < fault.stop or self._left.get((kind, i), 1) <= 0:
                continue
            if fault.probability < 1.0 and self.random.random() >= fault.probability:
                continue
            if (kind, i) in self._left:
                self._left[kind, i] -= 1
            self.struck[kind] = self.struck.get(kind, 0) + 1
            return fault
        return None

    def due(self, time: float) -> Tuple[List[Fault], List[Fault]]:
        """Return the servo faults that begin and those that end by ``time``; each once.

        With an end also the lasting ones of its kind begin, anew: it may have undone them.
        """
        if not self._pending and not self._ending:
            return [], []
        beginning = [fault for fault in self._pending if fault.start <= time]
        self._pending = [fault for fault in self._pending if fault.start > time]
        ending = [fault for fault in self._ending if fault.stop <= time]
        lasting = [fault for fault in self._ending if fault.stop > time]
        ended = {fault.kind for fault in ending} & STATES
        self._ending = lasting + beginning
        for fault in beginning:
            self.struck[fault.kind] = self.struck.get(fault.kind, 0) + 1
        return [fault for fault in lasting if fault.kind in ended] + beginning, ending


def load_faults(path: Path) -> List[Fault]:
    """Read a schedule: a YAML list of mappings with the parameters of `Fault`.

    Raises
    ------
    EmulationError
        If the file is not one.
    """
    import yaml  # only a schedule in a file needs it

    class Loader(yaml.SafeLoader):
        """Refuses a key that is given twice, of which YAML would silently take the last."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Dict[Any, Any]:
            if len({str(key.value) for key, _ in node.value}) < len(node.value):
                raise yaml.MarkedYAMLError(problem="a key is given twice", problem_mark=node.start_mark)
            return dict(super().construct_mapping(node, deep=deep))

    try:
        content = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=Loader)  # noqa: S506 - a SafeLoader
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise EmulationError(f"fault schedule {path} cannot be read: {error}") from error
    return faults_from(content, str(path))


def faults_from(content: Any, where: str) -> List[Fault]:
    """Return the faults of a list of mappings; ``where`` it stands is for messages.

    Raises
    ------
    EmulationError
        If it is no such list.
    """
    if not isinstance(content, list):
        raise EmulationError(f"fault schedule {where} is not a list; write '- {{kind: lost_reply, servo: 3}}' lines")
    return [_fault(entry, f"{where}, entry {i}") for i, entry in enumerate(content, 1)]


def _fault(entry: Any, where: str) -> Fault:
    names = [field.name for field in fields(Fault)]
    if not isinstance(entry, dict) or "kind" not in entry or set(entry) - set(names):
        raise EmulationError(f"{where}: {entry!r} is not a fault; give kind and, optionally, {', '.join(names[1:])}")
    return Fault(**entry)
