# SPDX-License-Identifier: MIT
"""What every file owes: licence line, exports that exist, launch files that load and explain their arguments."""

from __future__ import annotations

import ast
import importlib
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = sorted(p.parent.name for p in ROOT.glob("src/*/package.xml"))
PYTHON = sorted(
    f
    for f in [
        *ROOT.glob("src/*/src/**/*.py"),
        *ROOT.glob("src/*/test/**/*.py"),
        *ROOT.glob("tests/*.py"),
        *ROOT.glob("scripts/lib/*.py"),
    ]
)
LAUNCH = sorted(ROOT.glob("src/*/launch/*.launch"))
SCRIPTS = sorted(f for f in (ROOT / "scripts").iterdir() if f.is_file())


def names(files):
    return [str(file.relative_to(ROOT)) for file in files]


def test_every_file_has_a_licence_line():
    missing = [f for f in PYTHON if "SPDX-License-Identifier: MIT" not in f.read_text(encoding="utf-8")[:200]]
    assert not names(missing), "without 'SPDX-License-Identifier: MIT' in its first lines"
    assert len(PYTHON) > 300


@pytest.mark.parametrize("package", [p for p in PACKAGES if (ROOT / "src" / p / "src").is_dir()])
def test_exports_exist(package):
    module = importlib.import_module(package)
    for name in getattr(module, "__all__", []):
        assert hasattr(module, name), f"{package}.__all__ names {name}, which does not exist"


def test_every_file_runs_on_the_oldest_numpy():
    """Ubuntu 20.04 has numpy 1.17, without numpy.typing: that is for type checkers only."""

    def imports_it(file):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        return any(isinstance(node, ast.ImportFrom) and node.module == "numpy.typing" for node in tree.body)

    found = names(filter(imports_it, PYTHON))
    assert not found, "import numpy.typing under `if TYPE_CHECKING:`, or write np.ndarray"


def test_yaml_is_read_by_one_rule():
    """`read_yaml` and `read_yaml_text` refuse a key given twice, of which yaml.safe_load silently takes the last."""
    # robot_mechanics and ax_bus stand alone, with loaders of their own that refuse it, too
    own = {"yaml_file.py", "yaml_text.py", "faults.py"}
    readers = [f for f in ROOT.glob("src/*/src/**/*.py") if re.search(r"yaml\.(?:safe_)?load\(", f.read_text("utf-8"))]
    assert {f.name for f in readers} == own, f"read with shellbot_common.read_yaml_text: {names(readers)}"


def test_an_option_means_the_same_everywhere():
    """`--workers` (or `--jobs`) comes from `add_workers`, and `--write` names a page."""
    wrong = []
    for file in [*ROOT.glob("src/*/src/**/*.py"), *ROOT.glob("scripts/lib/*.py")]:
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "add_argument":
                options = {getattr(argument, "value", None) for argument in call.args}
                shown = {getattr(k.value, "value", None) for k in call.keywords if k.arg == "metavar"}
                own = options & {"--workers", "--jobs"} and file.name != "parallel.py"
                if own or ("--write" in options and shown != {"PAGE"}):
                    wrong.append(f"{file.relative_to(ROOT)}:{call.lineno}")
    assert not wrong, f"use robot_evaluation.parallel.add_workers; metavar PAGE of --write: {wrong}"


def test_a_long_module_has_a_reason():
    """Those of more than 300 lines are named in docs/conventions.md, and no others."""
    text = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+)`", text[text.index("**Modules**") : text.index("**Names**")])
    long = [f for f in ROOT.glob("src/*/src/**/*.py") if len(f.read_text(encoding="utf-8").splitlines()) > 300]
    modules = [f"{f.relative_to(ROOT / 'src').parts[0]}/{f.stem}" for f in long]
    assert len(set(modules)) == len(modules), "two modules of a package have the same name"
    assert sorted({*modules} - {*named}) == [], "shorten them, or give the reason in docs/conventions.md"
    assert sorted({*named} - {*modules}) == [], "no longer over 300 lines: delete them there"


LIGHT = """
import importlib, sys
main, heavy = importlib.import_module(sys.argv[1]).main, {*sys.argv[2].split()}
for argv in map(str.split, sys.argv[3:]):
    try:
        main(argv)
    except SystemExit:
        pass
    else:
        raise AssertionError(argv)
assert not heavy & {*sys.modules}, heavy & {*sys.modules}
"""


@pytest.mark.parametrize(
    ("module", "heavy", "words"),
    [
        ("ax_tools.cli", "numpy yaml serial ax_bus ax_emulator", ("move --help", "scan --ids x", "fly")),
        (
            "shellbot_motor_driver.tools.cli",
            "numpy yaml serial",
            ("prepare --help", "calibrate --ids x", "emulate --variant x"),
        ),
    ],
)
def test_help_and_usage_errors_of_servo_tools_import_nothing_heavy(module, heavy, words):
    """Below 0.2 s of CPU; what costs is numpy, yaml and pyserial, and seconds depend on the machine."""
    command = [sys.executable, "-c", LIGHT, module, heavy, "--help", "", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr


WORDS = {"told", "asked", "said", "wanted", "kept", "way", "ways", "share", "nobody"}


def identifiers(tree):
    """Yield the names that a module defines, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr, node.lineno


def test_names_are_those_of_the_field():
    """docs/conventions.md has the words; tests may use them."""
    found = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for file in [*ROOT.glob("src/*/src/**/*.py"), *ROOT.glob("scripts/lib/*.py")]
        for name, line in identifiers(ast.parse(file.read_text(encoding="utf-8")))
        if WORDS & {*name.lower().split("_")} and name != "load_share"
    ]
    assert not found, "\n".join(found)


def test_every_package_has_a_readme():
    readmes = [ROOT / "src" / package / "README.md" for package in PACKAGES]
    short = [file for file in readmes if not file.exists() or len(file.read_text(encoding="utf-8")) <= 200]
    assert not names(short)


def test_every_link_in_the_documents_leads_to_a_file():
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/*/README.md")]
    lost = []
    for page in documents:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http") and not (page.parent / target).resolve().exists():
                lost.append(f"{page.relative_to(ROOT)} -> {target}")
    assert not lost and len(documents) > 20


def test_every_launch_argument_is_explained():
    silent = [
        f"{file.name}: {arg.get('name')}"
        for file in LAUNCH
        for arg in ElementTree.parse(str(file)).getroot().findall("arg")
        if not arg.get("doc") and arg.get("value") is None
    ]
    assert not silent, "arguments without doc"


def load_launch(file, *args):
    from roslaunch.config import ROSLaunchConfig
    from roslaunch.xmlloader import XmlLoader

    config = ROSLaunchConfig()
    XmlLoader(resolve_anon=False).load(str(file), config, argv=list(args), verbose=False)
    return config


@pytest.mark.parametrize(
    "file", [f for f in LAUNCH if "gazebo" not in f.name], ids=lambda f: str(f.relative_to(ROOT / "src"))
)
def test_launch_file_loads(file, tmp_path, monkeypatch):
    """Every file parses, and every node of ours that it names exists and is executable."""
    monkeypatch.setenv("ROS_MASTER_URI", "http://localhost:1")  # whatever runs on this machine
    bag = tmp_path / "value"  # replay.launch reads the robot from it
    if file.name == "replay.launch":
        import rosbag
        from std_msgs.msg import String

        with rosbag.Bag(str(bag), "w") as recorded:
            recorded.write("/robot_description", String("<robot/>"))
            recorded.write("/robot_profile", String("name: none"))
    required = [
        f"{a.get('name')}:={bag}"
        for a in ElementTree.parse(str(file)).getroot().findall("arg")
        if a.get("value") is None and (a.get("default") is None or a.get("name") == "bag")
    ]
    config = load_launch(file, *required)
    for node in config.nodes:
        if node.package in PACKAGES:
            executable = ROOT / "src" / node.package / "nodes" / node.type
            assert executable.exists(), f"{file.name} starts {node.package}/{node.type}, which does not exist"
            assert os.access(str(executable), os.X_OK), f"{executable} is not executable"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda f: f.name)
def test_scripts_explain_themselves_from_anywhere(script, tmp_path):
    """--help works from any folder, changes nothing and answers at once."""
    done = subprocess.run(
        [str(script), "--help"],
        cwd=str(tmp_path),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"scripts/{script.name}" in done.stdout


def test_help_of_another_robot_is_its_own():
    done = subprocess.run([str(ROOT / "scripts" / "sim"), "robot:=snake", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("usage: scripts/sim robot:=snake ")
    assert "modules" in done.stdout and "demo:=mission" not in done.stdout


@pytest.mark.parametrize("robot, words", [("arm", "robot 'arm', 4 coordinates"), ("snake", "robot 'snake', 16 coord")])
def test_masses_of_a_robot_are_shown_by_its_name(robot, words, tmp_path):
    script, folder = str(ROOT / "scripts" / "dynamics"), tmp_path / robot  # a folder of that name does not hide it
    folder.mkdir()
    given = {"capture_output": True, "text": True, "check": False, "cwd": str(tmp_path)}
    done = subprocess.run([script, "explain", robot], **given)
    assert done.returncode == 0 and done.stdout.startswith(words), done.stderr


@pytest.mark.parametrize(
    "script", [s for s in SCRIPTS if s.name in ("setup", "test", "bench", "experiment")], ids=lambda f: f.name
)
def test_scripts_refuse_nonsense_in_words(script):
    done = subprocess.run(
        [str(script), "--nonsense"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode != 0
    assert "nonsense" in done.stderr


def test_no_path_of_a_machine():
    """No file names a developer's folders."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=str(ROOT), stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()
    pattern = re.compile(r"/(?:root|home/[a-z]+|work)/")
    for name in listed:
        file = ROOT / name
        if file.suffix in (".stl", ".png") or not file.exists() or file == Path(__file__).resolve():
            continue
        found = pattern.search(file.read_text(encoding="utf-8", errors="replace"))
        assert not found, f"{name} has {found.group(0)}"
