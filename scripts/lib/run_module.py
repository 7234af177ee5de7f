# SPDX-License-Identifier: MIT
"""Run `main` of a module; Ctrl-C while it still imports ends it in a line, as later on its tool does."""

import importlib
import os
import signal
import sys

_STOPPED = "\nstopped by the user\n"


def _end(_signum: int, _frame: object) -> None:
    """End at once: an exception would reach compiled code that cannot bear one, which then shows its own traceback."""
    os.write(2, _STOPPED.encode())
    os._exit(130)


if __name__ == "__main__":  # the worker processes of a tool load this file, too
    del sys.argv[0], sys.path[0]
    at_terminal = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # in the background it is ignored
    if at_terminal:
        signal.signal(signal.SIGINT, _end)
    tool = importlib.import_module(sys.argv[0])
    sys.argv[0] = str(tool.__file__)
    if at_terminal:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        sys.exit(tool.main())
    except KeyboardInterrupt:
        sys.stderr.write(_STOPPED)
        sys.exit(130)
