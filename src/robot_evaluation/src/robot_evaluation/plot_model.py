# SPDX-License-Identifier: MIT
"""Pictures of the robot that --model of scripts/plot names. Each returns a figure and a name for its file."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any, Tuple

import numpy as np

from robot_evaluation.errors import DefinitionError
from robot_evaluation.plot_canvas import new_figure
from robot_mechanics import SerialChain, joint_map, model_names, model_path, reach_cloud


def reach(arguments: argparse.Namespace) -> Tuple[Any, str]:
    """Draw what a sampled chain reaches."""
    from robot_evaluation import plot_chain

    chain = chain_of(arguments)
    cloud = reach_cloud(chain, arguments.samples, np.random.default_rng(arguments.seed))
    figure = new_figure((14.0, 5.0), arguments.show)
    figure.suptitle(f"Reach of {chain.name}, joints drawn evenly between their limits")
    plot_chain.draw_cloud(figure, cloud, 0.05 * float(np.ptp(cloud.bounds, axis=0).max()))
    return figure, f"reach_{chain.name}"


def singularity(arguments: argparse.Namespace) -> Tuple[Any, str]:
    """Draw over two joints where a chain is singular."""
    from robot_evaluation import plot_chain

    chain = chain_of(arguments)
    names = arguments.joints if arguments.joints is not None else list(chain.joint_names[1:3])
    if len(names) != 2:
        raise DefinitionError(f"chain '{chain.name}' has {chain.n} joints; name two that differ with --joints")
    whole = chain.n >= 6  # an arm that can choose its orientation is judged by all six coordinates
    length = 0.5 * float(np.linalg.norm(reach_cloud(chain, 500, np.random.default_rng(0)).p, axis=1).max())
    q = np.clip(np.full(chain.n, 0.5), chain.lower, chain.upper)
    found = joint_map(chain, (names[0], names[1]), q, 121, "pose" if whole else "position", length)
    figure = new_figure((12.0, 5.4), arguments.show)
    judged = f"all six coordinates, 1 rad as {1e3 * length:.0f} mm" if whole else "the position"
    figure.suptitle(f"Singularities of {chain.name}: {judged}; the other joints at 0.5 rad or m")
    plot_chain.draw_joint_map(figure, found, chain)
    return figure, f"singularity_{chain.name}"


def frames(arguments: argparse.Namespace) -> Tuple[Any, str]:
    """Draw the frames of a chain."""
    from robot_evaluation import plot_chain

    chain = chain_of(arguments)
    q = given_joints(arguments, chain) if arguments.q else np.zeros(chain.n)
    figure = new_figure((7.5, 7.0), arguments.show)
    figure.suptitle(f"Frames of {chain.name}, each behind the joint whose name it has")
    axes = figure.add_subplot(projection="3d")
    span = float(np.ptp(chain.frames(q)[:, :3, 3], axis=0).max()) or 1.0
    points = plot_chain.draw_frames(axes, chain, q, 0.08 * span)
    plot_chain.equal_box(axes, points, 100.0 * span)
    plot_chain.frame_legend(axes)
    return figure, f"frames_{chain.name}"


def chain_of(arguments: argparse.Namespace) -> SerialChain:
    """Return the chain of --model."""
    path: Path = arguments.model
    if not path.suffix and path.name in model_names():
        path = model_path(path.name)
    if not path.is_file():
        known = ", ".join(model_names())
        raise DefinitionError(
            f"--model {path} cannot be read: no such file; give a YAML model, a URDF, or one of {known}"
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DefinitionError(f"--model {path} cannot be read: {error}") from None
    if path.suffix.lower() in (".urdf", ".xml"):
        if arguments.base is None or arguments.tip is None:
            raise DefinitionError(f"--model {path} is a URDF: say which chain of it with --base LINK --tip LINK")
        return SerialChain.from_urdf(text, arguments.base, arguments.tip)
    if arguments.base is not None or arguments.tip is not None:
        raise DefinitionError(f"--model {path} is no URDF, so it says itself where it ends; leave --base and --tip out")
    return SerialChain.from_yaml(text)


def given_joints(arguments: argparse.Namespace, chain: SerialChain) -> np.ndarray:
    """Return --q in rad and m."""
    if len(arguments.q) != chain.n:
        raise DefinitionError(f"--q has {len(arguments.q)} values; {chain.name} has {chain.n}: {chain.joint_names}")
    moving = [joint for joint in chain.joints if joint.name in chain.joint_names]
    return np.array([1e-3 * v if j.kind == "prismatic" else math.radians(v) for v, j in zip(arguments.q, moving)])
