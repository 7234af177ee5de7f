# SPDX-License-Identifier: MIT
"""Programs run from an install space, and find there what they read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE, BUILD = ROOT / "src", ROOT / "build"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """What catkin_make install leaves, in a folder of its own."""
    cache = BUILD / "CMakeCache.txt"
    if not cache.is_file():
        pytest.skip("the workspace is not built")
    folder = tmp_path_factory.mktemp("install")
    done = subprocess.run(
        ["cmake", "--install", str(BUILD)],
        env={**os.environ, "DESTDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (target,) = re.findall(r"^CMAKE_INSTALL_PREFIX:PATH=/(.*)$", cache.read_text(encoding="utf-8"), re.M)
    return folder / target


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


def test_what_programs_and_launch_files_read_is_installed(prefix):
    named = [each for each in package_files() if (SOURCE / each[1]).is_dir()]
    assert len({package for _, package, _ in named}) > 15, "files of packages are named in another style now"
    lost = []
    for where, package, name in named:
        folder, _, stem = name.rpartition("/")
        share, programs = prefix / "share" / package / folder, prefix / "lib" / package
        if (where, folder) == ("shellbot_bringup/launch/robot.launch", "test/robots"):
            continue  # only from the source tree, as its argument says
        # a name may end where a value is put in; roslaunch looks for $(find P)/nodes/NAME among the programs, too
        found = [*share.glob(f"{stem}*"), *programs.glob(f"{stem}*")]
        if not found:
            lost.append(f"{where} reads {name} of {package}, which its CMakeLists.txt leaves out")
    assert not lost, "\n".join(lost)
