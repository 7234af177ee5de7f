# SPDX-License-Identifier: MIT
"""Settings: frozen dataclasses that are read from YAML files or node parameters, and checked.

::

    @dataclass(frozen=True)
    class Bus(Settings):
        baud: int = number(7000, 1_000_000, default=1_000_000)
        direction: str = choice(("auto", "gpio"), default="auto")
        retry: bool = True

    Bus.load("bus.yaml")    # SettingsError: bus.yaml: baud is 100; give a whole number from 7000 to 1e+06

A field's type says what is taken: bool, int, float, str, an Enum (by its name in lower case), Optional, Tuple (fixed or
any length), Mapping of texts to these, and other Settings; its metadata (`number`, `choice`) says the allowed range. A
field without a default is required. An object made directly is checked just as one that is read.

Why a module of our own: pydantic is version 1 in Debian 12, and version 2, which Python 3.13 needs, has another
interface and a compiled core; cattrs converts but checks no ranges. With either, the sentences (key, value, allowed
range, nearest name) would still have to be written here.
"""

from __future__ import annotations

import dataclasses
import math
import re
import reprlib
import sys
from collections import abc
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import (
    Any,
    ClassVar,
    Dict,
    Iterable,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from shellbot_common.errors import SettingsError
from shellbot_common.yaml_file import read_yaml

Self = TypeVar("Self", bound="Settings")
_NONE = type(None)
_LIKENESS = 0.5  # of difflib: names that differ in one word of two are near (down_share, down_fraction)


def number(
    low: float,
    high: float,
    unit: str = "",
    *,
    default: Any = dataclasses.MISSING,
    hint: str = "",
    ordered: bool = False,
) -> Any:
    """Declare a field of type float, int or a tuple of these.

    Parameters
    ----------
    low, high : float
        Allowed range of each number, in `unit`.
    unit : str
        For the sentences of errors.
    default
        Without one the field is required.
    hint : str
        What helps to choose, such as "0 is as fast as possible".
    ordered : bool
        The numbers of a tuple must not fall: for ranges.
    """
    metadata = {"range": (low, high), "unit": unit, "hint": hint, "ordered": ordered}
    return dataclasses.field(default=default, metadata=metadata)


def choice(options: Sequence[str], *, default: Any = dataclasses.MISSING, pattern: str = "") -> Any:
    """Declare a field of type str, or a tuple of these, that takes one of `options`, or what matches `pattern`."""
    return dataclasses.field(default=default, metadata={"choices": tuple(options), "pattern": pattern})


def required() -> Any:
    """Declare a field without default or range; type checkers want it where a field made by `number` stands above."""
    return dataclasses.field()


class Settings:
    """Base of frozen dataclasses of settings; see the module.

    `class Bus(Settings, error=BusError)` raises `BusError`, which derives from `SettingsError`.
    """

    _error: ClassVar[Type[SettingsError]] = SettingsError

    def __init_subclass__(cls, error: Optional[Type[SettingsError]] = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if error is not None:
            cls._error = error

    def __post_init__(self) -> None:
        """Convert and check every field."""
        try:
            for name, (kind, metadata) in _fields(type(self)).items():
                object.__setattr__(self, name, _converted(name, kind, getattr(self, name), metadata))
            problem = self.conflict()
            if problem:
                raise SettingsError(problem)
        except SettingsError as error:
            raise self._error(str(error)) from None

    def conflict(self) -> str:
        """Return how the values, each within its range, contradict each other; empty if they do not.

        A sentence that begins with a key.
        """
        return ""

    @classmethod
    def load(cls: Type[Self], path: Union[str, Path]) -> Self:
        """Return the settings of a YAML file.

        Raises
        ------
        SettingsError
            As `from_mapping`, or if the file cannot be read; the sentence begins with the path.
        """
        return cls.from_mapping(read_yaml(path, cls._error), f"{path}: ")

    @classmethod
    def from_mapping(cls: Type[Self], values: Mapping[str, Any], prefix: str = "") -> Self:
        """Return the settings of plain values.

        Parameters
        ----------
        values : mapping
            Names to what YAML or the parameter server makes of them; one that is not there keeps its default.
        prefix : str
            Begins the sentences of errors, before the key: "~" for node parameters.

        Raises
        ------
        SettingsError
            For an unknown or missing name, a value of the wrong kind or out of range.
        """
        try:
            required = [f.name for f in dataclasses.fields(cls) if _is_required(f)]  # type: ignore[arg-type]
            check_names(values, _fields(cls), required)
            return cls(**values)
        except SettingsError as error:
            raise cls._error(f"{prefix}{error}") from None

    def replace(self: Self, **changes: Any) -> Self:
        """Return a copy with some settings changed, checked again."""
        return self.from_mapping({**{name: getattr(self, name) for name in _fields(type(self))}, **changes})

    def to_mapping(self) -> Dict[str, Any]:
        """Return nested mappings of plain values that `from_mapping` takes."""
        return dataclasses.asdict(self)  # type: ignore[call-overload]


def check_names(values: Any, known: Iterable[str], required: Iterable[str]) -> None:
    """Raise SettingsError if names are unknown or missing, or `values` is no mapping.

    The sentence names the nearest known one.
    """
    known, required = tuple(known), tuple(required)
    listed = ", ".join(known)
    if not isinstance(values, abc.Mapping):
        raise SettingsError(f"{short(values)} is no mapping; give the keys {listed}")
    for name in values:
        if name not in known:
            raise SettingsError(f"{name} does not exist; {_nearest(name, known, 'there are')} {listed}")
    missing = [name for name in required if name not in values]
    if missing:
        is_or_are = "is" if len(missing) == 1 else "are"
        raise SettingsError(f"{', '.join(missing)} {is_or_are} missing; required are {', '.join(required)}")


def check_number(where: str, value: Any, low: float, high: float, unit: str = "", hint: str = "") -> float:
    """Return `value` as a float if it is a number in [low, high] (of `unit`).

    Raises
    ------
    SettingsError
        Otherwise; `where` names it.
    """
    return float(_number(where, float, value, {"range": (low, high), "unit": unit, "hint": hint}))


def _fields(cls: Any) -> Dict[str, Tuple[Any, Mapping[str, Any]]]:
    """Return type and metadata of each field."""
    hints = get_type_hints(cls)
    return {f.name: (hints[f.name], f.metadata) for f in dataclasses.fields(cls) if f.init}


def _is_required(item: dataclasses.Field) -> bool:
    return item.init and item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING


def _converted(where: str, kind: Any, value: Any, metadata: Mapping[str, Any]) -> Any:
    """Return a value as the type `kind`, checked."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Union:
        if value is None and _NONE in arguments:
            return None
        return _converted(where, next(a for a in arguments if a is not _NONE), value, metadata)
    if origin is tuple:
        return _tuple(where, arguments, value, metadata)
    if origin in (dict, abc.Mapping):
        if not isinstance(value, abc.Mapping):
            raise SettingsError(f"{where} is {short(value)}; give a mapping of names to values")
        return {str(k): _converted(f"{where}.{k}", arguments[1], v, metadata) for k, v in value.items()}
    if not isinstance(kind, type) or (isinstance(value, kind) and kind not in (bool, int, float, str)):
        return value
    if issubclass(kind, Settings):
        if not isinstance(value, abc.Mapping):
            raise SettingsError(f"{where} is {short(value)}; give a mapping with the keys {', '.join(_fields(kind))}")
        return kind.from_mapping(value, f"{where}.")
    if issubclass(kind, Enum):
        return kind[_text(where, value, {"choices": tuple(name.lower() for name in kind.__members__)}).upper()]
    if kind is bool:
        if not isinstance(value, bool):
            raise SettingsError(f"{where} is {value!r}; give true or false")
        return value
    if kind in (int, float):
        return _number(where, kind, value, metadata)
    if kind is str:
        return _text(where, value, metadata)
    raise SettingsError(f"{where} is {short(value)}; give a {kind.__name__}")


def _number(where: str, kind: type, value: Any, metadata: Mapping[str, Any]) -> Any:
    low, high = metadata.get("range", (-math.inf, math.inf))
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    if is_number and low <= value <= high and (kind is float or value == int(value)):
        return kind(value)
    ends = (
        f" from {low:.10g} to {high:.10g}" if high < math.inf else f" of at least {low:.10g}" if low > -math.inf else ""
    )
    unit = f" {metadata['unit']}" if metadata.get("unit") else ""
    hint = f" ({metadata['hint']})" if metadata.get("hint") else ""
    what = "whole number" if kind is int else "number" if ends else "finite number"
    raise SettingsError(f"{where} is {short(value)}; give a {what}{ends}{unit}{hint}")


def _text(where: str, value: Any, metadata: Mapping[str, Any]) -> str:
    choices, pattern = metadata.get("choices"), metadata.get("pattern")
    if isinstance(value, bool) and choices:
        value = str(value).lower()  # roslaunch and YAML make a truth value of the word true
    if choices and value not in choices and not (pattern and re.fullmatch(pattern, str(value))):
        listed = ", ".join((*choices, f"or what matches {pattern}") if pattern else choices)
        raise SettingsError(f"{where} is {short(value)}; {_nearest(value, choices, 'choose from')} {listed}")
    if not isinstance(value, str):
        raise SettingsError(f"{where} is {short(value)}; give a text, in quotes")
    return value


def _tuple(where: str, arguments: Tuple[Any, ...], value: Any, metadata: Mapping[str, Any]) -> Tuple[Any, ...]:
    is_list = isinstance(value, abc.Sequence) and not isinstance(value, str)
    if arguments[-1] is Ellipsis:
        if not is_list:
            raise SettingsError(f"{where} is {short(value)}; give a list")
        arguments = (arguments[0],) * len(value)
    elif not is_list or len(value) != len(arguments):
        what = "numbers" if arguments[0] in (int, float) else "entries"
        raise SettingsError(f"{where} is {short(value)}; give a list of {len(arguments)} {what}")
    items = tuple(_converted(f"{where}[{i}]", a, v, metadata) for i, (a, v) in enumerate(zip(arguments, value)))
    if metadata.get("ordered") and not isinstance(items[0], tuple) and list(items) != sorted(items):
        raise SettingsError(f"{where} is {short(value)}; the first number must not be the greater one")
    return items


def _nearest(value: Any, choices: Sequence[str], words: str) -> str:
    """Return the words, behind a question for the choice that is most like the value if there is one."""
    near = get_close_matches(str(value), choices, 1, _LIKENESS)
    return f"is {near[0]} meant? {words.capitalize()}" if near else words


def short(value: Any) -> str:
    """Return a value as a message shows it: of a long or deep one the beginning, without writing all of it."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python writes no integer of thousands of digits
        return "a number of thousands of digits"


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_SHORT.maxlevel = 3
