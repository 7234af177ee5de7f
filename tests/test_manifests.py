# SPDX-License-Identifier: MIT
"""package.xml names what a package needs at run time, and what is missing or too old says so when it is imported."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
PACKAGES = sorted(file.parent.name for file in SOURCE.glob("*/package.xml"))
# rosdep keys of what is no ROS package; mujoco has none and comes from PyPI, by scripts/setup
KEYS = {
    "llvmlite": "python3-numba",
    "matplotlib": "python3-matplotlib",
    "numba": "python3-numba",
    "numpy": "python3-numpy",
    "PIL": "python3-pil",
    "prompt_toolkit": "python3-prompt-toolkit",
    "psutil": "python3-psutil",
    "rospkg": "python3-rospkg",
    "scipy": "python3-scipy",
    "serial": "python3-serial",
    "markdown_it": "python3-markdown-it",
    "tabulate": "python3-tabulate",
    "tornado": "python3-tornado",
    "tqdm": "python3-tqdm",
    "Xlib": "python3-xlib",
    "yaml": "python3-yaml",
}
ROS = {
    "actionlib",
    "controller_manager",
    "diagnostic_updater",
    "dynamic_reconfigure",
    "joint_state_publisher",
    "joint_state_publisher_gui",
}
ROS |= {
    "python_qt_binding",
    "rosbag",
    "rosgraph",
    "roslaunch",
    "roslib",
    "rosnode",
    "rospy",
    "rosservice",
    "rostopic",
    "tf2_ros",
} | {"xacro"}
# used where it is there, or by a developer's generators and benches
OPTIONAL = {"cma", "distributed", "dynamixel_sdk", "gpiod", "mujoco", "pybullet", "selenium", "stl"}
FOLDER_OF = {folder.name: folder.parents[1].name for folder in SOURCE.glob("*/src/*") if folder.is_dir()}
WORKERS = {file.stem for file in SOURCE.glob("*/src/*/**/workers/*.py")}  # of benches: run by other interpreters


def programs(package):
    """The Python files that run when the package does."""
    folder = SOURCE / package
    yield from (file for file in sorted((folder / "src").rglob("*.py")) if file.parent.name != "workers")
    cmake = (folder / "CMakeLists.txt").read_text(encoding="utf-8")
    for name in " ".join(re.findall(r"PROGRAMS\s+(.*?)\s+DESTINATION", cmake, re.DOTALL)).split():
        if (folder / name).read_text(encoding="utf-8").startswith("#!/usr/bin/env python3"):
            yield folder / name
    yield from sorted((folder / "cfg").glob("*.cfg"))


def imports(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module


def dependency(module):
    """The package.xml key of an imported module; None for the standard library and for what is optional."""
    top, _, rest = module.partition(".")
    if top in sys.stdlib_module_names or top in OPTIONAL | WORKERS:
        return None
    if top in FOLDER_OF:
        return FOLDER_OF[top]
    if top in KEYS:
        return KEYS[top]
    if top in ROS or rest.split(".")[0] in ("msg", "srv", "cfg"):
        return top
    return f"(the rosdep key of {top}: add it to KEYS of this test)"


def needed(package):
    """Every key that the package needs at run time, and one place that needs it."""
    found = {}
    for file in programs(package):
        for module in imports(file):
            found.setdefault(dependency(module), f"{file.relative_to(SOURCE)} imports {module}")
        for name in re.findall(r'"(\w+)",\s*"\w+\.launch"', file.read_text(encoding="utf-8")):
            found.setdefault(name, f"{file.relative_to(SOURCE)} launches it")
    for file in sorted((SOURCE / package / "launch").glob("*.launch")):
        text = re.sub(r"<!--.*?-->", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        for name in re.findall(r"pkg=\"(\w+)\"|find[ (]'?(\w+)'?\)", text):
            found.setdefault("".join(name), f"{file.relative_to(SOURCE)} names it")
    return {key: where for key, where in found.items() if key not in (None, package)}


def declared(package):
    root = ElementTree.parse(str(SOURCE / package / "package.xml")).getroot()
    return {element.text for kind in ("depend", "exec_depend") for element in root.findall(kind)}


@pytest.mark.skipif(not hasattr(sys, "stdlib_module_names"), reason="Python 3.10 knows what is in its library")
def test_manifests_name_what_is_imported():
    missing = [
        f"{package}/package.xml lacks <exec_depend>{key}</exec_depend>: {where}"
        for package in PACKAGES
        for key, where in sorted(needed(package).items())
        if key not in declared(package)
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.skipif(not hasattr(sys, "stdlib_module_names"), reason="Python 3.10 knows what is in its library")
def test_manifests_name_no_library_that_is_not_imported():
    libraries = set(KEYS.values()) | set(PACKAGES)
    unused = [
        f"{package}/package.xml: {key}"
        for package in PACKAGES
        if package not in ("shellbot", "shellbot_bringup")  # the metapackage; launch files only
        for key in sorted((declared(package) & libraries) - set(needed(package)))
    ]
    assert not unused, "declared, but nothing imports it:\n" + "\n".join(unused)


def test_packages_and_wheels_have_one_version():
    files = [*SOURCE.glob("*/package.xml"), *SOURCE.glob("*/setup.py"), *SOURCE.glob("*/pyproject.toml")]
    found = {
        version: str(file.relative_to(SOURCE))
        for file in files
        for version in re.findall(
            r'(?:<version>|(?<!<\?xml )\bversion ?= ?")([^<"]+)', file.read_text(encoding="utf-8")
        )
    }
    assert len(found) == 1, found


def test_manifests_name_an_author_and_no_address_that_does_not_exist():
    roots = {package: ElementTree.parse(str(SOURCE / package / "package.xml")).getroot() for package in PACKAGES}
    assert not [package for package, root in roots.items() if not root.findtext("author")], "without <author>"
    assert not [package for package, root in roots.items() if "example." in (root.findtext("url") or "")]


@pytest.mark.parametrize(
    "package, library, old", [("robot_mechanics", "numba", "0.55.2"), ("shellbot_simulator", "mujoco", "2.3.7")]
)
def test_a_library_that_is_missing_or_too_old_is_named_with_what_to_do(tmp_path, package, library, old):
    for text, words in ((f"__version__ = {old!r}", f"{library} is {old}"), ("raise ImportError('gone')", "(gone)")):
        (tmp_path / f"{library}.py").write_text(text + "\n", encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {package}"],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"),
        )
        assert done.returncode == 1
        sentence = done.stderr.strip().splitlines()[-1]
        assert words in sentence and "run scripts/setup" in sentence and "or newer" in sentence
