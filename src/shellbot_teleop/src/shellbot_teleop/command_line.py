# SPDX-License-Identifier: MIT
"""Command line of the operator's programs: they start before there is a parameter server, so settings are files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Tuple

from shellbot_common import package_file
from shellbot_teleop.config import TeleopConfig
from shellbot_teleop.keymap import Keymap

_OF_WINDOW = ("theme", "gains_servers")  # settings that `window_parser` understands


def load_config(arguments: argparse.Namespace) -> TeleopConfig:
    """Return the settings, with what the command line changes; raises SettingsError."""
    config = TeleopConfig.load(arguments.config or package_file("shellbot_teleop", "config/teleop.yaml"))
    armed, dead_man = config.armed or arguments.armed, config.dead_man or arguments.dead_man
    of_window = {name: given for name, given in vars(arguments).items() if name in _OF_WINDOW and given}
    return config.replace(armed=armed, dead_man=dead_man, **of_window)


def load_settings(arguments: argparse.Namespace) -> Tuple[TeleopConfig, Keymap]:
    """Return the settings and the key map; raises SettingsError."""
    keymap = Keymap.load(arguments.keymap or package_file("shellbot_teleop", "config/keymap.yaml"))
    return load_config(arguments), keymap


def settings_parser(description: str) -> argparse.ArgumentParser:
    """Return what all programs of the operator understand."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--config", type=Path, help="settings YAML (default: the one of the package)")
    parser.add_argument("--armed", action="store_true", help="take control at once, instead of monitoring at first")
    parser.add_argument("--dead-man", action="store_true", help="command only while the dead-man switch is held")
    return parser


def argument_parser(description: str) -> argparse.ArgumentParser:
    """Return the same for a program with a key map."""
    parser = settings_parser(description)
    parser.add_argument("--keymap", type=Path, help="key map YAML (default: the one of the package)")
    parser.add_argument("--layout", default="", help="key layout at the start (default: the key map's)")
    return parser


def window_parser(description: str) -> argparse.ArgumentParser:
    """Return the same for the window, also as a plugin of rqt."""
    parser = argument_parser(description)
    parser.add_argument("--theme", help="dark or light (default: the settings')")
    parser.add_argument(
        "--gains-servers",
        type=lambda text: tuple(filter(None, text.split(","))),
        help="nodes whose pages the gains page has, such as gains,arm_motion (default: the settings')",
    )
    return parser
