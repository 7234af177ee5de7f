# SPDX-License-Identifier: MIT
"""How large a robot is, from its description, so that the first view of it shows all of it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Dict, List, Tuple

import numpy as np


def reach(description: str) -> float:
    """Return the length of the longest chain of joints from the root, m; 0 if the description is none.

    Parameters
    ----------
    description : str
        URDF. The length is the sum of the distances between the joints, so it bounds where any of them can be.
    """
    try:
        joints = ElementTree.fromstring(description).findall("joint")
        children: Dict[str, List[Tuple[str, float]]] = {}
        below = set()
        for joint in joints:
            parent, child = (str(joint.find(end).get("link")) for end in ("parent", "child"))  # type: ignore[union-attr]
            origin = joint.find("origin")
            place = [float(word) for word in (origin.get("xyz", "0 0 0") if origin is not None else "0 0 0").split()]
            children.setdefault(parent, []).append((child, float(np.linalg.norm(place))))
            below.add(child)
    except (ElementTree.ParseError, AttributeError, ValueError):
        return 0.0  # whoever draws it says what is wrong
    open_links = [(link, 0.0) for link in children if link not in below]
    longest = 0.0
    while open_links:
        link, length = open_links.pop()
        longest = max(longest, length)
        open_links += [(child, length + step) for child, step in children.pop(link, [])]
    return longest
