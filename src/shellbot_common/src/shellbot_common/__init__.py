# SPDX-License-Identifier: MIT
"""What every node needs, in one place; imports nothing of ours but messages."""

from shellbot_common.commands import add_command
from shellbot_common.errors import ImageError, PackageFileError, SettingsError
from shellbot_common.log_throttle import LogThrottle
from shellbot_common.named_numbers import named_numbers
from shellbot_common.notices import Level, Notice
from shellbot_common.package_files import package_file, package_folders
from shellbot_common.robot_profile import ProfileError, RobotProfile
from shellbot_common.settings import Settings, check_names, check_number, choice, number, required, short
from shellbot_common.stamps import GAP, TICK, Stamp, classify_stamp, labelled_stamp, stamp_label
from shellbot_common.whole_files import write_file
from shellbot_common.yaml_file import read_yaml, read_yaml_text

__all__ = [
    "GAP",
    "TICK",
    "ImageError",
    "Level",
    "LogThrottle",
    "Notice",
    "PackageFileError",
    "ProfileError",
    "RobotProfile",
    "Settings",
    "SettingsError",
    "Stamp",
    "add_command",
    "check_names",
    "check_number",
    "choice",
    "classify_stamp",
    "labelled_stamp",
    "named_numbers",
    "number",
    "package_file",
    "package_folders",
    "read_yaml",
    "read_yaml_text",
    "required",
    "short",
    "stamp_label",
    "write_file",
]
