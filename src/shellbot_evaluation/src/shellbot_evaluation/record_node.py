# SPDX-License-Identifier: MIT
"""Listens to the joints of the running robot for scripts/action record."""

from __future__ import annotations

import queue
import select
import sys
import time

import rosgraph
import rospy
from sensor_msgs.msg import JointState

from robot_evaluation.console import show
from robot_evaluation.errors import EvaluationError

from .action_record import Recorder

_PATIENCE = 10.0  # s of wall clock for joint_states to come
_COUNTDOWN = 3  # s before a recording of given length
_SHOWN = 0.5  # s between two lines of what moves


def listen(recorder: Recorder, countdown: bool) -> None:
    """Feed a recorder until it is done; Enter begins and ends it, Ctrl-C ends what has begun.

    Parameters
    ----------
    recorder : Recorder
        If it has begun already it is fed after a countdown.
    countdown : bool
        Whether there is one.

    Raises
    ------
    EvaluationError
        If there is no ROS master, or no joint_states come.
    """
    if not rosgraph.is_master_online():
        raise EvaluationError(f"no ROS master at {rosgraph.get_master_uri()}; start the robot, such as scripts/sim")
    rospy.init_node("action_recorder", anonymous=True, disable_rostime=True, disable_signals=True)
    if recorder.began and countdown:
        for seconds in range(_COUNTDOWN, 0, -1):
            show(f"recording in {seconds} s")
            time.sleep(1.0)
    messages: queue.Queue = queue.Queue()
    subscriber = rospy.Subscriber("joint_states", JointState, messages.put, queue_size=1000, tcp_nodelay=True)
    shown, heard, keys = 0.0, time.monotonic(), True
    try:
        while not recorder.done:
            try:
                message = messages.get(timeout=0.1)
                heard = time.monotonic()
                recorder.receive(message.header.stamp.to_sec(), message.name, message.position)
            except queue.Empty:
                if time.monotonic() - heard > _PATIENCE:
                    raise EvaluationError(
                        f"no joint_states for {_PATIENCE:g} s; is the robot switched off, or the simulation paused?"
                    ) from None
            if time.monotonic() - shown > _SHOWN and recorder.names:
                shown = time.monotonic()
                show(_state(recorder))
            if keys and select.select([sys.stdin], [], [], 0.0)[0]:
                keys = sys.stdin.readline() != ""  # "": there is no keyboard
                if keys:
                    (recorder.end if recorder.began else recorder.begin)()
    except KeyboardInterrupt:
        if not recorder.began:
            raise
        recorder.end()
    finally:
        subscriber.unregister()
        sys.stderr.write("\n")


def _state(recorder: Recorder) -> str:
    if not recorder.began:
        return "waiting for a joint to move; Enter begins now, Ctrl-C gives up"
    moving = ", ".join(recorder.moving(_SHOWN)) or "nothing"
    return f"recording {recorder.duration:5.1f} s, moving: {moving}; Enter ends"
