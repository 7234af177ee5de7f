# SPDX-License-Identifier: MIT
"""Window, terminal and page in an invented language: no text stays English."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from teleop_language import in_brackets, write_catalogue

from shellbot_teleop import texts
from shellbot_teleop.keys import NAMED_KEYS, key_label

HERE = Path(__file__).resolve().parent
# What stays as it is: names of keys, units, modes, gaits, joints, operators and of the robot, and calls of Python.
NAMES = {"Shellbot", "Python", "ROS", "Ctrl", "Alt", "walk", "teleop", "knee", "hip", "wave", "pilot", "us"}
NAMES |= {"stand", "hexapod", "shell", "sit", "rise", "tilt"}
NAMES |= {"tripod", "ripple", "tetrapod", "wave", "rough", "sprint"}
NAMES |= {"mm", "rad", "deg", "CSV", "PNG"} | set(NAMED_KEYS) | {key_label(key) for key in NAMED_KEYS}


def english(text):
    """Return the words of a text that stand in no brackets and are no names."""
    before = ""
    while text != before:
        before, text = text, re.sub(r"⟦[^⟦⟧]*⟧", " ", text)
    return [word for word in re.findall(r"[^\W\d_]{2,}", re.sub(r"<[^>]*>|&\w+;", " ", text)) if word not in NAMES]


@pytest.fixture(scope="module")
def invented(tmp_path_factory):
    """Environment of the invented language."""
    return write_catalogue(tmp_path_factory.mktemp("locale"))


@pytest.fixture(scope="module")
def shown(invented):
    pytest.importorskip("python_qt_binding")  # of ROS
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen", **invented)
    done = subprocess.run(
        [sys.executable, str(HERE / "texts_shown.py")], env=environment, stdout=subprocess.PIPE, timeout=600, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("part", ["window", "terminal", "notices"])
def test_every_text_is_in_the_operators_language(shown, part):
    left = {text: english(text) for text in shown[part] if english(text)}
    assert not left
    assert sum(text.count("⟦") for text in shown[part]) > 100


def test_a_translation_whose_fields_do_not_fit_is_not_used(monkeypatch):
    class Catalogue:
        def gettext(self, text):
            return {"{count} good": "{number} gut", "{x:.1f} m": "{x:d} m"}.get(text, in_brackets(text))

    monkeypatch.setattr(texts, "_CATALOGUE", Catalogue())
    assert texts.tr("{count} good", count=3) == "3 good"
    assert texts.tr("{x:.1f} m", x=1.25) == "1.2 m"
    assert texts.tr("Gait {name}.", name="{x}") == "⟦Gait {x}.⟧" and texts.tr("") == ""


@pytest.mark.parametrize("content", [b"", b"torn", b"\xde\x12\x04\x95" + b"\xff" * 24])
def test_a_torn_catalogue_leaves_english(tmp_path, monkeypatch, content):
    path = tmp_path / "xx" / "LC_MESSAGES" / "shellbot_teleop.mo"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    monkeypatch.setenv("TEXTDOMAINDIR", str(tmp_path))
    monkeypatch.setenv("LANGUAGE", "xx")
    assert texts._catalogue().gettext("Run") == "Run"
