# SPDX-License-Identifier: MIT
"""What every RobotBackend promises, as checks that any test can run on any backend.

Nothing here needs a test framework. In pytest::

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_contract(check):
        check(BackendUnderTest(make_backend(), limits, advance))

or :func:`check_backend`, which runs all and lists every broken promise at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, List, Tuple

import numpy as np

from shellbot_control.backend import RobotBackend
from shellbot_control.errors import TargetsError
from shellbot_control.joint_limits import JointLimits


class ContractViolation(AssertionError):
    """A backend broke a promise of the contract."""


@dataclass(frozen=True)
class BackendUnderTest:
    """A backend with what the checks need to know about it.

    Parameters
    ----------
    backend : RobotBackend
        Fresh, nothing written yet.
    limits : JointLimits
        The limits that it must keep.
    advance : callable
        ``advance(seconds)`` lets that much of the backend's own time pass.
    settle_time : float
        s after which a small step must have arrived.
    settle_tolerance : float
        rad; greatest error after that (the sag of loaded joints is part of it).
    """

    backend: RobotBackend
    limits: JointLimits
    advance: Callable[[float], None]
    settle_time: float = 1.0
    settle_tolerance: float = 0.05


def _require(condition: object, text: str) -> None:
    """Raise ContractViolation with ``text`` unless the condition holds."""
    if not condition:
        raise ContractViolation(text)


def names_match_limits(under_test: BackendUnderTest) -> None:
    """Require joint_names to be a tuple of the driven joints in their order that stays the same."""
    names = under_test.backend.joint_names
    _require(isinstance(names, tuple), f"joint_names is a {type(names).__name__}, not a tuple")
    _require(names == under_test.limits.names, f"joint_names {names} differ from the limits' {under_test.limits.names}")
    under_test.advance(0.01)
    _require(under_test.backend.joint_names == names, "joint_names changed while running")


def read_is_finite_and_ordered(under_test: BackendUnderTest) -> None:
    """Require names, finite arrays of the right shape and a stamp that follows time in every sample."""
    first = under_test.backend.read()
    under_test.advance(0.02)
    second = under_test.backend.read()
    for sample in (first, second):
        _require(sample.names == under_test.backend.joint_names, "the sample's names are not joint_names")
        for field in ("position", "velocity", "effort"):
            values = getattr(sample, field)
            _require(values.shape == (len(under_test.limits),), f"{field} has shape {values.shape}")
            _require(np.isfinite(values).all(), f"{field} is not finite")
            _require(not values.flags.writeable, f"{field} can be written to by the reader")
    _require(np.isfinite(first.stamp) and second.stamp > first.stamp, "the stamp did not grow while time passed")


def read_moves_nothing(under_test: BackendUnderTest) -> None:
    """Require two reads at one time to give the same."""
    first, second = under_test.backend.read(), under_test.backend.read()
    _require(first.stamp == second.stamp, "reading let time pass")
    _require(np.array_equal(first.position, second.position), "reading moved the joints")


def write_returns_the_applied_targets(under_test: BackendUnderTest) -> None:
    """Require targets in range to be applied as they are, and the caller's array not to be kept."""
    limits = under_test.limits
    targets = np.clip(under_test.backend.read().position, limits.lower, limits.upper)
    wanted = targets.copy()
    applied = under_test.backend.write(targets)
    targets += 1.0
    _require(np.allclose(applied, wanted, atol=1e-6), "targets within the limits were changed")
    _require(np.allclose(under_test.backend.hold(), wanted, atol=1e-6), "the backend kept the caller's array")


def write_keeps_the_limits(under_test: BackendUnderTest) -> None:
    """Require that targets beyond the range are never applied, in either direction."""
    limits = under_test.limits
    for targets in (limits.upper + 5.0, limits.lower - 5.0):
        applied = under_test.backend.write(targets)
        _require(np.all(applied <= limits.upper + 1e-9), "a target above the upper limit was applied")
        _require(np.all(applied >= limits.lower - 1e-9), "a target below the lower limit was applied")


def write_refuses_nonsense(under_test: BackendUnderTest) -> None:
    """Require TargetsError for a wrong length or a value that is not finite, and no change of the targets."""
    backend, n = under_test.backend, len(under_test.limits)
    before = backend.write(np.clip(backend.read().position, under_test.limits.lower, under_test.limits.upper))
    with_nan, with_inf = before.copy(), before.copy()
    with_nan[n // 2], with_inf[-1] = np.nan, np.inf
    for what, targets in (
        ("too few targets", before[:-1]),
        ("too many targets", np.append(before, 0.0)),
        ("no targets", np.zeros(0)),
        ("a NaN target", with_nan),
        ("an infinite target", with_inf),
    ):
        try:
            backend.write(targets)
        except TargetsError:
            pass
        else:
            raise ContractViolation(f"{what} did not raise TargetsError")
        _require(np.allclose(backend.hold(), before, atol=1e-9), f"{what} changed the applied targets")


def joints_arrive(under_test: BackendUnderTest) -> None:
    """Require a small step of every joint to arrive within the settling time."""
    backend, limits = under_test.backend, under_test.limits
    start = backend.read().position
    middle = (limits.lower + limits.upper) / 2.0
    step = 0.05 + under_test.settle_tolerance  # rad; joints that do not move at all must fail
    targets = np.clip(start + step * np.where(start <= middle, 1.0, -1.0), limits.lower, limits.upper)
    applied = backend.write(targets)
    _require(np.allclose(applied, targets, atol=1e-6), "a small step within the limits was changed")
    under_test.advance(under_test.settle_time)
    error = np.abs(backend.read().position - applied)
    worst = int(error.argmax())
    _require(
        error[worst] <= under_test.settle_tolerance,
        f"{limits.names[worst]} is {error[worst]:.4f} rad from its target after {under_test.settle_time} s",
    )


def hold_keeps_the_targets(under_test: BackendUnderTest) -> None:
    """Require hold to keep the joints where they are before the first write, and the applied targets after it."""
    backend, limits = under_test.backend, under_test.limits
    measured = backend.read().position
    held = backend.hold()
    _require(np.all(np.abs(held - measured) <= under_test.settle_tolerance), "hold before the first write would move")
    applied = backend.write(np.clip(measured, limits.lower, limits.upper))
    _require(np.allclose(backend.hold(), applied, atol=1e-9), "hold changed the applied targets")
    under_test.advance(under_test.settle_time)
    drift = np.abs(backend.read().position - applied).max()
    _require(drift <= under_test.settle_tolerance, f"joints moved {drift:.4f} rad away while held")


CHECKS: Tuple[Callable[[BackendUnderTest], None], ...] = (
    names_match_limits,
    read_is_finite_and_ordered,
    read_moves_nothing,
    write_returns_the_applied_targets,
    write_keeps_the_limits,
    write_refuses_nonsense,
    joints_arrive,
    hold_keeps_the_targets,
)


def check_backend(make_under_test: Callable[[], BackendUnderTest]) -> None:
    """Run every check, each on a fresh backend.

    Parameters
    ----------
    make_under_test : callable
        Returns a fresh :class:`BackendUnderTest`.

    Raises
    ------
    ContractViolation
        If any promise is broken; the message lists all of them.
    """
    broken: List[str] = []
    for check in CHECKS:
        try:
            check(make_under_test())
        except ContractViolation as violation:
            broken.append(f"{check.__name__}: {violation}")
    if broken:
        raise ContractViolation("the backend breaks its contract:\n  " + "\n  ".join(broken))
