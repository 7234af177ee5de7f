# SPDX-License-Identifier: MIT
"""One sentence for the operator out of several sources: the newest one that still holds."""

from __future__ import annotations

from typing import Dict


class Announcer:
    """Chooses the text of the mode topic: the last one of a source that has not taken it back."""

    def __init__(self) -> None:
        self._texts: Dict[str, str] = {}

    def say(self, source: str, text: str, is_news: bool = True) -> bool:
        """Set what a source says now, empty takes it back; return whether that is new.

        What is no news is shown only when no other source has anything to say.
        """
        if self._texts.get(source, "") == text:
            return False
        self._texts.pop(source, None)
        if text:  # dictionaries keep the order: the newest is last
            self._texts = {**self._texts, source: text} if is_news else {source: text, **self._texts}
        return True

    @property
    def text(self) -> str:
        """The newest text, or empty."""
        return next(reversed(self._texts.values()), "") if self._texts else ""
