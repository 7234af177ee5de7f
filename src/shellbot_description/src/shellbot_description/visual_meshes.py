# SPDX-License-Identifier: MIT
"""Visual meshes of the links, one per link and material, in the frame of the link.

Sizes of details (chamfers, wall thickness, horns) are estimates for the picture only; nothing computes with them.
"""

from __future__ import annotations

import math
from typing import Dict, List

import numpy as np

from shellbot_common.rotations import rotation_from_rpy
from shellbot_description.gore_mesh import gore_mesh
from shellbot_description.shapes import Shape, link_shapes, stop_azimuths
from shellbot_description.surfaces import Triangles, box, circle, cylinder, hull, join, prism, transformed
from shellbot_description.variables import Variables

PLATE = 3e-3  # m, thickness of plates
CHAMFER = 2e-3  # m
UP = np.eye(3)
TO_Y = rotation_from_rpy(-math.pi / 2, 0.0, 0.0)  # lays a cylinder that stands along z along y


def placed(triangles: Triangles, rotation: np.ndarray, xyz: object) -> Triangles:
    """Return the mesh turned, then moved."""
    return transformed(triangles, rotation) + np.asarray(xyz, dtype=float)


def of_shape(shape: Shape, chamfer: float = CHAMFER) -> Triangles:
    """Return the mesh of a primitive."""
    turn = rotation_from_rpy(*shape.rpy)
    if shape.kind == "box":
        return placed(box(shape.size, chamfer=min(chamfer, min(shape.size) / 4)), turn, shape.xyz)
    if shape.kind == "cylinder":
        radius, length = shape.size
        return placed(cylinder(radius, -length / 2, length / 2), turn, shape.xyz)
    return ball(shape.size[0]) + np.asarray(shape.xyz)


def ball(radius: float) -> Triangles:
    """Return a sphere."""
    rings = [np.array([[0.0, 0.0, -radius]]), np.array([[0.0, 0.0, radius]])]
    for latitude in np.radians(np.arange(-75, 76, 15)):
        ring = circle(radius * math.cos(latitude), 24)
        rings.append(np.column_stack([ring, np.full(24, radius * math.sin(latitude))]))
    return hull(np.vstack(rings))


def tube(radius: float, start: object, end: object) -> Triangles:
    """Return a round bar between two points."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    axis = (b - a) / np.linalg.norm(b - a)
    side = np.cross(axis, [0.0, 0.0, 1.0] if abs(axis[2]) < 0.9 else [1.0, 0.0, 0.0])
    side /= np.linalg.norm(side)
    ring = circle(radius, 16) @ np.stack([side, np.cross(axis, side)])
    return hull(np.vstack([a + ring, b + ring]))


def dog_bone(length: float, first: float, second: float, low: float, high: float) -> Triangles:
    """Return a plate in the x-y plane around two axes `length` apart, with these end radii."""
    outline = np.vstack([circle(first, 28), circle(second, 28, (length, 0.0))])
    return prism(outline, low, high)


def around(parts: Triangles, azimuths: List[float]) -> Triangles:
    """Return copies of a mesh turned about z."""
    return join(transformed(parts, rotation_from_rpy(0.0, 0.0, azimuth)) for azimuth in azimuths)


def _sixfold(offset: float = 0.0) -> List[float]:
    return [offset + k * math.pi / 3 for k in range(6)]


def chassis_meshes(v: Variables) -> Dict[str, Triangles]:
    """Return frame and rim, servos, board and battery of the chassis."""
    s, upper, lower = v.shapes, v.upper, v.lower
    shapes = link_shapes(v)["chassis"]
    bottom, top = s.chassis_bottom, s.chassis_top
    edge = lower.base_radius + 10e-3
    plate_low = prism(np.vstack([circle(9e-3, 16, tuple(p)) for p in circle(edge - 9e-3, 6)]), bottom, bottom + PLATE)
    drum = prism(circle(s.chassis_radius - 10e-3, 12), bottom, top)
    plate_high = prism(circle(s.chassis_radius - 6e-3, 36), top, top + PLATE)
    post = cylinder(6e-3, lower.base_height + s.fan_rise + s.fan_radius, bottom, (lower.base_radius, 0.0), 16)
    ring_radius = s.stop_radius - s.stop_depth
    ring = []
    for azimuth in np.arange(48) * (2 * math.pi / 48):
        ends = [azimuth, azimuth + 2 * math.pi / 48]
        ring.append(
            hull(
                np.array(
                    [
                        [r * math.cos(a), r * math.sin(a), z]
                        for a in ends
                        for r in (ring_radius - 4e-3, ring_radius)
                        for z in (-2e-3, 2e-3)
                    ]
                )
            )
        )
    spoke = hull(
        np.array(
            [[s.chassis_radius - 4e-3, y, z] for y in (-5e-3, 5e-3) for z in (bottom, bottom + PLATE)]
            + [[ring_radius - 2e-3, y, z] for y in (-4e-3, 4e-3) for z in (-2e-3, 2e-3)]
        )
    )
    stops = [of_shape(shape, 1e-3) for shape in shapes if shape.name.startswith("stop")]
    middle = stop_azimuths(v)[0] + v.gore.half_width / int(v.gore.pieces_azimuth)
    spokes = around(spoke, _sixfold(middle + math.pi / 6))
    servos = [of_shape(shape) for shape in shapes if shape.name.startswith("shoulder_servo")]
    horn = placed(
        cylinder(11e-3, -s.servo_depth / 2 - 3e-3, s.servo_depth / 2 + 3e-3),
        TO_Y,
        (upper.base_radius, 0.0, upper.base_height),
    )
    board_level = top + PLATE + 4e-3
    return {
        "chassis_frame": join([plate_low, drum, plate_high, around(post, _sixfold()), *ring, spokes, *stops]),
        "chassis_servos": join(servos),
        "chassis_horns": around(horn, _sixfold(upper.azimuth)),
        "chassis_board": join(
            [
                box((80e-3, 62e-3, 2e-3), (0.0, 0.0, board_level)),
                box((40e-3, 8e-3, 9e-3), (15e-3, -24e-3, board_level + 5e-3)),
            ]
        ),
        "chassis_heatsink": join(
            [box((34e-3, 34e-3, 4e-3), (0.0, 6e-3, board_level + 3e-3))]
            + [box((34e-3, 2e-3, 12e-3), (0.0, 6e-3 + y, board_level + 10e-3)) for y in np.linspace(-15e-3, 15e-3, 6)]
        ),
    }


def lower_leg_meshes(v: Variables) -> Dict[str, Triangles]:
    """Return the links of a lower leg."""
    s, leg, foot = v.shapes, v.lower, v.foot
    shapes = {kind: {shape.name: shape for shape in parts} for kind, parts in link_shapes(v).items()}
    rise, hub = s.fan_rise, s.fan_hub_radius
    femur_low, femur_high = leg.femur_offset - s.femur_depth / 2, leg.femur_offset + s.femur_depth / 2
    axle = (leg.coxa_length, 0.0, leg.coxa_drop)
    servo_end = leg.femur_length - 12e-3
    foot_x = leg.tibia_length - foot.back
    lateral = v.gore.slot_width / 2 + 7e-3
    bracket_x = -s.tibia_margin - 2e-3
    arms = [
        hull(
            np.array(
                [
                    [bracket_x + dx, dy - 6e-3, z]
                    for dx in (-3e-3, 3e-3)
                    for dy in (-6e-3, 6e-3)
                    for z in (0.0, sign * lateral)
                ]
            )
        )
        for sign in (1, -1)
    ]
    return {
        "fan_arm": join(
            [
                of_shape(shapes["fan"]["arm"]),
                cylinder(hub, 0.0, rise + s.fan_radius + 2e-3),
                cylinder(hub, 0.0, rise + s.fan_radius + 2e-3, (leg.fan_length, 0.0)),
            ]
        ),
        "coxa_servos": join([of_shape(shapes["coxa"][name], 3e-3) for name in ("coxa_servo", "femur_servo")]),
        "coxa_horns": join(
            [
                cylinder(10e-3, 0.0, 2e-3),
                placed(cylinder(6e-3, -9e-3, femur_low), TO_Y, axle),
            ]
        ),
        "femur_plates": join(
            [
                dog_bone(leg.femur_length, 8.5e-3, s.femur_width / 2 + 1e-3, femur_low, femur_low + PLATE),
                dog_bone(leg.femur_length, 8.5e-3, s.femur_width / 2 + 1e-3, femur_high - PLATE, femur_high),
            ]
        ),
        "femur_servo": box(
            (servo_end - 10e-3, s.femur_width, s.femur_depth - 2 * PLATE - 1e-3),
            ((servo_end + 12e-3) / 2, 0.0, leg.femur_offset),
            CHAMFER,
        ),
        "tibia_knee": join([of_shape(shapes["tibia"]["knee"], 3e-3), *arms]),
        "tibia_shank": join(
            [
                of_shape(shapes["tibia"]["shank"]),
                placed(cylinder(8e-3, -s.femur_depth / 2 - 1e-3, s.femur_depth / 2 + 1e-3), UP, (0.0, 0.0, 0.0)),
            ]
        ),
        "tibia_foot": join(
            [
                of_shape(shapes["tibia"]["foot"]),
                tube(foot.radius - 1e-3, (foot_x - 14e-3, 0, 0), (foot_x, 0, 0)),
            ]
        ),
    }


def upper_leg_meshes(v: Variables) -> Dict[str, Triangles]:
    """Return the links of an upper leg."""
    s, leg = v.shapes, v.upper
    half = s.shoulder_depth / 2
    servo_length = 44e-3
    reach = v.gore.outer_radius - v.gore.thickness + 1e-3  # the bracket ends inside the gore's wall
    x = leg.sphere_x + leg.sphere_radius * math.cos(leg.sphere_delta)
    y = leg.sphere_y + leg.sphere_radius * math.sin(leg.sphere_delta)
    away = -np.array([x, y, 0.0]) / math.hypot(x, y)
    foot = np.array([x, y, 0.0]) + reach * away
    across = np.array([-away[1], away[0], 0.0])
    corners = [a * w * across + [0.0, 0.0, b * d] for w, d in ((1.0, 1.0),) for a in (-1, 1) for b in (-1, 1)]
    bracket = hull(
        np.vstack([np.array(corners) * [8e-3, 8e-3, 10e-3], np.array(corners) * [14e-3, 14e-3, 17e-3] + foot])
    )
    return {
        "shoulder_plates": join(
            [
                dog_bone(leg.shoulder_length, 9e-3, 10e-3, half - PLATE, half),
                dog_bone(leg.shoulder_length, 9e-3, 10e-3, -half, -half + PLATE),
                tube(4e-3, (0.35 * leg.shoulder_length, 0.0, -half), (0.35 * leg.shoulder_length, 0.0, half)),
            ]
        ),
        "shoulder_servo": box(
            (servo_length, s.shoulder_width, s.shoulder_depth - 2 * PLATE - 1e-3),
            (leg.shoulder_length + 6e-3 - servo_length / 2, 0.0, 0.0),
            CHAMFER,
        ),
        "shell_bracket": join([bracket, cylinder(8e-3, -half - 1e-3, half + 1e-3)]),
    }


def visual_meshes(variables: Variables) -> Dict[str, Triangles]:
    """Return all meshes by name; config/visuals.yaml puts them on the links."""
    meshes = {"lower_gore": gore_mesh(variables, lower=True), "upper_gore": gore_mesh(variables, lower=False)}
    meshes.update(chassis_meshes(variables))
    meshes.update(lower_leg_meshes(variables))
    meshes.update(upper_leg_meshes(variables))
    return meshes
