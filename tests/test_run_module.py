# SPDX-License-Identifier: MIT
"""What scripts/ start: modules, which may be interrupted before their tool has begun."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).resolve().parents[1] / "scripts" / "lib" / "run_module.py"


@pytest.fixture
def run(tmp_path):
    """Start a module of the given text with some arguments."""

    def start(text, *arguments):
        (tmp_path / "tool.py").write_text(text)
        return subprocess.Popen(
            [sys.executable, str(LAUNCHER), "tool", *arguments],
            env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    return start


def test_arguments_status_and_workers(run):
    tool = run(
        "import multiprocessing, sys\n"
        "def double(x): return 2 * x\n"
        "def main():\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(sys.argv[1:], sys.argv[0], pool.map(double, [21]))\n"
        "    return 3\n",
        "--json",
        "a file",
    )
    out, complaint = tool.communicate()
    assert tool.returncode == 3, complaint
    assert out.startswith("['--json', 'a file'] ") and out.endswith("tool.py [42]\n")


# in short sleeps: one that begins just after the signal is not cut short by it
WAITS = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.05)\n"


@pytest.mark.parametrize(
    "text",
    [
        WAITS,
        # compiled code, such as numpy's, makes another error of an interrupt
        f"try:\n{textwrap.indent(WAITS, ' ')}except KeyboardInterrupt:\n raise ImportError\n",
        f"def main():\n{textwrap.indent(WAITS, ' ')}",
    ],
    ids=["imports", "compiled", "main"],
)
def test_ctrl_c_ends_in_a_line_during_the_imports_and_after(run, text):
    tool = run(text)
    assert tool.stdout.readline() == "begun\n"
    tool.send_signal(signal.SIGINT)
    assert tool.communicate() == ("", "\nstopped by the user\n")
    assert tool.returncode == 130


SWALLOWS = """
import ctypes, os, signal
@ctypes.CFUNCTYPE(None)
def compiled():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(10): pass
"""


@pytest.mark.parametrize(
    "tool, complaint",
    [
        ("def main():\n compiled()\n while True: pass\n", ""),
        ("def main():\n compiled()\n compiled()\n raise RuntimeError('no compiled object')\n", ""),
        (
            "def main():\n try:\n  compiled()\n  while True: pass\n finally: print('cleaned up', flush=True)\n",
            "cleaned up\n",
        ),
    ],
    ids=["goes on", "fails", "cleans up"],
)
def test_ctrl_c_that_a_callback_of_compiled_code_swallows_ends_it_in_a_line(run, tool, complaint):
    ended = run(SWALLOWS + tool)
    try:
        assert ended.communicate(timeout=20) == (complaint, "\nstopped by the user\n")
    finally:
        ended.kill()
    assert ended.returncode == 130


def test_other_errors_of_callbacks_and_tools_stay(run):
    text = "class Lost:\n def __del__(self): raise ValueError('of a callback')\n"
    failed = run(f"{text}def main():\n Lost()\n raise RuntimeError('of the tool')\n")
    complaint = failed.communicate()[1]
    assert "ValueError: of a callback" in complaint and "RuntimeError: of the tool" in complaint
    assert failed.returncode == 1


MUCH = "def main():\n    for i in range(100_000):\n        print(i)\n"


def test_an_output_that_is_closed_ends_a_tool_without_a_word(run):
    tool = run(MUCH)
    tool.stdout.readline()
    tool.stdout.close()
    assert (tool.wait(), tool.stderr.read()) == (1, "")
    tool.stderr.close()


def test_a_sign_that_a_terminal_lacks_is_replaced(tmp_path):
    (tmp_path / "tool.py").write_text("def main():\n    print('goal \\u2264 3')\n    return 0\n")
    environment = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "latin-1"}
    command = [sys.executable, str(LAUNCHER), "tool"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"goal ? 3\n"), done.stderr
