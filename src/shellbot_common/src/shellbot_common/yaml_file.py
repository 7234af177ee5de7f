# SPDX-License-Identifier: MIT
"""YAML files and texts that hold a mapping of names to values."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from typing import Any, Dict, Type, Union

import yaml

from shellbot_common.errors import SettingsError

_LARGEST = 4_000_000  # bytes; the largest file of the project has 30 kB
_DEEPEST = 200  # brackets within brackets; the parser in C does not survive very many
_BRACKETS = re.compile(r"[\[\]{}]")
_MERGE = "tag:yaml.org,2002:merge"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc] # eight times as fast in C
    """Refuses a key that is given twice, of which YAML would silently take the last."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Dict[Any, Any]:
        """Return the mapping of a node."""
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                problem = "a key is a list or a mapping; give a name"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            if key.tag != _MERGE and (key.tag, key.value) in seen:
                raise yaml.MarkedYAMLError(problem=f"key {key.value!r} is given twice", problem_mark=key.start_mark)
            seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep=deep)


# YAML 1.1 takes 1e9 and 1.5e3 for text, as it asks for a point and for a sign of the exponent; YAML 1.2 for numbers
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


def _read(path: Path) -> str:
    """Return the text of a file, unless it never ends."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no regular file")
    if path.stat().st_size > _LARGEST:
        raise OSError(errno.EFBIG, f"it has more than {_LARGEST // 1_000_000} MB")
    return path.read_text(encoding="utf-8")


def _deepest(text: str) -> int:
    """Return how deep the brackets of a text are nested."""
    depth = deepest = 0
    for bracket in _BRACKETS.findall(text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def read_yaml(path: Union[str, Path], error: Type[SettingsError] = SettingsError) -> Dict[str, Any]:
    """Return the mapping in a YAML file; that of an empty file is empty.

    Parameters
    ----------
    path : str or Path
        A UTF-8 file.
    error : type
        What is raised.

    Raises
    ------
    SettingsError
        If the file cannot be read, is not YAML, gives a key twice or holds no mapping; names file and line.
    """
    try:
        text = _read(Path(path))
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise error(f"cannot read {path}: {reason}; give the path of a readable YAML file") from problem
    return read_yaml_text(text, path, error)


def read_yaml_text(text: str, where: Union[str, Path], error: Type[SettingsError] = SettingsError) -> Dict[str, Any]:
    """Return the mapping in a YAML text, by the rules of `read_yaml`; that of an empty text is empty.

    Parameters
    ----------
    text : str
        YAML, such as that of a parameter.
    where : str or Path
        What the text is: begins the sentences of errors.
    error : type
        What is raised.

    Raises
    ------
    SettingsError
        If the text is not YAML, gives a key twice or holds no mapping; names the line.
    """
    for limit, found, unit in ((_LARGEST, len(text), "characters"), (_DEEPEST, _deepest(text), "nested brackets")):
        if found > limit:
            raise error(f"{where} has {found} {unit}; give at most {limit}")
    try:
        data = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark is not None else ""
        reason = getattr(problem, "problem", None) or "syntax error"
        raise error(f"{where} is not valid YAML{line}: {reason}; correct that line") from problem
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:  # values that no type takes
        raise error(f"{where} holds a value that cannot be read ({str(problem)[:80]}); put it in quotes") from problem
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise error(f"{where} holds a {type(data).__name__}; expected a mapping of names to values")
    return data
