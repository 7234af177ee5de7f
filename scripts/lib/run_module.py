# SPDX-License-Identifier: MIT
"""Run a module as `python -m` does; Ctrl-C while it still imports ends it in a line, as later on its tool does."""

import runpy
import sys

try:
    del sys.argv[0], sys.path[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
except KeyboardInterrupt:
    sys.stderr.write("\nstopped by the user\n")
    sys.exit(130)
