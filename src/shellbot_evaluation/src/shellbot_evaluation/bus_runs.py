# SPDX-License-Identifier: MIT
"""Runs on emulated servos: motor driver, bytes and battery in place of the simulator's own servos, in virtual time."""

from __future__ import annotations

import argparse
from typing import Any, Dict, Mapping

from shellbot_chain.chain import Chain
from shellbot_chain.chain_config import ChainConfig
from shellbot_chain.onboard_chain import OnboardChain
from shellbot_common import Level

BUS = "bus"
"""Among the changes of a case: whether its run is on emulated servos."""
COLUMNS = {
    "timeouts": "time-outs of the bus",
    "reactions": "warnings and reactions of the driver",
    "hottest_deg_c": "hottest servo / deg C",
    "lowest_v": "battery at its lowest / V",
}
DIGITS = {"timeouts": 0, "hottest_deg_c": 0}


def add_bus(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--bus``."""
    parser.add_argument(
        "--bus",
        action="store_true",
        help="on 31 emulated servos, through motor driver, bytes and a battery, in virtual time; takes far longer",
    )


def build_chain(config: ChainConfig, changes: Mapping[str, Any]) -> Chain:
    """Return the chain of a run with the changes of its case.

    Raises
    ------
    DefinitionError
        For a change that a simulator or the bus does not take.
    """
    config = config.replace(**{key: value for key, value in changes.items() if key != BUS})
    return OnboardChain(config) if changes.get(BUS) else Chain(config)


def bus_figures(chain: Chain) -> Dict[str, Any]:
    """Return the figures of `COLUMNS` of a run; none of one in direct simulation."""
    if not isinstance(chain, OnboardChain):
        return {}
    robot = chain.robot
    reactions = dict.fromkeys(notice.key for notice in robot.notices if notice.level is not Level.INFO)
    return {
        "timeouts": robot.reported.timing.counters["timeouts"],
        "reactions": ", ".join(reactions) or "none",
        "hottest_deg_c": robot.hottest,
        "lowest_v": robot.lowest_voltage,
    }
