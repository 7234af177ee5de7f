# SPDX-License-Identifier: MIT
"""Random robots as URDF, with masses, friction, fixed joints, slides and joints that mimic others."""

from __future__ import annotations

import numpy as np


def random_urdf(rng, joints, mimics=True, slides=True):
    """Return the URDF of a random tree: every link has a possible inertia, drawn as a cloud of four masses."""
    kinds = rng.choice(["revolute", "revolute", "continuous", "prismatic", "fixed"], joints)
    if not slides:
        kinds[kinds == "prismatic"] = "revolute"
    kinds[0] = "revolute"
    links = [_link(rng, 0)]
    made = []
    for i in range(joints):
        parent = int(rng.integers(max(0, i - 3), i + 1))
        links.append(_link(rng, i + 1))
        xyz, rpy, axis = rng.uniform(-0.4, 0.4, 3), rng.uniform(-3.0, 3.0, 3), rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        inner = f'<parent link="l{parent}"/><child link="l{i + 1}"/><origin xyz="{_text(xyz)}" rpy="{_text(rpy)}"/>'
        if kinds[i] != "fixed":
            inner += f'<axis xyz="{_text(axis)}"/><limit lower="-9" upper="9" effort="9" velocity="9"/>'
            masters = [k for k in range(i) if kinds[k] != "fixed" and "mimic" not in made[k]]
            if mimics and masters and rng.random() < 0.25:
                ratio, offset = rng.uniform(-2.0, 2.0), rng.uniform(-1.0, 1.0)
                inner += (
                    f'<mimic joint="j{rng.choice(masters)}" multiplier="{float(ratio)!r}" offset="{float(offset)!r}"/>'
                )
        made.append(f'<joint name="j{i}" type="{kinds[i]}">{inner}</joint>')
    return f'<robot name="random{joints}">{"".join(links)}{"".join(made)}</robot>'


def _link(rng, i):
    masses, points = rng.uniform(0.05, 0.5, 4), rng.uniform(-0.2, 0.2, (4, 3))
    com = masses @ points / masses.sum()
    r = points - com
    tensor = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, r)) + 1e-4 * np.eye(3)
    six = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), tensor[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]])
    inertia = " ".join(f'{key}="{float(value)!r}"' for key, value in six)
    return (
        f'<link name="l{i}"><inertial><origin xyz="{_text(com)}"/><mass value="{float(masses.sum())!r}"/>'
        f"<inertia {inertia}/></inertial></link>"
    )


def _text(values):
    return " ".join(repr(float(x)) for x in values)


def random_state(model, rng):
    """Return q, v, a of a model."""
    q = np.zeros(model.nq)
    if model.floating:
        q[:3], q[3:7] = rng.normal(size=3), rng.normal(size=4)
        q[3:7] /= np.linalg.norm(q[3:7])
    q[model.nq - model.n :] = rng.uniform(-2.0, 2.0, model.n)
    return q, rng.normal(size=model.nv), rng.normal(size=model.nv)
