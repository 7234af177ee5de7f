# SPDX-License-Identifier: MIT
"""Renders the pictures of README (standing and closed) and glossary (--labels). Needs mujoco and Pillow, no display."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Tuple

os.environ.setdefault("MUJOCO_GL", "egl")
PACKAGE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PACKAGE / "src"))

import mujoco  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image, ImageDraw, ImageFont  # noqa: E402

from shellbot_description import VARIANTS, expand, named_pose, pose  # noqa: E402

ROBOT = '<robot name="shellbot">'
OPTIONS = '<mujoco><compiler discardvisual="false" fusestatic="false" strippath="false"/></mujoco>'
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
# label -> link or point in the axes of base_link, place of the text in parts of the picture's width and height
LABELS = {
    "base_link": ("base_link", (0.27, 0.04)),
    "upper_2..6_sphere_centre": ("upper_2_sphere_centre", (0.05, 0.12)),
    "imu_link": ("imu_link", (0.13, 0.21)),
    "chassis": ((0.0, -0.05, 0.0), (0.11, 0.30)),
    "rim": ((-0.118, -0.093, 0.0), (0.11, 0.40)),
    "lower leg (fan to foot)": ("lower_5_tibia_link", (0.03, 0.74)),
    "fan joint (one servo, six legs)": ("lower_6_fan_link", (0.03, 0.84)),
    "upper_1_sphere_centre": ("upper_1_sphere_centre", (0.68, 0.06)),
    "camera_link": ("camera_link", (0.76, 0.13)),
    "shoulder joint": ("upper_1_shoulder_link", (0.80, 0.20)),
    "upper leg, upper shell": ((0.094, -0.02, 0.024), (0.79, 0.27)),
    "upper gore": ("upper_1_gore_link", (0.84, 0.34)),
    "shell joint": ("upper_1_shell_link", (0.86, 0.41)),
    "coxa joint": ("lower_1_coxa_link", (0.87, 0.48)),
    "femur joint": ("lower_1_femur_link", (0.87, 0.55)),
    "tibia joint": ("lower_1_tibia_link", (0.87, 0.62)),
    "lower gore": ("lower_1_gore_link", (0.87, 0.70)),
    "lower_1_foot (tip)": ("lower_1_foot", (0.81, 0.80)),
    "lower_1_sphere_centre": ("lower_1_sphere_centre", (0.79, 0.89)),
}
AXES = (("x", (1, 0, 0), (200, 30, 30)), ("y", (0, 1, 0), (20, 120, 40)), ("z", (0, 0, 1), (30, 60, 200)))
TURN = 2.0 * np.pi  # rad
RAISED = {"upper_1_shoulder": -0.9}  # opens one gore, so that its joints are seen


def scene(variant: str, body_height: float) -> mujoco.MjModel:
    """Return the robot over a floor, in soft light."""
    urdf = expand(variant, "none", mesh_uri=str(PACKAGE / "meshes"))
    spec = mujoco.MjSpec.from_string(urdf.replace(ROBOT, ROBOT + OPTIONS))
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 2000, 2000
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.45] * 3, [0.3] * 3
    spec.visual.headlight.specular = [0.15] * 3
    spec.visual.quality.shadowsize = 4096
    spec.visual.map.znear = 0.01
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[1, 1, 1],
        rgb2=[0.82, 0.87, 0.93],
        width=256,
        height=1536,
    )
    floor = spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.1])
    floor.pos, floor.rgba = [0, 0, -body_height], [0.93, 0.94, 0.96, 1]
    light = spec.worldbody.add_light(pos=[0.9, -0.9, 2.2], dir=[-0.38, 0.38, -1], castshadow=True)
    light.cutoff, light.exponent, light.diffuse, light.specular = 85.0, 0.0, [0.5] * 3, [0.1] * 3
    model = spec.compile()
    for geom in range(model.ngeom):  # the picture shows the visual meshes alone
        if model.geom_contype[geom] and model.geom(geom).name != "floor":
            model.geom_rgba[geom, 3] = 0.0
    return model


def render(variant: str, name: str, size: int, distance: float) -> np.ndarray:
    """Return a square picture of the robot in a named pose, averaged over 2 x 2 pixels."""
    model = scene(variant, pose(name).body_height)
    data = mujoco.MjData(model)
    for joint, angle in named_pose(name, variant).items():
        data.qpos[model.joint(joint).qposadr[0]] = angle
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    camera.azimuth, camera.elevation, camera.distance = 40.0, -24.0, distance
    camera.lookat[:] = (0.0, 0.0, -0.02)
    renderer = mujoco.Renderer(model, 2 * size, 2 * size)
    try:
        renderer.update_scene(data, camera)
        pixels = renderer.render().astype(float)
    finally:
        renderer.close()
    return pixels.reshape(size, 2, size, 2, 3).mean(axis=(1, 3)).astype(np.uint8)


def labelled(variant: str, size: int) -> Image.Image:
    """Return a picture of the standing robot whose parts are named."""
    model = scene(variant, pose("stand").body_height)
    data = mujoco.MjData(model)
    for joint, angle in {**named_pose("stand", variant), **RAISED}.items():
        data.qpos[model.joint(joint).qposadr[0]] = angle
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    camera.azimuth, camera.elevation, camera.distance = 130.0, -24.0, 0.95
    camera.lookat[:] = (0.0, 0.0, -0.02)
    height, width = size, 3 * size // 2
    with mujoco.Renderer(model, height, width) as renderer:
        renderer.update_scene(data, camera)
        picture = Image.fromarray(renderer.render())
        eyes = renderer.scene.camera
        eye = 0.5 * (np.array(eyes[0].pos) + np.array(eyes[1].pos))
        ahead, up = np.array(eyes[0].forward), np.array(eyes[0].up)
        scale = 0.5 * height * eyes[0].frustum_near / eyes[0].frustum_top  # pixels a metre at a distance of 1 m
    draw, font = ImageDraw.Draw(picture), ImageFont.truetype(FONT, size // 40)

    def pixel(p_world: np.ndarray) -> Tuple[float, float]:
        r_eye = p_world - eye
        across, down = np.cross(ahead, up) @ r_eye, up @ r_eye
        return across / (ahead @ r_eye) * scale + width / 2, height / 2 - down / (ahead @ r_eye) * scale

    foot = data.body("lower_1_foot").xpos
    radius = float(np.hypot(foot[0], foot[1]))
    ring = [pixel(np.array([radius * np.cos(a), radius * np.sin(a), foot[2]])) for a in np.linspace(0.0, TURN, 121)]
    for start, end in zip(ring[::2], ring[1::2]):
        draw.line([start, end], (40, 140, 60), 3)
    base, below = np.zeros(3), np.array([0.0, 0.0, foot[2]])
    for place, axes, length in ((base, AXES, 0.26), (below, AXES[:2], 0.1)):
        for name, axis, colour in axes:
            tip = pixel(place + length * np.array(axis))
            draw.line([pixel(place), tip], colour, 4)
            draw.text((tip[0] + 4, tip[1] - size // 40), name, colour, font)
    points = {
        "base_footprint (at the start also odom)": (pixel(below), (0.40, 0.95)),
        "rest stance (through all feet)": (ring[102], (0.08, 0.95)),
    }
    for text, (at, place_of_text) in LABELS.items():
        if isinstance(at, str):
            is_gore = at.endswith("gore_link")  # their frames are at the sphere's centre: point to their middle
            at = (data.xipos if is_gore else data.xpos)[model.body(at).id]
        points[text] = pixel(np.array(at)), place_of_text
    for text, ((across, down), (x, y)) in points.items():
        box = draw.textbbox((x * width, y * height), text, font=font)
        draw.line([(box[0] if across < box[0] else box[2], 0.5 * (box[1] + box[3])), (across, down)], (30, 60, 120), 2)
        draw.ellipse([across - 4, down - 4, across + 4, down + 4], (30, 60, 120))
        draw.rectangle([box[0] - 5, box[1] - 4, box[2] + 5, box[3] + 4], (255, 255, 255), (30, 60, 120))
        draw.text((x * width, y * height), text, (0, 0, 0), font)
    return picture


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", default="simulation", choices=VARIANTS, help="which robot")
    parser.add_argument("--output", help="file to write (default: the package's doc/shellbot.png or doc/parts.png)")
    parser.add_argument("--size", type=int, default=480, help="height in pixels")
    parser.add_argument("--labels", action="store_true", help="the standing robot with its parts named")
    options = parser.parse_args()
    output = options.output or str(PACKAGE / "doc" / ("parts.png" if options.labels else "shellbot.png"))
    if options.labels:
        labelled(options.variant, options.size).quantize(256).save(output, optimize=True)
        return
    views = [render(options.variant, name, options.size, 1.05) for name in ("stand", "closed")]
    Image.fromarray(np.concatenate(views, axis=1)).quantize(256).save(output, optimize=True)


if __name__ == "__main__":
    main()
