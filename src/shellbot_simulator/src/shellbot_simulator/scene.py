# SPDX-License-Identifier: MIT
"""What stands around the robot: floor, light, sky, and the camera that follows it."""

from __future__ import annotations

from typing import List

import mujoco
import numpy as np

from .config import SimulatorConfig

FLOOR = "floor"
CAMERA = "follow"


def add_scene(spec: mujoco.MjSpec, base: mujoco.MjsBody, config: SimulatorConfig) -> None:
    """Add the surroundings to a model; the camera is fixed to `base`."""
    spec.add_texture(
        name="sky",
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.75, 0.83, 0.92],
        rgb2=[0.32, 0.42, 0.55],
        width=256,
        height=256,
    )
    spec.add_texture(
        name="checker",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.52, 0.56, 0.60],
        rgb2=[0.44, 0.48, 0.52],
        width=256,
        height=256,
    )
    textures = [""] * int(mujoco.mjtTextureRole.mjNTEXROLE)
    textures[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] = "checker"
    # one repeat is two tiles; 2 x 2 tiles of 0.1 m per 0.2 m make distances readable in pictures
    spec.add_material(name="checker", textures=textures, texrepeat=[5, 5], texuniform=True, reflectance=0.0)
    floor = spec.worldbody.add_geom(
        name=FLOOR,
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0, 0, 0.05],
        material="checker",
        contype=1,
        conaffinity=1,
        group=0,
    )
    set_contact(floor, config)
    sun = spec.worldbody.add_light(
        name="sun", pos=[0.6, -0.4, 3.0], dir=[-0.2, 0.15, -1.0], diffuse=[0.6, 0.6, 0.6], castshadow=True
    )
    fill = spec.worldbody.add_light(
        name="fill", pos=[-2, 2, 3], dir=[0.5, -0.5, -0.7], diffuse=[0.25, 0.25, 0.28], castshadow=False
    )
    for light in (sun, fill):
        if hasattr(light, "directional"):  # the name before MuJoCo 3.3
            light.directional = True
        else:
            light.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    # keeps its direction in the world while the base moves: the horizon does not shake with the body
    base.add_camera(
        name=CAMERA,
        mode=mujoco.mjtCamLight.mjCAMLIGHT_TRACK,
        pos=[0.65, -0.75, 0.5],
        quat=_look_at([0.65, -0.75, 0.5]),
        fovy=45,
    )
    spec.visual.headlight.ambient = np.array([0.35, 0.35, 0.35])
    spec.visual.headlight.diffuse = np.array([0.25, 0.25, 0.25])
    spec.visual.quality.shadowsize = 2048
    spec.visual.map.znear = 0.01
    spec.stat.extent = 1.0
    spec.stat.center = np.array([0.0, 0.0, 0.15])


def set_contact(geom: mujoco.MjsGeom, config: SimulatorConfig) -> None:
    """Give a shape the contact properties of the settings."""
    geom.solref[:2] = config.contact_solref
    geom.solimp[:3] = config.contact_solimp
    geom.friction = np.array([config.friction, config.torsional_friction, config.rolling_friction])


def _look_at(position: List[float]) -> np.ndarray:
    """Quaternion (w, x, y, z) of a camera at `position` looking at the origin, world z up (a camera looks along -z)."""
    z_axis = np.asarray(position) / np.linalg.norm(position)
    x_axis = np.cross([0.0, 0.0, 1.0], z_axis)
    x_axis /= np.linalg.norm(x_axis)
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.column_stack([x_axis, np.cross(z_axis, x_axis), z_axis]).ravel())
    return quaternion
