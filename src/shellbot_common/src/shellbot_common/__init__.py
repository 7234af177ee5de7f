# SPDX-License-Identifier: MIT
"""What every node of Shellbot needs, in one place; imports nothing of ours."""

from shellbot_common.errors import PackageFileError, SettingsError
from shellbot_common.log_throttle import LogThrottle
from shellbot_common.notices import Level, Notice
from shellbot_common.stamps import GAP, TICK, Stamp, classify_stamp

__all__ = [
    "GAP",
    "TICK",
    "Level",
    "LogThrottle",
    "Notice",
    "PackageFileError",
    "SettingsError",
    "Stamp",
    "classify_stamp",
]
