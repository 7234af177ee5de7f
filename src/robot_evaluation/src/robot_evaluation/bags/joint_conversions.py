# SPDX-License-Identifier: MIT
"""The measured joints of a bag alone."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

from robot_evaluation.bags.data import JointTrack
from robot_evaluation.bags.read_conversions import Bag, check_order, joint_track
from robot_evaluation.errors import EvaluationError


def read_joint_states(file: Path, namespace: Optional[str] = None) -> JointTrack:
    """Return the measured joints of a run.

    Raises
    ------
    EvaluationError
        As for `Bag` and `check_order`, or if the bag has no joint_states.
    """
    with Bag(file) as bag:
        topic = f"{bag.namespace(namespace)}/joint_states"
        messages = bag.read(topic)
        if not messages:
            raise EvaluationError(
                f"{file} has no {topic.strip('/')}, but {', '.join(sorted(bag.messages))[:200]}; record with roslaunch "
                "shellbot_bringup record.launch purpose:=joints"
            )
        check_order(file, topic, messages)
        return joint_track(messages)
