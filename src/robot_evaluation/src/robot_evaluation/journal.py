# SPDX-License-Identifier: MIT
"""Runs on disk, one line each as soon as it is done: what an interrupted experiment goes on from."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import json
import os
import sys
from pathlib import Path
from typing import Any, Callable, ContextManager, Dict, Mapping, Optional, Set, Type

from shellbot_common import write_file

from .errors import EvaluationError
from .reports import code_version


class Journal:
    """An append-only file of finished runs: a context that ends well once the results are written elsewhere.

    Parameters
    ----------
    path : Path
        The file: a line of JSON that names experiment and code, then one for each run.
    experiment : str
        Name of the experiment.
    pack, unpack : callable, optional
        Result to what JSON can hold, and back.

    Raises
    ------
    EvaluationError
        If the file is of something else, of other code, in use, or cannot be written.
    """

    def __init__(
        self,
        path: Path,
        experiment: str,
        pack: Optional[Callable[[Any], Any]] = None,
        unpack: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        self.path = path
        self._pack, self._unpack = pack or _same, unpack or _same
        self._done: Dict[str, Any] = {}
        self._of_this: Set[str] = set()  # runs that this command has found or made
        self._head = {"experiment": experiment, "code": code_version()}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b", buffering=0)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read(self._head)
        except BlockingIOError:
            raise EvaluationError(
                f"another experiment is writing {path}; wait for it, or give another --out or --json"
            ) from None
        except OSError as error:
            raise EvaluationError(f"cannot write {path}: {error.strerror}; give another --out or --json") from None
        self._before = set(self._done)

    def __enter__(self) -> Journal:
        """Return itself."""
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], *error: object) -> None:
        """Close the file; after an error, the number of runs in it is reported.

        When all is done it is removed, unless it holds runs of another command that was interrupted: other seeds.
        """
        others = self._before - self._of_this
        if kind is not None and self._done:
            sys.stderr.write(f"{len(self._done)} runs are in {self.path}; the same command goes on from there\n")
        elif others:
            lines = [self._head, *({"run": key, "result": self._done[key]} for key in sorted(self._before))]
            write_file(self.path, "".join(json.dumps(line) + "\n" for line in lines))
            sys.stderr.write(f"{len(self._before)} runs of another command that was interrupted stay in {self.path}\n")
        else:
            self.path.unlink(missing_ok=True)  # before the lock is free: another experiment may begin one here then
        self._file.close()

    @classmethod
    def beside(
        cls,
        file: Optional[Path],
        experiment: str,
        pack: Optional[Callable[[Any], Any]] = None,
        unpack: Optional[Callable[[Any], Any]] = None,
    ) -> ContextManager[Optional[Journal]]:
        """Return the journal of results that go to a file.

        Parameters
        ----------
        file : Path, optional
            Of the results; the journal has its name and the ending .unfinished.jsonl.
        experiment, pack, unpack
            As of `Journal`.

        Returns
        -------
        context manager
            Of the journal; of None without a file.

        Raises
        ------
        EvaluationError
            As `Journal`.
        """
        if file is None:
            return contextlib.nullcontext()
        return cls(file.with_suffix(".unfinished.jsonl"), experiment, pack, unpack)

    def find(self, function: Callable[[Any], Any], argument: Any) -> Optional[Any]:
        """Return the result of a run that is done, else None."""
        key = _key(function, argument)
        self._of_this.add(key)
        packed = self._done.get(key)
        return None if packed is None else self._unpack(packed)

    def add(self, function: Callable[[Any], Any], argument: Any, result: Any) -> Any:
        """Write a run and return its result as it would be read again.

        Parameters
        ----------
        function : callable
            That made the run: of a module, or a `functools.partial` of such.
        argument : object
            Of the function. Both are the key by which `find` finds the run.
        result : object
            What `pack` takes.

        Raises
        ------
        EvaluationError
            If it cannot be written: the disk is full.
        """
        key, size = _key(function, argument), self._file.seek(0, os.SEEK_END)
        try:
            text = json.dumps({"run": key, "result": self._pack(result)}, default=_plain)
            self._append(text)
        except OSError as error:
            self._file.truncate(size)
            raise EvaluationError(
                f"cannot write a run to {self.path}: {error.strerror}; {len(self._done)} runs are in it: "
                "make room there and give the same command again"
            ) from None
        self._of_this.add(key)
        self._done[key] = json.loads(text)["result"]
        return self._unpack(self._done[key])

    def _append(self, text: str) -> None:
        data = memoryview(text.encode("utf-8") + b"\n")
        while data:  # a nearly full disk takes a part, and refuses the next one
            data = data[self._file.write(data) :]

    def _read(self, head: Mapping[str, str]) -> None:
        self._file.seek(0)
        *lines, cut_off = self._file.read().split(b"\n")
        self._file.truncate(self._file.tell() - len(cut_off))
        if not lines:
            self._append(json.dumps(head))
            return
        try:
            found = json.loads(lines[0])
            self._done = {line["run"]: line["result"] for line in map(json.loads, lines[1:])}
        except (ValueError, KeyError, TypeError) as error:
            raise EvaluationError(
                f"{self.path} holds no runs ({error}); remove it, or give another --out or --json"
            ) from None
        if found != head:
            experiment = found.get("experiment") if isinstance(found, dict) else found
            raise EvaluationError(
                f"{self.path} holds {len(self._done)} runs of '{experiment}' by other code or settings; "
                "remove it to begin anew, or give another --out or --json"
            )


def _key(function: Callable[[Any], Any], argument: Any) -> str:
    """Return what distinguishes a run from every other one: function, bound arguments, argument."""
    return json.dumps([_name(function), argument], sort_keys=True, default=_plain)


def _name(function: Any) -> Any:
    if isinstance(function, functools.partial):
        return [_name(function.func), function.args, function.keywords]
    return f"{function.__module__}.{function.__qualname__}"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "tolist"):  # numpy scalars and arrays
        return value.tolist()
    return _name(value) if callable(value) else repr(value)


def _same(value: Any) -> Any:
    return value
