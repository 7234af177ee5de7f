# SPDX-License-Identifier: MIT
"""Command line of scripts/experiment bus-faults."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from robot_evaluation.console import add_page, add_seeds, run_tool, say, seeds_of
from robot_evaluation.errors import DefinitionError
from robot_evaluation.parallel import add_workers, map_jobs
from robot_evaluation.reports import machine, write_json
from robot_evaluation.tables import markdown_table, write_between_markers
from shellbot_common import write_file

from .fault_walk import FaultWalk, FaultWalkResult, run_fault_walk
from .reads import ReadCampaign, ReadResult, run_reads
from .recovery import RecoveryCampaign, RecoveryResult, lossy_walk, run_recovery

PARTS = ("reads", "loss", "recovery", "walk")
_CHUNK = 250_000  # reads of one job
LOSS = 0.05
GREATEST_STEP_FRACTION = 1.02  # of what the speed limit allows
MEMORY_GROWTH_MB = 10.0


class Job(NamedTuple):
    """One piece of work for a process: which part, with what."""

    part: str
    argument: Any


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="scripts/experiment bus-faults",
        description="The motor driver on a bad bus, in virtual time: a million reads with lost and corrupt replies, "
        "walking with 5 % lost, times of recovery, minutes of walking through random faults of all kinds.",
        conflict_handler="resolve",  # --repetitions has a meaning of its own here
    )
    p.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default: all")
    add_seeds(p, "1", "a long walk and a lossy one each")
    p.add_argument("--minutes", type=float, default=10.0, help="length of each walk with faults (default 10)")
    p.add_argument("--reads", type=int, default=1_000_000, help="reads with 1 %% lost, 0.1 %% corrupt (default 1e6)")
    p.add_argument("--repetitions", type=int, default=10, help="replugs, brown-outs and dead servos (default 10)")
    p.add_argument(
        "--stalls", action="store_true", help="instead: the real processes in real time, stalled; see --stalls --help"
    )
    add_workers(p, scheduler=False)
    p.add_argument("--out", type=Path, default=Path("results/bus-faults"), help="folder for tables and files")
    add_page(p, "bus-faults")
    return p


def main(argv: Optional[List[str]] = None) -> int:
    """Run the tool; returns 0 if every limit is met, 1 if not, 2 after an error."""
    if "--stalls" in (sys.argv[1:] if argv is None else argv):
        from .stalls.cli import main as stalls

        return stalls(argv)
    arguments = parser().parse_args(argv)
    words = " ".join(["bus-faults", *(sys.argv[1:] if argv is None else argv)])
    return run_tool(lambda: _run(arguments, f"scripts/experiment {words}"))


def work(job: Job) -> Any:
    """Do one job."""
    if job.part == "reads":
        return run_reads(job.argument)
    if job.part == "loss":
        return lossy_walk(*job.argument)
    if job.part == "recovery":
        return run_recovery(job.argument)
    return run_fault_walk(job.argument)


def _run(arguments: argparse.Namespace, command: str) -> int:
    parts = list(dict.fromkeys(arguments.parts)) or list(PARTS)
    strange = sorted(set(parts) - set(PARTS))
    if strange:
        raise DefinitionError(f"no part is called {', '.join(strange)}; choose from {', '.join(PARTS)}")
    if arguments.repetitions < 1:
        raise DefinitionError(f"--repetitions is {arguments.repetitions}; give 1 or more")
    if not 0.01 <= arguments.minutes <= 1440.0:
        raise DefinitionError(f"--minutes is {arguments.minutes:g}; give 0.01 to 1440")
    start = time.monotonic()
    jobs = _jobs(parts, seeds_of(arguments.seeds), arguments)
    results = map_jobs(work, [(f"{job.part} {_label(job)}", job) for job in jobs], arguments.jobs)
    found = {part: [r for job, r in zip(jobs, results) if job.part == part] for part in parts}
    rows = goals(found)
    text = markdown_table(rows, {"required": "required", "measured": "measured", "met": "met"})
    for result in found.get("walk", ()):
        text += f"\nFaults of seed {result.seed}, {result.seconds / 60.0:g} minutes:\n\n" + kinds_table(result)
    text += f"\nMade by `{command}` in virtual time ({time.monotonic() - start:.0f} s on this machine).\n"
    arguments.out.mkdir(parents=True, exist_ok=True)
    content = {part: [_plain(result) for result in each] for part, each in found.items()}
    write_json(arguments.out / "bus-faults.json", {"machine": machine(), "goals": rows, **content})
    write_file(arguments.out / "bus-faults.md", text)
    say(text)
    say(f"files in {arguments.out}")
    if arguments.write is not None:
        write_between_markers(arguments.write, "bus-faults", text)
    return 0 if all(row["met"] for row in rows) else 1


def _jobs(parts: Sequence[str], seeds: Sequence[int], arguments: argparse.Namespace) -> List[Job]:
    jobs: List[Job] = []
    if "walk" in parts:  # the longest first
        jobs += [Job("walk", FaultWalk(60.0 * arguments.minutes, seed)) for seed in seeds]
    if "reads" in parts:
        pieces = max(1, round(arguments.reads / _CHUNK))
        count = -(-arguments.reads // pieces)
        jobs += [Job("reads", ReadCampaign(count, seed=seed)) for seed in range(pieces)]
    if "recovery" in parts:
        jobs.append(Job("recovery", RecoveryCampaign(arguments.repetitions)))
    if "loss" in parts:
        jobs += [Job("loss", (seed, lost)) for seed in seeds for lost in (0.0, LOSS)]
    return jobs


def _label(job: Job) -> str:
    return f"seed {job.argument[0]}" if job.part == "loss" else f"seed {job.argument.seed}"


def goals(found: Dict[str, List[Any]]) -> List[Dict[str, Any]]:
    """Return rows of what is required and what was measured."""
    rows: List[Tuple[str, str, bool]] = []
    reads: List[ReadResult] = found.get("reads", [])
    if reads:
        total, lost, corrupt = (sum(getattr(r, name) for r in reads) for name in ("reads", "lost", "corrupt"))
        stops, false = sum(r.stops for r in reads), sum(len(r.false_faults) for r in reads)
        rows.append(
            (
                "1 % lost, 0.1 % corrupt replies in 10⁶ reads: no stop, no false fault",
                f"{total} reads, {lost} lost, {corrupt} corrupt: {stops} stops, {false} false faults, "
                f"{sum(r.wrong_values for r in reads)} wrong values",
                all(r.met for r in reads),
            )
        )
    loss: List[float] = found.get("loss", [])
    if loss:
        clean, bad = np.array(loss[0::2]), np.array(loss[1::2])
        rows.append(
            (
                "5 % lost: still walks",
                f"{np.nanmean(bad):.2f} m in 10 s ({np.nanmean(clean):.2f} m without losses), "
                f"{int(np.isnan(bad).sum())} stops in {bad.size} walks",
                bool((bad > 0.9 * clean).all()),
            )
        )
    for result in found.get("recovery", []):
        rows += _recovery_rows(result)
    for result in found.get("walk", []):
        rows += _walk_rows(result)
    return [{"required": required, "measured": measured, "met": bool(met)} for required, measured, met in rows]


def _recovery_rows(result: RecoveryResult) -> List[Tuple[str, str, bool]]:
    replug, brown, dead = (np.array(x) for x in (result.replug, result.brown_out, result.dead_timeouts_per_half_second))
    return [
        (
            "replug of the port: back in under 3 s",
            f"median {np.median(replug):.2f} s, at most {replug.max():.2f} s of {replug.size}",
            bool(replug.max() < 3.0),
        ),
        (
            "brown-out of one servo noticed in under 0.5 s",
            f"median {np.median(brown):.2f} s, at most {brown.max():.2f} s of {brown.size}",
            bool(brown.max() < 0.5),
        ),
        (
            "a dead servo costs at most one time-out per 0.5 s",
            f"at most {dead.max():.2f} (in use again at most {max(result.rejoin):.1f} s after its return)",
            bool(dead.max() <= 1.01),
        ),
    ]


def _walk_rows(result: FaultWalkResult) -> List[Tuple[str, str, bool]]:
    return [
        (
            f"{result.seconds / 60.0:g} min of walking with random faults (seed {result.seed}): "
            "no fall that is not announced",
            f"{len(result.records)} faults, {result.walked:.0f} m, {result.stops} stops, {result.falls} falls, "
            f"{len(result.unannounced_falls)} unannounced",
            not result.unannounced_falls,
        ),
        (
            "no joint step larger than the speed limit allows",
            f"greatest step {result.greatest_step_fraction:.0%} of what is allowed",
            result.greatest_step_fraction <= GREATEST_STEP_FRACTION,
        ),
        ("memory constant", f"grows by {result.memory_growth_mb:.1f} MB after the first quarter",
         result.memory_growth_mb < MEMORY_GROWTH_MB),
    ]  # fmt: skip


def kinds_table(result: FaultWalkResult) -> str:
    """Return a table of what each kind of fault did."""
    rows = []
    for kind in dict.fromkeys(record.kind for record in sorted(result.records)):
        of_kind = [record for record in result.records if record.kind == kind]
        reported = [record.reported_after for record in of_kind if np.isfinite(record.reported_after)]
        back = [record.back_after for record in of_kind if np.isfinite(record.back_after)]
        rows.append(
            {
                "kind": f"`{kind}`",
                "count": len(of_kind),
                "reported": f"{len(reported)}" + (f", after {np.median(reported):.2f} s" if reported else ""),
                "stopped": sum(record.stopped for record in of_kind),
                "back": f"{np.median(back):.1f} s" if back else "–",
                "text": next((record.text for record in of_kind if record.text), "– (ridden out)")[:90],
            }
        )
    heads = {
        "kind": "fault",
        "count": "times",
        "reported": "reported (median)",
        "stopped": "robot stopped",
        "back": "walks again after (median)",
        "text": "first message",
    }
    return markdown_table(rows, heads) if rows else "none\n"


def _plain(result: Any) -> Any:
    if not dataclasses.is_dataclass(result) or isinstance(result, type):
        return result
    content = dataclasses.asdict(result)
    if "records" in content:
        content["records"] = [record._asdict() for record in content["records"]]
    return content


if __name__ == "__main__":
    sys.exit(main())
