# SPDX-License-Identifier: MIT
"""What stands around the robot, as MJCF: floor, light, sky, and the camera that follows it."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Dict, List, Sequence

import numpy as np

from .collision_bits import ALL_BITS
from .config import Box
from .urdf_tree import text_of

FLOOR = "floor"
CAMERA = "follow"

_CAMERA_FROM_BASE = [0.65, -0.75, 0.5]  # m

_ASSET = """<asset>
  <texture name="sky" type="skybox" builtin="gradient" rgb1="0.75 0.83 0.92" rgb2="0.32 0.42 0.55" width="256"
    height="256"/>
  <texture name="checker" type="2d" builtin="checker" rgb1="0.52 0.56 0.60" rgb2="0.44 0.48 0.52" width="256"
    height="256"/>
  <!-- tiles of 0.1 m, so that distances can be read off pictures -->
  <material name="checker" texture="checker" texrepeat="5 5" texuniform="true" reflectance="0"/>
</asset>"""

_VISUAL = """<visual>
  <headlight ambient="0.35 0.35 0.35" diffuse="0.25 0.25 0.25"/>
  <quality shadowsize="2048"/>
  <map znear="0.01"/>
</visual>"""

_WORLD = """<worldbody>
  <light name="sun" directional="true" pos="0.6 -0.4 3" dir="-0.2 0.15 -1" diffuse="0.6 0.6 0.6" castshadow="true"/>
  <light name="fill" directional="true" pos="-2 2 3" dir="0.5 -0.5 -0.7" diffuse="0.25 0.25 0.28" castshadow="false"/>
</worldbody>"""


def add_scene(
    mujoco: ElementTree.Element,
    trunk: ElementTree.Element,
    base: ElementTree.Element,
    contact: Dict[str, str],
    boxes: Sequence[Box] = (),
) -> None:
    """Add the surroundings, and the robot on them, to a model.

    Parameters
    ----------
    mujoco : Element
        The MJCF root.
    trunk : Element
        The body of the robot that all others are in.
    base : Element
        The body of its base; gets the camera.
    contact : dict
        Contact attributes of the floor.
    boxes : sequence of Box
        That stand on the floor; parts of it for contacts.
    """
    for text in (_VISUAL, _ASSET, _WORLD):
        mujoco.append(ElementTree.fromstring(text))
    ElementTree.SubElement(mujoco, "statistic", extent="1", center="0 0 0.15")
    world = mujoco.find("worldbody")
    assert world is not None  # appended above
    # the floor touches every shape that has a contype, whatever their conaffinity: ground contact is always on
    floor = {**contact, "contype": "0", "conaffinity": str(ALL_BITS)}
    ElementTree.SubElement(
        world, "geom", floor, name=FLOOR, type="plane", size="0 0 0.05", material="checker", group="0"
    )
    for index, (x, y, length, width, height) in enumerate(boxes):
        place = {"pos": text_of((x, y, 0.5 * height)), "size": text_of((0.5 * length, 0.5 * width, 0.5 * height))}
        ElementTree.SubElement(
            world, "geom", {**floor, **place}, name=f"{FLOOR}_{index}", type="box", rgba="0.62 0.55 0.46 1", group="0"
        )
    # "track" keeps the camera's direction in the world while the base moves: the horizon does not shake with the body
    ElementTree.SubElement(
        base,
        "camera",
        name=CAMERA,
        mode="track",
        fovy="45",
        pos=text_of(_CAMERA_FROM_BASE),
        xyaxes=_axes_towards_origin(_CAMERA_FROM_BASE),
    )
    world.append(trunk)


def _axes_towards_origin(position: List[float]) -> str:
    """Return x and y axes of a camera at `position` that looks at the origin, world z up (a camera looks along -z)."""
    z_axis = np.asarray(position) / np.linalg.norm(position)
    x_axis = np.cross([0.0, 0.0, 1.0], z_axis)
    x_axis /= np.linalg.norm(x_axis)
    return text_of((*x_axis, *np.cross(z_axis, x_axis)))
