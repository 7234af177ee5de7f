# SPDX-License-Identifier: MIT
"""Colours of both themes, for window and page."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Tuple

STOP, STOP_EDGE = "#dc2626", "#fca5a5"
"""In both themes: an emergency stop looks the same everywhere."""


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, as Qt and HTML take them."""

    background: str
    surface: str
    raised: str
    line: str
    text: str
    muted: str
    disabled: str
    accent: str  #: What is commanded
    on_accent: str  #: Text on it
    cap: str  #: Border of a key
    good: str  #: What is measured, or well
    warn: str
    bad: str
    stands: str  #: A foot on the ground
    curves: Tuple[str, ...]  #: Of joints, as many as are shown at once

    def of_level(self, level: str) -> str:
        """Return the colour of a line of the log: debug, info, warn, error or fatal."""
        levels = {"debug": self.muted, "warn": self.warn, "error": self.bad, "fatal": self.bad}
        return levels.get(level, self.text)


PALETTES = {
    "dark": Palette(
        background="#12161c",
        surface="#1b2129",
        raised="#252d38",
        line="#323c49",
        text="#e6ebf2",
        muted="#94a1b3",
        disabled="#5b6675",
        accent="#38bdf8",
        on_accent="#06202e",
        cap="#475363",
        good="#4ade80",
        warn="#fbbf24",
        bad="#f87171",
        stands="#39a869",
        curves=("#38bdf8", "#4ade80", "#fbbf24", "#f472b6", "#a78bfa", "#fb923c"),
    ),
    "light": Palette(
        background="#eef1f5",
        surface="#ffffff",
        raised="#e3e8ee",
        line="#c3ccd7",
        text="#17202b",
        muted="#556274",
        disabled="#929eac",
        accent="#0369a1",
        on_accent="#ffffff",
        cap="#aab5c2",
        good="#0f6b32",
        warn="#a04a06",
        bad="#b91c1c",
        stands="#39a869",
        curves=("#0369a1", "#0f6b32", "#b45309", "#be185d", "#6d28d9", "#9a3412"),
    ),
}


def page_colours() -> str:
    """Return the colours as variables of a style sheet; the browser's own setting chooses the theme."""

    def rules(palette: Palette) -> str:
        colours = ((name.replace("_", "-"), value) for name, value in asdict(palette).items())
        return " ".join(f"--{name}: {value};" for name, value in colours if isinstance(value, str))

    dark, light = (rules(PALETTES[name]) for name in ("dark", "light"))
    stop = f"--stop: {STOP}; --stop-edge: {STOP_EDGE};"
    return f":root {{ {dark} {stop} }}\n@media (prefers-color-scheme: light) {{ :root {{ {light} }} }}\n"
