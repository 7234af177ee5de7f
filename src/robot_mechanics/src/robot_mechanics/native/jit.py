# SPDX-License-Identifier: MIT
"""The decorator of every kernel: compiled on first call, cached on disk where a place for the cache can be written.

numba takes a cached kernel for valid as long as the file it stands in has not changed; what it calls in other files
may have. Here every source file has a cache folder of its own whose name is a digest of that file, of all files of
its own package and of this one that it imports, directly or not, and of the versions of Python and numba (numba itself
tells CPUs apart). So kernels may live in as many files, of as many packages, as is good for the reader.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

import numba
import numpy as np
from numba import types
from numba.core import cgutils, config, event
from numba.extending import intrinsic
from numba.np import arrayobj

_PACKAGE = __name__.partition(".")[0]
_HERE = Path(__file__).resolve().parents[1]
_IMPORTS = re.compile(
    r"^\s*(?:from\s+(\w+)((?:\.\w+)*)\s+import\s+(\([^)]*\)|[^\n]*)|import\s+(\w+)((?:\.\w+)+))", re.M
)
_UNUSED_DAYS = 30.0  # a folder that no process has opened for so long belongs to an old version
_NUMBA = tuple(int(part) for part in numba.__version__.split(".")[:2])
_JOINED: Dict[str, Any] = {"forceinline": True} if _NUMBA >= (0, 54) else {}  # older ones do not know the option
_OURS = "_kernel_of_ours"  # attribute of a function that is compiled here
SCALAR: Dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}  # see `scalar_kernel`
_lock = threading.RLock()
_folders: Dict[str, Optional[Path]] = {}
_warned: Set[str] = set()
_texts: Dict[Path, Tuple[bytes, List[Path]]] = {}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` in nopython mode with a cache on disk, without fastmath (it removes NaN tests).

    The cache is kept in NUMBA_CACHE_DIR if that is set and writable, else in __pycache__ beside the source, else
    (read-only installation) in the user's cache folder. If none of them can be written the kernel is compiled anew in
    every process, with one warning, because a slow start is better than none.
    """
    return _compiled(function)


def bare_kernel(function: Callable[..., Any], **options: Any) -> Any:
    """As `kernel`, for kernels that make no arrays: without numba's count of who holds one, which the caller does.

    An array that crosses from Python then costs half, and calls between kernels need no atomic instructions (numba
    since 0.57 does not see that they cancel).
    """
    return _compiled(function, _nrt=False, **options)


def joined_kernel(function: Callable[..., Any], **options: Any) -> Any:
    """As `bare_kernel`, but joined into the machine code of its callers, however long it is: for what two kernels share
    that are called millions of times a second, where a call costs more than it computes.
    """
    return _compiled(function, _nrt=False, **_JOINED, **options)


def lane_kernel(function: Callable[..., Any]) -> Any:
    """As `kernel`, for loops over arrays that LLVM is to turn into SIMD instructions.

    Dividing by zero gives infinity instead of an exception, whose branch would stop vectorisation; a multiplication
    and an addition may become one instruction (rounded once; NaN tests stay). Other threads of Python run meanwhile.
    """
    return _compiled(function, **SCALAR, nogil=True)


def scalar_kernel(function: Callable[..., Any]) -> Any:
    """As `kernel`, for straight-line arithmetic on scalars: dividing by zero gives infinity, and a multiplication
    and an addition may become one instruction (rounded once; NaN tests stay).
    """
    return _compiled(function, **SCALAR)


def typed_kernel(function: Callable[..., Any], signature: str, bare: bool = False) -> Any:
    """As `scalar_kernel` for one signature: compiled (or loaded) at once; other types of arguments are a TypeError.

    With `bare`, without numba's reference counts, as `bare_kernel`: for kernels that make no arrays. numba's cache does
    not tell the two apart, so a source must always be compiled in the same way.
    """
    made = _compiled(function, signature, **SCALAR, **({"_nrt": False} if bare else {}))
    if not config.DISABLE_JIT:
        # what numba itself says, "No matching definition", names neither argument nor remedy
        made._explain_matching_error = functools.partial(_refuse_arguments, function.__name__, signature)
    return made


def _refuse_arguments(name: str, signature: str, *given: Any, **_: Any) -> None:
    """Raise for arguments that a kernel of one signature does not take: say which one, and how to convert it."""
    inner = signature[signature.index("(") + 1 : -1]
    declared = [part.strip() for part in re.split(r",(?![^\[]*\])", inner)]
    if len(given) != len(declared):
        raise TypeError(f"{name} takes {len(declared)} arguments ({inner}), not {len(given)}")
    for i, (argument, kind) in enumerate(zip(given, declared)):
        axes = kind.count(":") - 1 if "[" in kind else 0  # the last of them is ::1
        if not axes:
            continue
        expected = f"argument {i + 1} of {name} is to be a {axes}-dimensional float64 array, C-contiguous and writable"
        if not isinstance(argument, np.ndarray) or argument.ndim != axes:
            is_array = isinstance(argument, np.ndarray)
            found = f"{argument.ndim}-dimensional" if is_array else f"a {type(argument).__name__}"
            raise TypeError(f"{expected}, not {found}")
        flags, problems = argument.flags, []
        problems += [f"{argument.dtype}"] if argument.dtype != np.float64 else []
        problems += ["one that is not contiguous by rows"] if not flags.c_contiguous else []
        problems += ["read-only"] if not flags.writeable else []
        if problems:
            raise TypeError(f"{expected}, not {' and '.join(problems)}; give np.array(x, dtype=float, order='C')")
    raise TypeError(f"{name} takes ({inner}), not ({', '.join(type(argument).__name__ for argument in given)})")


def c_kernel(function: Callable[..., Any], signature: str) -> Any:
    """As `lane_kernel`, compiled (or loaded) at once as a C function; its address is `.address`. Not interpreted."""
    return _compiled(function, signature, maker=numba.cfunc, **SCALAR)


def source_digest(path: Path) -> str:
    """Return a digest of a kernel's source file, of those that it needs (see above), and of the versions used."""
    digest = hashlib.blake2b(digest_size=8)
    for text in (sys.version, numba.__version__, np.__version__):
        digest.update(text.encode())
    for needed in _needed(path):
        digest.update(needed.name.encode())
        digest.update(_read(needed)[0])
    return digest.hexdigest()


def cache_roots(source: Optional[Path]) -> Iterator[Path]:
    """Yield the folders in which a cache may be kept, best first: NUMBA_CACHE_DIR, beside the source, the user's."""
    named = os.environ.get("NUMBA_CACHE_DIR") or config.CACHE_DIR
    if named:
        yield Path(named)
    if source is not None:
        yield source.parent / "__pycache__"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    yield Path(home) / _PACKAGE


def writable(folder: Path) -> bool:
    """Make the folder if it is missing and return whether a file can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def warn_once(message: str) -> None:
    """Warn of something that slows every start down, the first time only."""
    if message not in _warned:
        _warned.add(message)
        warnings.warn(message, RuntimeWarning, stacklevel=4)


def _compiled(function: Callable[..., Any], *signature: str, **options: Any) -> Any:
    maker = options.pop("maker", numba.njit)
    if config.DISABLE_JIT:
        return function
    function.__dict__[_OURS] = True
    with _lock:
        source = Path(function.__code__.co_filename)
        folder = _folder(source)
        before = config.CACHE_DIR
        try:
            if folder is not None:
                config.CACHE_DIR = str(folder)
                return maker(*signature, cache=True, **options)(function)
        except RuntimeError as error:
            if "no locator" not in str(error):
                raise
        finally:
            config.CACHE_DIR = before
    warn_once(
        "no folder for the cache of compiled kernels can be written, so every start compiles for some seconds; "
        "set NUMBA_CACHE_DIR to a writable folder"
    )
    return maker(*signature, **options)(function)


class _Progress(event.Listener):
    """Says in a terminal or notebook, once in a process, why a first call takes seconds; not where the cache serves."""

    reported = False

    def on_start(self, event: Any) -> None:
        """See whether a kernel of ours is compiled."""
        ours = hasattr(getattr(event.data.get("dispatcher"), "py_func", None), _OURS)
        if ours and not self.reported and (sys.stderr.isatty() or "ipykernel" in sys.modules):
            self.reported = True
            sys.stderr.write(f"{_PACKAGE}: compiling kernels, some seconds, once per machine and robot\n")

    def on_end(self, event: Any) -> None:
        """Nothing is left to say."""


event.register("numba:compile", _Progress())


def _folder(source: Path) -> Optional[Path]:
    key = f"{source}|{os.environ.get('NUMBA_CACHE_DIR', '')}|{config.CACHE_DIR}"
    if key not in _folders:
        _folders[key] = None
        if source.is_file():
            name = f"{source.stem}-{source_digest(source)}"
            found = next((root / name for root in cache_roots(source) if writable(root / name)), None)
            _folders[key] = found
            if found is not None:
                _touch_and_prune(found, source.stem)
    return _folders[key]


def _touch_and_prune(folder: Path, stem: str) -> None:
    """Once a day, mark the folder as used and remove those of earlier versions of the same source, long unused."""
    try:
        now, day = time.time(), 86400.0
        fresh = folder.stat().st_mtime > now - day
        if fresh and any(folder.iterdir()):
            return
        os.utime(folder)
        for other in folder.parent.glob(f"{stem}-" + "[0-9a-f]" * 16):
            if other.stat().st_mtime < now - _UNUSED_DAYS * day:
                for inner in sorted(other.rglob("*"), reverse=True):
                    inner.rmdir() if inner.is_dir() else inner.unlink()
                other.rmdir()
    except OSError:
        pass  # another process was faster, or the folder is shared; nothing depends on it


def _needed(path: Path) -> Iterator[Path]:
    """Yield the file and, once each and in a fixed order, the files that it imports of its package and of this one."""
    todo, seen = [path], {path}
    while todo:
        current = todo.pop()
        yield current
        for file in _read(current)[1]:
            if file not in seen:
                seen.add(file)
                todo.append(file)


def _read(path: Path) -> Tuple[bytes, List[Path]]:
    """Return a source file's bytes and the files that it imports of its package and of this one; read once."""
    if path not in _texts:
        content, imported = path.read_bytes(), []
        own = _package_folder(path)
        folders = {_PACKAGE: _HERE, own.name: own}
        for match in _IMPORTS.finditer(content.decode("utf-8")):
            package, inside, names, whole_package, whole = match.groups()
            top = folders.get(package or whole_package)
            if top is None:
                continue
            base = top.joinpath(*(inside or whole or "").split(".")[1:])
            found = [base.with_suffix(".py"), base / "__init__.py"] if base != top else []
            found += [base / f"{name}.py" for name in re.findall(r"\w+", names or "")]
            imported += [file for file in found if file.is_file()]
        _texts[path] = content, imported
    return _texts[path]


def _package_folder(path: Path) -> Path:
    """Return the folder of the package, not of an inner one, that a source file belongs to."""
    folder = path.parent
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


@intrinsic
def _stack_floats(typing_context: Any, count: Any) -> Any:
    if not isinstance(count, types.IntegerLiteral):
        return None
    made = types.Array(types.float64, 1, "C")

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        size, width = (context.get_constant(types.intp, number) for number in (count.literal_value, 8))
        array = context.make_array(made)(context, builder)
        place = cgutils.alloca_once(builder, context.get_value_type(types.float64), size=size)
        place.align = 64  # a vector of AVX-512 that crosses a line of the cache is loaded twice
        arrayobj.populate_array(array, data=place, shape=[size], strides=[width], itemsize=width, meminfo=None)
        return array._getvalue()

    return made(count), generate


@intrinsic
def _stack_pointer(typing_context: Any, count: Any) -> Any:
    if not isinstance(count, types.IntegerLiteral):
        return None
    signature = types.CPointer(types.float64)(count)

    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        size = context.get_constant(types.intp, count.literal_value)
        return cgutils.alloca_once(builder, context.get_value_type(types.float64), size=size)

    return signature, generate


if config.DISABLE_JIT:

    def stack_floats(count: int) -> np.ndarray:
        """Return an array of `count` floats."""
        return np.empty(count)

    def stack_pointer(count: int) -> int:
        """Return the count; see `stack_array`."""
        return count

    def stack_array(pointer: int, shape: int) -> np.ndarray:
        """Return an array of floats."""
        return np.empty(shape)

else:
    stack_floats = _stack_floats  # `count` (literal) floats, gone when the kernel returns; for bare kernels, too
    stack_pointer = _stack_pointer  # a place for `count` (literal) floats, gone when the calling kernel returns
    stack_array = numba.carray  # stack_array(stack_pointer(n), n): work memory without allocation
