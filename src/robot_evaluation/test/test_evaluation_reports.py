# SPDX-License-Identifier: MIT
"""Tables, files, progress and seeds of experiments."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import sys
from importlib import metadata

import pytest

from robot_evaluation.console import Progress, add_page, add_simulators, seed_of, seeds_of
from robot_evaluation.errors import DefinitionError, EvaluationError
from robot_evaluation.reports import code_version, machine, write_csv, write_json
from robot_evaluation.tables import markdown_table, write_between_markers


def test_table_pads_columns_rounds_numbers_and_fills_gaps():
    rows = [{"a": 1.23456, "b": "x|y"}, {"a": math.nan, "b": None}, {"a": -0.004, "b": math.inf}]
    text = markdown_table(rows, {"a": "alpha", "b": "beta"}, {"a": 2})
    assert text.splitlines() == [
        "| alpha   | beta   |",
        "|---------|--------|",
        "| 1.23    | x/y    |",
        "| –       | –      |",
        "| 0.00    | inf    |",
    ]
    with pytest.raises(EvaluationError, match="at least one row"):
        markdown_table([])


def test_numbers_in_a_list_are_one_line_of_json_and_texts_stay_as_they_are(tmp_path):
    content = {"x": [0.0, -1.5e-7, math.nan, 3], "rows": [[1, 2], [3, 4]], "texts": ["[1,\n 2]", "-1"], "none": []}
    write_json(tmp_path / "a.json", content)
    text = (tmp_path / "a.json").read_text()
    assert '"x": [0.0, -1.5e-07, null, 3],\n' in text and "    [1, 2],\n    [3, 4]\n" in text
    assert json.loads(text) == {**content, "x": [0.0, -1.5e-7, None, 3]}


def test_another_version_of_a_library_counts_as_other_code(monkeypatch):
    def version(name):
        if name == "pybullet":
            raise metadata.PackageNotFoundError(name)
        return "9.9"

    before = code_version.__wrapped__()
    monkeypatch.setattr(metadata, "version", version)
    assert machine()["libraries"] == dict.fromkeys(("mujoco", "numpy", "scipy", "numba"), "9.9")
    assert code_version.__wrapped__() != before


def test_progress_draws_in_place_on_a_terminal_and_writes_lines_elsewhere():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    drawn, lines = Terminal(), io.StringIO()
    for progress in (Progress(2, drawn), Progress(2, lines)):
        progress.step("first")
        progress.step("second")
    assert [line.split("|")[-1].split()[0] for line in lines.getvalue().splitlines()] == ["1/2", "2/2"]
    assert "first" in lines.getvalue() and "second" in lines.getvalue().splitlines()[-1]
    assert drawn.getvalue().count("\n") == 1 and drawn.getvalue().count("\r") > 1 and "2/2" in drawn.getvalue()


def test_text_between_markers_is_replaced_again_and_again_and_nothing_else(tmp_path):
    page = tmp_path / "validation.md"
    page.write_text("# Head\n<!-- begin: walk -->\nold\n<!-- end: walk -->\ntail\n", encoding="utf-8")
    for text in ("first", "second"):
        write_between_markers(page, "walk", text)
    assert page.read_text() == "# Head\n<!-- begin: walk -->\n\nsecond\n\n<!-- end: walk -->\ntail\n"


@pytest.mark.parametrize("content", ["nothing", "<!-- end: walk --><!-- begin: walk -->", "<!-- begin: walk -->"])
def test_page_without_its_markers_is_left_alone_and_told(tmp_path, content):
    page = tmp_path / "validation.md"
    page.write_text(content)
    with pytest.raises(EvaluationError, match="lacks the lines '<!-- begin: walk -->'"):
        write_between_markers(page, "walk", "text")
    assert page.read_text() == content


@pytest.mark.parametrize("content", ["nothing", None])
def test_a_tool_refuses_a_page_without_a_place_for_its_tables_before_its_work(tmp_path, content, capsys):
    page, parser = tmp_path / "validation.md", argparse.ArgumentParser()
    add_page(parser, "walk")
    if content:
        page.write_text(content)
    with pytest.raises(SystemExit):
        parser.parse_args(["--write", str(page)])
    complaint = capsys.readouterr().err
    assert ("lacks the lines '<!-- begin: walk -->'" if content else "give an existing page") in complaint
    page.write_text("<!-- begin: walk --><!-- end: walk -->")
    assert parser.parse_args(["--write", str(page)]).write == page


def test_csv_and_json_survive_missing_keys_and_numbers_json_does_not_know(tmp_path):
    write_csv(tmp_path / "r.csv", [{"a": 1, "b": 2.5}, {"a": 3, "c": "z"}])
    with (tmp_path / "r.csv").open() as stream:
        assert list(csv.DictReader(stream)) == [{"a": "1", "b": "2.5", "c": ""}, {"a": "3", "b": "", "c": "z"}]
    write_json(tmp_path / "r.json", {"x": math.inf, "y": [math.nan, 1.5], "z": {"ok": True}})
    assert json.loads((tmp_path / "r.json").read_text()) == {"x": None, "y": [None, 1.5], "z": {"ok": True}}
    assert [p.name for p in tmp_path.iterdir() if p.suffix == ".part"] == []


def test_seeds_are_a_count_or_a_range():
    assert seeds_of("3") == range(3) and seeds_of("1000:1003") == range(1000, 1003)
    for wrong in ("a", "0", "-1", "3:3", ":", "5:2", "-2:1", "1:2:3"):
        with pytest.raises(DefinitionError, match=f"--seeds is '{wrong}'; give N of 1 or more, or A:B"):
            seeds_of(wrong)


def test_an_engine_that_is_not_installed_is_refused_before_the_first_run(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pybullet", None)
    parser = argparse.ArgumentParser()
    add_simulators(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(["--simulator", "mujoco", "bullet"])
    assert "--simulator: the engine bullet needs pybullet, which is not installed: run" in capsys.readouterr().err
    assert parser.parse_args(["--simulator", "mujoco"]).simulator == ["mujoco"]


@pytest.mark.parametrize("text", ["99999999999", "100001", "0:100001", "2147483647:2147483649"])
def test_more_seeds_than_can_be_run_are_refused_with_both_bounds(text):
    with pytest.raises(DefinitionError, match=f"^--seeds is '{text}'; .* 100000 seeds, each from 0 to 2147483647"):
        seeds_of(text)
    assert len(seeds_of("2147383648:2147483648")) == 100_000, "the last of all"
    with pytest.raises(argparse.ArgumentTypeError, match="from 0 to 2147483647"):
        seed_of("2147483648")
