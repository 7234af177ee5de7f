# SPDX-License-Identifier: MIT
"""From the robot description (URDF text) to a MuJoCo model: there is no second, hand-written model."""

from __future__ import annotations

import itertools
import math
import xml.etree.ElementTree as ElementTree
from typing import Dict, Iterable, List, Tuple

import mujoco
import numpy as np

from shellbot_common import RobotProfile
from shellbot_common.robot_profile import CameraSensor, ProfileError

from .collision_bits import CollisionBits, collision_bits
from .config import SimulatorConfig
from .errors import ModelError
from .obstacles import Obstacle, add_obstacles, first_body
from .scene import add_scene
from .servo import PidGains
from .urdf_tree import BodyTree, Element, movable_joints, parse_urdf, text_of

IMU_SITE = "imu"


def build_model(
    urdf_text: str, profile: RobotProfile, config: SimulatorConfig, obstacles: Iterable[Obstacle] = ()
) -> mujoco.MjModel:
    """Compile the physics model of a robot on a floor.

    Parameters
    ----------
    urdf_text : str
        The robot description; movable joints must be revolute or continuous.
    profile : RobotProfile
        What a URDF cannot say: order, stiffness and rotor inertia of the joints, couplings, exclusions, free or fixed.
    config : SimulatorConfig
        Solver and contact settings.
    obstacles : iterable of Obstacle
        That stand beside the robot.

    Returns
    -------
    mujoco.MjModel
        Actuator i drives joint i of `profile.joint_names`; the first joint of the model is that of a free base.

    Raises
    ------
    ModelError
        If the text is no usable URDF; names the link, joint or mesh.
    """
    try:
        model = mujoco.MjModel.from_xml_string(mjcf_text(urdf_text, profile, config, obstacles))
    except ModelError:
        raise
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(f"MuJoCo cannot compile the robot description: {error}") from error
    if config.mass_scale != 1.0:
        robot = first_body(model)
        model.body_mass[:robot] *= config.mass_scale
        model.body_inertia[:robot] *= config.mass_scale
        mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def mjcf_text(
    urdf_text: str, profile: RobotProfile, config: SimulatorConfig, obstacles: Iterable[Obstacle] = ()
) -> str:
    """Return the model as MJCF text; parameters and errors as `build_model`."""
    robot = parse_urdf(urdf_text)
    efforts = _efforts(robot, profile)
    contact = _contact(config)
    armature = {joint: profile.classes[kind].armature for joint, kind in profile.joints.items()}
    solid = [str(link.get("name")) for link in robot.findall("link") if link.find("collision") is not None]
    bits = collision_bits(solid, profile.excluded_pairs(solid), config.self_collision)
    root_kind = config.root if config.engine == "mujoco" else "base"  # Bullet's joints are at the frames of links
    tree = BodyTree(robot, contact, bits.of_link, armature, profile.base, root_kind)
    try:
        profile.check_links(str(link.get("name")) for link in robot.findall("link"))
    except ProfileError as error:
        raise ModelError(f"robot profile: {error}") from error
    trunk = tree.build()
    bodies = {str(body.get("name")): body for body in trunk.iter("body")}
    base = bodies[profile.base.link]
    ElementTree.SubElement(bodies.get(profile.imu, base), "site", name=IMU_SITE, size="0.001", group="4")
    root = ElementTree.Element("mujoco", model=robot.get("name", "robot"))
    # a wrong inertia is an error of the description, not to be repaired silently; rpy is about fixed axes: capitals
    ElementTree.SubElement(
        root, "compiler", angle="radian", eulerseq="XYZ", inertiafromgeom="false", balanceinertia="false"
    )
    _add_options(root, config)
    for link, camera in profile.cameras.items():
        _add_camera(bodies, link, camera)
    add_scene(root, trunk, base, contact, config.boxes)
    add_obstacles(next(root.iter("worldbody")), obstacles, contact)
    ElementTree.SubElement(root, "asset").extend(tree.meshes)
    _add_servos(root, profile, efforts)
    _add_couplings(root, profile, config)
    _add_exclusions(root, bits)
    return ElementTree.tostring(root, encoding="unicode")


def servo_gains(profile: RobotProfile) -> Tuple[PidGains, ...]:
    """Return the gains of the servos themselves: their stiffness."""
    return tuple(PidGains(p=profile.classes[kind].stiffness) for kind in profile.joints.values())


def velocity_limits(urdf_text: str, profile: RobotProfile) -> Tuple[np.ndarray, np.ndarray]:
    """Return velocity gain (1/s, 0: no velocity-limited servo) and greatest speed (rad/s) of each joint, (n,) each."""
    joints = movable_joints(parse_urdf(urdf_text))
    limits = [joints[name].find("limit") for name in profile.joints]
    speed = [float(limit.get("velocity", "0")) if limit is not None else 0.0 for limit in limits]
    return np.array([profile.classes[kind].velocity_gain for kind in profile.joints.values()]), np.array(speed)


def _efforts(robot: Element, profile: RobotProfile) -> Dict[str, float]:
    """Check the joints against the profile and return their torque limits, N m."""
    joints = movable_joints(robot)
    missing = [name for name in profile.joints if name not in joints]
    extra = [name for name in joints if name not in profile.joints]
    if missing or extra:
        raise ModelError(
            f"robot description and robot profile disagree: missing joints {missing or 'none'}, undriven joints "
            f"{extra or 'none'}; load robot_description and robot_profile of the same robot and variant"
        )
    efforts = {}
    for name, joint in joints.items():
        limit = joint.find("limit")
        efforts[name] = float(limit.get("effort", "0")) if limit is not None else 0.0
        if limit is not None and not efforts[name] > 0.0:
            raise ModelError(f"joint {name} has effort {efforts[name]} N m; it must be > 0")
    return efforts


def _contact(config: SimulatorConfig) -> Dict[str, str]:
    friction = (config.friction, config.torsional_friction, config.rolling_friction)
    return {
        "solref": text_of(config.contact_solref),
        "solimp": text_of(config.contact_solimp),
        "friction": text_of(friction),
    }


def _add_options(root: Element, config: SimulatorConfig) -> None:
    option = ElementTree.SubElement(
        root,
        "option",
        timestep=repr(config.timestep),
        integrator=config.integrator,
        solver=config.solver,
        cone=config.cone,
        jacobian=config.jacobian,
        iterations=str(config.iterations),
        ls_iterations=str(config.ls_iterations),
        impratio=repr(config.friction_stiffness_ratio),
        gravity=text_of([-config.gravity * component for component in config.up]),
    )
    # One robot is one island: the same numbers without looking for it, and without copying it. MuJoCo before 3.3
    # (Python 3.8) leaves collisions to libccd otherwise, which finds parts several mm deep in each other that are not.
    ElementTree.SubElement(option, "flag", island="disable", nativeccd="enable")


def _add_camera(bodies: Dict[str, Element], link: str, camera: CameraSensor) -> None:
    half = math.tan(0.5 * math.radians(camera.field_of_view_deg)) * camera.height / camera.width
    # MuJoCo's cameras look along -z, x to the right
    ElementTree.SubElement(
        bodies[link], "camera", name=link, fovy=repr(2.0 * math.degrees(math.atan(half))), xyaxes="0 -1 0 0 0 1"
    )


def _add_servos(root: Element, profile: RobotProfile, efforts: Dict[str, float]) -> None:
    actuators = ElementTree.SubElement(root, "actuator")
    for name, gains in zip(profile.joint_names, servo_gains(profile)):
        ElementTree.SubElement(
            actuators,
            "general",
            name=name,
            joint=name,
            gaintype="fixed",
            biastype="affine",
            gainprm=text_of((gains.p,)),
            biasprm=text_of((0.0, -gains.p, -gains.d)),
            forcelimited="true",
            forcerange=text_of((-efforts[name], efforts[name])),
        )


def _add_couplings(root: Element, profile: RobotProfile, config: SimulatorConfig) -> None:
    equality = ElementTree.SubElement(root, "equality")
    for coupling in profile.couplings:
        for follower in coupling.followers:
            ElementTree.SubElement(
                equality,
                "joint",
                name=f"{follower}_follows_{coupling.leader}",
                joint1=follower,
                joint2=coupling.leader,
                polycoef=text_of((coupling.offset, coupling.ratio, 0, 0, 0)),  # of the leader's angle
                solref=text_of(config.coupling_solref),
            )


def _add_exclusions(root: Element, bits: CollisionBits) -> None:
    contact = ElementTree.SubElement(root, "contact")
    bodies: Dict[str, List[str]] = {}  # of the shapes of each link
    for name in (str(body.get("name")) for body in root.iter("body")):
        bodies.setdefault(name.partition("/")[0], []).append(name)
    for one, other in bits.excluded:
        for body1, body2 in itertools.product(bodies[one], bodies[other]):
            ElementTree.SubElement(contact, "exclude", name=f"{body1}__{body2}", body1=body1, body2=body2)
