# SPDX-License-Identifier: MIT
"""The bus: the one owner of a port; it queries servos and accepts only replies that are theirs, complete and in time.

>>> with Bus("/dev/ttyUSB0") as bus:  # doctest: +SKIP
...     bus.servo(1).goal_deg = 30
"""

from __future__ import annotations

import contextlib
import os
from functools import lru_cache
from typing import Callable, Iterator, Mapping, Optional, Set, Tuple, Union

from ax_bus import bulk_reader, protocol
from ax_bus.direction import Direction
from ax_bus.direction import direction as direction_of
from ax_bus.errors import NoReplyError, RefusedError, RegisterError
from ax_bus.exchanger import PLAIN, Exchanger, Reply
from ax_bus.port import Port
from ax_bus.protocol import BROADCAST_ID, REFUSALS, Instruction
from ax_bus.registers import MODELS, Area, Model, Register, model_of
from ax_bus.servo import Servo
from ax_bus.wire_time import Timeouts

EEPROM_TIME_PER_BYTE = 10e-3  # s; a servo is deaf for 6 to 9 ms for each byte of EEPROM it writes
_PATIENT = Timeouts(link_latency=20e-3)  # any adapter, whatever its latency timer; a missing servo costs 45 ms a try
_CONFIRM = (3, 1)  # address and count of the ID register: what a doubtful PING is confirmed with


class Bus:
    """Exchange packets with servos through a port. One owner, one thread.

    Parameters
    ----------
    port : Port, str or path
        An open port; or a device (``/dev/ttyUSB0``, ``/dev/serial/by-id/...``), which is opened.
    timeouts : Timeouts, optional
        How long a reply may take; for a device by default long enough for any adapter.
    retries : int
        Further tries of one exchange, unless the call says otherwise.
    baud : int
        Rate of the line of a device.
    direction : str or Direction
        Who turns the line of a device: a word of `ax_bus.DIRECTIONS`; by default the adapter itself.

    Raises
    ------
    PortError
        If the device cannot be opened; the message says what to do.

    Notes
    -----
    As a context manager it closes the port at the end and leaves the servos as they are: torque that is on stays on.
    """

    def __init__(
        self,
        port: Union[Port, str, os.PathLike[str]],
        timeouts: Optional[Timeouts] = None,
        retries: int = 1,
        *,
        baud: int = 1_000_000,
        direction: Union[str, Direction] = "auto",
    ) -> None:
        if not isinstance(port, Port):
            from ax_bus.serial_port import SerialPort  # pyserial only for those who need it

            turning = direction_of(direction) if isinstance(direction, str) else direction
            port, timeouts = SerialPort(os.fspath(port), baud, turning), timeouts or _PATIENT
        self.port = port
        self.retries = retries
        self._exchanger = Exchanger(port, timeouts if timeouts is not None else Timeouts())
        self.statistics = self._exchanger.statistics
        self._bulk_known: Set[int] = set()  # who has answered a BULK READ

    def __enter__(self) -> Bus:
        """Return the bus itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the port."""
        self.close()

    def close(self) -> None:
        """Release the port; servos stay as they are."""
        self.port.close()

    def servo(self, servo_id: int, model: Union[Model, str, None] = None) -> Servo:
        """Return a servo as an object whose attributes are its registers.

        Parameters
        ----------
        model : Model or str, optional
            Its model; read from the servo by default.

        Raises
        ------
        NoReplyError
            If it does not answer.
        RegisterError
            If its model is not known.
        """
        if model is None:
            model = model_of(self._model_number(servo_id))
        return Servo(self, servo_id, model_of(model) if isinstance(model, str) else model)

    def ping(
        self,
        servo_id: int,
        retries: Optional[int] = None,
        until: Optional[float] = None,
        cut: Optional[float] = None,
    ) -> Reply:
        """Ask a servo whether it is there.

        A servo with a voltage alarm answers PING with the very bytes of the PING, as an echo would look, too; such an
        answer is confirmed by reading the ID.

        Raises
        ------
        NoReplyError
            If it does not answer.
        """
        try:
            packet, tries = protocol.ping(servo_id), self.retries if retries is None else retries
            return self._exchanger.exchange(packet, servo_id, PLAIN, tries, until, cut)
        except NoReplyError as error:
            if getattr(error, "received", b"") != protocol.ping(servo_id):
                raise
        return self.read(servo_id, *_CONFIRM, retries=retries, until=until, cut=cut)._replace(data=b"")

    def read(
        self,
        servo_id: int,
        address: int,
        count: int,
        retries: Optional[int] = None,
        until: Optional[float] = None,
        cut: Optional[float] = None,
    ) -> Reply:
        """Read ``count`` bytes from ``address``.

        Parameters
        ----------
        servo_id, address, count : int
            What to read.
        retries : int, optional
            Further tries.
        until : float, optional
            Port's time after which no further try may end: the budget of a tick.
        cut : float, optional
            Port's time at which waiting ends, even short of the time-out: a reply after it is stale.

        Raises
        ------
        NoReplyError
            If no valid reply came.
        ReadsNotTrustedError
            On a wiring whose replies cannot be relied on.
        """
        packet, tries = _read_packet(servo_id, address, count), self.retries if retries is None else retries
        return self._exchanger.exchange(packet, servo_id, (address, count), tries, until, cut)

    def write(
        self, servo_id: int, address: int, data: bytes, retries: Optional[int] = None, acknowledged: bool = True
    ) -> Optional[Reply]:
        """Write ``data`` to ``address``.

        Parameters
        ----------
        servo_id, address : int
            Where; the broadcast ID reaches all and is never answered.
        retries : int, optional
            Further tries.
        acknowledged : bool
            False for servos whose status return level is below 2: nothing is awaited then.

        Returns
        -------
        Reply or None
            None if nothing is awaited.

        Raises
        ------
        NoReplyError
            If it was not acknowledged.
        RefusedError
            If the servo says that it did not do it.
        """
        return self._order(protocol.write(servo_id, address, data), servo_id, retries, acknowledged)

    def reg_write(
        self, servo_id: int, address: int, data: bytes, retries: Optional[int] = None, acknowledged: bool = True
    ) -> Optional[Reply]:
        """Prepare a write that `action` carries out; as `write`."""
        return self._order(protocol.reg_write(servo_id, address, data), servo_id, retries, acknowledged)

    def action(self, servo_id: int = BROADCAST_ID) -> Optional[Reply]:
        """Carry out what `reg_write` prepared, on all servos at once; never repeated, it would not be idempotent."""
        return self._order(protocol.action(servo_id), servo_id, 0, servo_id != BROADCAST_ID)

    def sync_write(self, address: int, data: Mapping[int, bytes]) -> None:
        """Write the same registers of several servos, in packets that fit the servos' receive buffer; no answer."""
        if not data:
            return
        for group in protocol.split_sync_write(tuple(data), len(next(iter(data.values())))):
            self.send(protocol.sync_write(address, {servo_id: data[servo_id] for servo_id in group}))

    def bulk_read(
        self, blocks: Mapping[int, Tuple[int, int]], retries: Optional[int] = None
    ) -> bulk_reader.BulkReplies:
        """Read different registers of several MX servos with one instruction.

        Parameters
        ----------
        blocks : mapping of int to (int, int)
            Address and number of bytes for each ID, two servos or more, in the order of the replies.
        retries : int, optional
            Further tries, in which a servo that was silent comes last: each silences those behind it.

        Returns
        -------
        BulkReplies
            The replies received, and the IDs that are missing.

        Raises
        ------
        RefusedError
            If a servo that is missing is there but does not know the instruction, as all AX.
        PacketError
            If there are too few or too many servos.
        ReadsNotTrustedError
            On a wiring whose replies cannot be relied on.
        """
        found = bulk_reader.bulk_read(self._exchanger, blocks, self.retries if retries is None else retries)
        self._bulk_known.update(found.replies)
        for servo_id in found.missing:
            model = None
            if servo_id not in self._bulk_known:
                with contextlib.suppress(NoReplyError):
                    model = MODELS.get(self._model_number(servo_id))
            if model is not None and Instruction.BULK_READ not in model.instructions:
                raise RefusedError(
                    f"servo {servo_id} is an {model.name}, which does not support BULK READ and blocks later servos; "
                    "use read for it, and bulk_read for MX servos only"
                )
        return found

    def send(self, packet: bytes) -> None:
        """Send a packet that gets no answer."""
        self.statistics.sync_writes += 1
        self._exchanger.send(packet)

    def read_register(self, servo_id: int, row: Register, retries: Optional[int] = None) -> int:
        """Return the number in a register."""
        return row.from_bytes(self.read(servo_id, row.address, row.size, retries).data)

    def write_register(
        self, servo_id: int, row: Register, number: int, retries: int = 3, acknowledged: bool = True
    ) -> None:
        """Write a register and read it back; ``acknowledged`` as of `write`.

        Raises
        ------
        RegisterError
            If the register is read-only, does not take the number, or reads back as something else.
        """
        if not row.is_writable:
            raise RegisterError(f"{row.name} is read-only")
        data, is_eeprom = row.to_bytes(number), row.area is Area.EEPROM
        for _ in range(retries + 1):
            is_confirmed = acknowledged  # of what is not acknowledged reading back alone tells
            try:
                self.write(servo_id, row.address, data, 0 if is_eeprom else retries, acknowledged)
            except NoReplyError:
                if not is_eeprom:
                    raise
                is_confirmed = False  # it may be deaf, as it does write: further tries now would be wasted
            if is_eeprom:
                self.port.sleep(EEPROM_TIME_PER_BYTE * row.size)
            found = self.read_register(servo_id, row, retries)
            if found == number:
                return
            if is_confirmed:
                break
        raise RegisterError(
            f"servo {servo_id}: {row.name} was written as {number} and reads back as {found}; "
            "if its lock is 1, switch the power off and on"
        )

    @property
    def timeouts(self) -> Timeouts:
        """How long a reply may take; may be set, for instance once the servos' return delay is known."""
        return self._exchanger.timeouts

    @timeouts.setter
    def timeouts(self, timeouts: Timeouts) -> None:
        self._exchanger.timeouts = timeouts

    @property
    def line_free(self) -> float:
        """Port's time at which everything sent so far is on the wire, s."""
        return self._exchanger.line_free

    @contextlib.contextmanager
    def stoppable(self, is_stop_requested: Optional[Callable[[], bool]]) -> Iterator[None]:
        """Within it, reading a servo raises `StopRequestedError` once ``is_stop_requested()``; writing does not."""
        self._exchanger.is_stop_requested = is_stop_requested
        try:
            yield
        finally:
            self._exchanger.is_stop_requested = None

    def detect_echo(self) -> bool:
        """Return whether the wiring gives back what is sent."""
        return self._exchanger.detect_echo()

    def reopen(self) -> None:
        """Open the port again after it was lost, and forget everything that was under way."""
        self.port.reopen()
        self._exchanger.reset()

    def _model_number(self, servo_id: int) -> int:
        return int.from_bytes(self.read(servo_id, 0, 2).data, "little")

    def _order(self, packet: bytes, servo_id: int, retries: Optional[int], acknowledged: bool) -> Optional[Reply]:
        if servo_id == BROADCAST_ID or not acknowledged or not self.port.reads_trusted:
            self._exchanger.send(packet)
            return None
        reply = self._exchanger.exchange(packet, servo_id, PLAIN, self.retries if retries is None else retries)
        if reply.flags & REFUSALS:
            names = ", ".join(protocol.flag_names(reply.flags & REFUSALS))
            raise RefusedError(
                f"servo {servo_id} refused {packet.hex(' ')}: {names}; "
                "check the value against its limits (ax-servo info), and its model"
            )
        return reply


@lru_cache(maxsize=4096)
def _read_packet(servo_id: int, address: int, count: int) -> bytes:
    return protocol.read(servo_id, address, count)
