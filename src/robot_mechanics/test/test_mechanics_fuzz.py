# SPDX-License-Identifier: MIT
"""Broken descriptions, found by hypothesis: each is refused by an error of ours that names the culprit, or makes a
robot whose poses are finite. Nothing else may happen: no KeyError, no RecursionError, no NaN.
"""

from __future__ import annotations

import copy
import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numba
import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from robot_mechanics import (
    Joint,
    KinematicsError,
    KinematicTree,
    LimbSet,
    Mimic,
    SerialChain,
    load_model,
    load_urdf,
    model_names,
    model_path,
)
from robot_mechanics.errors import InvalidChainError, InvalidUrdfError, InvalidYamlError


def seeded(examples):
    """The same examples in every run; fewer where kernels are interpreted."""
    count = max(20, examples // 4) if numba.config.DISABLE_JIT else examples
    quiet = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(max_examples=count, derandomize=True, deadline=None, database=None, suppress_health_check=quiet)


SMALL = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="turn" type="continuous"><parent link="a"/><child link="b"/><origin xyz="1 0 0" rpy="0 0 1.5"/></joint>
<joint name="slide" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 0 2"/>
<limit lower="0" upper="0.1" velocity="1" effort="2"/><mimic joint="turn" multiplier="-2" offset="0.5"/></joint>
<joint name="hold" type="fixed"><parent link="b"/><child link="d"/><origin rpy="0.1 0 0"/></joint></robot>"""
NASTY = st.sampled_from(
    [
        "",
        " ",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "1e308",
        "-1e308",
        "1e-320",
        "0",
        "-1",
        "x",
        "0 0 0",
        "1 2",
        "1 2 3 4",
        "1e308 0 0",
    ]
    + [
        "nan 0 0",
        "1e-200 0 0",
        "a",
        "b",
        "c",
        "d",
        "turn",
        "slide",
        "hold",
        "\u0660",
        "1_0",
        "0x10",
        "é",
        "a" * 5000,
        "fixed",
        "revolute",
    ]
)


def usable(robot):
    """Poses, Jacobians and text of everything in it; all finite."""
    rng = np.random.default_rng(1)
    q = np.clip(rng.normal(size=robot.n), np.maximum(robot.lower, -10), np.minimum(robot.upper, 10))
    q = np.clip(q, robot.lower, robot.upper)
    q = np.clip(q, -1e9, 1e9)
    assert np.isfinite(robot.fk(q)).all() and str(robot) and hash(robot) == hash(robot)
    if isinstance(robot, KinematicTree):
        for tip in robot.tips[:4]:
            assert np.isfinite(robot.jacobian(tip, q)).all()
            if tip != robot.root:
                chain = robot.chain(robot.root, tip)
                assert np.isfinite(chain.fk(np.clip(np.zeros(chain.n), chain.lower, chain.upper))).all()
    else:
        assert np.isfinite(robot.jacobian(q)).all()


def load_or_refuse(text, names=None):
    try:
        tree = load_urdf(text)
    except InvalidUrdfError as error:
        assert str(error)
        if names is not None:
            assert any(name in str(error) for name in names if name), f"{error} names none of {names}"
        return False
    usable(tree)
    return True


@seeded(300)
@given(st.integers(0, len(SMALL)), st.integers(0, len(SMALL)), st.text(max_size=6))
def test_cut_and_stuffed_urdf(start, length, stuff):
    load_or_refuse(SMALL[:start])
    load_or_refuse(SMALL[:start] + stuff + SMALL[start + length % 40 :])


@seeded(400)
@given(st.data())
def test_mutated_attributes_are_named(data):
    root = ElementTree.fromstring(SMALL)
    joints = root.findall("joint")
    joint = data.draw(st.sampled_from(joints))
    element = data.draw(st.sampled_from(list(joint.iter())))
    key = data.draw(st.sampled_from([*element.attrib, "xyz", "rpy", "name", "type", "lower", "velocity", "multiplier"]))
    value = data.draw(st.one_of(NASTY, st.floats().map(repr), st.none()))
    before, name = element.get(key), joint.get("name")
    if value is None:
        element.attrib.pop(key, None)
    else:
        element.set(key, value)
    culprits = [
        name,
        joint.get("name"),
        value,
        before,
        joint.find("child").get("link"),
        "has no name",
        "root link",
        "loop",
    ]
    load_or_refuse(ElementTree.tostring(root, encoding="unicode"), culprits)


@seeded(300)
@given(
    st.lists(
        st.tuples(st.sampled_from(["drop", "double", "swap", "move"]), st.integers(0, 99), st.integers(0, 99)),
        max_size=5,
    )
)
def test_missing_doubled_and_exchanged_elements(changes):
    root = ElementTree.fromstring(SMALL)
    for change, i, j in changes:
        parents = [element for element in root.iter() if len(element)]
        if not parents:
            break
        parent = parents[i % len(parents)]
        child = parent[j % len(parent)]
        if change == "drop":
            parent.remove(child)
        elif change == "double":
            parent.append(copy.deepcopy(child))
        elif change == "swap":
            links = [element for element in root.iter() if element.get("link")]
            if len(links) > 1:
                a, b = links[i % len(links)], links[j % len(links)]
                a.attrib["link"], b.attrib["link"] = b.attrib["link"], a.attrib["link"]
        else:
            parent.remove(child)
            root.append(child)
    load_or_refuse(ElementTree.tostring(root, encoding="unicode"))


@seeded(200)
@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(st.integers(0, n), st.integers(0, n)), min_size=1, max_size=14)
        )
    )
)
def test_any_graph_of_links_is_a_tree_or_refused(graph):
    count, edges = graph
    links = "".join(f'<link name="l{i}"/>' for i in range(count + 1))
    joints = "".join(
        f'<joint name="j{k}" type="fixed"><parent link="l{a}"/><child link="l{b}"/></joint>'
        for k, (a, b) in enumerate(edges)
    )
    children = [b for _, b in edges]
    reached, front = {i for i in range(count + 1) if i not in children}, True
    is_tree = len(reached) == 1 and len(set(children)) == len(children)
    while front:
        front = {b for a, b in edges if a in reached and b not in reached}
        reached |= front
    is_tree = is_tree and len(reached) == count + 1
    assert load_or_refuse(f"<robot name='g'>{links}{joints}</robot>") == is_tree


def test_huge_descriptions():
    count = 20000
    links = "".join(f'<link name="l{i}"/>' for i in range(count + 1))
    joint = '<joint name="j{0}" type="fixed"><parent link="l{0}"/><child link="l{1}"/></joint>'
    tree = load_urdf(f"<robot name='long'>{links}{''.join(joint.format(i, i + 1) for i in range(count))}</robot>")
    assert len(tree.path("l0", f"l{count}")) == count
    with pytest.raises(InvalidUrdfError, match="more than 50000000 characters"):
        load_urdf("<robot>" + " " * 50_000_000)
    deep = "<a>" * 100_000
    with pytest.raises(InvalidUrdfError, match="well-formed"):
        load_urdf(deep)
    with pytest.raises(InvalidUrdfError, match="starts with <a>"):
        load_urdf(deep + "</a>" * 100_000)
    with pytest.raises(InvalidUrdfError, match=r"has 20001: l0, l1, .*, \.\.\."):
        load_urdf(f"<robot name='apart'>{links}</robot>")


def test_entities_do_not_blow_up():
    bomb = '<!DOCTYPE r [<!ENTITY a0 "xxxxxxxxxx">' + "".join(
        f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12)
    )
    with pytest.raises(InvalidUrdfError, match="well-formed|starts with|no <link>|type"):
        load_urdf(bomb + ']><robot name="r"><link name="&a11;"/></robot>')


# ------------------------------------------------------------------------------------------------ YAML
MODELS = {name: yaml.safe_load(Path(model_path(name)).read_text(encoding="utf-8")) for name in model_names()}
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(
        ["revolute", "fixed", "prismatic", "ball", "waist", "left", "stand", ".inf", 10**400, "1e400", {}, []]
    ),
    st.recursive(
        st.integers(-2, 2),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    ),
)


def places(value, path=()):
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def make_or_refuse(text):
    try:
        robot = load_model(text)
    except InvalidYamlError as error:
        assert len(str(error)) > 10
        return
    if isinstance(robot, LimbSet):
        u = np.clip(np.zeros(len(robot.drive_names)), robot.lower, robot.upper)
        assert np.isfinite(robot.fk(np.clip(robot.expand(u), -1e9, 1e9))).all() and str(robot)
    else:
        usable(robot)


@seeded(300)
@given(st.data())
def test_mutated_models(data):
    model = copy.deepcopy(MODELS[data.draw(st.sampled_from(sorted(MODELS)))])
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(sorted(places(model), key=str)))
        if not path:
            continue
        inside = model
        for key in path[:-1]:
            inside = inside[key]
        change = data.draw(st.sampled_from(["junk", "drop", "double", "rename"]))
        if change == "drop":
            del inside[path[-1]]
        elif change == "double" and isinstance(inside, list):
            inside.append(copy.deepcopy(inside[path[-1]]))
        elif change == "rename" and isinstance(inside, dict):
            inside[data.draw(st.text(max_size=4))] = inside.pop(path[-1])
        else:
            inside[path[-1]] = data.draw(JUNK)
    make_or_refuse(yaml.safe_dump(model, allow_unicode=True) + "\n")


@seeded(300)
@given(st.sampled_from(sorted(MODELS)), st.integers(0, 3000), st.integers(0, 30), st.text(max_size=5))
@example("ur5", 0, 0, "- ")
@example("ur5", 0, 0, "&a ")
def test_cut_and_stuffed_models(name, start, length, stuff):
    text = Path(model_path(name)).read_text(encoding="utf-8")
    start %= len(text)
    make_or_refuse(text[:start] + "\n")
    make_or_refuse(text[:start] + stuff + text[start + length :])


@seeded(200)
@given(st.text(max_size=60))
@example("? [a]\n: b\n")
@example("{[a]: b}\n")
@example("a: 2001-99-99\n")
@example("%TAG ! x\n")
@example("a: *b\n")
@example("<<: {name: x}\n")
@example("a: !!int x\n")
@example("9" * 5000 + ": 1\n")
def test_any_text_is_no_model(text):
    with pytest.raises(InvalidYamlError):
        load_model(text)


# ------------------------------------------------------------------------------------------------ tables and joints
ANY = st.one_of(
    st.none(), st.floats(), st.integers(), st.text(max_size=3), st.lists(st.floats(), max_size=3), st.just(10**400)
)


@seeded(300)
@given(
    st.lists(
        st.one_of(ANY, st.lists(ANY, max_size=7), st.dictionaries(st.text(max_size=5), ANY, max_size=4)), max_size=4
    )
)
def test_any_rows(rows):
    try:
        chain = SerialChain.from_dh(rows)
    except InvalidChainError as error:
        assert str(error)
        return
    usable(chain)


@seeded(300)
@given(
    st.dictionaries(
        st.sampled_from(["kind", "origin", "axis", "lower", "upper", "velocity", "effort", "mimic"]), ANY, max_size=3
    )
)
def test_any_joint(values):
    try:
        chain = SerialChain([Joint("j", **values)])
    except InvalidChainError as error:
        assert "'j'" in str(error)
        return
    usable(chain)


@seeded(200)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=5),
    st.lists(st.floats(0, 2), min_size=6, max_size=6),
)
def test_any_followers(follow, widths):
    mimics = {i + 1: Mimic(f"j{master}", ratio, offset) for i, (master, ratio, offset) in enumerate(follow)}
    try:
        chain = SerialChain([Joint(f"j{i}", lower=-w, upper=w, mimic=mimics.get(i)) for i, w in enumerate(widths)])
    except InvalidChainError as error:
        assert "'j" in str(error)
        return
    usable(chain)
    # at the ends of the coordinates every joint is within its own limits
    for ends in (chain.lower, chain.upper, (chain.lower + chain.upper) / 2):
        for joint, value in zip(chain.joints, chain.joint_values(ends)):
            assert joint.lower - 1e-9 <= value <= joint.upper + 1e-9


@seeded(200)
@given(st.one_of(ANY, st.lists(ANY, max_size=7), st.lists(st.lists(ANY, max_size=3), max_size=3)))
def test_any_coordinates(q):
    chain = SerialChain.from_yaml(model_path("ur5"))
    for call in (
        chain.fk,
        chain.jacobian,
        chain.hessian,
        lambda q: chain.jacobian_dot(np.zeros(6), q),
        chain.within_limits,
    ):
        try:
            result = call(q)
        except KinematicsError as error:
            assert "of chain 'ur5'" in str(error)
            continue
        assert np.isfinite(result).all() and len(q) == 6 and all(math.isfinite(float(x)) for x in q)


@seeded(200)
@given(
    st.one_of(ANY, st.lists(ANY, max_size=3), st.dictionaries(st.text(max_size=2), ANY, max_size=2)), st.integers(0, 5)
)
def test_anything_in_the_place_of_joints_limbs_and_names(thing, place):
    limbs = {"a": SerialChain([Joint("j")])}
    calls = [
        lambda: SerialChain(thing),
        lambda: KinematicTree(thing),
        lambda: KinematicTree([Joint("j", parent="a", child="b")], links=thing),
        lambda: LimbSet(thing),
        lambda: LimbSet(limbs, thing or {"d": thing}),
        lambda: SerialChain.from_dh([(0, 1)], names=thing),
    ]
    try:
        made = calls[place]()
    except InvalidChainError as error:
        assert any(word in str(error) for word in ("expected", "give ", "differ", "a tree has")), error
        return
    assert made == calls[place]()
