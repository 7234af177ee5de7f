# SPDX-License-Identifier: MIT
"""Worker processes, one an environment: started, asked, ended."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Optional

from .environments import WORKERS, Environment


class Worker:
    """A process that holds one library; `with` ends it, whatever happens."""

    def __init__(self, environment: Environment, python: str, library: List[str], log: Path) -> None:
        self.environment = environment
        variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
        if environment.module == "ours":
            variables["PYTHONPATH"] = os.pathsep.join(library)
        elif not environment.packages:
            variables["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
        self._log = log.open("wb")
        self._process = subprocess.Popen(
            [python, str(WORKERS / "worker.py"), environment.module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=variables, start_new_session=True,
        )  # fmt: skip

    def ask(self, **request: Any) -> Dict[str, Any]:
        """Return the answer to a request; an ended process answers with an error."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write((json.dumps(request) + "\n").encode())
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = b""
        if not line:
            return {"error": f"the process of {self.environment.name} has ended; see {self._log.name}"}
        answer: Dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        self._log.close()

    def __enter__(self) -> Worker:
        """Return itself."""
        return self

    def __exit__(self, *_: Optional[object]) -> None:
        """End the process."""
        self.close()
