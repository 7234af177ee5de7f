# SPDX-License-Identifier: MIT
"""MuJoCo reads the URDF as it is; named poses are free of collisions under the exclusions."""

from __future__ import annotations

import pytest

from shellbot_description import VARIANTS, collision_exclusions, expand, named_pose, package_path

mujoco = pytest.importorskip(
    "mujoco", minversion="3.3", reason="the embedded simulator's engine; before 3.3 MjSpec reads no text"
)


def contacts(variant, poses, gap=0.0):
    """Return, per pose, the penetrations (m) of pairs of links, deeper than nothing."""
    text = expand(variant, "mujoco", mesh_uri=str(package_path() / "meshes"))
    options = '<robot name="shellbot"><mujoco><compiler fusestatic="false" strippath="false"/></mujoco>'
    spec = mujoco.MjSpec.from_string(text.replace('<robot name="shellbot">', options))
    for pair in collision_exclusions(variant):
        first, second = sorted(pair)
        spec.add_exclude(bodyname1=first, bodyname2=second)
    model = spec.compile()
    model.geom_margin[:] = gap / 2
    result = {}
    for name in poses:
        data = mujoco.MjData(model)
        for joint, angle in named_pose(name, variant).items():
            data.qpos[model.joint(joint).qposadr[0]] = angle
        mujoco.mj_forward(model, data)
        result[name] = {
            tuple(sorted(model.body(model.geom(geom).bodyid[0]).name for geom in contact.geom)): contact.dist
            for contact in data.contact
        }
    return model, result


@pytest.mark.parametrize("variant", VARIANTS)
def test_poses_are_free_of_collisions(variant):
    """Mass, joints and meshes arrive; no two links touch in any named pose, also not in the closed ball."""
    model, found = contacts(variant, ("spawn", "sit", "stand", "closed"))
    assert abs(model.body_mass.sum() - (2.96 if variant == "walker" else 3.8)) < 1e-9
    assert model.njnt == (24 if variant == "walker" else 36)
    assert found == {"spawn": {}, "sit": {}, "stand": {}, "closed": {}}


def test_closed_ball_is_tight():
    """The stops stand close behind the gores: with 3 mm of margin each gore touches the rim."""
    _, found = contacts("simulation", ("closed",), gap=3e-3)
    rim = {pair for pair in found["closed"] if "chassis" in pair and any("gore" in link for link in pair)}
    assert len(rim) == 12
