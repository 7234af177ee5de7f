# SPDX-License-Identifier: MIT
"""The robot for the page's 3D view: its shapes once, as JSON and one block of numbers, then where its bodies are."""

from __future__ import annotations

import threading
import time
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from shellbot_common import RobotProfile
from shellbot_teleop.body_estimate import with_body
from shellbot_teleop.effects import PublishTwist
from shellbot_teleop.overlay import Trail, base_pose, heading, marks
from shellbot_teleop.robot_monitor import BaseInfo, ContactsInfo, OdomInfo, RobotMonitor, fresh
from shellbot_teleop.texts import tr

_RETRY = 5.0  # s between two tries where the robot could not be read: a library may be installed meanwhile


class Scene(NamedTuple):
    """What a page loads."""

    number: int  #: Another robot has another one
    text: Dict[str, Any]  #: `shapes` and `meshes`; a mesh has the first number and the count of vertices and faces
    block: bytes  #: All vertices (float32), then all faces (uint32)


class SceneMaker:
    """
    Follows the robot description; reads it in a thread.

    Parameters
    ----------
    monitor : RobotMonitor
        What is known of the robot.
    stale_after : float
        s after which a measurement is not shown.

    Attributes
    ----------
    scene : Scene or None
        The robot as it looks; None while it is not known.
    failure : str
        Why there is none, or "".
    """

    def __init__(self, monitor: RobotMonitor, stale_after: float) -> None:
        self._monitor, self._stale_after = monitor, stale_after
        self.scene: Optional[Scene] = None
        self.failure = ""
        self._of: Tuple[Optional[str], Optional[RobotProfile]] = (None, None)
        self._shapes: Any = None
        self._number = 0
        self._trail = Trail()
        self._next_try = 0.0
        self._is_reading = False

    def refresh(self) -> None:
        """Read the robot description if it is another one."""
        described = (self._monitor.description, self._monitor.profile)
        is_known = described == self._of and (self._shapes is not None or time.monotonic() < self._next_try)
        if self._is_reading or is_known:
            return
        self._of, self._shapes, self.scene, self.failure = described, None, None, ""
        if described[0] is None or described[1] is None:
            self._next_try = 0.0
            return
        self._is_reading = True
        threading.Thread(target=self._read, name="scene", daemon=True).start()

    def _read(self) -> None:
        description, profile = self._of
        try:
            # not at the top: the page opens without MuJoCo, and drives
            from shellbot_simulator.core.robot_shapes import RobotShapes

            shapes = RobotShapes(str(description), profile)  # type: ignore[arg-type]
            scene = _scene(self._number + 1, shapes)
        # Whatever a foreign library or a description that is none throws, the robot must stay drivable.
        except Exception as error:
            self.failure = tr("The robot cannot be drawn: {error}", error=error)
            self._next_try = time.monotonic() + _RETRY
        else:
            self._number += 1
            self._shapes, self.scene = shapes, scene
        self._is_reading = False

    def _measured(self, t: float) -> Tuple[Optional[BaseInfo], Optional[OdomInfo], Optional[ContactsInfo]]:
        """Return where the base is, and what that is drawn with; None for what is unknown or old."""
        monitor = self._monitor
        contacts = fresh(monitor.contacts, t, self._stale_after)
        odom = with_body(fresh(monitor.odom, t, self._stale_after), contacts)
        return base_pose(fresh(monitor.base, t, self._stale_after), odom, contacts), odom, contacts

    def marks(self, t: float, twist: PublishTwist) -> List[Dict[str, Any]]:
        """Return what is drawn over the robot at time `t`, s: support, feet, paths, heading, as the window has it."""
        base, odom, contacts = self._measured(t)
        if base is None:
            return []
        self._trail.extend(float(base.position[0]), float(base.position[1]))
        footsteps = fresh(self._monitor.footsteps, t, self._stale_after)
        drawn = marks(base, heading(base, odom), contacts, footsteps, twist, self._trail.points)
        return [
            {
                "kind": mark.kind,
                "points": np.round(mark.points, 3).tolist(),
                "size": mark.size,
                "colour": mark.colour,
            }
            for mark in drawn
            if mark.kind != "text" and np.isfinite(mark.points).all()
        ]

    def poses(self, t: float) -> bytes:
        """Return the poses of the bodies at time `t`, s, as bytes of `RobotShapes.poses`; empty without a robot."""
        shapes, monitor = self._shapes, self._monitor
        if shapes is None:
            return b""
        joints = fresh(monitor.joints, t, self._stale_after)
        base, _, _ = self._measured(t)
        angles = dict(zip(joints.names, joints.position)) if joints is not None else {}
        return bytes(shapes.poses(angles, (base.position, base.quaternion) if base is not None else None).tobytes())


def _scene(number: int, shapes: Any) -> Scene:
    vertices = np.concatenate([mesh.vertices for mesh in shapes.meshes] or [np.empty((0, 3), np.float32)])
    faces = np.concatenate([mesh.faces for mesh in shapes.meshes] or [np.empty((0, 3), np.uint32)])
    meshes: List[Dict[str, Any]] = []
    first_vertex, first_face = 0, 0
    for mesh in shapes.meshes:
        meshes.append({"vertices": (first_vertex, len(mesh.vertices)), "faces": (first_face, len(mesh.faces))})
        first_vertex += len(mesh.vertices)
        first_face += len(mesh.faces)
    text = {
        "number": number,
        "vertices": first_vertex,
        "meshes": meshes,
        "shapes": [shape.__dict__ for shape in shapes.shapes],
    }
    return Scene(number, text, vertices.astype("<f4").tobytes() + faces.astype("<u4").tobytes())
