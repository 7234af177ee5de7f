# SPDX-License-Identifier: MIT
"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Union


def write_file(path: Path, content: Union[str, bytes]) -> None:
    """Write a result whole, or leave what is there: it is written beside its place and then moved there.

    Parameters
    ----------
    path : Path
        Of the file. A link or a device that is there, such as /dev/stdout, is written to.
    content : str or bytes
        Text is encoded as UTF-8.

    Raises
    ------
    OSError
        That names the file, also of a full disk, where writing and not opening fails.
    """
    is_plain = not os.path.lexists(path) or stat.S_ISREG(path.lstat().st_mode)
    beside = path.with_name(path.name + ".part") if is_plain else path
    try:
        beside.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        if is_plain:
            beside.replace(path)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        if is_plain:
            with contextlib.suppress(OSError):  # the disk has no room for half a file
                beside.unlink()
        raise
