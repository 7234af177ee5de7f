# SPDX-License-Identifier: MIT
"""Bodies of the links as primitives, each in the frame of its link: what collides and what the inertia is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, Tuple

from shellbot_description.variables import Variables

Vector = Tuple[float, float, float]
_LIE: Vector = (0.0, math.pi / 2, 0.0)  # a cylinder laid along x


@dataclass(frozen=True)
class Shape:
    """A box (length, width, height), a cylinder (radius, length along z) or a sphere (radius)."""

    name: str  #: Unique within the link; part of the name of the collision element
    kind: str  #: `box`, `cylinder` or `sphere`
    size: Tuple[float, ...]  #: m, as above
    xyz: Vector  #: Centre in the link frame, m
    mass_fraction: float  #: Part of the link's mass, 0..1; 0 for a shape that only collides
    #: Orientation in the link frame, rad: turns about x, then y, then z of the link frame (as in a URDF)
    rpy: Vector = (0.0, 0.0, 0.0)
    collides: bool = True  #: Whether the shape is a collision element


def stop_azimuths(variables: Variables) -> Tuple[float, ...]:
    """Return the azimuths (rad) of the 12 places with a stop above and one below the equator.

    They stand behind the middle of each column of convex gore pieces, where a piece reaches deepest inwards.
    """
    gore, places = variables.gore, []
    columns = int(gore.pieces_azimuth)
    width = 2 * gore.half_width / columns
    for k in range(6):
        middle = k * math.pi / 3 + variables.upper.azimuth
        places += [middle - gore.half_width + (column + 0.5) * width for column in range(columns)]
    return tuple(places)


def chassis_shapes(variables: Variables) -> Tuple[Shape, ...]:
    """Return the drum, battery and shoulder servos (mass only), and the rim of stops behind the gores' ends."""
    s, battery = variables.shapes, variables.battery
    height = s.chassis_top - s.chassis_bottom
    servo_fraction = variables.servo_mass / variables.mass.chassis
    drum = Shape(
        "drum",
        "cylinder",
        (s.chassis_radius, height),
        (0.0, 0.0, s.chassis_bottom + height / 2),
        1.0 - s.rim_mass_fraction - 6 * servo_fraction - battery.mass / variables.mass.chassis,
    )
    pack = Shape(
        "battery",
        "box",
        (battery.length, battery.width, battery.height),
        (0.0, 0.0, s.chassis_top - battery.height / 2),
        battery.mass / variables.mass.chassis,
        collides=False,
    )
    # A shoulder servo hangs: its axis is as far from the top end as from the sides.
    reach = variables.upper.base_radius
    level = variables.upper.base_height + s.servo_width / 2 - s.servo_length / 2
    servos = [
        Shape(
            f"shoulder_servo_{k + 1}",
            "box",
            (s.servo_width, s.servo_depth, s.servo_length),
            (reach * math.cos(azimuth), reach * math.sin(azimuth), level),
            servo_fraction,
            rpy=(0.0, 0.0, azimuth),
            collides=False,
        )
        for k in range(6)
        for azimuth in [k * math.pi / 3 + variables.upper.azimuth]
    ]
    azimuths = stop_azimuths(variables)
    radius, middle = s.stop_radius - s.stop_depth / 2, (s.stop_bottom + s.stop_top) / 2
    size = (s.stop_depth, s.stop_width, s.stop_top - s.stop_bottom)
    stops = [
        Shape(
            f"stop_{2 * index + (sign < 0) + 1}",
            "box",
            size,
            (radius * math.cos(azimuth), radius * math.sin(azimuth), sign * middle),
            s.rim_mass_fraction / (2 * len(azimuths)),
            rpy=(0.0, 0.0, azimuth),
        )
        for index, azimuth in enumerate(azimuths)
        for sign in (1, -1)
    ]
    return (drum, pack, *servos, *stops)


def _lower_shapes(variables: Variables) -> Dict[str, Tuple[Shape, ...]]:
    s, leg, foot = variables.shapes, variables.lower, variables.foot
    servo_half = (s.servo_width + 6e-3) / 2  # servo 1 stands on end over the coxa axis
    femur_length = leg.femur_length
    tibia_end = leg.tibia_length - foot.back
    tube = tibia_end - (s.tibia_block - s.tibia_margin)
    lateral = leg.femur_offset
    return {
        "fan": (
            Shape("arm", "cylinder", (s.fan_radius, leg.fan_length), (leg.fan_length / 2, 0.0, s.fan_rise), 0.6, _LIE),
            Shape("hub", "cylinder", (s.fan_hub_radius, s.fan_rise), (0.0, 0.0, s.fan_rise / 2), 0.2, collides=False),
            Shape(
                "tip",
                "cylinder",
                (s.fan_hub_radius, s.fan_rise),
                (leg.fan_length, 0.0, s.fan_rise / 2),
                0.2,
                collides=False,
            ),
        ),
        "coxa": (
            Shape(
                "coxa_servo",
                "box",
                (2 * servo_half, s.servo_width, s.coxa_depth),
                (servo_half - s.servo_width / 2, 0.0, -s.coxa_depth / 2),
                0.5,
            ),
            Shape(
                "femur_servo",
                "box",
                (leg.coxa_length - 8e-3, 24e-3, 24e-3),
                ((leg.coxa_length + 12e-3) / 2, 0.0, leg.coxa_drop),
                0.5,
            ),
        ),
        "femur": (
            Shape(
                "beam",
                "box",
                (femur_length, s.femur_width, s.femur_depth),
                (femur_length / 2 + s.femur_margin, 0.0, lateral),
                1.0,
            ),
        ),
        "tibia": (
            Shape(
                "knee",
                "box",
                (s.tibia_block, s.tibia_width, s.tibia_depth),
                (s.tibia_block / 2 - s.tibia_margin, 0.0, 0.0),
                0.6,
            ),
            Shape("shank", "cylinder", (s.tibia_radius, tube), (tibia_end - tube / 2, 0.0, 0.0), 0.25, _LIE),
            Shape("foot", "sphere", (foot.radius,), (tibia_end, 0.0, 0.0), 0.15),
        ),
    }


def link_shapes(variables: Variables) -> Dict[str, Tuple[Shape, ...]]:
    """Return the shapes of each kind of link but the gores (those are made of convex meshes).

    Keys are `chassis`, `fan`, `coxa`, `femur`, `tibia`, `shoulder`, `shell`.
    """
    s, upper = variables.shapes, variables.upper
    beam = upper.shoulder_length - s.shoulder_margin + 6e-3
    shapes = {"chassis": chassis_shapes(variables)}
    shapes.update(_lower_shapes(variables))
    shapes["shoulder"] = (
        Shape("beam", "box", (beam, s.shoulder_width, s.shoulder_depth), (s.shoulder_margin + beam / 2, 0.0, 0.0), 1.0),
    )
    shapes["shell"] = (Shape("bracket", "box", (s.shell_bracket,) * 3, (0.0, 0.0, 0.0), 1.0, collides=False),)
    return shapes
