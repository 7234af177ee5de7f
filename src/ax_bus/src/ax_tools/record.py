# SPDX-License-Identifier: MIT
"""Record what servos say over time: CSV, row by row, or NumPy arrays."""

from __future__ import annotations

import contextlib
import csv
import io
import math
import os
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, TextIO

import numpy as np

from ax_bus.bus import Bus
from ax_bus.errors import NoReplyError, ServoError
from ax_bus.exchanger import Reply
from ax_bus.registers import AX_12A, FEEDBACK_ADDRESS, FEEDBACK_COUNT, MODELS, Model
from ax_tools.echo_watch import EchoWatch
from ax_tools.errors import ToolError

QUANTITIES = ("position", "speed", "load", "voltage", "temperature")
HEADER = ("time_s", "id", "position_deg", "speed_deg_s", "load", "voltage_v", "temperature_c", "error_flags")
Models = Mapping[int, Model]  # of the servos that have answered


class CsvFile:
    """One line a servo and sample, written at once: whatever happens, what was recorded is there.

    Parameters
    ----------
    path : pathlib.Path
        The file; its first line is a comment with the date.
    start : float
        Port's time that counts as 0, s.
    date : str
        The wall clock then.
    models : mapping of int to Model
        Of each servo, by ID; filled meanwhile.
    """

    def __init__(self, path: Path, start: float, date: str, models: Models) -> None:
        self._path, self._start, self._models = path, start, models
        self._stream: TextIO = path.open("w", newline="", encoding="utf-8")
        self._stream.write(f"# recording started {date}, which is time 0\n")
        self._writer = csv.writer(self._stream)
        self._writer.writerow(HEADER)
        self._stream.flush()  # a full disk must be known before the recording
        self.saved = 0  # samples

    def add(self, time: float, rows: Dict[int, Optional[Reply]]) -> None:
        """Write one sample; a servo that did not answer has empty cells."""
        for servo_id, reply in rows.items():
            if reply is None:
                self._writer.writerow([f"{time - self._start:.4f}", servo_id, *[""] * 6])
                continue
            model = self._models[servo_id]
            position, speed, load, voltage, temperature = values(reply, model)
            self._writer.writerow(
                [f"{reply.stamp - self._start:.4f}", servo_id]
                + [f"{math.degrees(position - model.centre):.2f}", f"{math.degrees(speed):.1f}"]
                + [f"{load:.4f}", f"{voltage:.1f}", f"{temperature:.0f}", int(reply.flags)]
            )
        self._stream.flush()
        self.saved += 1

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def rescue(self, error: OSError) -> str:
        """Return in words what is saved although the file could not be written on."""
        with contextlib.suppress(OSError):  # once more it may not be possible to write what is left in the buffer
            self._stream.close()
        return f"{_cannot(self._path, error)}; the first {self.saved} samples are in it, the last line may be truncated"


class NpzFile:
    """Arrays ``time`` (m,) s, ``ids`` (n,), ``flags`` (m, n) and (m, n) of each quantity in SI; NaN where none came.

    ``date`` is the wall clock at time 0; parameters as of `CsvFile`.
    """

    def __init__(self, path: Path, servo_ids: Sequence[int], start: float, date: str, models: Models) -> None:
        self._path, self._start, self._date, self._models = path, start, date, models
        self._ids = tuple(servo_ids)
        self._times: List[float] = []
        self._rows: List[List[Sequence[float]]] = []
        self._flags: List[List[int]] = []

    def add(self, time: float, rows: Dict[int, Optional[Reply]]) -> None:
        """Keep one sample."""
        self._times.append(time - self._start)
        self._rows.append([values(rows[i], self._models.get(i, AX_12A)) for i in self._ids])
        self._flags.append([0 if rows[i] is None else int(getattr(rows[i], "flags", 0)) for i in self._ids])

    def close(self) -> None:
        """Write the file: complete or not at all."""
        beside = self._path.with_name(self._path.name + ".part")
        try:
            self._write(beside)
            beside.replace(self._path)
        except OSError:
            with contextlib.suppress(OSError):
                beside.unlink()
            raise

    def rescue(self, error: OSError) -> str:
        """Write elsewhere what could not be written here; return in words what is saved."""
        words = f"{_cannot(self._path, error)}; "
        other = Path(tempfile.gettempdir()) / f"{self._path.stem}-rescued-{os.getpid()}.npz"
        try:
            self._write(other)
        except OSError as second:
            with contextlib.suppress(OSError):
                other.unlink()
            return f"{words}nothing was saved, {_cannot(other, second)} either: free some space first"
        return f"{words}all {len(self._times)} samples are in {other} instead"

    def _write(self, path: Path) -> None:
        samples = np.array(self._rows, dtype=np.float64).reshape(len(self._rows), len(self._ids), len(QUANTITIES))
        archive = io.BytesIO()  # not the file itself: zipfile complains aloud about a disk that gets full
        np.savez_compressed(
            archive,
            date=np.array(self._date),
            time=np.array(self._times),
            ids=np.array(self._ids),
            flags=np.array(self._flags, dtype=np.int64).reshape(len(self._flags), len(self._ids)),
            **{name: samples[:, :, i] for i, name in enumerate(QUANTITIES)},
        )
        path.write_bytes(archive.getvalue())


def values(reply: Optional[Reply], model: Model) -> Sequence[float]:
    """Return position (rad from the clockwise end), speed, load, voltage, temperature of a feedback READ; or NaNs."""
    if reply is None:
        return (math.nan,) * len(QUANTITIES)
    rows = (model.register(f"present_{name}") for name in QUANTITIES)
    data = reply.data
    return tuple(
        row.to_si(row.from_bytes(data[row.address - FEEDBACK_ADDRESS :][: row.size])) for row in rows
    )  # fmt: skip


def record(
    bus: Bus,
    servo_ids: Sequence[int],
    path: Path,
    rate: float = 10.0,
    seconds: float = math.inf,
    report: Callable[[str], None] = lambda text: None,
) -> str:
    """Record until the time is over or the user presses Ctrl-C; the file is complete either way.

    Parameters
    ----------
    servo_ids : sequence of int
        Whom to ask.
    path : pathlib.Path
        ``.csv`` or ``.npz``.
    rate : float
        Samples of all servos per second; fewer if the bus is slower.
    seconds : float
        How long.
    report : callable
        Told once per second how far it is.

    Returns
    -------
    str
        What was recorded, in words.

    Raises
    ------
    ToolError
        If the file or the numbers are no good.
    """
    if not 0.1 <= rate <= 200.0:
        raise ToolError(f"rate is {rate}; give 0.1 to 200 samples per second")
    if not seconds > 0.0:
        raise ToolError(f"seconds is {seconds}; give a time to record")
    start = reported_at = bus.port.now()
    date = datetime.now().astimezone().isoformat(timespec="milliseconds")
    models: Dict[int, Model] = {}
    file = _open(path, servo_ids, start, date, models)
    echo = EchoWatch(bus)
    samples = missed = 0
    try:
        with contextlib.closing(file), contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is the way to end a recording
            while bus.port.now() - start < seconds:
                rows = {servo_id: _read_state(bus, servo_id, models) for servo_id in servo_ids}
                file.add(bus.port.now(), rows)
                samples += 1
                missed += sum(reply is None for reply in rows.values())
                now = bus.port.now()
                if now - reported_at >= 1.0:
                    reported_at = now
                    report(f"{now - start:6.1f} s  {samples} samples, {missed} missed replies")
                    if echo.look():
                        report(echo.look())
                bus.port.sleep(start + samples / rate - now)
    except ServoError:
        raise  # some are OSErrors, too, but the file is complete
    except OSError as error:
        raise ToolError(file.rescue(error)) from error
    duration = bus.port.now() - start
    return (
        f"{path}: {samples} samples of {len(servo_ids)} servo(s) in {duration:.1f} s "
        f"({samples / max(duration, 1e-9):.1f} per second), {missed} missed replies"
        + (f"\n{echo.summary()}" if echo.summary() else "")
    )


def _open(path: Path, servo_ids: Sequence[int], start: float, date: str, models: Models) -> Any:
    makers = {
        ".csv": lambda: CsvFile(path, start, date, models),
        ".npz": lambda: NpzFile(path, servo_ids, start, date, models),
    }
    if path.suffix not in makers:
        raise ToolError(f"{path} ends in {path.suffix!r}; name a file that ends in .csv or .npz")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):  # a folder that cannot be written must be known before the recording, not after it
            pass
        return makers[path.suffix]()
    except OSError as error:
        raise ToolError(f"{_cannot(path, error)}; give another --out") from error


def _cannot(path: Path, error: OSError) -> str:
    return f"{path} cannot be written ({error.strerror or error})"


def _read_state(bus: Bus, servo_id: int, models: Dict[int, Model]) -> Optional[Reply]:
    try:
        if servo_id not in models:
            models[servo_id] = MODELS.get(bus.read_register(servo_id, AX_12A.register("model_number")), AX_12A)
        return bus.read(servo_id, FEEDBACK_ADDRESS, FEEDBACK_COUNT)
    except NoReplyError:
        return None
