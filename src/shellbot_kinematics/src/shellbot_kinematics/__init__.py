# SPDX-License-Identifier: MIT
"""Shellbot's kinematics: closed forms of its limbs, and the solver that turns limb references into joint targets.

The general library that they stand on, with the errors that they raise, is `robot_mechanics`.
"""

from shellbot_kinematics.base_pose import BasePose, base_pose_from_feet, fit_pose
from shellbot_kinematics.floating_base import FloatingBaseResult, floating_base_inverse
from shellbot_kinematics.foot_batch import FootBatch, foot_batch
from shellbot_kinematics.free_fan_batch import foot_batch_free_fan
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
from shellbot_kinematics.workspace_legs import LegSet
from shellbot_kinematics.workspace_plane import LimbPlane
from shellbot_kinematics.workspace_reach import LimbReach, ReachSlice, limb_reach, reach_slice
from shellbot_kinematics.workspace_singularity import SingularityMap, singularity_map
from shellbot_kinematics.workspace_walk import StrokeEllipse, StrokeReach, Walkspace, stroke_reach, walkspace

__all__ = [
    "LIMBS",
    "SOLVERS",
    "BasePose",
    "FloatingBaseResult",
    "FootBatch",
    "Frame",
    "InverseResult",
    "JointTargets",
    "Kind",
    "LegBranch",
    "LegSet",
    "LimbPlane",
    "LimbReach",
    "LimbReference",
    "LimbReferences",
    "LimbReport",
    "PackedReferences",
    "ReachSlice",
    "ShellBranch",
    "ShellbotModel",
    "ShellbotSolver",
    "SingularityMap",
    "SolverConfig",
    "SphereBranch",
    "Status",
    "StrokeEllipse",
    "StrokeReach",
    "Walkspace",
    "base_pose_from_feet",
    "fit_pose",
    "floating_base_inverse",
    "foot_batch",
    "foot_batch_free_fan",
    "foot_branches",
    "limb_index",
    "limb_reach",
    "pack_references",
    "pack_upper",
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
