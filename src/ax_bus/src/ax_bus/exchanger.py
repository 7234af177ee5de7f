# SPDX-License-Identifier: MIT
"""One exchange after the other on a port: send, wait, accept only the right reply, retry, count."""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Optional, Tuple, Type

from ax_bus import protocol
from ax_bus.errors import GarbledReplyError, NoReplyError, ReadsNotTrustedError, StopRequestedError
from ax_bus.port import Port
from ax_bus.protocol import OVERHEAD, ErrorFlags, Status
from ax_bus.statistics import BusStatistics
from ax_bus.status_parser import StatusParser, whole
from ax_bus.wire_time import READ_LATENCY, Timeouts, bytes_time

LATE_WINDOW = 0.05  # s after its time in which a lost reply may still arrive: three latency timers of 16 ms
_MOST_STALE = 64  # chunks
_FENCE_LENGTHS = (1, 3, 5, 7, *range(9, 51))  # not 2, which an echo of a READ looks like, nor 8, which feedback has
_UNUSED_ID = 253  # an ID that no servo has: USB2AX keeps it for itself
Key = Tuple[int, int]  # what a READ asks for: address, count
PLAIN: Key = (-1, 0)  # a status packet without data


class Reply(NamedTuple):
    """An answer."""

    servo_id: int  #: ID of the servo that replied
    flags: ErrorFlags  #: Error byte, a set of flags. Read the registers before believing a single alarm.
    data: bytes  #: What was requested
    attempts: int  #: Tries it took
    #: Port's time by which it had arrived, s: when it was read, or the end of its time-out if that was earlier, because
    #: a reply may lie in the kernel while this process is stopped
    stamp: float
    round_trip: float  #: From the start of sending until it was read, s


class Times(NamedTuple):
    """What an exchange takes, s: sending it, both packets on the wire, and when the reply must be here."""

    sending: float
    wire: float
    timeout: float


class Exchanger:
    """Send packets and wait for their replies. One owner, one thread.

    Parameters
    ----------
    port : Port
        Open port.
    timeouts : Timeouts
        How long a reply may take.

    Attributes
    ----------
    line_free : float
        Port's time at which everything sent so far is on the wire, s.
    is_stop_requested : callable or None
        Looked at before each try of an exchange.
    owed : dict
        ID to what it may still answer late, and until when.
    """

    def __init__(self, port: Port, timeouts: Timeouts) -> None:
        self.port = port
        self.timeouts = timeouts
        self._times: Dict[Tuple[int, int, int], Times] = {}  # by bytes sent, bytes of data requested, baud
        self._times_of = timeouts  # what they were computed from
        self.statistics = BusStatistics()
        self._parser = StatusParser()
        self.line_free = port.now()
        self.is_stop_requested: Optional[Callable[[], bool]] = None
        self.owed: Dict[int, Dict[Key, float]] = {}
        self._broken_off: Optional[float] = None  # when the last reply to what was broken off has come, s

    def reset(self) -> None:
        """Forget everything that was under way: the port was opened again."""
        self._parser.clear()
        self.owed.clear()
        self._broken_off = None
        self.line_free = self.port.now()

    def send(self, packet: bytes) -> None:
        """Send a packet that gets no answer."""
        self.settle()
        self.discard()
        self.transmit(packet)

    def break_off(self, duration: float) -> None:
        """Note that Ctrl-C broke off an exchange whose replies will have come after ``duration`` s."""
        self._broken_off = self.port.now() + duration

    def settle(self) -> None:
        """Let the replies to what was broken off pass: they would collide, or be taken for the next answer."""
        if self._broken_off is not None:
            self.port.sleep(self._broken_off - self.port.now())
            self.discard()
            self._broken_off = None

    def detect_echo(self) -> bool:
        """Return whether the wiring echoes what is sent: send to an unused ID, and listen."""
        packet = protocol.read(_UNUSED_ID, 0, 1)
        self.discard()
        self.port.write(packet)
        self.line_free = self.port.now() + bytes_time(len(packet), self.port.baud)
        received = self._listen(len(packet), self.times_for(len(packet), 0).timeout)
        return received.startswith(packet)

    def exchange(
        self,
        packet: bytes,
        servo_id: int,
        key: Key,
        retries: int,
        until: Optional[float] = None,
        cut: Optional[float] = None,
    ) -> Reply:
        """Send until a valid reply comes, the tries are used up or the budget is.

        Parameters
        ----------
        packet : bytes
            The instruction.
        servo_id : int
            Who answers.
        key : tuple of int
            Address and number of bytes requested, or ``PLAIN``.
        retries : int
            Further tries.
        until : float, optional
            Port's time after which no further try may end.
        cut : float, optional
            Port's time at which waiting ends, even short of the time-out: a reply after it is stale.

        Raises
        ------
        NoReplyError
            If no valid reply came; its attribute ``received`` has the bytes of the last try.
        ReadsNotTrustedError
            On a wiring whose replies cannot be relied on.
        StopRequestedError
            If `is_stop_requested` says so.
        """
        if self._broken_off is not None:
            self.settle()
        try:
            return self._exchange(packet, servo_id, key, retries, until, cut)
        except KeyboardInterrupt:
            self.break_off(self.times_for(len(packet), key[1]).timeout)
            raise

    def _exchange(
        self, packet: bytes, servo_id: int, key: Key, retries: int, until: Optional[float], cut: Optional[float]
    ) -> Reply:
        port, statistics = self.port, self.statistics
        if not port.reads_trusted:
            self.check_trusted(servo_id)
        statistics.exchanges += 1
        count = key[1]
        sending, wire, timeout = self.times_for(len(packet), count)
        attempts, received = 0, b""
        while True:
            if self.is_stop_requested is not None:
                self.check_stop(servo_id)
            attempts += 1
            may_ask = servo_id not in self.owed or self._fence(servo_id, key, cut)
            stale = port.read(0.0)
            if stale or self._parser.buffer:
                self.discard(stale)
            started = port.now()
            if started < self.line_free:  # what was sent before is still on its way out
                started = self.line_free
            if may_ask and self.transmit(packet, started, sending):
                status, received = self.wait_for(packet, servo_id, count, _earlier(started + timeout, cut))
                if status is not None:
                    if status.flags == 0 or not status.flags & ErrorFlags.CHECKSUM:  # & of flags takes a microsecond
                        return self.accept(status, wire, attempts, started, started + timeout)
                    statistics.garbled_instructions += 1
            statistics.timeouts += 1
            if may_ask:
                self.owe(servo_id, key)
            if attempts > retries or (until is not None and port.now() + timeout > until):
                break
            statistics.retries += 1
        raise _no_reply(servo_id, attempts, timeout, received, port.name)

    def check_trusted(self, servo_id: int) -> None:
        """Refuse to read on a wiring whose replies cannot be relied on."""
        if not self.port.reads_trusted:
            raise ReadsNotTrustedError(
                f"{self.port.name}: this wiring does not let replies through reliably, so servo {servo_id} is not "
                "queried; choose a direction control that the wiring supports (ax-servo --help lists them)"
            )

    def check_stop(self, servo_id: int) -> None:
        """Give up if `is_stop_requested` says so."""
        if self.is_stop_requested is not None and self.is_stop_requested():
            raise StopRequestedError(f"a stop was requested before servo {servo_id} was queried")

    def owe(self, servo_id: int, key: Key) -> None:
        """Note that a reply did not come in time, and may come late."""
        self.owed.setdefault(servo_id, {})[key] = self.port.now() + LATE_WINDOW

    def accept(self, status: Status, wire: float, attempts: int, started: float, deadline: float) -> Reply:
        """Return an accepted reply, and count it.

        Parameters
        ----------
        status : Status
            What came.
        wire : float
            Time that both packets take on the wire, s.
        attempts : int
            Tries it took.
        started, deadline : float
            Port's times at which it was requested and by which it was due, s.
        """
        statistics, now = self.statistics, self.port.now()
        statistics.replies += 1
        trip = now - started
        statistics.round_trips.append(trip)
        statistics.overheads.append(trip - wire)
        stamp = now if now < deadline else deadline
        return Reply(status.servo_id, status.flags, status.data, attempts, stamp, trip)

    def transmit(self, packet: bytes, started: Optional[float] = None, duration: Optional[float] = None) -> bool:
        """Send; on an echoing wiring also take the echo back. Return False if it differs: another node was sending.

        Parameters
        ----------
        packet : bytes
            What to send.
        started, duration : float, optional
            Port's time at which it begins on the wire, and how long it takes there, s, if known.
        """
        port = self.port
        if started is None:
            started = max(port.now(), self.line_free)
        port.write(packet)
        if duration is None:
            duration = bytes_time(len(packet), port.baud)
        self.line_free = started + duration
        if not port.echoes:
            return True
        window = self.line_free - port.now() + 2.0 * self.timeouts.link_latency + self.timeouts.margin
        received = self._listen(len(packet), window)
        if received[: len(packet)] == packet:
            self._parser.buffer += received[len(packet) :]
            return True
        self.statistics.collisions += 1
        port.sleep(duration)
        self.discard()
        return False

    def times_for(self, sent: int, count: int) -> Times:
        """Return the times of an exchange; there are three or four kinds on a robot, so each is computed once."""
        if self._times_of is not self.timeouts:
            self._times.clear()
            self._times_of = self.timeouts
        baud = self.port.baud
        times = self._times.get((sent, count, baud))
        if times is None:
            wire = bytes_time(sent + OVERHEAD + count, baud) + READ_LATENCY
            times = Times(bytes_time(sent, baud), wire, self.timeouts.reply(sent, count, baud))
            self._times[sent, count, baud] = times
        return times

    def _listen(self, count: int, window: float) -> bytes:
        """Return the next bytes as they come: at least ``count``, or fewer when the window is over."""
        received = b""
        deadline = self.port.now() + window
        while len(received) < count:
            left = deadline - self.port.now()
            data = self.port.read(max(left, 0.0))
            if not data and left <= 0.0:
                break
            received += data
        return received

    def wait_for(self, packet: bytes, servo_id: int, count: int, deadline: float) -> Tuple[Optional[Status], bytes]:
        """Return the reply that comes by ``deadline``, or None; and the bytes received if there was none."""
        port, parser = self.port, self._parser
        size = count + OVERHEAD
        looks_like_echo = len(packet) == size  # PING, and READ of two bytes
        received = b""
        status: Optional[Status] = None
        if parser.buffer:  # came together with the echo
            status = parser.next(servo_id, count)
        while True:
            if status is not None:
                if not (looks_like_echo and packet == protocol.packet(servo_id, status.flags, status.data)):
                    break
                self.statistics.unexpected_echoes += 1
                status = parser.next(servo_id, count)
                continue
            left = deadline - port.now()
            # With no time left one more look: after a stall of this process the reply lies in the kernel.
            data = port.read(left if left > 0.0 else 0.0)
            if data:
                if not (received or parser.buffer or looks_like_echo):  # nearly every reply comes whole and alone
                    status = whole(data, servo_id, count)
                    if status is not None:
                        break
                received += data
                parser.buffer += data
                if len(parser.buffer) > size and not looks_like_echo and parser.buffer.startswith(packet):
                    parser.drop(len(packet))
                    self.statistics.unexpected_echoes += 1
            # A reply comes in pieces: it is not looked for before it is long enough.
            if len(parser.buffer) >= size or left <= 0.0:
                status = parser.next(servo_id, count)
            if status is None and left <= 0.0:
                break
        if parser.skipped or parser.bad_checksums:
            self._count_parser()
        return status, received

    def _fence(self, servo_id: int, key: Key, cut: Optional[float] = None) -> bool:
        """Make sure that a late reply to an earlier question is not taken for the answer to this one.

        Packets have no number. Two READs of the same length cannot be distinguished, but replies keep their order: when
        the answer to a READ of a length that is not outstanding has arrived, so has everything older.

        Returns
        -------
        bool
            False if that answer did not come: then this READ must not be sent.
        """
        now = self.port.now()
        owed = {k: expiry for k, expiry in self.owed[servo_id].items() if expiry > now}
        self.owed[servo_id] = owed
        if not owed:
            del self.owed[servo_id]
        if not any(k != key and k[1] == key[1] for k in owed):
            return True
        self.statistics.fences += 1
        taken = {k[1] for k in owed}
        count = next(n for n in _FENCE_LENGTHS if n not in taken)
        packet = protocol.read(servo_id, 0, count)
        self.discard()
        started = max(now, self.line_free)
        if self.transmit(packet, started):
            due = started + self.times_for(len(packet), count).timeout
            if self.wait_for(packet, servo_id, count, _earlier(due, cut))[0] is not None:
                del self.owed[servo_id]
                return True
        return False

    def discard(self, data: bytes = b"") -> None:
        """Throw away what arrived after its time, and count it; ``data`` has been read already."""
        data = data or self.port.read(0.0)
        if not data and not self._parser.buffer:
            return
        for _ in range(_MOST_STALE):  # a line that babbles without end must not keep us here
            if not data:
                break
            self._parser.buffer += data
            data = self.port.read(0.0)
        for _ in self._parser.packets():
            self.statistics.stale_replies += 1
        self.statistics.noise_bytes += len(self._parser.clear())
        self._count_parser()

    def _count_parser(self) -> None:
        parser, statistics = self._parser, self.statistics
        statistics.noise_bytes += parser.skipped
        statistics.bad_checksums += parser.bad_checksums
        statistics.bad_lengths += parser.bad_lengths
        statistics.foreign_ids += parser.foreign
        parser.skipped = parser.bad_checksums = parser.bad_lengths = parser.foreign = 0


def _earlier(time: float, cut: Optional[float]) -> float:
    return time if cut is None or time < cut else cut


def _no_reply(servo_id: int, attempts: int, timeout: float, received: bytes, port: str) -> NoReplyError:
    kind: Type[NoReplyError] = GarbledReplyError if received else NoReplyError
    tries = "1 try" if attempts == 1 else f"{attempts} tries"
    text = f"servo {servo_id} gave no valid answer in {tries} of {timeout * 1e3:.1f} ms on {port}: "
    if received:
        text += (
            f"received {received[:24].hex(' ')}{' ...' if len(received) > 24 else ''}, which is not its reply; "
            "two servos with one ID, a wrong baud rate or a late direction switch can cause this"
        )
    else:
        text += "nothing was received; check power, cable, ID and baud rate (ax-servo scan), and status return level"
    error = kind(text)
    error.received = received  # type: ignore[attr-defined]
    return error
