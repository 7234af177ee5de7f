# SPDX-License-Identifier: MIT
"""A block of shared memory is read whole or not at all, while another process writes it without a pause."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import pickle
import time

import pytest

from shellbot_motor_driver.driving.driver_state import Ladder, Phase, Reaction, Rung
from shellbot_motor_driver.process.shared_state import _LADDER_ROOM, Block, _pack

READS, LIMIT = 10_000, 60.0  # s: on a busy machine the writer may stand still, and an interrupted read takes long
ROOM = 4096


def write_for_ever(fd, ready):
    block = Block(mmap.mmap(fd, ROOM + 64), 0, ROOM)
    contents = [bytes([value]) * length for value, length in ((1, 3000), (2, 1500))]
    block.write(contents[0])
    ready.set()
    while True:
        for content in contents:
            block.write(content)


def test_readers_see_whole_contents_and_always_some():
    fd = os.memfd_create("block")
    os.ftruncate(fd, ROOM + 64)
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    writer = context.Process(target=write_for_ever, args=(fd, ready), daemon=True)
    writer.start()
    try:
        assert ready.wait(20)
        block = Block(mmap.mmap(fd, ROOM + 64), 0, ROOM)
        both = {bytes([1]) * 3000, bytes([2]) * 1500}
        seen, reads, end = set(), 0, time.monotonic() + LIMIT
        while (reads < READS or not both <= seen) and time.monotonic() < end:
            seen.add(block.read())
            reads += 1
    finally:
        writer.kill()
        writer.join()
        os.close(fd)
    # a reader that the writer always interrupts gives up; one that reads between two writes must find all of one
    assert seen - {None} == both


@pytest.mark.parametrize(("count", "length"), [(1, 10), (3, 60_000), (300, 200)])
def test_a_ladder_with_too_many_words_is_still_read(count, length):
    rungs = tuple(Rung(f"rung{i}", Reaction.HOLD, 0.0, True, "x" * length) for i in range(count))
    data = _pack(Ladder(Phase.HOLDING, Reaction.HOLD, rungs, 1.0, True, "y" * length))
    assert len(data) <= _LADDER_ROOM
    read = pickle.loads(data)
    assert (read.phase, read.needs_rearm, read.rungs[0].key) == (Phase.HOLDING, True, "rung0")
