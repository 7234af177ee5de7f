# SPDX-License-Identifier: MIT
"""Start a launch file as a user would, in its own session, and end all of it again; commands of single nodes."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional

import psutil

import shellbot_teleop
from robot_evaluation.errors import EvaluationError


def free_port() -> int:
    """Return a free port that no node gets by chance before it is used: below those that the system hands out."""
    while True:
        port = random.SystemRandom().randrange(20000, 32000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("localhost", port))
            return port


def teleop_command(node: str, *arguments: str) -> List[str]:
    """Return the command that runs a node of teleop, such as window_node, in this interpreter."""
    code = f"import sys; from {shellbot_teleop.__name__}.{node} import main; sys.exit(main())"
    return [sys.executable, "-c", code, *arguments]


class Launch:
    """A roslaunch of Shellbot's sim.launch with its own master on its own port; a context manager.

    Parameters
    ----------
    arguments : mapping
        Launch arguments.
    log : pathlib.Path
        File for everything that it prints.
    environment : mapping, optional
        Variables to set on top of the present ones.
    """

    def __init__(
        self, arguments: Mapping[str, Any], log: Path, environment: Optional[Mapping[str, str]] = None
    ) -> None:
        port = free_port()
        self.master_uri = f"http://localhost:{port}"
        self.started = 0.0
        self._log = log
        self._command = ["roslaunch", "-p", str(port), "shellbot_bringup", "sim.launch"]
        self._command += [f"{name}:={value}" for name, value in arguments.items()]
        self._environment: Dict[str, str] = {**os.environ, **(environment or {}), "ROS_MASTER_URI": self.master_uri}
        self._process: Optional[subprocess.Popen[bytes]] = None

    def __enter__(self) -> Launch:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self.started = time.time()
        with self._log.open("wb") as stream:
            self._process = subprocess.Popen(
                self._command, stdout=stream, stderr=subprocess.STDOUT, env=self._environment, start_new_session=True
            )
        return self

    def __exit__(self, *_: object) -> None:
        """Interrupt it as Ctrl-C would; whatever is left after 20 s is killed."""
        process, self._process = self._process, None
        assert process is not None  # since `__enter__`
        family: List[psutil.Process] = []
        with contextlib.suppress(psutil.NoSuchProcess):  # `check` has found that it is over
            family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20.0)
        except subprocess.TimeoutExpired:
            process.kill()
            for member in family:
                with contextlib.suppress(psutil.NoSuchProcess):
                    member.kill()
            process.wait(5.0)

    def check(self) -> None:
        """Raise EvaluationError with the last lines of its output if the launch has ended."""
        if self._process is None or self._process.poll() is not None:
            raise EvaluationError(f"the launch has ended; its last words (all in {self._log}):\n{self.last_words()}")

    def last_words(self) -> str:
        """Return the end of what it printed."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-15:])
