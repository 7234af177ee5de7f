# SPDX-License-Identifier: MIT
"""Command line of scripts/action: lists, checks, shows, runs and records actions of the library."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Iterable, List, Optional

from robot_evaluation.console import Progress, run_tool, say, seed_of, show
from robot_evaluation.errors import EvaluationError
from robot_evaluation.tables import markdown_table
from shellbot_action_manager.actions.library import Action, ActionLibrary
from shellbot_action_manager.errors import ActionManagerError
from shellbot_chain.errors import MissionFailed
from shellbot_client import Shellbot
from shellbot_client.link import ActionProgress

from . import action_record, preview_cli, transform_gate
from .action_check import COLUMNS, check_action


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/action",
        description="Actions of the library: motions by name, docs/actions.md.",
        epilog="examples: scripts/action check wave leg=3 | scripts/action preview bow | scripts/action run dance | "
        "of the humanoid: scripts/action humanoid --help",
    )
    commands = p.add_subparsers(dest="command", required=True, metavar="list|check|preview|run|record")
    for name, text in (
        ("list", "names, parameters with their ranges, and what each does"),
        ("check", "plan actions and play them in the simulator, or the path to the ball: check transform"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--folder", action="append", default=[], help="with actions of your own; may be repeated")
        if name == "list":
            command.add_argument("--running", action="store_true", help="those of the running robot, whatever robot")
        if name == "check":
            command.add_argument("action", nargs="?", help="its name; all by default")
            preview_cli.add_parameters(command)
            command.add_argument("--seed", type=seed_of, default=0, help="of the simulator (default 0)")
            command.add_argument("--variant", default="simulation", help="simulation (default) or walker")
    preview_cli.add_command(commands)
    text = "perform an action on the running robot; Ctrl-C takes it back to rest"
    run = commands.add_parser("run", help=text, description=text)
    run.add_argument("action", help="its name; scripts/action list has them all")
    preview_cli.add_parameters(run)
    run.add_argument("--speed", type=float, default=1.0, help="fraction of the usual speed, 0.05 to 1 (default 1)")
    action_record.add_parser(commands)
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0 if all is well, 1 if an action is red or failed, 2 after an error."""
    argv = sys.argv[1:] if argv is None else argv
    if argv[:2] == ["check", "transform"]:
        return transform_gate.main(argv)
    arguments = parser().parse_args(argv)
    tools = {"run": _perform, "record": action_record.run, "preview": preview_cli.preview}
    tool = _list_running if arguments.command == "list" and arguments.running else tools.get(arguments.command, _run)
    return run_tool(lambda: tool(arguments))


def _list_running(_arguments: argparse.Namespace) -> int:
    say(listed(importlib.import_module("shellbot_evaluation.running_actions_node").announced_actions()))
    return 0


def _perform(arguments: argparse.Namespace) -> int:
    """Perform an action on the running robot."""
    parameters = preview_cli.parameters_of(arguments)
    shows = sys.stderr.isatty()
    with Shellbot() as robot:
        try:
            robot.perform(arguments.action, arguments.speed, _show if shows else None, **parameters)
        except MissionFailed as failed:
            say(f"\n{failed}" if shows else str(failed))
            return 1
        finally:
            if shows:
                sys.stderr.write("\n")
    say(f"{arguments.action} done")
    return 0


def _show(progress: ActionProgress) -> None:
    show(f"{100 * progress.fraction:3.0f} %  {progress.step}")


def _run(arguments: argparse.Namespace) -> int:
    try:
        library = ActionLibrary(arguments.folder)
        if arguments.command == "list":
            say(listed([action for _, action in sorted(library.actions.items())]))
            return 0
        values = preview_cli.parameters_of(arguments)
        names = [arguments.action] if arguments.action else sorted(library.actions)
        for name in names:
            library.find(name).values(values)
        progress, checks = Progress(len(names)), []
        for name in names:
            checks.append(check_action(name, values, arguments.folder, arguments.seed, arguments.variant))
            progress.step(name)
    except ActionManagerError as error:
        raise EvaluationError(str(error)) from error
    rows = [{**vars(check), "verdict": check.verdict} for check in checks]
    say(markdown_table(rows, COLUMNS, {"duration_s": 1, "effort": 2, "error_deg": 1, "drift_mm": 1, "margin_mm": 0}))
    return 1 if any(check.reason for check in checks) else 0


def listed(actions: Iterable[Action]) -> str:
    """Return a line for each action, and one for each of its parameters."""
    lines = []
    for action in actions:
        lines.append(f"{action.name}: {action.text}")
        for key, p in action.parameters.items():
            unit = f" {p.unit}" if p.unit else ""
            lines.append(f"    {key}={p.default:g}  ({p.low:g} to {p.high:g}{unit}) {p.text}".rstrip())
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
