# SPDX-License-Identifier: MIT
"""Chains to test with, and three evaluations of their poses that share no code with the library: complex numbers, the
product of exponentials, and KDL.
"""

from __future__ import annotations

import math
import types

import numpy as np
from scipy.linalg import expm

from robot_mechanics import Joint, Mimic, SerialChain, compile_chain

# Corke and Armstrong-Helouvry, "A search for consensus among model parameters reported for the PUMA 560", ICRA 1994:
# alpha deg, a m, theta deg, d m, standard convention
PUMA = [
    (90, 0.0, 0, 0.0),
    (0, 0.4318, 0, 0.0),
    (-90, 0.0203, 0, 0.15005),
    (90, 0.0, 0, 0.4318),
    (-90, 0.0, 0, 0.0),
    (0, 0.0, 0, 0.0),
]
# Universal Robots, "DH parameters for calculations of kinematics and dynamics", UR5
UR5 = [
    (90, 0.0, 0, 0.089159),
    (0, -0.425, 0, 0.0),
    (0, -0.39225, 0, 0.0),
    (90, 0.0, 0, 0.10915),
    (-90, 0.0, 0, 0.09465),
    (0, 0.0, 0, 0.0823),
]
# A leg of a hexapod: alpha rad, a m, theta rad, d m
LEG = [(0, 0.066, 0, -0.029, "fixed"), (0, 0.12, 0, 0), (-math.pi / 2, 0.038, 0, -0.02425)]
LEG += [(0, 0.066, 0, 0.02425), (0, 0.122, 0, 0)]


def dh_chain(rows, name, convention="standard"):
    return SerialChain.from_dh(
        [(math.radians(alpha), a, math.radians(theta), d) for alpha, a, theta, d in rows],
        name=name,
        convention=convention,
    )


def random_pose(rng, length=0.5):
    T = np.eye(4)
    T[:3, :3] = expm(cross(rng.normal(size=3)))
    T[:3, 3] = rng.uniform(-length, length, 3)
    return T


def random_chain(rng, joints, mimics=0):
    """Any axes, any offsets before and behind, all three kinds; the first joint moves, `mimics` others follow."""
    kinds = [str(rng.choice(["revolute", "revolute", "prismatic", "fixed"])) for _ in range(joints)]
    kinds[0] = str(rng.choice(["revolute", "prismatic"]))
    moving = [i for i in range(joints) if kinds[i] != "fixed"]
    followers = {int(i) for i in rng.permutation(moving[1:])[:mimics]}
    made = []
    for i, kind in enumerate(kinds):
        mimic = None
        if i in followers:
            master = int(rng.choice([j for j in moving if j not in followers]))
            mimic = Mimic(f"j{master}", float(rng.uniform(-2, 2)), float(rng.uniform(-1, 1)))
        axis = rng.normal(size=3)
        made.append(Joint(f"j{i}", kind, random_pose(rng), axis, random_pose(rng), mimic=mimic))
    return SerialChain(made, name=f"random {joints}")


def random_chains(seed, count=24, mimics=0):
    rng = np.random.default_rng(seed)
    return [random_chain(rng, 1 + i % 12, mimics) for i in range(count)]


def known_chains():
    """Legs of a hexapod whose first joint is fixed or not, and two arms of the literature."""
    leg = SerialChain.from_dh(LEG, name="leg")
    fan = SerialChain.from_dh([(math.radians(60), 0.03, 0.0, 0.0), *LEG[:1], *LEG[2:]], name="fan and leg")
    return [leg, fan, dh_chain(PUMA, "puma"), dh_chain(UR5, "ur5")]


def cross(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def vee(K):
    return np.array([K[2, 1] - K[1, 2], K[0, 2] - K[2, 0], K[1, 0] - K[0, 1]]) / 2


def joint_positions(chain, q):
    """Position of every joint, followers by their own relation (masters own their coordinate)."""
    own = dict(zip(chain.joint_names, q))
    out = []
    for joint in chain.joints:
        if joint.kind == "fixed":
            out.append(0.0)
        elif joint.name in own:
            out.append(own[joint.name])
        else:
            out.append(joint.mimic.ratio * own[joint.mimic.joint] + joint.mimic.offset)
    return out


def complex_poses(chain, q):
    """Poses behind every joint by plain matrix products, for real or complex q."""
    T = np.eye(4, dtype=complex)
    poses = []
    for joint, value in zip(chain.joints, joint_positions(chain, q)):
        motion = np.eye(4, dtype=complex)
        if joint.kind == "revolute":
            K = cross(joint.axis)
            motion[:3, :3] += np.sin(value) * K + (1 - np.cos(value)) * K @ K
        elif joint.kind == "prismatic":
            motion[:3, 3] = joint.axis * value
        T = T @ joint.origin @ motion @ joint.after
        poses.append(T)
    return np.array(poses)


def complex_step_jacobian(chain, q, step=1e-30):
    """Aligned Jacobian, exact to rounding: no difference is formed."""
    tip = complex_poses(chain, q)[-1].real
    J = np.empty((6, chain.n))
    for i in range(chain.n):
        moved = np.array(q, dtype=complex)
        moved[i] += 1j * step
        slope = complex_poses(chain, moved)[-1].imag / step
        J[:3, i], J[3:, i] = slope[:3, 3], vee(slope[:3, :3] @ tip[:3, :3].T)
    return J


def product_of_exponentials(chain, q):
    """Lynch and Park, Modern Robotics, ch. 4: screws of the zero pose, matrix exponentials by scipy."""
    T, product = np.eye(4), np.eye(4)
    for joint, value in zip(chain.joints, joint_positions(chain, q)):
        T = T @ joint.origin
        axis, point = T[:3, :3] @ joint.axis, T[:3, 3]
        screw = np.zeros((4, 4))
        if joint.kind == "revolute":
            screw[:3, :3], screw[:3, 3] = cross(axis), -np.cross(axis, point)
        elif joint.kind == "prismatic":
            screw[:3, 3] = axis
        product = product @ expm(screw * value)
        T = T @ joint.after
    return product @ T


def kdl_chain(chain, kdl):
    """The same chain in KDL; its joints are all independent."""
    made = kdl.Chain()
    zero = kdl.Vector(0, 0, 0)
    for joint in chain.joints:
        made.addSegment(kdl.Segment(kdl.Joint(getattr(kdl.Joint, "Fixed", 8)), kdl_frame(joint.origin, kdl)))
        axis = kdl.Vector(*joint.axis)
        if joint.kind == "fixed":
            kind = kdl.Joint(getattr(kdl.Joint, "Fixed", 8))
        else:
            turns = joint.kind == "revolute"
            kind = kdl.Joint(joint.name, zero, axis, kdl.Joint.RotAxis if turns else kdl.Joint.TransAxis)
        made.addSegment(kdl.Segment(kind, kdl_frame(joint.after, kdl)))
    return made


def kdl_frame(T, kdl):
    return kdl.Frame(kdl.Rotation(*T[:3, :3].ravel()), kdl.Vector(*T[:3, 3]))


def kdl_array(q, kdl):
    out = kdl.JntArray(len(q))
    for i, value in enumerate(q):
        out[i] = value
    return out


def kdl_matrix(frame):
    return np.array([[frame[r, c] for c in range(4)] for r in range(3)] + [[0, 0, 0, 1]])


def kdl_jacobian(J):
    return np.array([[J[r, c] for c in range(J.columns())] for r in range(6)])


def plain(chain, name, options=None):
    """The generated function, run by the interpreter: the same source without waiting for the compiler."""
    return interpreted(compile_chain(chain, options).source(name), name)


def interpreted(text, name):
    """A function of a generated source; `stay_scalar` is an order to the compiler."""
    module = types.ModuleType("plain")
    exec(text, module.__dict__)
    module.stay_scalar = lambda: None
    return getattr(module, name)
