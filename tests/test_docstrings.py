# SPDX-License-Identifier: MIT
"""Every argument of the two kinematics libraries' public functions and methods is explained, as numpydoc asks."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ("robot_mechanics", "shellbot_kinematics")
SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", re.DOTALL | re.MULTILINE)


def is_ours(thing):
    return str(getattr(thing, "__module__", "")).split(".")[0] in LIBRARIES


def public_things():
    """Yield (name, function or class): of the pages of docs/api, and what the packages export."""
    found = {}
    for page in sorted((ROOT / "docs" / "api").glob("*.rst")):
        for name in re.findall(r"automodule:: (\S+)", page.read_text(encoding="utf-8")):
            if name.split(".")[0] in LIBRARIES:
                module = importlib.import_module(name)
                shown = getattr(module, "__all__", ())
                things = ((k, v) for k, v in vars(module).items() if k in shown or getattr(v, "__module__", "") == name)
                found.update({f"{name}.{key}": thing for key, thing in things})
    for library in LIBRARIES:
        source = ROOT / "src" / library / "src"
        for file in sorted((source / library).rglob("__init__.py")):
            name = ".".join(file.parent.relative_to(source).parts)
            things = vars(importlib.import_module(name)).items()
            found.update({f"{name}.{k}": v for k, v in things if is_ours(v)})
    yield from ((name, thing) for name, thing in found.items() if not name.split(".")[-1].startswith("_"))


def documented_functions():
    """Yield (name, function, docstring); of a class the methods, inherited ones too, and what it is made from."""
    for name, thing in public_things():
        if not inspect.isclass(thing):
            function = inspect.unwrap(getattr(thing, "py_func", thing))  # numba's dispatchers, too
            if inspect.isfunction(function):
                yield name, function, thing.__doc__
            continue
        if issubclass(thing, BaseException):
            continue
        if "__init__" in vars(thing) and not dataclasses.is_dataclass(thing) and not is_protocol(thing):
            yield name, thing.__init__, thing.__doc__
        for key, member in inspect.getmembers(thing):
            function = getattr(member, "__func__", member)
            if not key.startswith("_") and inspect.isfunction(function) and is_ours(function):
                yield f"{name}.{key}", function, function.__doc__


def is_protocol(thing):
    return getattr(thing, "_is_protocol", False)  # Python writes their __init__


def explained(docstring):
    """Return the names that the section Parameters explains."""
    section = SECTION.search(inspect.cleandoc(docstring or "") + "\n")
    entries = re.findall(r"^(\*?\w.*)$", section.group(1), re.MULTILINE) if section else []
    return {name.strip().lstrip("*") for entry in entries for name in entry.split(" : ")[0].split(",")}


def test_every_argument_is_explained():
    offenders, seen = [], 0
    for name, function, docstring in documented_functions():
        arguments = [a for a in inspect.signature(function).parameters if a not in ("self", "cls")]
        missing = [a for a in arguments if a not in explained(docstring)]
        seen += len(arguments)
        if missing:
            offenders.append(f"{name}: {', '.join(missing)}")
    assert not offenders, "no entry (shape, unit, frame) under Parameters:\n" + "\n".join(sorted(offenders))
    assert seen > 500
