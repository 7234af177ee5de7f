# SPDX-License-Identifier: MIT
"""Texts for the operator in the language of LANGUAGE, LC_ALL, LC_MESSAGES or LANG: gettext's domain shellbot_teleop."""

from __future__ import annotations

import gettext
import os
import struct

from shellbot_common import package_file

DOMAIN = "shellbot_teleop"


def _catalogue() -> gettext.NullTranslations:
    """Return the catalogue of TEXTDOMAINDIR or of the package; English where there is none that can be read."""
    folder = os.environ.get("TEXTDOMAINDIR") or package_file("shellbot_teleop", "locale")
    try:
        return gettext.translation(DOMAIN, str(folder), fallback=True)
    except (OSError, ValueError, struct.error):  # a torn file must not make the robot undrivable
        return gettext.NullTranslations()


_CATALOGUE = _catalogue()


def tr(text: str, **values: object) -> str:
    """Return a text in the operator's language, with values in its {fields}.

    Parameters
    ----------
    text : str
        English, as a literal, so that `scripts/texts` finds it.
    **values
        By field; a translation whose fields differ is not used.
    """
    shown = _CATALOGUE.gettext(text) if text else ""
    if not values:
        return shown
    try:
        return shown.format(**values)
    except (LookupError, ValueError, TypeError, AttributeError):
        return text.format(**values)
