# SPDX-License-Identifier: MIT
"""Change rows of a servos.yaml and leave the rest of the file as written."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any, Dict, Mapping

import yaml

from ax_tools.errors import ToolError
from shellbot_common import read_yaml_text
from shellbot_motor_driver.errors import ServoMapError
from shellbot_motor_driver.map.servo_map import ServoMap


def rows(text: str) -> Dict[str, Any]:
    """Return the rows by joint of a file that `ServoMap.load` has taken."""
    return dict(read_yaml_text(text, "the servo map", ServoMapError)["servos"])


def with_row(text: str, joint: str, row: Mapping[str, Any]) -> str:
    """Return the text of a servo map with one joint's row replaced; comments and other rows stay as they are.

    Raises
    ------
    ToolError
        If the joint has no row that could be replaced.
    """
    document: Any = yaml.compose(text)
    nodes = {key.value: value for key, value in document.value}.get("servos")
    node = {key.value: value for key, value in nodes.value}.get(joint) if nodes is not None else None
    if not isinstance(node, yaml.MappingNode) or not node.value:
        raise ToolError(f"the servo map has no row {joint}; begin with a copy of the package's servos.yaml")
    # a block's own end mark is behind the comments that follow it, its last value's is not
    end = node.end_mark if node.flow_style else node.value[-1][1].end_mark
    inline = yaml.safe_dump(dict(row), default_flow_style=True, sort_keys=False, width=1000).strip()
    changed = text[: node.start_mark.index] + inline + text[end.index :]
    if rows(changed) != {**rows(text), joint: dict(row)}:
        raise ToolError(f"the row {joint} of the servo map cannot be replaced; write it as one line: {joint}: {inline}")
    return changed


def save(path: Path, text: str, variant: str) -> None:
    """Write a servo map: complete and taken by `ServoMap.load`, or not at all.

    Raises
    ------
    ToolError
        If it cannot be written, or would not be taken; the file is then as it was.
    """
    target = path.resolve()  # through a link, which stays one
    beside = target.with_name(target.name + ".part")
    try:
        with beside.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        ServoMap.load(variant, beside)
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    except (OSError, ServoMapError) as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        why = (error.strerror or error) if isinstance(error, OSError) else error
        raise ToolError(f"{path} cannot be written ({why}); it is as it was before the last joint") from error
