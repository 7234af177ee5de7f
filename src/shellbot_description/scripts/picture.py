# SPDX-License-Identifier: MIT
"""Renders the picture of the README: the robot standing and closed. Needs mujoco and Pillow, no display."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("MUJOCO_GL", "egl")
PACKAGE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PACKAGE / "src"))

import mujoco  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

from shellbot_description import VARIANTS, expand, named_pose, pose  # noqa: E402

ROBOT = '<robot name="shellbot">'
OPTIONS = '<mujoco><compiler discardvisual="false" fusestatic="false" strippath="false"/></mujoco>'


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


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", default="simulation", choices=VARIANTS, help="which robot")
    parser.add_argument("--output", default=str(PACKAGE / "doc" / "shellbot.png"), help="file to write")
    parser.add_argument("--size", type=int, default=480, help="height in pixels")
    options = parser.parse_args()
    views = [render(options.variant, name, options.size, 1.05) for name in ("stand", "closed")]
    Image.fromarray(np.concatenate(views, axis=1)).quantize(256).save(options.output, optimize=True)


if __name__ == "__main__":
    main()
