# SPDX-License-Identifier: MIT
"""rospy's messages off a terminal that a program draws on."""

from __future__ import annotations

import logging

from rosgraph.roslogging import RosStreamHandler


def silence_console() -> None:
    """Take rospy's console handlers away; the log file and /rosout get the messages still."""
    for name in ["", *logging.root.manager.loggerDict]:
        logger = logging.getLogger(name)
        for handler in list(logger.handlers):
            if isinstance(handler, RosStreamHandler) or type(handler) is logging.StreamHandler:
                logger.removeHandler(handler)
