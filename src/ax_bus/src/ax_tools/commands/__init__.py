# SPDX-License-Identifier: MIT
"""The commands as rows: word, help, options, and what runs. Their modules import the bus only when one runs."""

from ax_tools.commands import changing, emulating, looking, moving

COMMANDS = (*looking.COMMANDS, *changing.COMMANDS, *moving.COMMANDS, *emulating.COMMANDS)
