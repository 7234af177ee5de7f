# SPDX-License-Identifier: MIT
"""Before anything moves: is every servo there, the right one, do its answers arrive, what is set up wrongly."""

from __future__ import annotations

import contextlib
import struct
from dataclasses import replace
from typing import List, Optional, Sequence, Tuple

from ax_bus.errors import GarbledReplyError, NoReplyError
from ax_bus.protocol import MAX_ID
from ax_bus.registers import MODELS
from ax_bus.statistics import percentile
from ax_bus.wiring import check_wiring
from shellbot_motor_driver.driving.servo_link import ServoLink
from shellbot_motor_driver.driving.servo_track import ServoTrack
from shellbot_motor_driver.driving.start_report import ServoIdentity, StartReport
from shellbot_motor_driver.errors import ImpossibleReplyError, StartError

_IDENTITY = struct.Struct("<HBBBBHHBBBBHBBB")  # registers 0 to 18
_GOOD_FRACTION = 0.9  # of single tries: below, retries no longer carry the bus
_UNMAPPED_WAIT = 1.5e-3  # s for a PING, beside the usual round trip
_UNMAPPED_WITHIN = 3.0  # s for all of them
_JUDGED = 8  # PINGs and READs of a servo that did not answer at first
_GPIO_RETURN_DELAY = 100  # units of 2 us: the window that a switch from user space needs


class _Findings:
    """What is found on the way."""

    def __init__(self) -> None:
        self.identities: List[ServoIdentity] = []
        self.missing: List[ServoTrack] = []
        self.garbled: List[ServoTrack] = []
        self.problems: List[str] = []
        self.notices: List[str] = []
        self.wiring = ""
        self.is_write_only = False


def check_servos(link: ServoLink) -> StartReport:
    """Find the servos; set the bus's time-outs; decide whether replies can be trusted. Moves nothing.

    Raises
    ------
    StartError
        If the robot must not be switched on like this.
    """
    found, port, start = _Findings(), link.bus.port, link.config.start
    latency = _latency_timer(link, found)
    if not port.reads_trusted:
        found.wiring = f"{port.name}: this wiring does not let replies through reliably"
        direction = getattr(port, "direction", None)
        if direction is not None and direction.name != "write-only":
            found.wiring = check_wiring(link.bus, link.map.servo_ids, 1).text
            if direction.name == "gpio" and not direction.reads_trusted and start.allow_write_only:
                found.problems.append(
                    "a program's GPIO beside a USB UART releases the line while the adapter still sends, which cuts "
                    "goals: tie the enables of the 241 to sending and choose direction write-only, or rewire "
                    "(docs/hardware.md)"
                )
        found.is_write_only = True
    else:
        for track in link.tracks:
            _identify(link, track, found)
        _judge_absence(link, found)
        if not found.problems:
            _settle(link, found)
            _judge_wiring(link, found)
            if start.report_unmapped:
                _report_unmapped(link, found)
    if found.is_write_only and not start.allow_write_only:
        found.problems.append(
            f"{found.wiring}. Driving without feedback is switched off (start.allow_write_only): fix the wiring, or "
            "allow it"
        )
    link.reads = not found.is_write_only
    port.reads_trusted = link.reads
    if found.is_write_only:
        found.notices.append(
            "no replies are read: no feedback, no check of IDs, heat, battery or lost servos; targets, limits and "
            "stops work"
        )
    answered = tuple(identity.servo_id for identity in found.identities)
    report = StartReport(
        port.name,
        answered,
        tuple(i for i in link.map.servo_ids if i not in answered),
        tuple(found.identities),
        found.is_write_only,
        found.wiring,
        latency,
        notices=tuple(found.notices),
    )
    if found.problems:
        error = StartError("the servos are not ready, nothing was moved:\n  " + "\n  ".join(found.problems))
        error.report = report
        raise error
    return report


def identify(link: ServoLink, track: ServoTrack, retries: int) -> ServoIdentity:
    """Read a servo's identity.

    Raises
    ------
    NoReplyError
        If it does not answer.
    """
    v = _IDENTITY.unpack(link.bus.read(track.servo_id, 0, _IDENTITY.size, retries).data)
    return ServoIdentity(
        servo_id=track.servo_id,
        joint=track.entry.joint,
        model_number=v[0],
        firmware=v[1],
        return_delay=v[4],
        angle_limits=(v[5], v[6]),
        temperature_limit=v[8],
        status_return_level=v[12],
        steps=-1,
    )


def wrong_model(track: ServoTrack, number: int) -> Optional[str]:
    """Return in words that a servo is not of the model that the map wants, or None."""
    model = track.entry.model
    if number == model.number:
        return None
    known = MODELS.get(number)
    what = f"an {known.name}" if known else f"of unknown model {number}"
    return (
        f"{track.name} is {what}, the map has an {model.name}: replace it, give it the right ID (scripts/servo "
        "set-id), or correct the servo of that joint in the description"
    )


def _latency_timer(link: ServoLink, found: _Findings) -> Optional[int]:
    port = link.bus.port
    query = getattr(port, "latency_timer_ms", None)
    timer = query() if query is not None else None
    if timer is not None and timer > link.config.start.latency_timer_ms:
        found.notices.append(
            f"the latency timer of {port.name} is {timer} ms, so each READ takes {timer} ms; set it: "
            f"echo {link.config.start.latency_timer_ms} | sudo tee /sys/bus/usb-serial/devices/"
            f"$(basename $(readlink -f {port.name}))/latency_timer  (docs/hardware.md has the udev rule)"
        )
    return timer


def _identify(link: ServoLink, track: ServoTrack, found: _Findings) -> None:
    tries = link.config.start.ping_tries
    try:
        identity = identify(link, track, tries - 1)
        link.check(track, tries - 1)
    except GarbledReplyError:
        found.garbled.append(track)
        return
    except ImpossibleReplyError as error:
        found.problems.append(f"{error}; torque stays off without a plausible reading")
        return
    except NoReplyError:
        _judge_silence(link, track, found)
        return
    found.identities.append(replace(identity, steps=track.steps))
    track.temperature_limit = identity.temperature_limit
    problem = wrong_model(track, identity.model_number)
    if problem:
        found.problems.append(problem)
        return
    low, high = identity.angle_limits
    if (low, high) == (0, 0):
        if track.entry.joint in link.map.leaders:  # its horn has no stop: a fan turns on, where a leg would break
            link.wheel = track.index
            found.notices.append(
                f"{track.name} is in wheel mode: it turns only while drive_fan is called, and follows no targets; "
                "scripts/servo prepare restores its angle limits"
            )
        else:
            found.problems.append(
                f"{track.name} is in wheel mode and turns without end: scripts/servo prepare sets its angle limits"
            )
        return
    first, last = link.map.limits_steps()[track.servo_id]
    if low > first or high < last:
        found.problems.append(
            f"{track.name} accepts goals from {low} to {high} only, but its joint needs {first} to {last}: it "
            "would ignore the others; scripts/servo prepare sets the limits"
        )


def _judge_silence(link: ServoLink, track: ServoTrack, found: _Findings) -> None:
    """Tell a servo that answers no READ from one whose packets are lost and from one that is not there."""
    replies = {True: 0, False: 0}
    for _ in range(_JUDGED):
        for is_ping in replies:
            with contextlib.suppress(NoReplyError):
                if is_ping:
                    link.bus.ping(track.servo_id, 0)
                else:
                    link.bus.read(track.servo_id, 3, 1, 0)
                replies[is_ping] += 1
    if not any(replies.values()):
        found.missing.append(track)
    elif replies[False] == 0 and replies[True] > _JUDGED // 2:
        found.problems.append(
            f"{track.name} answers PING but no READ: its status return level is 0; scripts/servo prepare sets it to 2"
        )
    else:
        found.problems.append(
            f"{track.name} answered {sum(replies.values())} of {2 * _JUDGED} queries only: packets are lost; check its "
            "cable, contacts and power"
        )


def _report_unmapped(link: ServoLink, found: _Findings) -> None:
    """Report which servos are on the bus and not in the map: no goal reaches them, but stops do."""
    unmapped, statistics = [], link.bus.statistics
    others = sorted(set(range(MAX_ID)) - set(link.map.servo_ids))  # MAX_ID itself is an adapter's
    patience = _UNMAPPED_WAIT + 2.0 * percentile(statistics.round_trips, 50)
    if patience * len(others) > _UNMAPPED_WITHIN:
        found.notices.append(
            f"the link is too slow to look for servos that are not in the map ({patience * len(others):.0f} s); "
            "use scripts/servo scan --only-baud"
        )
        return
    timeouts = statistics.timeouts
    for servo_id in others:
        with contextlib.suppress(NoReplyError):
            link.bus.ping(servo_id, 0, cut=link.now() + patience)
            unmapped.append(servo_id)
    statistics.timeouts = timeouts  # IDs that no servo has say nothing about the bus
    if unmapped:
        found.notices.append(
            f"servos {_ranges(unmapped)} are on the bus but not in the servo map: they get no goals, and stops "
            "switch them off as well; remove them from the bus, or add them to the map"
        )


def _judge_absence(link: ServoLink, found: _Findings) -> None:
    """Report servos that are missing or send garbled replies, unless the whole wiring is at fault."""
    total = len(link.tracks)
    if len(found.garbled) > total // 3:
        found.wiring = check_wiring(link.bus, link.map.servo_ids, 1).text
        found.is_write_only = True
        found.missing.clear()
        found.problems.clear()
        return
    if len(found.missing) == total:
        found.problems.append(
            f"none of the {total} servos answers on {link.bus.port.name}: check their power, the cable and the baud "
            f"rate ({link.bus.port.baud}); scripts/servo scan looks at all rates"
        )
        return
    if found.missing:
        found.problems.append(
            f"{len(found.missing)} of {total} servos do not answer: "
            f"{', '.join(track.name for track in found.missing)}. "
            f"Answered: {_ranges([i.servo_id for i in found.identities])}. Check the cable from the last one that "
            "answers to the first that does not, and their IDs and rates (scripts/servo scan)"
        )
    for track in found.garbled:
        found.problems.append(
            f"{track.name} sends garbled replies: two servos with ID {track.servo_id}? Unplug one and give it its own "
            "(scripts/servo set-id)"
        )


def _settle(link: ServoLink, found: _Findings) -> None:
    """Set time-outs from the servos' return delays, and report which delays to change."""
    delays = {identity.servo_id: identity.return_delay for identity in found.identities}
    link.bus.timeouts = replace(link.bus.timeouts, return_delay=max(delays.values(), default=250) * 2e-6)
    by_gpio = getattr(getattr(link.bus.port, "direction", None), "name", "") == "gpio"
    if by_gpio:
        wrong = [i for i, delay in delays.items() if delay < _GPIO_RETURN_DELAY]
        model, why = _GPIO_RETURN_DELAY, "a line switched by GPIO needs time"
    else:
        wrong = [i for i, delay in delays.items() if delay > _GPIO_RETURN_DELAY]
        model, why = 0, "each READ waits for it"
    if wrong:
        found.notices.append(
            f"the return delay of servos {_ranges(wrong)} is {2 * max(delays[i] for i in wrong)} us; {why}: "
            f"scripts/servo prepare --return-delay {model}"
        )
    levels = [i.servo_id for i in found.identities if i.status_return_level != 2]
    if levels:
        found.notices.append(
            f"the status return level of servos {_ranges(levels)} is not 2: the driver copes, because it reads "
            "back what it writes, other tools do not; scripts/servo prepare sets it"
        )
    firmwares = sorted({i.firmware for i in found.identities})
    if len(firmwares) > 1:
        found.notices.append(f"firmwares differ: {', '.join(map(str, firmwares))}; no known problem, but worth knowing")


def _judge_wiring(link: ServoLink, found: _Findings) -> None:
    report = check_wiring(link.bus, link.map.servo_ids, link.config.start.wiring_rounds)
    found.wiring = report.text
    is_wired_otherwise = report.echoes != link.bus.port.echoes
    if report.is_trusted or (report.whole >= _GOOD_FRACTION * report.sent and not is_wired_otherwise):
        if not report.is_trusted:
            found.notices.append("replies are lost on this wiring; retries cover it, but check cables and power")
        return
    twins = [] if is_wired_otherwise else _garbled(link)
    if twins:
        names = ", ".join(track.name for track in twins)
        found.problems.append(
            f"{names}: replies are garbled although others' are whole: two servos with one ID, or a bad contact; "
            "unplug one (scripts/servo scan names doubles)"
        )
    else:
        found.is_write_only = True


def _garbled(link: ServoLink) -> List[ServoTrack]:
    """Return the few servos whose replies are garbled, if they are few."""
    garbled = []
    for track in link.tracks:
        one = check_wiring(link.bus, [track.servo_id], 5)
        if one.whole < _GOOD_FRACTION * one.sent:
            garbled.append(track)
    return garbled if len(garbled) <= len(link.tracks) // 3 else []


def _ranges(ids: Sequence[int]) -> str:
    """Return IDs as ``0-3, 7``."""
    parts: List[Tuple[int, int]] = []
    for i in sorted(ids):
        if parts and parts[-1][1] == i - 1:
            parts[-1] = (parts[-1][0], i)
        else:
            parts.append((i, i))
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts) or "none"
