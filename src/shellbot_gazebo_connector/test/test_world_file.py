# SPDX-License-Identifier: MIT
"""World files in which no robot could be spawned are refused in words."""

from pathlib import Path

import pytest

from shellbot_gazebo_connector.world_file import world_complaint

SHIPPED = Path(__file__).resolve().parents[1] / "worlds" / "shellbot.world"


def complaint(tmp_path, text):
    file = tmp_path / "my.world"
    file.write_text(text, encoding="utf-8")
    return world_complaint(file, "crab")


@pytest.mark.parametrize("text", [SHIPPED.read_text(encoding="utf-8"), "<sdf version='1.4'><world name='x'/></sdf>"])
def test_a_right_one_passes(tmp_path, text):
    assert complaint(tmp_path, text) == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "my.world is not XML (no element found"),
        ("<sdf><world name='x'>", "my.world is not XML"),
        ("<sdf version='1.6'><model name='x'/></sdf>", "has no <world> in an <sdf>; copy"),
        ("<robot name='x'><world name='y'/></robot>", "has no <world> in an <sdf>"),
        ("<sdf><world/></sdf>", "has no name; write <world name='floor'>"),
        ("<sdf><world name='crab'/></sdf>", "is named 'crab' as the robot, whose spawning would never end; rename"),
        *(
            (
                f"<sdf><world name='x'><physics><max_step_size>{step}</max_step_size></physics></world></sdf>",
                f"is {step} s and does not divide the tick of 0.01 s; use 0.001 or 0.002",
            )
            for step in ("0.003", "0.02", "0", "-0.001", "fast", "nan", "inf")
        ),
    ],
)
def test_a_wrong_one_is_refused(tmp_path, text, words):
    assert words in complaint(tmp_path, text)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    assert f"cannot read {tmp_path}/none.world: No such file" in world_complaint(tmp_path / "none.world", "crab")
    assert f"cannot read {tmp_path}: Is a directory" in world_complaint(tmp_path, "crab")
