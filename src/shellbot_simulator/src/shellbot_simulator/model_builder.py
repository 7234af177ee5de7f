# SPDX-License-Identifier: MIT
"""From the robot description (URDF text) to a MuJoCo model: there is no second, hand-written model."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Dict, List, Tuple

import mujoco
import numpy as np

from .config import SimulatorConfig
from .errors import ModelError
from .paths import resolve_uri
from .robot_profile import RobotProfile

VISUAL_GROUP, COLLISION_GROUP = 2, 3
"""Geom groups by MuJoCo's custom: the viewer shows group 2 and hides group 3."""

IMU_SITE = "imu"
FLOOR = "floor"
CAMERA = "follow"
_COMPILER = {
    "fusestatic": "false",  # keep fixed links: their names are frames, and exclusions are per link
    "discardvisual": "false",  # pictures need the visual shapes
    "strippath": "false",
    "balanceinertia": "false",  # a wrong inertia is an error of the description, not to be repaired silently
}


def build_model(urdf_text: str, profile: RobotProfile, config: SimulatorConfig) -> mujoco.MjModel:
    """Compile the physics model of a robot on a floor.

    Parameters
    ----------
    urdf_text : str
        The robot description; movable joints must be revolute with limits.
    profile : RobotProfile
        What a URDF cannot say: joint order, rotor inertia, coupled joints, exclusions.
    config : SimulatorConfig
        Solver and contact settings.

    Returns
    -------
    mujoco.MjModel
        Actuator i drives joint i of `profile.joint_names`; the first joint of the model is the free base.

    Raises
    ------
    ModelError
        If the text is no usable URDF; names the link, joint or mesh.
    """
    prepared, efforts, root = _prepare_urdf(urdf_text, profile)
    try:
        spec = mujoco.MjSpec.from_string(prepared)
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(f"MuJoCo cannot read the robot description: {error}") from error
    _set_options(spec, config)
    base = spec.body(root)
    base.add_freejoint(name="base_free")
    _style_geoms(spec, config)
    _add_scene(spec, base, config)
    _add_servos(spec, profile, efforts)
    _add_couplings(spec, profile, config)
    _add_exclusions(spec, profile)
    _add_imu(spec, profile, root)
    try:
        return spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(f"MuJoCo cannot compile the robot description: {error}") from error


def urdf_joint_names(urdf_text: str) -> Tuple[str, ...]:
    """Return the names of the movable joints of a URDF in document order.

    Raises
    ------
    ModelError
        If the text is not XML.
    """
    return tuple(str(j.get("name")) for j in _parse(urdf_text).findall("joint") if j.get("type") != "fixed")


def urdf_mass(urdf_text: str) -> float:
    """Return the sum of the link masses of a URDF, kg."""
    return sum(float(mass.get("value", "0")) for mass in _parse(urdf_text).findall("link/inertial/mass"))


def _parse(urdf_text: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(urdf_text)
    except ElementTree.ParseError as error:
        raise ModelError(f"the robot description is not XML ({error}); is xacro's output in robot_description?") from error


def _prepare_urdf(urdf_text: str, profile: RobotProfile) -> Tuple[str, Dict[str, float], str]:
    """Resolve the mesh files, set the compiler options; return text, joint efforts (N m) and the root link."""
    robot = _parse(urdf_text)
    joints = {str(j.get("name")): j for j in robot.findall("joint") if j.get("type") != "fixed"}
    missing = [name for name in profile.joint_names if name not in joints]
    extra = [name for name in joints if name not in profile.joint_names]
    if missing or extra:
        raise ModelError(
            f"robot description and joint list disagree: missing joints {missing or 'none'}, undriven joints {extra or 'none'}; "
            "load robot_description and controllers.yaml of the same variant"
        )
    efforts = {}
    for name, joint in joints.items():
        limit = joint.find("limit")
        if joint.get("type") != "revolute" or limit is None:
            raise ModelError(f"joint {name} is {joint.get('type')!r}; the simulator drives revolute joints with a <limit>")
        efforts[name] = float(limit.get("effort", "0"))
        if not efforts[name] > 0.0:
            raise ModelError(f"joint {name} has effort {efforts[name]} N m; it must be > 0")
    for mesh in robot.iter("mesh"):
        mesh.set("filename", str(resolve_uri(mesh.get("filename", ""))))
    for old in robot.findall("mujoco"):
        robot.remove(old)
    extension = ElementTree.SubElement(robot, "mujoco")
    ElementTree.SubElement(extension, "compiler", _COMPILER)
    children = {str(child.get("link")) for child in robot.findall("joint/child")}
    roots = [str(link.get("name")) for link in robot.findall("link") if link.get("name") not in children]
    if len(roots) != 1:
        raise ModelError(f"the robot description has {len(roots)} root links ({roots}); exactly one is needed")
    return ElementTree.tostring(robot, encoding="unicode"), efforts, roots[0]


def _set_options(spec: mujoco.MjSpec, config: SimulatorConfig) -> None:
    option = spec.option
    option.timestep = config.timestep
    option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{config.integrator.upper()}")
    option.solver = getattr(mujoco.mjtSolver, f"mjSOL_{config.solver.upper()}")
    option.cone = getattr(mujoco.mjtCone, f"mjCONE_{config.cone.upper()}")
    option.iterations = config.iterations
    option.ls_iterations = config.ls_iterations
    option.gravity = np.array([0.0, 0.0, -config.gravity])


def _style_geoms(spec: mujoco.MjSpec, config: SimulatorConfig) -> None:
    """Sort the robot's shapes into visual and colliding ones; contact with the floor is always on."""
    for geom in spec.geoms:
        if geom.contype == 0 and geom.conaffinity == 0:
            geom.group = VISUAL_GROUP
            continue
        geom.group = COLLISION_GROUP
        geom.contype = 1  # the floor has conaffinity 1
        geom.conaffinity = 1 if config.self_collision else 0
        _set_contact(geom, config)


def _set_contact(geom: mujoco.MjsGeom, config: SimulatorConfig) -> None:
    geom.solref[:2] = config.contact_solref
    geom.solimp[:3] = config.contact_solimp
    geom.friction = np.array([config.friction, config.torsional_friction, config.rolling_friction])


def _add_scene(spec: mujoco.MjSpec, base: mujoco.MjsBody, config: SimulatorConfig) -> None:
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
        name=FLOOR, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05], material="checker", contype=1, conaffinity=1, group=0
    )
    _set_contact(floor, config)
    spec.worldbody.add_light(
        name="sun", pos=[0.6, -0.4, 3.0], dir=[-0.2, 0.15, -1.0], diffuse=[0.7, 0.7, 0.7], castshadow=True
    )
    spec.worldbody.add_light(name="fill", pos=[-2, 2, 3], dir=[0.5, -0.5, -0.7], diffuse=[0.25, 0.25, 0.28], castshadow=False)
    # keeps its direction in the world while the base moves: the horizon does not shake with the body
    base.add_camera(
        name=CAMERA, mode=mujoco.mjtCamLight.mjCAMLIGHT_TRACK, pos=[0.65, -0.75, 0.5], quat=_look_at([0.65, -0.75, 0.5]), fovy=45
    )
    spec.visual.headlight.ambient = np.array([0.35, 0.35, 0.35])
    spec.visual.headlight.diffuse = np.array([0.25, 0.25, 0.25])
    spec.visual.quality.shadowsize = 2048
    spec.visual.map.znear = 0.01
    spec.stat.extent = 1.0
    spec.stat.center = np.array([0.0, 0.0, 0.15])


def _look_at(position: List[float]) -> np.ndarray:
    """Quaternion (w, x, y, z) of a camera at `position` looking at the origin, world z up (a camera looks along -z)."""
    z_axis = np.asarray(position) / np.linalg.norm(position)
    x_axis = np.cross([0.0, 0.0, 1.0], z_axis)
    x_axis /= np.linalg.norm(x_axis)
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, np.column_stack([x_axis, np.cross(z_axis, x_axis), z_axis]).ravel())
    return quaternion


def _add_servos(spec: mujoco.MjSpec, profile: RobotProfile, efforts: Dict[str, float]) -> None:
    joints = {joint.name: joint for joint in spec.joints}
    for name, gains, armature in zip(profile.joint_names, profile.gains, profile.armature):
        joints[name].armature = armature
        effort = efforts[name]
        actuator = spec.add_actuator(
            name=name,
            target=name,
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            gaintype=mujoco.mjtGain.mjGAIN_FIXED,
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
            forcelimited=mujoco.mjtLimited.mjLIMITED_TRUE,
            forcerange=[-effort, effort],
        )
        actuator.gainprm[0] = gains.p
        actuator.biasprm[:3] = (0.0, -gains.p, -gains.d)


def _add_couplings(spec: mujoco.MjSpec, profile: RobotProfile, config: SimulatorConfig) -> None:
    for group in profile.coupled_joints:
        for follower in group[1:]:
            equality = spec.add_equality(
                name=f"{follower}_equals_{group[0]}",
                type=mujoco.mjtEq.mjEQ_JOINT,
                objtype=mujoco.mjtObj.mjOBJ_JOINT,
                name1=follower,
                name2=group[0],
            )
            equality.data[:2] = (0.0, 1.0)  # follower = 0 + 1 * first
            equality.solref[:2] = config.coupling_solref


def _add_exclusions(spec: mujoco.MjSpec, profile: RobotProfile) -> None:
    links = {body.name for body in spec.bodies}
    for pair in sorted(tuple(sorted(pair)) for pair in profile.collision_exclusions):
        if set(pair) <= links:  # pairs of links that this variant does not have are no error
            spec.add_exclude(name="__".join(pair), bodyname1=pair[0], bodyname2=pair[1])


def _add_imu(spec: mujoco.MjSpec, profile: RobotProfile, root: str) -> None:
    links = {body.name for body in spec.bodies}
    body = spec.body(profile.imu_link if profile.imu_link in links else root)
    body.add_site(name=IMU_SITE, size=[0.001, 0.001, 0.001], group=4)
    for sensor in ("ACCELEROMETER", "GYRO", "FRAMEQUAT"):
        spec.add_sensor(
            name=sensor.lower(),
            type=getattr(mujoco.mjtSensor, f"mjSENS_{sensor}"),
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            objname=IMU_SITE,
        )
