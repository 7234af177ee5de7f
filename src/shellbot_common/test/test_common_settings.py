# SPDX-License-Identifier: MIT
"""The settings reader: what is taken, and what each refusal says."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Mapping, Optional, Tuple

import pytest

from shellbot_common import (
    PackageFileError,
    Settings,
    SettingsError,
    choice,
    named_numbers,
    number,
    package_file,
    read_yaml,
)


class Colour(IntEnum):
    RED = 0
    GREEN = 1


class PaintError(SettingsError):
    """Raised by Paint."""


@dataclass(frozen=True)
class Brush(Settings):
    width: float = number(1.0, 50.0, "mm")
    hairs: int = number(1, 1000, default=100)


@dataclass(frozen=True)
class Paint(Settings, error=PaintError):
    colour: Colour
    brush: Brush
    name: str = "blue hour"
    glossy: bool = False
    viewer: str = choice(("auto", "true", "false"), default="auto")
    offset: Tuple[float, float, float] = number(-1.0, 1.0, "m", default=(0.0, 0.0, 0.0))
    height: Tuple[float, float] = number(0.0, 2.0, default=(0.0, 1.0), ordered=True)
    layers: Tuple[float, ...] = number(0.0, 1.0, default=())
    spare: Optional[Brush] = None
    shelf: Mapping[str, Brush] = field(default_factory=dict)
    speed: float = number(0.0, 10.0, hint="0 is at rest", default=0.0)

    def conflict(self):
        return "speed must be 0 for a glossy paint" if self.glossy and self.speed else ""


@dataclass(frozen=True)
class Free(Settings):
    size: float
    count: int = 0


GOOD = {"colour": "green", "brush": {"width": 3}}


@pytest.mark.parametrize("words", [["leg"], ["leg="], ["=3"], ["leg=x"], ["leg=nan"], ["leg=1e999"], ["a=1", "a=1"]])
def test_words_of_a_command_line_are_names_and_finite_numbers(words):
    assert named_numbers(["leg=3", "turn=-.5"], "leg=3") == {"leg": 3.0, "turn": -0.5}
    with pytest.raises(SettingsError, match=r"a is given twice|is no NAME=NUMBER .*; write for example leg=3"):
        named_numbers(words, "leg=3")


@pytest.mark.parametrize("digits", [400, 6000])
def test_a_number_that_no_float_holds_is_refused_in_words(digits):
    for value in (10**digits, -(10**digits), [10**digits]):
        with pytest.raises(SettingsError, match="size is .{1,90}; give a finite number"):
            Free.from_mapping({"size": value})
    with pytest.raises(SettingsError, match="count is .{1,90}; give a whole number"):
        Free.from_mapping({"size": 1, "count": 10**digits})
    assert Free(-1e308).size == -1e308


def test_types_are_converted():
    paint = Paint.from_mapping({**GOOD, "viewer": True, "layers": [1, 0], "shelf": {"a": {"width": 2}}})
    assert (paint.colour, paint.brush, paint.viewer) == (Colour.GREEN, Brush(3.0, 100), "true")
    assert (paint.layers, paint.shelf, paint.spare) == ((1.0, 0.0), {"a": Brush(2.0)}, None)
    assert isinstance(paint.brush.width, float) and isinstance(paint.brush.hairs, int)
    assert Paint.from_mapping(paint.replace(spare=Brush(1.0)).to_mapping()).spare == Brush(1.0)
    assert Brush.from_mapping({"width": 1, "hairs": 7.0}).hairs == 7, "roslaunch may make a float of it"


@pytest.mark.parametrize(
    "changes, says",
    [
        ({"speed": 11}, r"~speed is 11; give a number from 0 to 10 \(0 is at rest\)$"),
        ({"speed": float("nan")}, "~speed is nan; give a number from 0 to 10"),
        ({"speed": True}, "~speed is True; give a number"),
        ({"speed": "1e-3"}, "~speed is '1e-3'; give a number"),
        ({"brush": {"width": 0}}, "~brush.width is 0; give a number from 1 to 50 mm$"),
        ({"brush": {"width": 1, "hairs": 2.5}}, "~brush.hairs is 2.5; give a whole number from 1 to 1000$"),
        ({"brush": {}}, "~brush.width is missing; required are width$"),
        ({"brush": {"width": 1, "hiars": 3}}, r"~brush.hiars does not exist; is hairs meant\? There are width, hairs$"),
        ({"brush": 3}, "~brush is 3; give a mapping with the keys width, hairs$"),
        ({"shelf": {"a": {"width": 99}}}, "~shelf.a.width is 99; give"),
        ({"colour": "gren"}, r"~colour is 'gren'; is green meant\? Choose from red, green$"),
        ({"viewer": "maybe"}, "~viewer is 'maybe'; choose from auto, true, false$"),
        ({"glossy": 1}, "~glossy is 1; give true or false$"),
        ({"glossy": True, "speed": 1}, "~speed must be 0 for a glossy paint$"),
        ({"name": 8}, "~name is 8; give a text, in quotes$"),
        ({"offset": [0, 0]}, r"~offset is \[0, 0\]; give a list of 3 numbers$"),
        ({"offset": [0, 0, 2]}, r"~offset\[2\] is 2; give a number from -1 to 1 m$"),
        ({"height": [1.0, 0.5]}, r"~height is \[1.0, 0.5\]; the first number must not be the greater one$"),
        ({"layers": 1}, "~layers is 1; give a list$"),
        ({"xyz": 1}, "~xyz does not exist; there are colour, brush, name"),
    ],
)
def test_what_is_refused_is_named(changes, says):
    with pytest.raises(PaintError, match=says):
        Paint.from_mapping({**GOOD, **changes}, "~")


def test_an_object_made_directly_is_checked_too():
    with pytest.raises(PaintError, match="^colour is 7; choose"):
        Paint(7, Brush(1.0))
    with pytest.raises(SettingsError, match="^width is 0.0; give"):
        Brush(0.0)
    with pytest.raises(PaintError, match="^sped does not exist; is speed meant"):
        Paint.from_mapping(GOOD).replace(sped=1.0)


@pytest.mark.parametrize(
    "text, says",
    [
        ("colour: red\nbrush: {width: 0}\n", r"file.yaml: brush.width is 0; give"),
        ("- red\n", "file.yaml holds a list; expected a mapping"),
        ("colour: red\nbrush: [\n", "file.yaml is not valid YAML in line 3: .*; correct that line"),
        ("colour: red\nname: a\ncolour: red\n", "file.yaml is not valid YAML in line 3: key 'colour' is given twice"),
        ("", "file.yaml: colour, brush are missing; required are"),
        ("colour: \xff\n", "cannot read .*file.yaml"),
    ],
)
def test_the_file_is_named(tmp_path, text, says):
    path = tmp_path / "file.yaml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(PaintError, match=says):
        Paint.load(path)
    with pytest.raises(PaintError, match="cannot read .*none.yaml: No such file or directory; give"):
        Paint.load(tmp_path / "none.yaml")


def test_merge_keys_are_no_repeated_keys(tmp_path):
    path = tmp_path / "file.yaml"
    path.write_text("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\n", encoding="utf-8")
    assert read_yaml(path)["b"] == {"x": 3, "y": 2}


def test_numbers_are_numbers_without_point_and_sign_in_the_exponent_too(tmp_path):
    path = tmp_path / "file.yaml"
    path.write_text("{a: 1e9, b: -1.5E3, c: 2.0e+3, d: 1e9x, e: '1e9'}", encoding="utf-8")
    assert read_yaml(path) == {"a": 1e9, "b": -1500.0, "c": 2000.0, "d": "1e9x", "e": "1e9"}


def test_files_of_packages(tmp_path, monkeypatch):
    assert package_file("shellbot_common", "package.xml").is_file()
    folder = tmp_path / "share" / "elsewhere" / "config"
    folder.mkdir(parents=True)
    with pytest.raises(PackageFileError, match="config of the package elsewhere is not found .*setup.bash"):
        package_file("elsewhere", "config")
    monkeypatch.setenv("CMAKE_PREFIX_PATH", f"/nowhere:{tmp_path}")
    assert package_file("elsewhere", "config") == folder
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "share"))
    assert package_file("elsewhere", "config") == folder
