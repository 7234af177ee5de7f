# SPDX-License-Identifier: MIT
"""Names of a package that are imported when they are first used (PEP 562), so that `import ax_bus` costs little."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Callable, Dict, List, Mapping, Tuple


def lazy_names(package: str, modules: Mapping[str, str]) -> Tuple[Callable[[str], Any], Callable[[], List[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names live in its modules.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    modules : mapping of str to str
        Module, without the package, to the names that it gives, with spaces between them.
    """
    home: Dict[str, str] = {name: module for module, names in modules.items() for name in names.split()}

    def __getattr__(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}; dir({package}) lists what it has")
        value = getattr(importlib.import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)  # the next look-up is an ordinary one
        return value

    def __dir__() -> List[str]:
        return sorted({*vars(sys.modules[package]), *home})

    return __getattr__, __dir__
