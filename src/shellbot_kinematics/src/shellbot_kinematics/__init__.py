# SPDX-License-Identifier: MIT
"""General kinematics of serial and parallel chains on numpy and numba, and the solver that turns limb references into
joint targets.
"""

from shellbot_kinematics import _numba  # noqa: F401  says what to do if it is missing or too old
from shellbot_kinematics.base_pose import BasePose, base_pose_from_feet, fit_pose
from shellbot_kinematics.batch import BatchResult, inverse_batch
from shellbot_kinematics.chain import SerialChain
from shellbot_kinematics.compiled_chain import CompiledChain, compile_chain
from shellbot_kinematics.dh import DHRow
from shellbot_kinematics.errors import (
    InvalidChainError,
    InvalidConfigError,
    InvalidReferenceError,
    InvalidUrdfError,
    InvalidYamlError,
    KinematicsError,
    ShapeError,
    SingularPoseError,
    UnknownNameError,
)
from shellbot_kinematics.example_models import model_names, model_path
from shellbot_kinematics.floating_base import FloatingBaseResult, floating_base_inverse
from shellbot_kinematics.foot_batch import FootBatch, foot_batch
from shellbot_kinematics.free_fan_batch import foot_batch_free_fan
from shellbot_kinematics.generated.options import KernelOptions
from shellbot_kinematics.inverse import InverseKinematics
from shellbot_kinematics.inverse_config import Damping, IkResult, InverseConfig, NullSpaceTask
from shellbot_kinematics.joint import Joint, Mimic
from shellbot_kinematics.leg_geometry import pack_upper
from shellbot_kinematics.limb_inverse import (
    LegBranch,
    ShellBranch,
    foot_branches,
    shell_branches,
    shell_heights,
    shell_joints,
    solve_limb,
)
from shellbot_kinematics.packed_references import PackedReferences
from shellbot_kinematics.parallel import ParallelChain
from shellbot_kinematics.parallel_inverse import ParallelResult, parallel_inverse
from shellbot_kinematics.parameters import ChainParameters
from shellbot_kinematics.pose_inverse import solve_pose
from shellbot_kinematics.reference_packing import pack_references
from shellbot_kinematics.references import Kind, LimbReference, LimbReferences
from shellbot_kinematics.reports import InverseResult, JointTargets, LimbReport, Status
from shellbot_kinematics.shellbot_limbs import LIMBS, Frame, limb_index
from shellbot_kinematics.shellbot_model import ShellbotModel
from shellbot_kinematics.solver import ShellbotSolver
from shellbot_kinematics.solver_config import SOLVERS, SolverConfig
from shellbot_kinematics.sphere_inverse import (
    SphereBranch,
    solve_sphere,
    sphere_branches,
    sphere_coordinates,
    sphere_orientation,
)
from shellbot_kinematics.tree import KinematicTree
from shellbot_kinematics.urdf import RobotTree, load_urdf
from shellbot_kinematics.workspace_cloud import JointMap, ReachCloud, joint_map, reach_cloud
from shellbot_kinematics.workspace_legs import LegSet
from shellbot_kinematics.workspace_plane import LimbPlane
from shellbot_kinematics.workspace_reach import LimbReach, ReachSlice, limb_reach, reach_slice
from shellbot_kinematics.workspace_singularity import SingularityMap, singularity_map
from shellbot_kinematics.workspace_walk import StrokeEllipse, StrokeReach, Walkspace, stroke_reach, walkspace
from shellbot_kinematics.yaml_model import load_chain, load_model, load_parallel, load_tree

__all__ = [
    "LIMBS",
    "SOLVERS",
    "BasePose",
    "BatchResult",
    "ChainParameters",
    "CompiledChain",
    "DHRow",
    "Damping",
    "FloatingBaseResult",
    "FootBatch",
    "Frame",
    "IkResult",
    "InvalidChainError",
    "InvalidConfigError",
    "InvalidReferenceError",
    "InvalidUrdfError",
    "InvalidYamlError",
    "InverseConfig",
    "InverseKinematics",
    "InverseResult",
    "Joint",
    "JointMap",
    "JointTargets",
    "KernelOptions",
    "Kind",
    "KinematicTree",
    "KinematicsError",
    "LegBranch",
    "LegSet",
    "LimbPlane",
    "LimbReach",
    "LimbReference",
    "LimbReferences",
    "LimbReport",
    "Mimic",
    "NullSpaceTask",
    "PackedReferences",
    "ParallelChain",
    "ParallelResult",
    "ReachCloud",
    "ReachSlice",
    "RobotTree",
    "SerialChain",
    "ShapeError",
    "ShellBranch",
    "ShellbotModel",
    "ShellbotSolver",
    "SingularPoseError",
    "SingularityMap",
    "SolverConfig",
    "SphereBranch",
    "Status",
    "StrokeEllipse",
    "StrokeReach",
    "UnknownNameError",
    "Walkspace",
    "base_pose_from_feet",
    "compile_chain",
    "fit_pose",
    "floating_base_inverse",
    "foot_batch",
    "foot_batch_free_fan",
    "foot_branches",
    "inverse_batch",
    "joint_map",
    "limb_index",
    "limb_reach",
    "load_chain",
    "load_model",
    "load_parallel",
    "load_tree",
    "load_urdf",
    "model_names",
    "model_path",
    "pack_references",
    "pack_upper",
    "parallel_inverse",
    "reach_cloud",
    "reach_slice",
    "shell_branches",
    "shell_heights",
    "shell_joints",
    "singularity_map",
    "solve_limb",
    "solve_pose",
    "solve_sphere",
    "sphere_branches",
    "sphere_coordinates",
    "sphere_orientation",
    "stroke_reach",
    "walkspace",
]
