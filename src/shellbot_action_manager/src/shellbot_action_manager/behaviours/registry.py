# SPDX-License-Identifier: MIT
"""Behaviours by name. Every module of this folder is imported, so that a new behaviour is one new file."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Callable, Dict, Tuple, TypeVar

from shellbot_action_manager.errors import ConfigError
from shellbot_action_manager.estimation.contact_models import CONTACT_MODELS

if TYPE_CHECKING:  # the mode table asks for the names, and behaviours import the settings that hold the table
    from shellbot_action_manager.behaviours.protocol import Behaviour
    from shellbot_action_manager.behaviours.robot import Robot
    from shellbot_action_manager.modes.mode_table import ModeTable

    Factory = Callable[[str, Robot], Behaviour]
F = TypeVar("F", bound="Factory")

_FACTORIES: Dict[str, Factory] = {}


def register(name: str) -> Callable[[F], F]:
    """Return a decorator that makes a class or function ``(name, robot) -> Behaviour`` known under `name`.

    Raises
    ------
    ConfigError
        If the name is taken.
    """

    def add(factory: F) -> F:
        if name in _FACTORIES:
            raise ConfigError(f"behaviour '{name}' is registered twice; give one of the two another name")
        _FACTORIES[name] = factory
        return factory

    return add


def behaviour_names() -> Tuple[str, ...]:
    """Return the names of all behaviours, sorted."""
    package = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules(import_module(package).__path__):
        import_module(f"{package}.{module.name}")
    return tuple(sorted(_FACTORIES))


def build_behaviours(table: ModeTable, robot: Robot) -> Dict[str, Behaviour]:
    """Return the behaviours of a mode table, whose names it has checked, for one robot.

    Raises
    ------
    ConfigError
        If a behaviour needs a contact model, or a mode to be safe in, that there is not.
    """
    found = {name: _FACTORIES[name](name, robot) for name in table.behaviours}
    modes = [mode.label for mode in table.modes]
    for name, behaviour in found.items():
        for kind, needed, known in (
            ("contact model", (behaviour.contact_model,), CONTACT_MODELS),
            ("mode", behaviour.safe_modes, modes),
        ):
            for value in needed:
                if value not in known:
                    raise ConfigError(
                        f"behaviour '{name}' needs the {kind} '{value}'; there are only {', '.join(known)}"
                    )
    return found
