# SPDX-License-Identifier: MIT
"""Building a model from a URDF: what is refused, and what the model holds."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
import pytest
import tiny_robot

import shellbot_description
from shellbot_simulator.core import collision_bits as collision_bits_module
from shellbot_simulator.core.collision_bits import collision_bits
from shellbot_simulator.core.config import SimulatorConfig
from shellbot_simulator.core.errors import ModelError
from shellbot_simulator.core.model_builder import build_model
from shellbot_simulator.core.paths import resolve_uri
from shellbot_simulator.core.shape_points import shape_points
from shellbot_simulator.core.simulator import Simulator
from shellbot_simulator.core.urdf_tree import link_bodies


def build(text: str = tiny_robot.URDF, **profile) -> mujoco.MjModel:
    return build_model(text, tiny_robot.profile(**profile), SimulatorConfig())


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("<robot", "<robot <", "is not XML"),
        (
            'name="left" type="revolute"',
            'name="left" type="prismatic"',
            "left is 'prismatic'; the .* drives revolute and cont",
        ),
        ('name="left" type="revolute"', 'name="left" type="fixed"', "missing joints \\['left'\\]"),
        ('effort="1.5"', 'effort="0"', "effort 0.0 N m; it must be > 0"),
        ('<link name="base_link"/>', '<link name="base_link"/><link name="lost"/>', "2 root links"),
        ('<box size="0.3 0.3 0.1"/>', '<mesh filename="/none.stl"/>', "'/none.stl' not found"),
        ('izz="5e-5"', 'izz="5"', "MuJoCo cannot"),  # no body can have such an inertia
    ],
)
def test_unusable_description_is_refused_in_words(old, new, says):
    assert old in tiny_robot.URDF
    with pytest.raises(ModelError, match=says):
        build(tiny_robot.URDF.replace(old, new))


def test_model_holds_masses_limits_and_damping_of_the_urdf():
    model = build()
    assert model.body_mass.sum() == pytest.approx(20.1)
    assert model.jnt_range[1:] == pytest.approx(np.array([[-1.5, 1.5]] * 2))
    assert model.actuator_forcerange == pytest.approx(np.array([[-1.5, 1.5]] * 2))
    assert np.ravel(model.dof_damping[6:])[0] == pytest.approx(0.2427)
    assert model.dof_armature[6:] == pytest.approx([0.006, 0.006])


TURNED = (
    tiny_robot.URDF.replace(
        '<origin xyz="0.05 0 0"/>\n  <inertia', '<origin xyz="0.05 0.01 0" rpy="0.3 -0.4 1.2"/>\n  <inertia'
    )
    .replace(
        '<origin xyz="0.05 0 0"/>\n  <axis xyz="0 0 1"/>',
        '<origin xyz="0.05 0 0.1" rpy="0.5 0.7 -0.9"/>\n  <axis xyz="0.6 0 0.8"/>',
    )
    .replace("<collision><geometry>", '<collision><origin xyz="0 0.01 0.02" rpy="0.1 0.2 0.3"/><geometry>')
)


@pytest.mark.parametrize("text", [TURNED, shellbot_description.expand("simulation")], ids=["turned", "shellbot"])
def test_bodies_are_those_of_mujocos_own_urdf_reader(text):
    """Positions, orientations, masses and inertias of all links in random poses; the same for all shapes."""
    robot = ElementTree.fromstring(text)
    for mesh in robot.iter("mesh"):
        mesh.set("filename", str(resolve_uri(mesh.get("filename"))))
    compiler = ElementTree.SubElement(ElementTree.SubElement(robot, "mujoco"), "compiler")
    compiler.attrib.update(fusestatic="false", discardvisual="false", strippath="false")
    theirs = mujoco.MjModel.from_xml_string(ElementTree.tostring(robot, encoding="unicode"))
    profile = tiny_robot.profile() if text is TURNED else shellbot_description.robot_profile("simulation")
    ours = build_model(text, profile, SimulatorConfig())
    data, their_data = mujoco.MjData(ours), mujoco.MjData(theirs)
    rng = np.random.default_rng(0)
    for name in profile.joint_names:
        data.joint(name).qpos[:] = their_data.joint(name).qpos[:] = rng.uniform(-1.5, 1.5)
    for model, values in ((ours, data), (theirs, their_data)):
        mujoco.mj_kinematics(model, values)
        mujoco.mj_comPos(model, values)
    origin = "chassis" if text is TURNED else "base_link"  # where the base is does not matter
    start, their_start = data.body(origin), their_data.body(origin)
    for link in (link.get("name") for link in robot.findall("link")):
        if link == "base_link":
            continue
        body, their_body = data.body(link), their_data.body(link)
        for place in ("xpos", "xipos"):
            offset = getattr(body, place) - start.xpos
            their_offset = getattr(their_body, place) - their_start.xpos
            assert offset == pytest.approx(their_offset, abs=1e-9), link
        assert body.xmat == pytest.approx(their_body.xmat, abs=1e-9), link
        assert ours.body(link).mass == pytest.approx(theirs.body(link).mass)
        if mujoco.__version__ != "3.2.3":  # that reader turns an inertia with rpy the wrong way
            assert _tensor(ours, data, link) == pytest.approx(_tensor(theirs, their_data, link), abs=1e-12), link
    mine = [g for g in range(ours.ngeom) if ours.geom_bodyid[g] > 0]
    assert len(mine) == theirs.ngeom
    for geom, their_geom in zip(mine, range(theirs.ngeom)):
        offset = data.geom_xpos[geom] - start.xpos
        assert offset == pytest.approx(their_data.geom_xpos[their_geom] - their_start.xpos, abs=1e-7)
        assert ours.geom_size[geom] == pytest.approx(theirs.geom_size[their_geom])
        visual = ours.geom_group[geom] == 2
        assert visual == (theirs.geom_contype[their_geom] == 0)


def _tensor(model: mujoco.MjModel, data: mujoco.MjData, link: str) -> np.ndarray:
    axes = data.body(link).ximat.reshape(3, 3)
    return axes @ np.diag(model.body(link).inertia) @ axes.T


def test_visual_shapes_do_not_collide_and_exclusions_are_taken():
    ball = '<collision><geometry><sphere radius="0.01"/></geometry></collision>'
    model = build(
        tiny_robot.URDF.replace("</inertial></link>", f"</inertial>{ball}</link>"),
        collision_exclusions=[["left_link", "right_link"], ["left_link", "left_link"]],
        variant="as it is",  # what a variant lacks is no typing error
    )
    visual = model.geom_group == 2
    assert visual.sum() == 1 and not model.geom_contype[visual].any()
    may = _may_collide(model)
    assert not may["left_link", "right_link"] and may["chassis", "left_link"] and may["chassis", "right_link"]
    assert may["world", "left_link"]


def _may_collide(model):
    """Whether two bodies are tested against each other, by their names in both orders."""
    may = {}
    for one in range(model.nbody):
        for other in range(model.nbody):
            bits = [(model.geom_contype[g], model.geom_conaffinity[g]) for g in _geoms(model, one)]
            others = [(model.geom_contype[g], model.geom_conaffinity[g]) for g in _geoms(model, other)]
            meet = any(a & d or c & b for a, b in bits for c, d in others)
            may[model.body(one).name, model.body(other).name] = meet
    return may


def _geoms(model, body):
    return np.flatnonzero(link_bodies(model) == body)


def test_exactly_the_excluded_pairs_of_shellbot_are_left_out():
    """In bits, as MuJoCo walks a list of pairs from its start for each pair of bodies that come near each other."""
    profile = shellbot_description.robot_profile("simulation")
    model = build_model(shellbot_description.expand("simulation"), profile, SimulatorConfig())
    solid = [model.body(b).name for b in range(1, model.nbody) if (model.geom_group[_geoms(model, b)] == 3).any()]
    excluded, may = profile.excluded_pairs(solid), _may_collide(model)
    assert model.nexclude == 0 and len(excluded) > 100
    for one in solid:
        assert may["world", one] and may[one, "world"]
        for other in set(solid) - {one}:
            assert may[one, other] == (frozenset((one, other)) not in excluded), (one, other)


def test_a_link_with_its_shapes_in_bodies_of_their_own_is_as_soft_as_in_one():
    model = build_model(
        shellbot_description.expand("simulation"), shellbot_description.robot_profile("simulation"), SimulatorConfig()
    )
    shapes = np.flatnonzero(model.geom_group == 3)
    own, link = model.geom_bodyid[shapes], link_bodies(model)[shapes]
    assert len(shapes) > 100 and not (own == link).any()
    assert model.body_invweight0[own] == pytest.approx(model.body_invweight0[link])
    assert not model.body_mass[own].any() and not model.body_pos[own].any()


def test_a_robot_with_more_classes_of_links_than_bits_keeps_its_list_of_pairs(monkeypatch):
    links = [f"link_{k}" for k in range(40)]
    pairs = {frozenset((links[0], links[k])) for k in range(1, 33)}
    few = collision_bits(links[:9], {pair for pair in pairs if pair <= set(links[:9])})
    assert not few.excluded and all(few.of_link[links[1]][0] & few.of_link[other][1] for other in links[2:9])
    assert not few.of_link[links[0]][0] & few.of_link[links[1]][1]
    many = collision_bits(links, pairs)
    assert set(map(frozenset, many.excluded)) == pairs and set(many.of_link.values()) == {(1, 1)}
    text, profile = shellbot_description.expand("simulation"), shellbot_description.robot_profile("simulation")
    rng, states, found = np.random.default_rng(0), [], []
    for bits in (collision_bits_module.ALL_BITS, 1):
        monkeypatch.setattr(collision_bits_module, "ALL_BITS", bits)
        model = build_model(text, profile, SimulatorConfig())
        data = mujoco.MjData(model)
        states = states or list(rng.uniform(model.jnt_range[1:, 0], model.jnt_range[1:, 1], (10, model.njnt - 1)))
        found.append([])
        for data.qpos[7:] in states:
            mujoco.mj_fwdPosition(model, data)
            found[-1].append(sorted(map(tuple, data.contact.geom.tolist())))
    assert model.nexclude > 500 and any(found[0]) and found[0] == found[1]


def test_without_self_collision_the_ground_still_carries():
    model = build_model(tiny_robot.URDF, tiny_robot.profile(), SimulatorConfig(self_collision=False))
    robot, floor = model.geom_group == 3, model.geom("floor").id
    assert not (model.geom_contype[robot] & model.geom_conaffinity[robot]).any()
    assert (model.geom_contype[robot] & model.geom_conaffinity[floor]).all()


def test_coupled_joints_move_as_one():
    simulator = Simulator(tiny_robot.URDF, tiny_robot.profile(couplings=[{"leader": "left", "followers": ["right"]}]))
    simulator.data.qfrc_applied[6] = -1.0  # on the left joint alone
    simulator.command([0.5, 0.5])
    for _ in range(100):
        simulator.step_tick()
        assert abs(np.diff(simulator.state().q)[0]) < 0.01
    assert simulator.state().q[1] == pytest.approx(0.5 - 1.0 / (2 * 18.5), abs=2e-3)


def test_a_pose_beyond_the_limits_is_named():
    poses = {"zero": {"arm_deg": 0.0}, "far": {"arm_deg": 0.0, "right_deg": 200.0}}
    with pytest.raises(ModelError, match="pose 'far' of the profile has right at 200.00 deg; its limits in the robot"):
        Simulator(tiny_robot.URDF, tiny_robot.profile(poses=poses))


def test_a_follower_may_turn_the_other_way_from_another_zero():
    coupling = {"leader": "left", "followers": ["right"], "ratio": -0.5, "offset": 0.2}
    poses = {"zero": {"arm_deg": 0.0, "right_deg": np.degrees(0.2)}}
    simulator = Simulator(tiny_robot.URDF, tiny_robot.profile(couplings=[coupling], poses=poses))
    simulator.reset([0.0, 0.2])
    simulator.command([0.8, -0.2])
    for _ in range(200):
        simulator.step_tick()
    left, right = simulator.state().q
    assert (left, right) == (pytest.approx(0.8, abs=0.02), pytest.approx(0.2 - 0.5 * left, abs=2e-3))
    left, right = simulator.reset([0.0, 0.2], seed=1).q
    assert left != 0.0 and right == pytest.approx(0.2 - 0.5 * left)


@pytest.mark.parametrize(
    ("kind", "size", "lowest"),
    [
        ("BOX", [0.1, 0.1, 0.05], 0.1 * np.sin(0.3) + 0.05 * np.cos(0.3)),
        ("SPHERE", [0.07, 0, 0], 0.07),
        ("CAPSULE", [0.05, 0.1, 0], 0.05 + 0.1 * np.cos(0.3)),
        ("CYLINDER", [0.05, 0.1, 0], 0.05 * np.sin(0.3) + 0.1 * np.cos(0.3)),
    ],
)
def test_lowest_point_of_a_shape_turned_about_x(kind, size, lowest):
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(quat=[np.cos(0.15), np.sin(0.15), 0, 0], pos=[0, 0, 0.5])
    body.add_geom(type=getattr(mujoco.mjtGeom, f"mjGEOM_{kind}"), size=size)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    assert shape_points(model, [0]).heights(data).min() == pytest.approx(0.5 - lowest, abs=3e-4)


_CHAIN = (
    """<robot name="chain"><link name="base_link">{body}</link>
<joint name="eye" type="fixed"><parent link="base_link"/><child link="imu_link"/><origin xyz="0.1 0 0.02" rpy="0 0 1"/>
  </joint><link name="imu_link"/>
"""
    + "".join(
        f"""<joint name="joint_{k}" type="revolute"><parent link="{"base_link" if k == 1 else f"link_{k - 1}"}"/>
  <child link="link_{k}"/><origin xyz="-0.1 {0.01 * k} 0.02" rpy="0.3 {0.2 * k} -0.5"/><axis xyz="0.6 0 0.8"/>
  <limit lower="-1.0" upper="1.2" effort="1.5" velocity="6"/><dynamics damping="0.2"/></joint>
<link name="link_{k}">{{body}}</link>
"""
        for k in range(1, 6)
    )
    + "</robot>"
)
_BODY = """<inertial><mass value="0.1"/><origin xyz="-0.05 0 0.01"/>
  <inertia ixx="5e-5" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="-0.05 0 0"/><geometry><box size="0.09 0.05 0.05"/></geometry></collision>"""


def test_chain_moves_the_same_from_either_root():
    names = [f"joint_{k}" for k in range(1, 6)]
    profile = tiny_robot.profile(
        joints=dict.fromkeys(names, "arm"), classes={"arm": {"stiffness": 5.0, "armature": 0.006}},
        base={"kind": "free", "spawn_pose": "zero", "position": (0.3, -0.2, 0.5), "rpy_deg": (10.0, 20.0, 30.0)},
        collision_exclusions=(("base_link", "link_1"), *((f"link_{k}", f"link_{k + 1}") for k in range(1, 5))),
        imu="imu_link",
    )  # fmt: skip
    robots = [
        Simulator(_CHAIN.format(body=_BODY), profile, SimulatorConfig(root=root, timestep=0.0002))
        for root in ("base", "middle")
    ]
    assert [robot.model.body(1).name for robot in robots] == ["base_link", "link_2"]
    states = []
    for robot in robots:
        robot.reset([0.1, -0.4, 0.8, 0.2, 1.1])  # 0.5 m above the floor
        robot.command([0.5, 0.3, -0.6, 0.0, 1.9])  # the last beyond its limit
        for _ in range(5):
            robot.step_tick()
        states.append(robot.state())
    one, other = states
    assert np.linalg.norm(one.v_base) > 0.5 and np.linalg.norm(one.w_base) > 5.0
    for name in ("q", "dq", "effort", "p_world_base", "quat_world_base", "v_base", "w_base"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), abs=5e-3), name  # errors of a step
    assert other.imu.orientation == pytest.approx(one.imu.orientation, abs=1e-4)
    robots[1].reset()
    robots[1].show(one)
    assert robots[1].state().p_world_base == pytest.approx(one.p_world_base, abs=1e-9)
    assert robots[1].state().quat_world_base == pytest.approx(one.quat_world_base, abs=1e-9)
