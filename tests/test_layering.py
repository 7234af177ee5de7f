# SPDX-License-Identifier: MIT
"""The import rules of docs/architecture.md, read from the syntax trees."""

from __future__ import annotations

import ast
import functools
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROS = {
    "rospy",
    "rosbag",
    "roslib",
    "rosgraph",
    "rostopic",
    "rosnode",
    "rospkg",
    "roslaunch",
    "rosparam",
    "rosservice",
    "tf",
    "tf2_ros",
    "tf2_msgs",
    "actionlib",
    "dynamic_reconfigure",
    "diagnostic_updater",
    "message_filters",
}
# Python packages by the folder of src/ that holds them, where their names differ
IN_FOLDER = {"ax_emulator": "ax_bus", "ax_tools": "ax_bus"}
OWN = {
    "ax_bus": set(),
    "ax_emulator": {"ax_bus"},
    "ax_tools": {"ax_bus", "ax_emulator"},
    "robot_mechanics": set(),
    "shellbot_common": set(),
    "shellbot_description": {"shellbot_common"},
    "shellbot_kinematics": {"shellbot_common", "robot_mechanics"},
    "shellbot_control": {"shellbot_common"},
    "shellbot_action_manager": {
        "shellbot_common",
        "shellbot_description",
        "shellbot_kinematics",
        "shellbot_control",
        "shellbot_simulator",
        "robot_mechanics",
    },
    "shellbot_simulator": {"shellbot_common", "shellbot_control"},
    "shellbot_gazebo_connector": {"shellbot_common", "shellbot_control", "robot_mechanics"},
    "shellbot_motor_driver": {
        "shellbot_common",
        "shellbot_description",
        "shellbot_control",
        "ax_bus",
        "ax_emulator",
        "ax_tools",
    },
    "shellbot_teleop": {"shellbot_common", "shellbot_simulator"},
    "robot_evaluation": {"shellbot_common", "shellbot_control", "shellbot_simulator", "robot_mechanics"},
}
OWN["shellbot_chain"] = set(OWN) - {"shellbot_teleop", "shellbot_gazebo_connector", "ax_tools"}
OWN["shellbot_client"] = {
    "robot_evaluation",
    "robot_mechanics",
    "shellbot_common",
    "shellbot_action_manager",
    "shellbot_chain",
}
OWN["shellbot_evaluation"] = OWN["shellbot_chain"] | {"shellbot_chain", "shellbot_client", "ax_tools"}
OWN["shellbot_benchmarks"] = OWN["shellbot_evaluation"] | {"shellbot_evaluation", "shellbot_teleop"}
# Other robots stand on the general packages alone.
OWN["arm_control"] = {"robot_mechanics", "shellbot_common", "shellbot_control"}
OWN["snake_description"] = {"shellbot_common", "shellbot_control"}
OWN["snake_motion"] = {"robot_mechanics", "shellbot_common", "shellbot_control"}
OWN["snake_evaluation"] = OWN["snake_description"] | {
    "snake_description",
    "snake_motion",
    "shellbot_simulator",
    "robot_evaluation",
    "shellbot_chain",  # of it only the robot on emulated servos, which is of no robot
}
# the humanoid: on the general packages, and on nothing of Shellbot's
OWN["humanoid_description"] = {"shellbot_common"}
OWN["humanoid_motion"] = {"robot_mechanics", "shellbot_common", "shellbot_control"}
OWN["humanoid_evaluation"] = {"humanoid_description", "humanoid_motion", "shellbot_common"}
OWN["humanoid_evaluation"] |= {"robot_evaluation", "shellbot_simulator"}

# Of no robot: they take URDF, profile and messages. Each other package is of the robot whose name it begins with.
GENERAL = {
    "ax_bus",
    "robot_evaluation",
    "robot_mechanics",
    "shellbot",
    "shellbot_common",
    "shellbot_control",
    "shellbot_gazebo_connector",
    "shellbot_msgs",
    "shellbot_simulator",
    "shellbot_teleop",
}
OTHER_ROBOTS = ("arm", "humanoid", "snake")
# What other robots use of Shellbot's packages is for any robot (`DrivenRobot`), and stands beside what is Shellbot's.
OF_ANY_ROBOT = {
    ("arm_bringup", "shellbot_bringup"): "robot.launch",
    ("humanoid_bringup", "shellbot_bringup"): "robot.launch",
    ("snake_bringup", "shellbot_chain"): "the node emulated_robot",
    ("snake_bringup", "shellbot_motor_driver"): "the node motor_driver",
    ("snake_evaluation", "shellbot_chain"): "servos on an emulated bus, in bus_run.py",
}

# Within the general library: folder -> the others that its modules may import when they are loaded (a chain loads the
# writers of kernels when it is compiled).
FOLDERS = {
    "native": set(),
    "motion": set(),
    "trajectories": {"native"},
    "models": {"native", "motion"},
    "codegen": {"native", "models"},
    "dynamics": {"native", "motion", "models"},
    "inverse": {"native", "motion", "models", "codegen"},
    "workspace": {"codegen", "native", "models"},
}

# What is run by hand and not installed may import more: generate.py writes the controllers' files, too.
BY_HAND = {"shellbot_description": {"shellbot_control"}}

# Of the simulator others may know the robot at rest and the robot as it looks, and nothing that simulates.
OF_THE_SIMULATOR = {
    "shellbot_action_manager": "shellbot_simulator.core.static_model",
    "shellbot_teleop": ("shellbot_simulator.core.robot_picture", "shellbot_simulator.core.robot_shapes"),
}


def python_files():
    for package in sorted(OWN):
        folder = ROOT / "src" / IN_FOLDER.get(package, package)
        for file in sorted((folder / "src" / package).rglob("*.py")):
            yield package, file
        for file in sorted((ROOT / "src" / package).glob("*/*")):
            if file.parent.name in ("nodes", "scripts") and file.is_file():
                yield package, file


@functools.lru_cache(maxsize=None)
def nodes_of(file):
    """Return what may load a module."""
    kinds = (ast.Import, ast.ImportFrom, ast.Call)
    return [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, kinds)]


def imported_modules(file):
    for node in nodes_of(file):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):  # from .module import name; from . import module
            module = ".".join(filter(None, [file.parent.name, node.module]))
            yield module, node.lineno
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)


def named_modules(file):
    """Yield the modules that `import_module` loads by their names; of a name that is composed, its beginning."""
    for node in nodes_of(file):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            text = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0]
            if isinstance(text, ast.Constant):
                yield text.value, node.lineno


def is_ros(module):
    top = module.split(".")[0]
    # generated messages, services and dynamic_reconfigure pages: <package>.msg, .srv, .cfg
    return (
        top in ROS
        or top == "shellbot_msgs"
        or (module.count(".") >= 1 and module.split(".")[1] in ("msg", "srv", "cfg"))
        # a module of ours that may import ROS brings it along
        or (top in OWN and any(part.endswith(("_node", "_conversions")) for part in module.split(".")[1:]))
    )


def may_import_ros(file):
    return file.name.endswith(("_node.py", "_conversions.py")) or file.parent.name == "nodes"


FILES = list(python_files())


def test_the_rules_cover_every_package():
    with_modules = {
        folder.name for folder in (ROOT / "src").glob("*/src/*") if folder.is_dir() and "." not in folder.name
    }
    assert with_modules <= set(OWN), "say in OWN what a new package may import, as in docs/architecture.md"
    assert with_modules <= {package for package, _ in FILES}, "a package without any module"


def offences(package, file):
    for module, line in imported_modules(file):
        where, top = f"{file.relative_to(ROOT)}:{line}", module.split(".")[0]
        if is_ros(module) and not may_import_ros(file):
            yield f"{where} imports {module}: ROS belongs into *_node.py, *_conversions.py or nodes/"
        allowed = OWN[package] | (BY_HAND.get(package, set()) if file.parent.name == "scripts" else set())
        if top in OWN and top != package and top not in allowed:
            yield f"{where}: {package} may not import {top}; it may: {sorted(allowed)}"
        elif top == "shellbot_simulator" and not module.startswith(OF_THE_SIMULATOR.get(package, top)):
            yield f"{where}: {package} may import {OF_THE_SIMULATOR[package]} only, not {module}"
    for module, line in named_modules(file):
        top = module.split(".")[0]
        if top in OWN and top != package and top not in OWN[package]:
            yield f"{file.relative_to(ROOT)}:{line}: {package} may not import {top}; it may: {sorted(OWN[package])}"


def test_every_import_keeps_the_rules():
    found = [text for package, file in FILES for text in offences(package, file)]
    assert not found, "\n".join(found)


def robot_of(package):
    """Return whose package it is; None for one of no robot, and for the metapackage, which names them all."""
    prefix = package.split("_")[0]
    return None if package in GENERAL else prefix if prefix in OTHER_ROBOTS else "shellbot"


def dependencies():
    """Return where a package's modules or its manifest name another package: (from, to) -> place."""
    manifests = {file.parent.name: file for file in sorted((ROOT / "src").glob("*/package.xml"))}
    found = {}
    for package, file in FILES:
        where = file.relative_to(ROOT)
        for module, line in (*imported_modules(file), *named_modules(file)):
            found.setdefault((package, module.split(".")[0]), f"{where}:{line}")
    found = {tuple(IN_FOLDER.get(name, name) for name in pair): where for pair, where in found.items()}
    for package, file in manifests.items():
        for element in ElementTree.parse(file).getroot():
            if element.tag in ("depend", "exec_depend", "build_export_depend"):
                found.setdefault((package, element.text), str(file.relative_to(ROOT)))
    return {pair: where for pair, where in found.items() if pair[0] != pair[1] and set(pair) <= set(manifests)}


def crossings(edges):
    """Yield the paths from a package to the first one of another robot."""
    for package in sorted({before for before, _ in edges} - {"shellbot"}):
        paths, seen = [[package]], {package}
        for path in paths:
            if robot_of(path[-1]) not in (None, robot_of(package)):
                yield " -> ".join([package, *(f"{b} ({edges[a, b]})" for a, b in zip(path, path[1:]))])
                continue
            after = [b for a, b in sorted(edges) if a == path[-1] and b not in seen]
            seen.update(after)
            paths += [[*path, b] for b in after]


def test_no_robot_reaches_another_and_what_is_general_reaches_none():
    edges = dependencies()
    assert set(edges) >= set(OF_ANY_ROBOT), "no longer used: delete it above"
    found = list(crossings({pair: where for pair, where in edges.items() if pair not in OF_ANY_ROBOT}))
    assert not found, "\n".join(found)


def test_a_robot_is_found_through_a_general_package():
    edges = {("snake_evaluation", "robot_evaluation"): "a.py:1", ("robot_evaluation", "shellbot_chain"): "b.py:2"}
    assert list(crossings(edges)) == [
        "robot_evaluation -> shellbot_chain (b.py:2)",
        "snake_evaluation -> robot_evaluation (a.py:1) -> shellbot_chain (b.py:2)",
    ]
    assert not list(crossings({("shellbot_chain", "robot_evaluation"): "c.py:3"}))


def test_the_folders_of_the_general_library_stand_on_each_other_without_a_circle():
    found = []
    for package, file in FILES:
        folder = file.parent.name
        if package != "robot_mechanics" or folder in (package, "examples"):
            continue
        for node in ast.parse(file.read_text(encoding="utf-8")).body:  # not what a function imports, nor for types only
            module = node.module if isinstance(node, ast.ImportFrom) else ""
            other = module.split(".")[1] if module.startswith("robot_mechanics.") else folder
            if other not in {folder, "errors", "arguments"} | FOLDERS[folder]:
                found.append(f"{file.name}:{node.lineno}: {folder} may not import {module}")
    assert not found, "\n".join(found)


def test_nothing_on_board_imports_evaluation_benchmarks_or_the_chain():
    launch = ROOT / "src/shellbot_bringup/launch"
    elements = [e for name in ("onboard", "chain") for e in ElementTree.parse(launch / f"{name}.launch").iter()]
    on_board = [e for e in elements if e.get("if") != "$(arg emulated)"]
    assert len(on_board) < len(elements)
    reached = {e.get("pkg") for e in on_board if e.tag == "node"}
    reached |= {re.findall(r"find (\w+)", e.get("file"))[0] for e in on_board if e.tag == "include"}
    assert {"shellbot_action_manager", "shellbot_kinematics", "shellbot_motor_driver"} <= reached
    for _ in OWN:
        reached = reached.union(*(OWN.get(package, ()) for package in reached))
    assert not reached & {
        "robot_evaluation",
        "shellbot_chain",
        "shellbot_client",
        "shellbot_evaluation",
        "shellbot_benchmarks",
    }


def test_signals_never_shut_a_node_down_within_a_call_to_the_master():
    """Nodes use `shellbot_common.init_node`, or handle signals themselves."""
    found = [
        f"{file.relative_to(ROOT)}: {call}: use shellbot_common.init_node"
        for _, file in FILES
        for call in re.findall(r"rospy\.init_node\(.*\)", file.read_text(encoding="utf-8"))
        if "disable_signals=True" not in call
    ]
    assert not found, "\n".join(found)


def test_the_rule_catches_a_violation(tmp_path):
    file = tmp_path / "shellbot_simulator" / "core.py"
    file.parent.mkdir()
    assert not may_import_ros(file)
    for line, module in (
        ("import numpy\nfrom geometry_msgs.msg import Twist\n", "geometry_msgs.msg"),
        ("from .cfg import PidConfig\n", "shellbot_simulator.cfg"),
        ("from . import pid_node\n", "shellbot_simulator.pid_node"),
        ("from shellbot_kinematics.limb_references_conversions import FRAME_ID\n",
         "shellbot_kinematics.limb_references_conversions"),
    ):  # fmt: skip
        file = file.with_name(f"{module}.py")  # each file is read once
        file.write_text(line, encoding="utf-8")
        assert module in [m for m, _ in imported_modules(file) if is_ros(m)], line


def test_kinematics_keeps_the_beat_that_it_may_not_import():
    """The one fact that stands twice: a kernel's cache knows the files of its own package and of the library only."""
    from shellbot_common import GAP, TICK
    from shellbot_kinematics import SolverConfig
    from shellbot_kinematics._tick import GAP as KINEMATICS_GAP

    assert (SolverConfig().tick, KINEMATICS_GAP) == (TICK, GAP)
