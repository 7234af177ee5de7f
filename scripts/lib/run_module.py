# SPDX-License-Identifier: MIT
"""Run `main` of a module; Ctrl-C while it still imports ends it in a line, as later on its tool does."""

import importlib
import io
import os
import signal
import sys

_STOPPED = "\nstopped by the user\n"
_RETURNED = 0.002  # s after which the callback has returned


def _end(_signum: int, _frame: object) -> None:
    """End at once: an exception would reach compiled code that cannot bear one, which then shows its own traceback."""
    os.write(2, _STOPPED.encode())
    os._exit(130)


def _repeat(unraisable: "sys.UnraisableHookArgs") -> None:
    """Raise an interrupt again that a callback of compiled code, such as that of numba's compiler, has swallowed."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _RETURNED)
    else:
        sys.__unraisablehook__(unraisable)


if __name__ == "__main__":  # the worker processes of a tool load this file, too
    del sys.argv[0], sys.path[0]
    at_terminal = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # in the background it is ignored
    if at_terminal:
        signal.signal(signal.SIGINT, _end)
    tool = importlib.import_module(sys.argv[0])
    sys.argv[0] = str(tool.__file__)
    if at_terminal:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # no result is lost for a sign that the terminal does not have
    sys.unraisablehook = _repeat
    try:
        try:
            sys.exit(tool.main())
        except Exception:  # such as of the compiler, for want of what its callback did not do
            if signal.getitimer(signal.ITIMER_REAL)[0]:
                raise KeyboardInterrupt from None
            raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write(_STOPPED)
        sys.exit(130)
    except BrokenPipeError:  # ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
