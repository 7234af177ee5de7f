# SPDX-License-Identifier: MIT
"""Programs run from an install space, which is laid out here as the packages' CMakeLists.txt say: without a build."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
PACKAGES = [
    name for name in ("shellbot_common", "shellbot_description", "shellbot_control") if (SOURCE / name).is_dir()
]


def install(package, prefix):
    """Copy what catkin_make install would: modules, programs and folders, but no meshes."""
    folder, ignored = SOURCE / package, shutil.ignore_patterns("__pycache__", "*.stl")
    cmake = (folder / "CMakeLists.txt").read_text(encoding="utf-8")
    modules = prefix / "lib/python3/dist-packages" / package
    shutil.copytree(str(folder / "src" / package), str(modules), ignore=ignored)
    share, programs = prefix / "share" / package, prefix / "lib" / package
    for names in re.findall(r"install\(\s*DIRECTORY\s+(.*?)\s+DESTINATION", cmake, re.DOTALL):
        for name in names.split():
            shutil.copytree(str(folder / name), str(share / name), ignore=ignored)
    programs.mkdir(parents=True)
    for names in re.findall(r"PROGRAMS\s+(.*?)\s+DESTINATION", cmake, re.DOTALL):
        for name in names.split():
            shutil.copy2(str(folder / name), str(programs))


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("install")
    for package in PACKAGES:
        install(package, folder)
    return folder


def run(prefix, program, *arguments):
    environment = dict(os.environ, PYTHONPATH=str(prefix / "lib/python3/dist-packages"), CMAKE_PREFIX_PATH=str(prefix))
    environment.pop("ROS_PACKAGE_PATH", None)
    return subprocess.run(
        [sys.executable, str(prefix / "lib" / program), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_generate_controllers_runs_from_an_install_space(prefix):
    config, urdf = prefix / "share/shellbot_description/config", prefix / "walker.urdf"
    urdf.write_text(run(prefix, "shellbot_description/expand", "--variant", "walker").stdout, encoding="utf-8")
    given = ["--profile", str(config / "profile.yaml"), "--variant", "walker", "--urdf", str(urdf)]
    done = run(prefix, "shellbot_control/generate_controllers", *given)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (config / "controllers_walker.yaml").read_text(encoding="utf-8")


def installed(package, kind):
    """What a package's CMakeLists.txt installs of a kind: `DIRECTORY` names folders, `PROGRAMS` files."""
    cmake = (SOURCE / package / "CMakeLists.txt").read_text(encoding="utf-8")
    return {
        name for names in re.findall(rf"\b{kind}\s+(.*?)\s+DESTINATION", cmake, re.DOTALL) for name in names.split()
    }


def package_files():
    """Yield each place that names a file of a package, with the package and the file as far as it is a literal."""
    for file in [*SOURCE.glob("*/src/**/*.py"), *SOURCE.glob("*/nodes/*"), *SOURCE.glob("*/scripts/*")]:
        text = file.read_text(encoding="utf-8") if file.is_file() else ""
        constants = dict(re.findall(r'^(\w+) = "(\w+)"$', text, re.M))
        for package, constant, name in re.findall(r'package_file\(\s*(?:"(\w+)"|(\w+)),\s*f?"([^"{]+)', text):
            yield str(file.relative_to(SOURCE)), package or constants[constant], name
    for file in [*SOURCE.glob("*/launch/*"), *SOURCE.glob("*/config/**/*.yaml"), *SOURCE.glob("*/urdf/*")]:
        text = file.read_text(encoding="utf-8")
        for package, name in re.findall(r"\$\(find (\w+)\)/([\w./-]+)", text):
            yield str(file.relative_to(SOURCE)), package, name


def test_what_programs_and_launch_files_read_is_installed():
    named = [each for each in package_files() if (SOURCE / each[1]).is_dir()]
    assert len({package for _, package, _ in named}) > 15, "files of packages are named in another style now"
    lost = []
    for where, package, name in named:
        folder = name.split("/")[0]
        source_tree_only = (where, folder) == ("shellbot_bringup/launch/robot.launch", "test")  # its argument says so
        # roslaunch looks for $(find P)/nodes/NAME among the installed programs, too
        if folder not in installed(package, "DIRECTORY") and name not in installed(package, "PROGRAMS"):
            lost += (
                [] if source_tree_only else [f"{where} reads {name} of {package}, which its CMakeLists.txt leaves out"]
            )
    assert not lost, "\n".join(lost)
