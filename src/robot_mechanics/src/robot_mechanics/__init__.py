# SPDX-License-Identifier: MIT
"""Mechanics of any robot on numpy and numba: models, kinematics, trajectories. No ROS, and no particular robot.

The errors are in `robot_mechanics.errors`, curves and time laws in `robot_mechanics.trajectories`.
"""

from robot_mechanics.native import required_numba  # noqa: F401, I001  first: says what to do if it is missing or too old
from robot_mechanics.codegen.compiled_chain import compile_chain
from robot_mechanics.codegen.options import KernelOptions
from robot_mechanics.errors import KinematicsError
from robot_mechanics.inverse.batch import BatchResult, inverse_batch
from robot_mechanics.inverse.config import Damping, IkResult, InverseConfig, NullSpaceTask
from robot_mechanics.inverse.limbs import LimbsResult, inverse_limbs
from robot_mechanics.inverse.solver import InverseKinematics
from robot_mechanics.models.chain import SerialChain
from robot_mechanics.models.dh import DHRow
from robot_mechanics.models.example_models import model_names, model_path
from robot_mechanics.models.joint import Joint, Mimic
from robot_mechanics.models.limbs import LimbSet
from robot_mechanics.models.tree import KinematicTree
from robot_mechanics.models.urdf import load_urdf
from robot_mechanics.models.yaml_model import load_chain, load_limbs, load_model, load_tree
from robot_mechanics.workspace.cloud import JointMap, ReachCloud, joint_map, reach_cloud
from robot_mechanics.workspace.poses import forward_batch, jacobian_batch

__all__ = [
    "BatchResult",
    "DHRow",
    "Damping",
    "IkResult",
    "InverseConfig",
    "InverseKinematics",
    "Joint",
    "JointMap",
    "KernelOptions",
    "KinematicTree",
    "KinematicsError",
    "LimbSet",
    "LimbsResult",
    "Mimic",
    "NullSpaceTask",
    "ReachCloud",
    "SerialChain",
    "compile_chain",
    "forward_batch",
    "inverse_batch",
    "inverse_limbs",
    "jacobian_batch",
    "joint_map",
    "load_chain",
    "load_limbs",
    "load_model",
    "load_tree",
    "load_urdf",
    "model_names",
    "model_path",
    "reach_cloud",
]
