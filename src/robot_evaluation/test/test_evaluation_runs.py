# SPDX-License-Identifier: MIT
"""Runs survive what happens to them: a killed worker, Ctrl-C, a full disk; and workers do not change results."""

from __future__ import annotations

import argparse
import concurrent.futures
import csv
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from robot_evaluation.console import file_of, run_tool
from robot_evaluation.errors import DefinitionError, EvaluationError
from robot_evaluation.journal import Journal
from robot_evaluation.parallel import map_jobs, pool_of
from robot_evaluation.plots import plot_runs
from robot_evaluation.report_files import run_tables, write_files
from robot_evaluation.reports import write_json
from robot_evaluation.tables import write_between_markers
from shellbot_common.testing import PATIENCE, wait_until


@dataclass(frozen=True)
class Case:
    """One run: it leaves a mark each time it is carried out."""

    folder: str
    number: int
    kills: int = 0  #: How often it kills its worker before it is done


def carry_out(case):
    mark = Path(case.folder) / str(case.number)
    begun = len(mark.read_text()) if mark.exists() else 0
    mark.write_text("x" * (begun + 1))
    if begun < case.kills:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"number": case.number, "root": math.sqrt(case.number), "unknown": math.nan, "text": "a" * 4000}


def carried_out(folder):
    return {int(mark.name): len(mark.read_text()) for mark in folder.iterdir()}


def labelled(folder, count, **kills):
    folder.mkdir(exist_ok=True)
    return [(f"run {i}", Case(str(folder), i, kills.get(f"of_{i}", 0))) for i in range(count)]


def same(a, b):
    return json.dumps(a) == json.dumps(b)  # NaN is no equal of itself


def test_a_run_whose_worker_was_killed_is_repeated_and_the_others_are_not_lost(tmp_path, capsys):
    cases = labelled(tmp_path / "marks", 6, of_1=1)
    with Journal(tmp_path / "runs.jsonl", "test") as journal:
        found = map_jobs(carry_out, cases, 2, None, journal)
    assert same(found, [carry_out(case) for _, case in labelled(tmp_path / "again", 6)])
    assert carried_out(tmp_path / "marks")[1] == 2
    assert "a worker was killed" in capsys.readouterr().err
    assert not (tmp_path / "runs.jsonl").exists()


def siblings(_):
    return len(psutil.Process(os.getppid()).children())


def test_no_more_workers_are_started_than_there_are_runs():
    before = len(psutil.Process().children())
    assert max(map_jobs(siblings, [("one", 1), ("two", 2)], 30)) <= before + 3  # one of multiprocessing


def test_a_run_that_always_kills_its_worker_ends_in_a_sentence_and_the_others_are_on_disk(tmp_path):
    cases = labelled(tmp_path / "marks", 4, of_2=99)
    killed = pytest.raises(EvaluationError, match=r"worker of 'run 2' was killed 3 times.*fewer --workers")
    with killed, Journal(tmp_path / "runs.jsonl", "test") as journal:
        map_jobs(carry_out, cases, 2, None, journal)
    lines = (tmp_path / "runs.jsonl").read_text().splitlines()
    assert {json.loads(line)["result"]["number"] for line in lines[1:]} == {0, 1, 3}


TOOL = """
import sys, time
from pathlib import Path
sys.path.insert(0, {here!r})
from test_evaluation_runs import carry_out, labelled
from robot_evaluation.console import run_tool
from robot_evaluation.journal import Journal
from robot_evaluation.parallel import map_jobs

def slowly(case):
    time.sleep({seconds} * (case.number > 3))  # four are done at once
    return carry_out(case)

def tool():
    with Journal(Path({folder!r}) / "runs.jsonl", "test") as journal:
        map_jobs(slowly, labelled(Path({folder!r}) / "marks", 12), 2, None, journal)
    return 0

sys.exit(run_tool(tool))
"""


def start(folder, seconds, limit=None):
    script = TOOL.format(here=str(Path(__file__).parent), folder=str(folder), seconds=seconds)
    full = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None
    command = [sys.executable, "-B", "-c", script]  # a limit cuts off compiled modules, too, without an error
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=full)


def goes_on_and_ends(folder):
    before = carried_out(folder / "marks")
    done = {json.loads(line)["result"]["number"] for line in (folder / "runs.jsonl").read_text().splitlines()[1:]}
    assert done, "some runs are on disk"
    tool = start(folder, 0.0)
    tool.communicate(timeout=PATIENCE)
    assert tool.returncode == 0
    after = carried_out(folder / "marks")
    assert all(after[number] == before[number] for number in done), "what was done is not repeated"
    assert set(after) == set(range(12))
    return done


def started_and_some_done(folder):
    tool, path = start(folder, 600.0), folder / "runs.jsonl"
    wait_until(lambda: tool.poll() is not None or (path.exists() and path.read_text().count("\n") >= 3))
    return tool


def test_workers_end_with_a_tool_that_is_killed_and_its_runs_are_on_disk(tmp_path):
    tool = started_and_some_done(tmp_path)
    tool.kill()
    assert tool.wait(PATIENCE) == -signal.SIGKILL

    def alone():
        try:
            os.killpg(tool.pid, 0)
        except ProcessLookupError:
            return True
        return False

    wait_until(alone)
    tool.stderr.close()
    goes_on_and_ends(tmp_path)


def test_ctrl_c_ends_at_once_and_the_same_command_goes_on(tmp_path):
    tool = started_and_some_done(tmp_path)
    os.killpg(tool.pid, signal.SIGINT)
    printed = tool.communicate(timeout=PATIENCE)[1]
    assert tool.returncode == 130
    assert "stopped by the user" in printed and "the same command goes on from there" in printed
    assert "Traceback" not in printed
    assert len(goes_on_and_ends(tmp_path)) < 12


def test_a_full_disk_is_a_sentence_and_what_was_written_is_not_lost(tmp_path):
    tool = start(tmp_path, 0.0, limit=20_000)
    printed = tool.communicate(timeout=PATIENCE)[1]
    assert tool.returncode == 2
    assert re.search(r"error: cannot write a run to .*runs.jsonl: File too large; 4 runs are in it: make room", printed)
    assert "Traceback" not in printed
    assert len(goes_on_and_ends(tmp_path)) == 4


def test_a_journal_gives_results_again_to_the_last_bit_and_ignores_a_line_that_was_cut_off(tmp_path):
    cases, path = labelled(tmp_path / "marks", 3), tmp_path / "runs.jsonl"
    with pytest.raises(KeyboardInterrupt), Journal(path, "test") as journal:
        first = map_jobs(carry_out, cases[:2], 1, None, journal)
        raise KeyboardInterrupt
    with path.open("a") as stream:
        stream.write('{"run": "cut')
    with Journal(path, "test") as journal:
        again = map_jobs(carry_out, cases, 1, None, journal)
        assert same(again[:2], first) and again[1]["root"] == first[1]["root"]
        with pytest.raises(EvaluationError, match="another experiment is writing"):
            Journal(path, "test")
        assert len([json.loads(line) for line in path.read_text().splitlines()]) == 4
    assert carried_out(tmp_path / "marks") == {0: 1, 1: 1, 2: 1}
    assert not path.exists(), "the results are elsewhere"


def test_a_journal_keeps_the_runs_of_another_command_that_was_interrupted(tmp_path, capsys):
    cases, path = labelled(tmp_path / "marks", 4), tmp_path / "runs.jsonl"
    with pytest.raises(KeyboardInterrupt), Journal(path, "test") as journal:
        map_jobs(carry_out, cases[:2], 1, None, journal)
        raise KeyboardInterrupt
    with Journal(path, "test") as journal:
        map_jobs(carry_out, cases[1:3], 1, None, journal)
    assert f"2 runs of another command that was interrupted stay in {path}" in capsys.readouterr().err
    with Journal(path, "test") as journal:
        map_jobs(carry_out, cases, 1, None, journal)
    assert carried_out(tmp_path / "marks") == {0: 1, 1: 1, 2: 2, 3: 1} and not path.exists()


def test_a_journal_of_something_else_or_of_other_code_is_refused(tmp_path, monkeypatch):
    path, cases = tmp_path / "runs.jsonl", labelled(tmp_path / "marks", 1)
    with pytest.raises(KeyboardInterrupt), Journal(path, "test") as journal:
        map_jobs(carry_out, cases, 1, None, journal)
        raise KeyboardInterrupt
    with pytest.raises(EvaluationError, match="1 runs of 'test' by other code or settings; remove it"):
        Journal(path, "another")
    path.write_text("no journal\n")
    with pytest.raises(EvaluationError, match="holds no runs"):
        Journal(path, "test")
    with pytest.raises(EvaluationError, match="cannot write .*; give another --out or --json"):
        Journal(Path("/proc/no/runs.jsonl"), "test")


def test_a_disk_that_is_full_at_the_start_is_named_by_the_file(tmp_path):
    def begin():
        Journal(tmp_path / "runs.jsonl", "test")
        return 0

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(EvaluationError, match=r"cannot write .*runs.jsonl: File too large; give another --out"):
            begin()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_dask_cluster_gives_the_same_results(tmp_path):
    distributed = pytest.importorskip("distributed", reason="python3-distributed is not installed")
    with distributed.LocalCluster(1, processes=False, protocol="tcp://", dashboard_address=None) as cluster:
        found = map_jobs(carry_out, labelled(tmp_path / "far", 5), 1, pool_of(cluster.scheduler_address))
    assert same(found, map_jobs(carry_out, labelled(tmp_path / "near", 5), 1))
    assert carried_out(tmp_path / "far") == dict.fromkeys(range(5), 1)


def test_at_ctrl_c_nothing_waits_for_runs_of_a_pool_that_has_lost_its_workers(tmp_path):
    """As a Dask cluster may: they never end."""
    waited = []

    class Lost(concurrent.futures.Executor):
        def submit(self, function, *arguments):
            if arguments[0].number:
                raise KeyboardInterrupt
            return concurrent.futures.Future()

        def shutdown(self, wait=True):
            waited.append(wait)

    with pytest.raises(KeyboardInterrupt):
        map_jobs(carry_out, labelled(tmp_path / "marks", 2), 1, lambda jobs: Lost())
    assert waited == [False]


def test_bad_workers_are_sentences(tmp_path, monkeypatch):
    with pytest.raises(DefinitionError, match="--workers is 0"):
        map_jobs(carry_out, labelled(tmp_path / "marks", 1), 0)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(EvaluationError, match="apt-get install python3-distributed"):
        map_jobs(carry_out, labelled(tmp_path / "marks", 1), 1, pool_of("tcp://127.0.0.1:1"))


def test_the_report_is_one_file_with_every_run_mean_and_deviation(tmp_path):
    rows = [
        {"label": label, "seed": seed, "x": 1.0 + seed, "ok": True, "message": "", "parts": [{"a": math.nan}]}
        for label in ("slow", "fast & light")
        for seed in (0, 2)
    ]
    columns = {"label": "case", "x": "distance / m", "ok": "arrived", "message": "last message"}
    tables = run_tables(rows, columns, {"x": 2}, "label")
    plot_runs(tmp_path / "t.png", "t", rows, columns)
    write_files(tmp_path, "t", "All arrived.\n", rows, tables, [tmp_path / "t.png"], {"command": "it"})
    lines = [" ".join(line.split()) for line in (tmp_path / "t.md").read_text().splitlines()]
    for line in ("### fast & light", "| 2 | 3.00 | yes | |", "| mean | 2.00 | | |", "| std | 1.41 | | |"):
        assert line in lines
    page = (tmp_path / "t.html").read_text()
    assert page.count("<table>") == 2 and "<td>1.41</td>" in page and "fast &amp; light" in page
    assert page.count('src="') == page.count('src="data:image/png;base64,') == 1 and "href" not in page
    with (tmp_path / "t.csv").open() as stream:
        assert [row["x"] for row in csv.DictReader(stream)] == ["1.0", "3.0", "1.0", "3.0"]
    written = json.loads((tmp_path / "t.json").read_text())
    assert written["command"] == "it" and len(written["runs"]) == 4 and len(written["machine"]["code"]) == 12


@pytest.mark.parametrize("ending", ["csv", "json", "md", "html", "png"])
def test_a_full_disk_is_named_by_its_file(tmp_path, capsys, ending):
    rows = [{"seed": seed, "x": 1.0} for seed in (0, 1)]
    picture = tmp_path / "t.png"

    def tool():
        plot_runs(picture, "t", rows, {"x": "distance / m"})
        write_files(tmp_path, "t", "All arrived.\n", rows, "", [picture], {})
        return 0

    assert run_tool(tool) == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    full = tmp_path / f"t.{ending}.part"  # each file is written beside its place
    full.symlink_to("/dev/full")
    assert run_tool(tool) == 2
    assert f"t.{ending} cannot be used: No space left on device" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == set(before), "no half a file"
    assert (tmp_path / f"t.{ending}").read_bytes() == before[f"t.{ending}"], "the former one is whole"


def test_a_full_disk_leaves_the_page_that_a_table_goes_into(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("<!-- begin: t -->\nold\n<!-- end: t -->\n")
    (tmp_path / "page.md.part").symlink_to("/dev/full")
    assert run_tool(lambda: write_between_markers(page, "t", "new") or 0) == 2
    assert "page.md cannot be used: No space left on device" in capsys.readouterr().err
    assert "old" in page.read_text()


def test_a_link_such_as_dev_stdout_is_written_to_and_stays(tmp_path, capsys):
    link, file = tmp_path / "stdout", tmp_path / "t.json"
    file.touch()
    for target in ("/dev/full", "t.json"):
        link.symlink_to(target)
        run_tool(lambda: write_json(link, {}) or 0)
        assert link.is_symlink() and file.is_file()
        link.unlink()
    assert "stdout cannot be used: No space left on device" in capsys.readouterr().err
    assert file.read_text() == "{}\n"


def test_a_folder_in_the_place_of_a_file_is_refused_before_the_first_run(tmp_path):
    with pytest.raises(argparse.ArgumentTypeError, match="is a folder; give the path of a file"):
        file_of(str(tmp_path))
    assert file_of(f"{tmp_path}/found.json") == tmp_path / "found.json"
