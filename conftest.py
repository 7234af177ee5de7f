# SPDX-License-Identifier: MIT
"""Ctrl-C works in tests that run in the background, too: there SIGINT is ignored, and programs inherit that. And the
shipped robot is expanded once per process, not by every test that needs one (0.4 s each). The garbage collector, which
took an eighth of the time, leaves what was imported alone and looks less often. Hypothesis measures no time: machines
are shared.
"""

from __future__ import annotations

import gc
import os
import signal

import pytest

try:
    from hypothesis import HealthCheck, settings

    settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("shared")
except ImportError:  # as for xacro
    pass

try:
    import xacro
except ImportError:  # the tests of scripts that run before the set-up
    xacro = None

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    """Take what was imported out of the collector's sight."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


_expansions = {}


def expanded_once(process_file):
    """Return xacro's function with a memory, but for variables of a test's own."""

    def process(file, mappings):
        if "variables" in mappings:
            return process_file(file, mappings=mappings)
        key = (file, *sorted(mappings.items()))
        if key not in _expansions:
            _expansions[key] = process_file(file, mappings=mappings)
        return _expansions[key]

    return process


if xacro is not None:
    xacro.process_file = expanded_once(xacro.process_file)


EMPTY_WORLD_ARGUMENTS = ("world_name", "paused", "use_sim_time", "gui", "server_required")


@pytest.fixture
def with_gazebo(tmp_path):
    """Return an environment in which a package with the arguments of gazebo_ros' launch file stands for it."""
    package = tmp_path / "gazebo_ros"
    (package / "launch").mkdir(parents=True)
    (package / "package.xml").write_text(
        '<package format="3"><name>gazebo_ros</name><version>0.0.0</version><description>stand-in</description>'
        '<maintainer email="a@example.org">a</maintainer><license>MIT</license></package>',
        encoding="utf-8",
    )
    declared = "".join(f'<arg name="{name}"/>' for name in EMPTY_WORLD_ARGUMENTS)
    world = '<param name="world_of_gazebo" value="$(arg world_name)"/>'
    (package / "launch" / "empty_world.launch").write_text(f"<launch>{declared}{world}</launch>", encoding="utf-8")
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("ROS_PACKAGE_PATH", "")]))
    return dict(os.environ, ROS_PACKAGE_PATH=path, ROS_HOME=str(tmp_path / "ros_home"))
