# SPDX-License-Identifier: MIT
"""Generated source as importable files in a cache folder, so that numba can cache the machine code, too."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
import threading
import types
from pathlib import Path
from typing import List, Optional

from robot_mechanics.native.jit import cache_roots, warn_once, writable

VARIABLE = "ROBOT_MECHANICS_CACHE"
_lock = threading.RLock()


def load(text: str, label: str) -> types.ModuleType:
    """Return the module of a source text.

    The file is named by a digest of its text and lies in ROBOT_MECHANICS_CACHE if that is set and writable, else in
    NUMBA_CACHE_DIR or the user's cache folder. Any number of processes may do so at once: each
    writes a file of its own and renames it. Where no file can be written the source is executed from memory, with a
    warning: then it is compiled anew in every process.

    Parameters
    ----------
    text : str
        Source of the module.
    label : str
        First part of its name; letters, digits, underscores.
    """
    name = f"robot_mechanics_chain_{label}_{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"
    with _lock:  # the module stands in sys.modules before it is whole
        return sys.modules[name] if name in sys.modules else _made(text, name)


def _made(text: str, name: str) -> types.ModuleType:
    file = _write(text, name)
    if file is None:
        module = types.ModuleType(name)
        module.__file__ = f"<generated {name}>"
        code = compile(text, module.__file__, "exec")
    else:
        spec = importlib.util.spec_from_file_location(name, str(file))
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        code = compile(text, str(file), "exec")  # the text we hold, whatever has happened to the file since
    sys.modules[name] = module  # numba imports it by name when it loads the machine code
    try:
        exec(code, module.__dict__)  # noqa: S102 - our own text
    except BaseException:  # such as Ctrl-C
        del sys.modules[name]
        raise
    return module


def _write(text: str, name: str) -> Optional[Path]:
    """Return the file that holds the text, written now if need be."""
    for root in _roots():
        folder = root / "chains"
        file = folder / f"{name}.py"
        try:
            if file.is_file() and file.read_text(encoding="utf-8") == text:
                return file
        except (OSError, UnicodeDecodeError):
            pass
        if not writable(folder):
            continue
        try:
            handle, temporary = tempfile.mkstemp(dir=folder, prefix=name, suffix=".tmp")
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            os.chmod(temporary, 0o644)
            os.replace(temporary, file)
        except OSError:
            continue
        return file
    warn_once(
        f"no folder for generated kernels can be written, so every start compiles for some seconds; "
        f"set {VARIABLE} to a writable folder"
    )
    return None


def _roots() -> List[Path]:
    named = os.environ.get(VARIABLE)
    # not beside the package, where generated sources would be taken for ours
    return [*([Path(named)] if named else []), *cache_roots(None)]
