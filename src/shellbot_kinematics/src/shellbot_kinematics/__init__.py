# SPDX-License-Identifier: MIT
"""General kinematics of serial and parallel chains on numpy and numba, and the solver that turns limb references into
joint targets.
"""

from shellbot_kinematics.chain import SerialChain
from shellbot_kinematics.dh import DHRow
from shellbot_kinematics.errors import (
    InvalidChainError,
    InvalidConfigError,
    InvalidReferenceError,
    InvalidUrdfError,
    KinematicsError,
    ShapeError,
    UnknownNameError,
)
from shellbot_kinematics.joint import Joint, Mimic
from shellbot_kinematics.limb_inverse import LegBranch, foot_branches, solve_limb
from shellbot_kinematics.parallel import ParallelChain
from shellbot_kinematics.references import LIMBS, Frame, LimbReferences, limb_index
from shellbot_kinematics.reports import InverseResult, JointTargets, LimbReport, Status
from shellbot_kinematics.shellbot_model import ShellbotModel
from shellbot_kinematics.solver import ShellbotSolver
from shellbot_kinematics.solver_config import SOLVERS, SolverConfig
from shellbot_kinematics.urdf import RobotTree, load_urdf

__all__ = [
    "LIMBS",
    "SOLVERS",
    "DHRow",
    "Frame",
    "InvalidChainError",
    "InvalidConfigError",
    "InvalidReferenceError",
    "InvalidUrdfError",
    "InverseResult",
    "Joint",
    "JointTargets",
    "KinematicsError",
    "LegBranch",
    "LimbReferences",
    "LimbReport",
    "Mimic",
    "ParallelChain",
    "RobotTree",
    "SerialChain",
    "ShapeError",
    "ShellbotModel",
    "ShellbotSolver",
    "SolverConfig",
    "Status",
    "UnknownNameError",
    "foot_branches",
    "limb_index",
    "load_urdf",
    "solve_limb",
]
