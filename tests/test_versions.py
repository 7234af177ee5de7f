# SPDX-License-Identifier: MIT
"""scripts/test versions: which pairs fit, which interpreter is taken, what becomes of ROS, and what the table says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIB = ROOT / "scripts" / "lib"
sys.path.insert(0, str(LIB))

import run_versions  # noqa: E402
import version_report  # noqa: E402
from version_cases import (  # noqa: E402
    CASES,
    VersionsError,
    candidates,
    choose_cases,
    find_interpreter,
    parse_case,
    probe,
    relevant,
)


def test_the_usual_cases_span_what_is_promised():
    pairs = [(case.python, case.numba) for case in CASES]
    assert {python for python, _ in pairs} == {"3.8", "3.9", "3.10", "3.11", "3.12", "3.13"}
    assert CASES[0].name == "3.8-0.56.4" and CASES[-1].python == "3.13"
    assert CASES[0].interpreted and CASES[-1].interpreted, "oldest and newest run without the compiler, too"
    for case in CASES:
        assert parse_case(f"{case.python}-{case.numba}") is case
        assert case.numpy and case.scipy, "what is usual is pinned"


@pytest.mark.parametrize("word", ["3.10-0.56.4", "3.12-0.59.1", "3.13-0.61.0", "3.11-0.70.0"])
def test_any_pair_that_fits(word):
    case = parse_case(word)
    assert case.name == word
    assert case.requirements() == [f"numba=={case.numba}", "numpy", "scipy"]


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("3.11-0.56.4", "Python 3.8 to 3.10"),
        ("3.13-0.60.0", "Python 3.9 to 3.12"),
        ("3.8-0.68.1", "Python 3.10 to 3.13"),
        ("3.8-0.48.0", "0.56 is the oldest"),
        ("3.8", "write PYTHON-NUMBA, such as 3.8-0.56.4"),
        ("newest", "the usual ones are"),
    ],
)
def test_pairs_that_do_not_fit(word, words):
    with pytest.raises(VersionsError, match=words):
        parse_case(word)


def test_cases_keep_the_order_asked_and_come_once():
    assert choose_cases([]) == list(CASES)
    names = [case.name for case in choose_cases(["3.13-0.68.1", "3.8-0.58.1", "3.13-0.68.1"])]
    assert names == ["3.13-0.68.1", "3.8-0.58.1"]


def test_pins_of_other_packages_make_no_environment_anew():
    wanted = "# words\nPyYAML==6.0.3\nmujoco   # physics\n"
    pins = "mujoco==3.2.3; python_version < '3.9'  # physics\nruff==0.17.5\nmujoco-mjx==3.0\n"
    assert relevant(wanted, pins) == ["PyYAML==6.0.3", "mujoco", "mujoco==3.2.3; python_version < '3.9'"]


def test_a_case_chooses_numba_and_numpy_whatever_the_workspace_pins():
    pins = [(ROOT / f"scripts/lib/requirements{name}.txt").read_text(encoding="utf-8") for name in ("", "-dev")]
    assert "numba==" in pins[0] and "numpy==" in pins[0]
    for case in CASES:
        found = case.constraints(*pins)
        assert not [line for line in found if line.startswith(("numba==", "numpy==", "scipy=="))], case.name
        assert any(line.startswith("mujoco==") for line in found)


def program(path: Path, text: str = "#!/bin/sh\nexit 127\n") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def interpreter(path: Path, version: str) -> str:
    return program(path, f"#!/bin/sh\necho {version}\necho {path}\n")


def test_interpreter_on_path_before_pyenv(tmp_path):
    shim = program(
        tmp_path / "shims" / "python3.9"
    )  # as pyenv's for a version that is not active: it is there, and refuses
    first = interpreter(tmp_path / "bin" / "python3.9", "3.9")
    interpreter(tmp_path / ".pyenv" / "versions" / "3.9.18" / "bin" / "python", "3.9")
    environ = {"PATH": f"{tmp_path / 'shims'}:{tmp_path / 'bin'}"}
    assert candidates("3.9", environ, tmp_path)[:2] == [shim, first]
    assert find_interpreter("3.9", environ=environ, home=tmp_path) == first


def test_interpreter_of_pyenv_newest_patch_first(tmp_path):
    for patch in ("3.1.1", "3.10.9", "3.10.13", "3.11.7"):
        interpreter(tmp_path / "versions" / patch / "bin" / "python", patch.rsplit(".", 1)[0])
    environ = {"PATH": "", "PYENV_ROOT": str(tmp_path)}
    found = find_interpreter("3.10", environ=environ, home=tmp_path / "nowhere")
    assert found == str(tmp_path / "versions" / "3.10.13" / "bin" / "python")
    assert find_interpreter("3.1", environ=environ, home=tmp_path / "nowhere").endswith("3.1.1/bin/python")


def test_given_interpreter_goes_first_if_it_is_of_that_version(tmp_path):
    given = interpreter(tmp_path / "mine", "3.12")
    on_path = interpreter(tmp_path / "bin" / "python3.13", "3.13")
    environ = {"PATH": str(tmp_path / "bin")}
    assert find_interpreter("3.12", [given], environ, tmp_path) == given
    assert find_interpreter("3.13", [given], environ, tmp_path) == on_path


def test_missing_interpreter_says_the_next_step(tmp_path):
    program(tmp_path / "bin" / "python3.9")
    with pytest.raises(VersionsError, match=r"no Python 3.9: .*pyenv install 3.9\), name it with --python PATH, or"):
        find_interpreter("3.9", environ={"PATH": str(tmp_path / "bin")}, home=tmp_path)


def test_probe_sees_through_a_virtual_environment():
    version, path = probe(sys.executable)
    assert version == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert Path(path).exists() and not path.startswith(str(ROOT))
    assert probe(str(ROOT / "nothing")) == ("", "")


def test_environment_of_a_case_is_without_ros_and_the_users_python(tmp_path):
    environ = {"PATH": "/usr/bin", "PYTHONPATH": "/a", "ROS_MASTER_URI": "x", "NUMBA_DISABLE_JIT": "1", "HOME": "/h"}
    clean = run_versions.clean_environment(tmp_path, environ)
    assert not {"PYTHONPATH", "ROS_MASTER_URI", "NUMBA_DISABLE_JIT"} & set(clean)
    assert clean["HOME"] == "/h" and clean["PATH"] == f"{tmp_path}/venv/bin:/usr/bin"
    assert clean["NUMBA_CACHE_DIR"] == str(tmp_path / "numba")


def run_pytest(folder: Path, content: str) -> dict:
    """Counts of a test file under the plugin, in an interpreter without ROS: the suite's own way but for the venv."""
    (folder / "test_it.py").write_text(content, encoding="utf-8")
    hidden = "import sys; sys.modules.update({'rospy': None, 'shellbot_tiny': type(sys)('shellbot_tiny')})\n"
    (folder / "conftest.py").write_text(hidden, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "without_ros", "-p", "no:cacheprovider", "-c", os.devnull]
    command += ["--rootdir", str(folder), "--junitxml=it.xml", "--continue-on-collection-errors", "test_it.py"]
    subprocess.run(
        command, cwd=str(folder), env=dict(os.environ, PYTHONPATH=str(LIB)), check=False, stdout=subprocess.PIPE
    )
    return version_report.read_junit(folder / "it.xml")


def test_missing_ros_skips_and_says_so(tmp_path):
    content = "def test_a():\n    import rospy\ndef test_b():\n    pass\n"
    content += "def test_c():\n    from shellbot_tiny.cfg import TinyConfig\n"
    counts = run_pytest(tmp_path, content)
    assert (counts["passed"], counts["failed"], counts["skipped"]) == (1, 0, 2)
    assert counts["reasons"] == {"needs rospy of ROS": 1, "needs shellbot_tiny.cfg of ROS": 1}


def test_a_file_that_needs_ros_is_skipped_as_a_whole(tmp_path):
    counts = run_pytest(tmp_path, "import rospy\ndef test_a():\n    assert False\n")
    assert (counts["passed"], counts["failed"], counts["skipped"]) == (0, 0, 1)
    assert counts["reasons"] == {"needs rospy of ROS": 1}


def test_any_other_missing_module_is_a_failure(tmp_path):
    content = "def test_a():\n    import no_such_module_at_all\ndef test_b():\n    assert 1 == 2\n"
    counts = run_pytest(tmp_path, content)
    assert (counts["passed"], counts["failed"], counts["skipped"]) == (0, 2, 0)
    assert counts["failures"] == ["test_it::test_a", "test_it::test_b"]
    assert run_pytest(tmp_path, "import no_such_module_at_all\n")["failed"] == 1


def test_tests_that_did_not_end_are_a_failure(tmp_path):
    assert version_report.read_junit(tmp_path / "none.xml")["failed"] == 1
    (tmp_path / "half.xml").write_text("<testsuites><testsuite>", encoding="utf-8")
    assert version_report.read_junit(tmp_path / "half.xml")["failures"] == ["the tests did not run to their end"]


def suite(passed, failed=0, skipped=0, reasons=None, failures=()):
    return {
        "passed": passed, "failed": failed, "skipped": skipped, "reasons": reasons or {}, "failures": list(failures),
        "seconds": 10.4, "versions": "3.8.18 0.56.4 1.20.3 1.6.3", "commit": "abc1234",
    }  # fmt: skip


def test_table_and_what_stands_under_it():
    others = {
        package: suite(10, skipped=1, reasons={"needs rospy of ROS": 1}) for package in version_report.PACKAGES[2:]
    }
    results = {
        "3.10-0.59.1": {"robot_mechanics": suite(5, 7, failures=[f"test_x::test_{i}" for i in range(7)])},
        "3.8-0.56.4": {
            "robot_mechanics": suite(900, skipped=2),
            "robot_mechanics, interpreted": suite(800),
            "shellbot_kinematics": suite(100),
            "shellbot_kinematics, interpreted": suite(100),
            **others,
        },
    }
    lines = version_report.report(results).splitlines()
    cells = [c.strip() for c in lines[2].strip("|").split("|")]
    assert cells == [
        "3.8.18",
        "0.56.4",
        "1.20.3",
        "1.6.3",
        "1000 / 0 / 2",
        "900 / 0 / 0",
        f"{10 * len(others)} / 0 / {len(others)}",
        f"{10.4 * (4 + len(others)):.0f}",
        "abc1234",
    ]
    cells = [c.strip() for c in lines[3].strip("|").split("|")]
    assert cells[4:7] == ["5 / 7 / 0", "–", "–"], "the usual cases first"
    text = "\n".join(lines)
    assert "- Not run: 3.8-0.58.1, 3.9-0.60.0," in text
    assert "- 3.10-0.59.1: not run: shellbot_kinematics, arm_control, ax_bus," in text
    assert "- 3.10-0.59.1, robot_mechanics: failed: test_x::test_0, test_x::test_1, " in text
    assert "test_x::test_4 and 2 more." in text
    assert f"needs rospy of ROS ({len(others)})" in text
    assert "3.8-0.56.4: not run" not in text


def test_interpreted_where_asked():
    first, second = CASES[:2]
    assert run_versions.suites_of(first, ["shellbot_kinematics", "ax_bus"], False) == [
        "shellbot_kinematics", "shellbot_kinematics, interpreted", "ax_bus",
    ]  # fmt: skip
    assert run_versions.suites_of(second, ["robot_mechanics"], False) == ["robot_mechanics"]
    assert run_versions.suites_of(second, ["robot_mechanics"], True) == [
        "robot_mechanics", "robot_mechanics, interpreted",
    ]  # fmt: skip
    assert run_versions.suites_of(first, ["ax_bus"], True) == ["ax_bus"]


def test_every_package_with_tests_is_among_them():
    with_tests = {file.parents[1].name for file in (ROOT / "src").glob("*/test/test_*.py")}
    bringup = {name for name in with_tests if name.endswith("_bringup")}
    assert set(version_report.PACKAGES) == with_tests - bringup > {"robot_mechanics", "ax_bus", "snake_motion"}


def test_results_are_kept_by_case(tmp_path):
    for name, text in (("3.8-0.56.4", json.dumps({"robot_mechanics": suite(1)})), ("3.9-0.60.0", '{"robot_m')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text(text, encoding="utf-8")
    assert run_versions.load(tmp_path) == {"3.8-0.56.4": {"robot_mechanics": suite(1)}}


def test_two_calls_for_one_case_wait_for_each_other(tmp_path):
    code = "import sys, run_versions; from pathlib import Path\n"
    code += (
        f"with run_versions.alone(Path({str(tmp_path / 'case')!r})):\n    print('mine', flush=True); sys.stdin.read()"
    )
    start = [sys.executable, "-c", code]
    with subprocess.Popen(start, cwd=str(LIB), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout.readline() == b"mine\n"
        with subprocess.Popen(
            start, cwd=str(LIB), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as second:
            assert b"waiting for another call that tests case" in second.stderr.readline()
            assert first.poll() is None
            first.stdin.close()
            assert second.stdout.readline() == b"mine\n"
            second.stdin.close()


def test_interrupt_ends_what_was_started(tmp_path):
    """Ctrl-C ends the command with its children, which would otherwise go on in a session of their own."""
    child = tmp_path / "child"
    shell = f"sleep 300 & echo $! > {child}; wait"
    code = "import os, run_versions; from pathlib import Path\n"
    code += f"run_versions.run(['sh', '-c', {shell!r}], Path({str(tmp_path / 'log')!r}), os.environ, Path('/'))"
    process = subprocess.Popen(
        [sys.executable, "-c", "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + code],
        cwd=str(LIB), stderr=subprocess.PIPE,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not (child.exists() and child.read_text().strip()) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in process.communicate(timeout=600)[1]
    rest = Path("/proc", child.read_text().strip(), "cmdline")

    def lives():
        try:
            return rest.read_bytes() != b""  # a zombie has no command line
        except OSError:
            return False

    until = time.monotonic() + 30
    while lives() and time.monotonic() < until:
        time.sleep(0.05)
    assert not lives()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_script_stops_in_words_also_where_the_caller_ignores_interrupts(number):
    code = "import run_versions, time\ndef campaign(*_):\n    print('at it', flush=True)\n"
    code += "    for _ in range(6000): time.sleep(0.01)  # one long sleep may begin just after the signal\n"
    code += "run_versions.campaign = campaign\nraise SystemExit(run_versions.main([]))"
    command = ["sh", "-c", 'trap \'\' INT; exec "$0" "$@"', sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=str(LIB), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"at it\n"
        process.send_signal(number)
        assert b"interrupted; what has finished is stored" in process.communicate(timeout=600)[1]
        assert process.returncode == 130


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "3.11-0.56.4"], "does not fit"),
        (["--commit", "no-such-commit", "--only", CASES[-1].name], "no Python|git knows no commit 'no-such-commit'"),
    ],
)
def test_script_refuses_in_words(arguments, words):
    done = subprocess.run(
        [str(ROOT / "scripts" / "test"), "versions", *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert any(word in done.stderr for word in words.split("|")), done.stderr
