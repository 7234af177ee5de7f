# SPDX-License-Identifier: MIT
"""Reading YAML into checked values: one place that says which file, which key, what was found and what is allowed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Dict, Iterable, Mapping, Sequence, Tuple, Union

import yaml

from shellbot_action_manager.errors import ConfigError


def read_yaml(path: Union[str, Path]) -> Dict[str, Any]:
    """Return the mapping in a YAML file.

    Raises
    ------
    ConfigError
        If the file is missing, is not YAML, or is not a mapping; the message names the file and the line.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {path}: {error}; give the path of a readable YAML file") from error
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where is not None else ""
        problem = getattr(error, "problem", None) or "syntax error"
        raise ConfigError(f"{path} is not valid YAML{line}: {problem}; correct that line") from error
    if not isinstance(data, dict) or not data:
        raise ConfigError(f"{path} holds {type(data).__name__}, expected a mapping of names to values")
    return data


def require_keys(where: str, found: Mapping[str, Any], required: Iterable[str]) -> None:
    """Raise ConfigError when keys are missing or not known, naming both."""
    wanted = set(required)
    missing = sorted(wanted - set(found))
    unknown = sorted(str(key) for key in set(found) - wanted)
    if missing or unknown:
        parts = [f"lacks {', '.join(missing)}"] if missing else []
        parts += [f"has unknown {', '.join(unknown)}"] if unknown else []
        raise ConfigError(f"{where} {' and '.join(parts)}; the keys are {', '.join(sorted(wanted))}")


def check_number(where: str, value: Any, low: float, high: float, unit: str = "") -> float:
    """Return `value` as a float inside [low, high] (in `unit`); raise ConfigError otherwise."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ConfigError(f"{where} is {value!r}; expected a number from {low:g} to {high:g} {unit}".rstrip())
    if not low <= value <= high:
        raise ConfigError(f"{where} is {value:g}; allowed are {low:g} to {high:g} {unit}".rstrip())
    return float(value)


def check_numbers(where: str, values: Any, count: int, low: float, high: float, unit: str = "") -> Tuple[float, ...]:
    """Return `count` checked numbers as a tuple; raise ConfigError otherwise."""
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != count:
        raise ConfigError(f"{where} is {values!r}; expected a list of {count} numbers")
    return tuple(check_number(f"{where}[{i}]", value, low, high, unit) for i, value in enumerate(values))
