# SPDX-License-Identifier: MIT
"""docs/ros_interface.md names every topic and service of the nodes, and a package's README their private parameters."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "ros_interface.md").read_text(encoding="utf-8")
SIDE = {"publisher": 0, "subscriber": 1, "service": 0, "serviceproxy": None}  # of the arrow, on which a node stands
# The nodes of the packages that move a robot; what the others are called says less than their package.
NODES = {
    "arm_control": {"arm_motion"},
    "humanoid_motion": {"walk"},
    "shellbot_action_manager": {"action_manager", "odometry", "markers", "transform_and_roll"},
    "shellbot_kinematics": {"kinematics"},
    "snake_motion": {"snake_motion"},
}


def pattern(argument, constants):
    """The regular expression of a name in the code; None if no part of it is a literal."""
    parts = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if isinstance(argument, ast.Name) and argument.id in constants:
        return re.escape(constants[argument.id])
    if not "".join(texts).strip("~/"):
        return None
    found = "".join(re.escape(part.value) if isinstance(part, ast.Constant) else ".+" for part in parts)
    return re.sub("^~", ".+/", found.replace("\\~", "~"))


def used():
    """Yield where a node has a topic or service, with its package, the call and the name's pattern."""
    for file in sorted(ROOT.glob("src/*/src/**/*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        constants = {
            node.targets[0].id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        }
        for node in ast.walk(tree):
            kind = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
            name = pattern(node.args[0], constants) if kind.lower() in SIDE and node.args else None
            if name:
                yield (
                    f"{file.relative_to(ROOT)}:{node.lineno}",
                    file.relative_to(ROOT / "src").parts[0],
                    kind.lower(),
                    name,
                )


def rows():
    """Each name of the page's tables of topics, services and actions, with its column of nodes."""
    found = {}
    for title in ("Topics", "Services", "Actions"):
        table = re.search(rf"^## {title}\n\n(\|.*?)\n\n", PAGE, re.M | re.S).group(1)
        for row in table.splitlines()[2:]:
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            for name in re.findall(r"`([^`]+)`", cells[0]):
                found[name] = cells[2]
            if title == "Actions":
                found.update({f"{name}/{end}": "" for end in ("goal", "feedback", "result", "cancel")})
    return found


def missing(calls, table):
    for where, package, kind, name in calls:
        nodes = [column for known, column in table.items() if re.fullmatch(name, known)]
        if not nodes:
            yield f"{where}: the page has no {name}"
        elif SIDE[kind] is not None and package in NODES and nodes[0]:
            side = nodes[0].split("→")[min(SIDE[kind], nodes[0].count("→"))]
            if not (NODES[package] | {"all", "anyone", "nodes"}) & set(re.findall(r"\w+", side)):
                yield f"{where}: the row of {name} names {side.strip()}, not {' or '.join(sorted(NODES[package]))}"


def test_the_page_names_every_topic_and_service_and_who_has_it():
    calls = list(used())
    assert len(calls) > 150, "nodes set their topics up in another style now"
    lost = list(missing(calls, rows()))
    assert not lost, "\n".join(lost)


def private_parameters():
    """Yield where a node reads a private parameter by its name, with its package and the name."""
    for file in sorted(ROOT.glob("src/*/src/**/*.py")):
        for line, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for name in re.findall(r'(?:get|has)_param\("~(\w+)"', text):
                yield f"{file.relative_to(ROOT)}:{line}", file.relative_to(ROOT / "src").parts[0], name


def undocumented(parameters, readme_of):
    for where, package, name in parameters:
        if not re.search(rf"~{name}\b", readme_of(package)):
            yield f"{where}: the README of {package} has no ~{name}"


def test_the_readmes_have_every_private_parameter():
    parameters = list(private_parameters())
    assert len(parameters) > 30, "nodes read their parameters in another style now"
    lost = list(undocumented(parameters, lambda package: (ROOT / "src" / package / "README.md").read_text("utf-8")))
    assert not lost, "\n".join(lost)


def test_a_parameter_without_a_row_is_found():
    found = undocumented([("a.py:1", "a", "gait"), ("a.py:2", "a", "gaits")], lambda package: "| `~gaits` | |")
    assert list(found) == ["a.py:1: the README of a has no ~gait"]
