# SPDX-License-Identifier: MIT
"""From the robot description (URDF text) to a MuJoCo model: there is no second, hand-written model."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Dict, Tuple

import mujoco
import numpy as np

from .config import SimulatorConfig
from .errors import ModelError
from .paths import resolve_uri
from .robot_profile import RobotProfile
from .scene import add_scene, set_contact

VISUAL_GROUP, COLLISION_GROUP = 2, 3
"""Geom groups by MuJoCo's custom: the viewer shows group 2 and hides group 3."""

IMU_SITE = "imu"
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
    add_scene(spec, base, config)
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
        raise ModelError(
            f"the robot description is not XML ({error}); is xacro's output in robot_description?"
        ) from error


def _prepare_urdf(urdf_text: str, profile: RobotProfile) -> Tuple[str, Dict[str, float], str]:
    """Resolve the mesh files, set the compiler options; return text, joint efforts (N m) and the root link."""
    robot = _parse(urdf_text)
    joints = {str(j.get("name")): j for j in robot.findall("joint") if j.get("type") != "fixed"}
    missing = [name for name in profile.joint_names if name not in joints]
    extra = [name for name in joints if name not in profile.joint_names]
    if missing or extra:
        raise ModelError(
            f"robot description and joint list disagree: missing joints {missing or 'none'}, undriven joints "
            f"{extra or 'none'}; "
            "load robot_description and controllers.yaml of the same variant"
        )
    efforts = {}
    for name, joint in joints.items():
        limit = joint.find("limit")
        if joint.get("type") != "revolute" or limit is None:
            raise ModelError(
                f"joint {name} is {joint.get('type')!r}; the simulator drives revolute joints with a <limit>"
            )
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
    option.impratio = config.friction_stiffness_ratio
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
        set_contact(geom, config)


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
