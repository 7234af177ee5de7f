# SPDX-License-Identifier: MIT
"""What sim.launch makes of the arm's motion."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

LAUNCH = Path(__file__).resolve().parents[1] / "launch" / "sim.launch"


def test_a_start_forgets_the_page_of_the_run_before():
    """The node puts its page on the parameter server, where a roscore that goes on has it still."""
    nodes = {node.get("name"): node for node in ElementTree.parse(str(LAUNCH)).getroot().iter("node")}
    assert nodes["arm_motion"].get("clear_params") == "true"
