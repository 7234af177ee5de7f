# SPDX-License-Identifier: MIT
"""The pages that are open, and which of them drives: one at a time, as long as it shows signs of life."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, FrozenSet, Iterable, Optional

from shellbot_teleop.texts import tr


@dataclass
class Page:
    """An open page: the machine it is on, when it was heard last (s), what it shows."""

    address: str
    heard: float
    shows: FrozenSet[str] = frozenset()


class Pages:
    """
    Which page drives. Every method that depends on it takes the time `t`, s of a steady wall clock.

    Parameters
    ----------
    silent_after : float
        s without a sign of life after which a page counts as frozen or cut off.
    gone_after : float
        s after which another page may drive.

    Attributes
    ----------
    driver : int or None
        The page that drives, or requested control. To be read only.
    """

    def __init__(self, silent_after: float, gone_after: float) -> None:
        self._silent_after, self._gone_after = silent_after, gone_after
        self._pages: Dict[int, Page] = {}
        self.driver: Optional[int] = None

    def open(self, number: int, address: str, t: float) -> None:
        """Take a page that was opened."""
        self._pages[number] = Page(address, t)

    def close(self, number: int) -> None:
        """Take a page that was closed, or cut off; one that drove drives no more."""
        self._pages.pop(number, None)
        if self.driver == number:
            self.driver = None

    def hear(self, number: int, t: float) -> None:
        """Take a sign of life."""
        if number in self._pages:
            self._pages[number].heard = t

    def look(self, number: int, shows: Iterable[str]) -> None:
        """Take over what a page shows: camera, joints, marks."""
        if number in self._pages:
            self._pages[number].shows = frozenset(shows)

    def shows(self, what: str, number: Optional[int] = None) -> bool:
        """Tell whether a page shows something; without its number, whether any page does."""
        pages = self._pages.values() if number is None else [self._pages[number]] if number in self._pages else []
        return any(what in page.shows for page in pages)

    def drive(self, number: int, t: float, is_armed: bool) -> str:
        """Let a page drive; return why it may not, or "".

        Parameters
        ----------
        number : int
            The page.
        t : float
            s.
        is_armed : bool
            Whether the robot gave control to the page that drives now.
        """
        other = self.driver is not None and self.driver != number
        if other and is_armed and self.silence(t) <= self._gone_after:
            end = tr("it must give control up first, or be closed; the emergency stop always works.")
            return f"{self.who}: {end}"
        if number in self._pages:
            self.driver = number
        return ""

    def dismiss(self) -> None:
        """Let no page drive."""
        self.driver = None

    @property
    def who(self) -> str:
        """Who drives, for the other pages."""
        if self.driver is None:
            return tr("No page is in control")
        return tr("The page on {machine} is in control", machine=self._pages[self.driver].address)

    def silence(self, t: float) -> float:
        """Return for how long nothing was heard of the page that drives, s; 0 if none does."""
        return t - self._pages[self.driver].heard if self.driver is not None else 0.0

    def is_alive(self, t: float) -> bool:
        """Tell whether the page that drives shows signs of life."""
        return self.driver is not None and self.silence(t) <= self._silent_after

    def is_gone(self, t: float) -> bool:
        """Tell whether the page that drives was silent for so long that it drives no more."""
        return self.silence(t) > self._gone_after
