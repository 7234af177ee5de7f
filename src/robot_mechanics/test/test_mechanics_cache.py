# SPDX-License-Identifier: MIT
"""The cache of compiled kernels: valid exactly as long as all sources a kernel is made of are the same."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from robot_mechanics.codegen import store
from robot_mechanics.native import jit

PACKAGE = Path(jit.__file__).parents[1]
JIT = "from robot_mechanics.native.jit import kernel\n"
CALLER = f"{JIT}from small.callee import twice\n@kernel\ndef f(x):\n    return twice(x) + 1.0\n"
CALLEE = f"{JIT}from small.constants import FACTOR\n@kernel\ndef twice(x):\n    return FACTOR * x\n"
RUN = (
    "import small.caller as c; print(c.f(3.0)); s = c.f.stats; print(sum(s.cache_hits.values()));"
    "print(c.f._cache.cache_path)"
)


def make_package(folder: Path) -> Path:
    """A package of three files with kernels that call into each other."""
    package = folder / "small"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "caller.py").write_text(CALLER)
    (package / "callee.py").write_text(CALLEE)
    (package / "constants.py").write_text("FACTOR = 2.0\n")
    return package


def run(folder: Path, code: str = RUN, **variables):
    environment = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    path = f"{folder}{os.pathsep}{PACKAGE.parent}"
    environment.update(PYTHONPATH=path, PYTHONDONTWRITEBYTECODE="1", HOME=str(folder / "home"), **variables)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(), done.stderr


@pytest.mark.jit
def test_second_process_finds_the_machine_code(tmp_path):
    make_package(tmp_path)
    first, _ = run(tmp_path)
    second, _ = run(tmp_path)
    assert first[:2] == ["7.0", "0"]
    assert second[:2] == ["7.0", "1"]
    assert second[2].startswith(str(tmp_path / "small" / "__pycache__"))


@pytest.mark.jit
@pytest.mark.parametrize(
    ("name", "old", "new", "value"),
    [("callee.py", "FACTOR * x", "FACTOR * x * 10.0", "61.0"), ("constants.py", "2.0", "5.0", "16.0")],
)
def test_changed_source_of_a_callee_compiles_the_caller_anew(tmp_path, name, old, new, value):
    package = make_package(tmp_path)
    run(tmp_path)
    text = (package / name).read_text()
    (package / name).write_text(text.replace(old, new))
    again, _ = run(tmp_path)
    assert again[:2] == [value, "0"]


@pytest.mark.jit
def test_unrelated_file_leaves_the_cache_valid(tmp_path):
    package = make_package(tmp_path)
    run(tmp_path)
    (package / "other.py").write_text("x = 1\n")
    assert run(tmp_path)[0][1] == "1"


@pytest.mark.jit
def test_read_only_copy_uses_the_named_folder_then_the_users(tmp_path):
    package = make_package(tmp_path)
    (package / "__pycache__").write_text("a file here makes the folder impossible, for root as well")
    users, err = run(tmp_path)
    assert users[2].startswith(str(tmp_path / "home" / ".cache")) and "RuntimeWarning" not in err
    named, _ = run(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "named"))
    assert named[2].startswith(str(tmp_path / "named"))
    assert run(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "named"))[0][1] == "1"


@pytest.mark.jit
def test_a_terminal_says_why_a_first_call_takes_long(tmp_path):
    package = make_package(tmp_path)
    (package / "users.py").write_text("import numba\n@numba.njit\ndef g(x):\n    return x\n")
    environment = dict(os.environ, PYTHONPATH=f"{tmp_path}{os.pathsep}{PACKAGE.parent}", NUMBA_CACHE_DIR=str(tmp_path))

    def lines_of(code):
        leader, follower = pty.openpty()
        command = [sys.executable, "-c", code]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=follower, check=True)
        os.close(follower)
        text = b""
        try:
            while True:
                text += os.read(leader, 4096)
        except OSError:  # all is read
            os.close(leader)
        return text.count(b"compiling kernels")

    users = "import robot_mechanics.native.jit, small.users; small.users.g(1.0)"
    assert lines_of(users) == 0
    assert lines_of(RUN) == 1  # two kernels, one line
    assert lines_of(RUN) == 0


@pytest.mark.jit
def test_no_folder_at_all_warns_once_and_works(tmp_path):
    package = make_package(tmp_path)
    (package / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")
    out, err = run(tmp_path, "import small.caller as c; print(c.f(3.0), c.f._cache.cache_path)")
    assert out == ["7.0", "None"]
    assert err.count("NUMBA_CACHE_DIR") == 1


def test_folders_unused_for_long_are_removed(tmp_path):
    old, new = tmp_path / ("k-" + "0" * 16), tmp_path / ("k-" + "1" * 16)
    for folder in (old, new):
        (folder / "inner").mkdir(parents=True)
        (folder / "inner" / "f.nbi").write_text("")
    os.utime(old, (1.0, 1.0))
    os.utime(new, (time.time() - 2e5, time.time() - 2e5))  # used, but not today
    jit._touch_and_prune(new, "k")
    assert not old.exists() and (new / "inner" / "f.nbi").exists()


def test_digest_follows_imports_in_every_form(tmp_path):
    names = {str(path.relative_to(PACKAGE)) for path in jit._needed(PACKAGE / "models" / "chain.py")}
    assert {"models/chain.py", "native/jit.py", "models/joint.py", "errors.py"} <= names
    assert "inverse/solver.py" not in names


def test_digest_follows_imports_into_this_package_but_not_into_others(tmp_path):
    package = make_package(tmp_path)
    (package / "inner").mkdir()
    (package / "inner" / "__init__.py").write_text("")
    file = package / "inner" / "kernels.py"
    file.write_text("import numpy\nfrom small import constants\nfrom robot_mechanics.native.angles import sincos\n")
    needed = list(jit._needed(file))
    assert {file, package / "constants.py", PACKAGE / "native" / "angles.py", PACKAGE / "native" / "series.py"} <= {
        *needed
    }
    assert all(tmp_path in path.parents or PACKAGE in path.parents for path in needed)


@jit.kernel
def _sum_of_squares(x):
    work = jit.stack_array(jit.stack_pointer(4), 4)
    for i in range(4):
        work[i] = x[i] * x[i]
    total = 0.0
    for i in range(4):
        total += work[i]
    return total


@jit.joined_kernel
def _three_more(x):
    return x + 3.0


@jit.bare_kernel
def _four_more(x):
    return _three_more(x) + 1.0


@pytest.mark.jit
def test_joined_variant():
    assert _four_more(1.0) == 5.0
    assert _three_more.targetoptions.get("forceinline", False) == (jit._NUMBA >= (0, 54))


def test_work_memory_on_the_stack():
    assert _sum_of_squares(np.array([1.0, 2.0, 3.0, 4.0])) == 30.0


@pytest.mark.jit
def test_a_generated_module_is_whole_for_every_thread(tmp_path, monkeypatch):
    monkeypatch.setenv(store.VARIABLE, str(tmp_path))
    text, found = "import time\ntime.sleep(0.1)\nVALUE = 7\n", []
    threads = [threading.Thread(target=lambda: found.append(store.load(text, "slow").VALUE)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [7, 7, 7]


@pytest.mark.jit
def test_a_generated_module_that_was_interrupted_is_loaded_anew(tmp_path, monkeypatch):
    monkeypatch.setenv(store.VARIABLE, str(tmp_path))
    text = "import os\nif 'INTERRUPTED' in os.environ:\n    raise KeyboardInterrupt\nVALUE = 7\n"
    monkeypatch.setenv("INTERRUPTED", "1")
    with pytest.raises(KeyboardInterrupt):
        store.load(text, "cut")
    monkeypatch.delenv("INTERRUPTED")
    assert store.load(text, "cut").VALUE == 7
