# SPDX-License-Identifier: MIT
"""What the nodes report on /diagnostics, as one line for the views."""

from __future__ import annotations

import threading
from typing import Dict, Iterable, List, Tuple

from shellbot_teleop.texts import tr

_GOOD, _WARN, _STALE = 0, 1, 3
_SILENT_S = 5.0  # nodes report once a second
_GONE_S = 60.0  # a node that was ended on purpose is not missed for ever


class Diagnostics:
    """The last report of every part; may be written and read by different threads."""

    def __init__(self) -> None:
        self._reports: Dict[str, Tuple[int, str, float]] = {}
        self._lock = threading.Lock()

    def take(self, reports: Iterable[Tuple[str, int, str]], now: float) -> None:
        """Take reports over.

        Parameters
        ----------
        reports : iterable of (str, int, str)
            Name of a part, level as in diagnostic_msgs/DiagnosticStatus (0 good, 1 warning, 2 error, 3 stale), text.
        now : float
            Any clock, s.
        """
        with self._lock:
            self._reports.update({name: (level, text, now) for name, level, text in reports})

    def forget(self) -> None:
        """Forget everything: another robot."""
        with self._lock:
            self._reports.clear()

    def trouble(self, now: float) -> List[str]:
        """Return what is not good, errors before silence before warnings, as "name: text"."""
        found = []
        with self._lock:
            self._reports = {name: report for name, report in self._reports.items() if now - report[2] <= _GONE_S}
            for name, (level, text, arrived) in self._reports.items():
                if now - arrived > _SILENT_S:
                    level, text = _STALE, tr("silent for {seconds:.0f} s", seconds=now - arrived)
                if level != _GOOD:
                    urgency = {_WARN: 2, _STALE: 1}.get(level, 0)
                    found.append((urgency, f"{name}: {text.splitlines()[0] if text else tr('not good')}"))
        return [words for _, words in sorted(found)]

    def line(self, now: float) -> Tuple[str, bool]:
        """Return one line, and whether it is bad news; empty where nothing reports."""
        trouble, count = self.trouble(now), len(self._reports)
        if trouble:
            more = f" ({tr('and {count} more', count=len(trouble) - 1)})" if len(trouble) > 1 else ""
            return f"{trouble[0]}{more}", True
        return (tr("{count} of {count} diagnostics good", count=count) if count else ""), False
