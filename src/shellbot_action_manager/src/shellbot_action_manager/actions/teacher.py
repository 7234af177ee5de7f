# SPDX-License-Identifier: MIT
"""Saves recordings as actions: in a new file or beside others, checked by the planner before they stay there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import yaml

from shellbot_action_manager.actions.library import ActionLibrary
from shellbot_action_manager.actions.planning import Planner
from shellbot_action_manager.actions.recording import Recording
from shellbot_action_manager.actions.teaching import TOLERANCE, TaughtAction, Tolerance, teach
from shellbot_action_manager.body.geometry import RobotGeometry, load_geometry
from shellbot_action_manager.config import load_config
from shellbot_action_manager.errors import ActionError, ConfigError
from shellbot_action_manager.gait.walking import rest_footholds
from shellbot_common import package_file, read_yaml, write_file

if TYPE_CHECKING:
    from shellbot_action_manager.config import ActionManagerConfig

_SIZES = (1.0, 0.97, 0.94, 0.91, 0.88)  # of the body's poses, tried in turn
_HEAD = """\
# Actions taught by hand; docs/actions.md explains every key.
#
# Feet are relative to where they stand, in the axes of their legs (x outwards, y to the left of that, z up), the body
# is relative to its rest pose (x ahead); m, and deg where the name says so; times are s since the step began.

"""


@dataclass(frozen=True)
class SavedAction:
    """An action that is in a file now."""

    action: TaughtAction
    duration: float  #: Of the whole as planned, with going back to rest, s


class Teacher:
    """Teaches actions to one robot.

    Parameters
    ----------
    config : ActionManagerConfig
        Its settings; the rest stance is that of its gait.
    geometry : RobotGeometry
        The robot.
    """

    def __init__(self, config: ActionManagerConfig, geometry: RobotGeometry) -> None:
        self._config, self._geometry = config, geometry
        self._planner = Planner(config, geometry)

    @classmethod
    def for_joints(cls, names: Sequence[str]) -> Teacher:
        """Return a teacher of the described robot that has joints of these names: with upper legs or without."""
        has_upper = any(name.startswith("upper_") for name in names)
        return cls(load_config(), load_geometry("simulation" if has_upper else "walker"))

    def recording(self, t: Sequence[float], names: Sequence[str], q: np.ndarray) -> Recording:
        """Return a recording of joints that are given by name, in any order and beside others.

        Parameters
        ----------
        t : (m,) sequence
            s.
        names : (k,) sequence of str
            Of the joints.
        q : (m, k) array
            rad.

        Raises
        ------
        ActionError
            If a driven joint is not among them.
        """
        place = {name: i for i, name in enumerate(names)}
        missing = [name for name in self._geometry.joint_names if name not in place]
        if missing:
            others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise ActionError(f"the recording lacks the joint {missing[0]}{others}; record all driven joints by name")
        columns = [place[name] for name in self._geometry.joint_names]
        return Recording(
            np.asarray(t, dtype=np.float64), np.asarray(q, dtype=np.float64).reshape(len(t), -1)[:, columns]
        )

    def save(
        self,
        recording: Recording,
        name: str,
        file: Union[str, Path],
        text: str = "",
        tolerance: Tolerance = TOLERANCE,
        force: bool = False,
    ) -> SavedAction:
        """Write a recording as an action into a file of actions, and plan it from there.

        Parameters
        ----------
        recording : Recording
            One row is a posture.
        name, text : str
            Of the action.
        file : str or Path
            A new one, or one with other actions, which stay as they are with their comments.
        tolerance : Tolerance
            How far the action may be from the recording.
        force : bool
            Whether to replace an action of that name in the file.

        Raises
        ------
        ActionError
            If the recording cannot be understood, the robot could not perform the action, or the file cannot take it;
            the file is then as it was.
        """
        file = Path(file)
        before = self.ready(name, file, force)
        refusal: Optional[ActionError] = None
        text = text or f"taught as {name}"
        # an operator leads the body to the edge of the reach, and joints that sag seem to be beyond
        for size in _SIZES:
            try:
                action = teach(name, text, recording, self._geometry, self._config, self._planner, tolerance, size)
                return SavedAction(action, self._planned_in(file, before, name, action.text))
            except ActionError as error:
                refusal = refusal or error
        assert refusal is not None
        raise refusal

    def _planned_in(self, file: Path, before: str, name: str, text: str) -> float:
        """Return how long an action is that is now in the file; if it cannot be planned, the file is as it was."""
        _replace(file, _with(before, name, text, file) if before else _HEAD + text)
        try:
            return self._planned(name, file)
        except BaseException:
            if before:
                _replace(file, before)
            else:
                file.unlink()
            raise

    def ready(self, name: str, file: Union[str, Path], force: bool = False) -> str:
        """Return the text of the file that an action is to be saved in; empty if there is none yet.

        Raises
        ------
        ActionError
            If it could not be saved there.
        """
        file = Path(file)
        before = _read(file)
        if before and name in read_yaml(file, ConfigError) and not force:
            raise ActionError(f"{file} has an action '{name}'; give another name, or force to replace it")
        return before

    def _planned(self, name: str, file: Path) -> float:
        gait = self._config.gaits[self._config.gait]
        footholds = rest_footholds(gait.rest_radius)
        own = package_file("shellbot_action_manager", "config/actions/basic.yaml").parent
        library = ActionLibrary([] if file.parent.resolve() == own.resolve() else [file.parent])
        return self._planner.plan(library, name, {}, footholds, gait.stance_height).duration


def _read(file: Path) -> str:
    if file.suffix != ".yaml":
        raise ActionError(f"{file} is no .yaml file, and a folder of actions has only those; name it NAME.yaml")
    if not file.parent.is_dir():
        raise ActionError(f"the folder {file.parent} does not exist; create it or correct its path")
    try:
        return file.read_text(encoding="utf-8") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as problem:
        raise ActionError(f"cannot read {file}: {problem}; give another file") from None


def _replace(file: Path, text: str) -> None:
    try:
        write_file(file, text)
    except OSError as problem:
        raise ActionError(f"cannot write {file}: {problem.strerror}; give another file") from None


def _with(before: str, name: str, block: str, file: Path) -> str:
    """Return a file's text with an action at its end, or in the place of the one that it replaces."""
    node = yaml.compose(before, Loader=yaml.SafeLoader)
    if node is None:  # comments only
        return before.rstrip("\n") + "\n\n" + block
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise ActionError(f"{file} is one mapping in braces, which cannot be added to; give a new file")
    lines = before.splitlines()
    starts: List[Tuple[str, int]] = [(key.value, key.start_mark.line) for key, _ in node.value]
    found = _span(dict(starts), name, lines)
    if found is None:
        return before.rstrip("\n") + "\n\n" + block
    first, end = found
    return "\n".join([*lines[:first], *block.rstrip("\n").splitlines(), *lines[end:]]) + "\n"


def _span(starts: Mapping[str, int], name: str, lines: Sequence[str]) -> Union[None, Tuple[int, int]]:
    """Return the first line of an action and the one after its last; comments before the next one are not its own."""
    if name not in starts:
        return None
    end = min([line for line in starts.values() if line > starts[name]], default=len(lines))
    while lines[end - 1].strip() == "" or lines[end - 1].startswith("#"):
        end -= 1
    return starts[name], end
