# SPDX-License-Identifier: MIT
"""Command line of scripts/bench kinematics."""

from __future__ import annotations

import argparse
import contextlib
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Dict, List, Optional

from robot_evaluation.bench_report import add_report_options, report
from robot_evaluation.console import Progress, run_tool
from robot_evaluation.errors import DefinitionError, EvaluationError

from .clients import Worker
from .environments import ENVIRONMENTS, cpp_figures, interpreter
from .figures import goals_of, ratios_of, roofline_note, roofline_us
from .page import cost_picture, page_text
from .startup import slowest_kernel, startup_seconds
from .workers import problem

FK_TOLERANCE = 1e-9  # m: a peer whose pose differs more from the judge's is not the same robot
PICTURE = Path("docs/pictures/kinematics_cost_per_joint.png")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/bench kinematics",
        description="The kinematics library beside its peers, each in an environment of its own under build/ (made "
        "by this script, about 2.5 GB), in interleaved rounds on this machine.",
    )
    add_report_options(p, "kinematics")
    p.add_argument("--rounds", type=int, help="interleaved rounds (default 8, with --quick 3)")
    p.add_argument("--quick", action="store_true", help="shorter rounds, no start-up times, no cost per joint")
    p.add_argument("--no-peers", action="store_true", help="measure only our own library, with the workspace's numba")
    p.add_argument(
        "--peers-env",
        type=Path,
        default=Path("build/bench_kinematics"),
        metavar="DIR",
        help="folder of the environments",
    )
    p.add_argument("--check", action="store_true", help="exit status 1 if a required figure is missed")
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns the exit status."""
    given = sys.argv[1:] if argv is None else argv
    arguments = parser().parse_args(given)
    return run_tool(lambda: _run(arguments, " ".join(["scripts/bench kinematics", *given])))


def _run(arguments: argparse.Namespace, command: str) -> int:
    round_count = arguments.rounds if arguments.rounds is not None else 3 if arguments.quick else 8
    if round_count < 1:
        raise DefinitionError(f"--rounds is {round_count}; at least 1 is needed")
    import robot_mechanics
    import shellbot_common
    import shellbot_description
    import shellbot_kinematics

    folder = arguments.peers_env.resolve()
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    urdf = work / "shellbot.urdf"
    urdf.write_text(shellbot_description.expand("simulation"), encoding="utf-8")
    packages = robot_mechanics, shellbot_common, shellbot_kinematics
    library = [str(Path(str(package.__file__)).resolve().parents[1]) for package in packages]
    options = {"urdf": str(urdf), "folder": str(work), "quick": arguments.quick}
    seconds = 0.02 if arguments.quick else 0.05
    notes: List[str] = []
    rounds: Dict[str, List[Optional[float]]] = {}
    facts: Dict[str, Dict[str, Any]] = {}
    versions: Dict[str, Dict[str, str]] = {}
    with contextlib.ExitStack() as stack:
        workers: Dict[str, Worker] = {}
        for environment in ENVIRONMENTS[:1] if arguments.no_peers else ENVIRONMENTS:
            python, reason = interpreter(environment, folder, _note)
            if python is None:
                notes.append(f"{environment.name}: {reason}.")
                continue
            _note(f"preparing {environment.name}")
            worker = stack.enter_context(Worker(environment, python, library, work / f"{environment.name}.log"))
            answer = worker.ask(do="prepare", options=options, seconds=seconds)
            if "error" in answer:
                notes.append(f"{environment.name}: not measured, {answer['error']}.")
                continue
            workers[environment.name], versions[environment.name] = worker, answer["versions"]
            for case, found in answer["cases"].items():
                key = f"{environment.name}/{case}"
                facts[key] = found
                if found.get("error", 0.0) > FK_TOLERANCE:
                    notes.append(
                        f"{key}: not measured, it differs by {found['error']:.1e} from the judge's kinematics."
                    )
                elif case != "joints":
                    rounds[key] = []
        if "ours" not in workers:
            raise EvaluationError("our own library could not be measured: " + " ".join(notes))
        progress = Progress(round_count)
        for number in range(round_count):
            for key, values in rounds.items():
                name, case = key.split("/", 1)
                values.append(workers[name].ask(do="round", case=case).get("us"))
            progress.step(f"round {number + 1}")
    cpp: Dict[str, float] = {}
    if not arguments.no_peers:
        cpp, reason = _cpp(folder, work, 0.1 if arguments.quick else 0.5)
        notes += [reason] if reason else []
    startup = {} if arguments.quick else startup_seconds(urdf, work, library)
    if startup:
        startup["kernel_cpu_s"], slowest = slowest_kernel(work, library)
        notes.append(
            f"Fresh process to the first solution: {startup['cold_s']:.2f} s cold, {startup['warm_s']:.2f} s warm; "
            f"processor time {startup['cold_cpu_s']:.2f} and {startup['warm_cpu_s']:.2f} s. Slowest to compile of the "
            f"kernels of two six-joint arms: {slowest}, {startup['kernel_cpu_s']:.2f} s of processor time."
        )
    per_n = facts.get("ours/joints", {}).get("per_n")
    if per_n and arguments.write is not None:
        cost_picture(per_n, PICTURE)
        largest = max(per_n, key=int)
        notes.append(
            f"Cost per joint, pose: {1e3 * per_n['16']['fk_us'] / 16:.0f} ns with 16 joints, "
            f"{1e3 * per_n[largest]['fk_us'] / int(largest):.0f} ns with {largest} ({PICTURE.name})."
        )
    notes.append(roofline_note(rounds))
    goals = goals_of(rounds, facts, cpp, startup)
    text = page_text(rounds, facts, cpp, goals, notes, versions)
    figures = {
        "versions": versions, "ratios": ratios_of(rounds, cpp), "goals": [asdict(goal) for goal in goals],
        "us": rounds, "facts": facts, "cpp_ns": cpp, "startup": startup,
        "roofline_ns_per_leg": 1e3 * roofline_us(rounds), "notes": notes,
    }  # fmt: skip
    report(arguments, "kinematics", command, text, figures)
    return 1 if arguments.check and any(goal.met is False for goal in goals) else 0


def _cpp(folder: Path, work: Path, seconds: float) -> Any:
    """Run the C++ program with the workers' own targets."""
    feet, rates, _ = problem.gait()
    files = work / "targets.txt", work / "gait.txt"
    gait: Any = [[*p.ravel(), *r.ravel()] for p, r in zip(feet, rates)]
    for file, rows in zip(files, (problem.leg_targets("W"), gait)):
        file.write_text("\n".join(" ".join(f"{v:.17g}" for v in row) for row in rows), encoding="utf-8")
    return cpp_figures(folder / "pin", work, "bench", [*map(str, files), str(seconds)], _note)


def _note(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
