# SPDX-License-Identifier: MIT
"""The contract holds for the perfect backend, and catches backends that break it."""

import numpy as np
import pytest

from shellbot_control import CHECKS, BackendUnderTest, ContractViolation, JointLimits, PerfectBackend, check_backend
from shellbot_control.errors import ConfigurationError

LIMITS = JointLimits(
    ("lower_1_fan", "lower_1_coxa", "upper_1_shell"),
    [-2.15, -1.9, -2.6],
    [0.05, 1.9, 2.6],
    [3.0, 6.0, 6.0],
    [0.5, 1.5, 1.5],
)


def under_test(backend_class=PerfectBackend):
    backend = backend_class(LIMITS)
    return BackendUnderTest(backend, LIMITS, backend.advance, settle_time=0.1, settle_tolerance=1e-9)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_perfect_backend_keeps_the_contract(check):
    check(under_test())


class Unclamped(PerfectBackend):
    def write(self, targets):
        applied = super().write(targets)
        self._position = np.array(targets, dtype=float)
        return applied if np.allclose(applied, targets) else self._position


class Limp(PerfectBackend):
    def hold(self):
        self._position = np.zeros(3)
        return self._position


class Gullible(PerfectBackend):
    def write(self, targets):
        return super().write(np.nan_to_num(np.resize(targets, 3)))


class Deaf(PerfectBackend):
    def advance(self, seconds):
        self._position = np.full(3, -1.0)
        super().advance(seconds)


class Frozen(PerfectBackend):
    def advance(self, seconds):
        pass


class Renamed(PerfectBackend):
    @property
    def joint_names(self):
        return list(super().joint_names)


class Restless(PerfectBackend):
    def read(self):
        self._stamp += 0.001
        return super().read()


class Sharing(PerfectBackend):
    def write(self, targets):
        super().write(targets)
        self._position = targets
        return targets.copy()


@pytest.mark.parametrize(
    ("backend_class", "broken"),
    [
        (Unclamped, "write_keeps_the_limits"),
        (Limp, "hold_keeps_the_targets"),
        (Gullible, "write_refuses_nonsense"),
        (Deaf, "joints_arrive"),
        (Frozen, "read_is_finite_and_ordered"),
        (Renamed, "names_match_limits"),
        (Restless, "read_moves_nothing"),
        (Sharing, "write_returns_the_applied_targets"),
    ],
)
def test_each_broken_promise_is_found(backend_class, broken):
    with pytest.raises(ContractViolation, match=broken):
        check_backend(lambda: under_test(backend_class))


def test_every_check_is_seen_failing_above():
    assert {check.__name__ for check in CHECKS} == {
        mark for _, mark in test_each_broken_promise_is_found.pytestmark[0].args[1]
    }


def test_perfect_backend_velocity_is_the_mean_of_the_step():
    backend = PerfectBackend(LIMITS, np.zeros(3))
    backend.write(np.array([-0.1, 0.2, 0.3]))
    backend.advance(0.1)
    np.testing.assert_allclose(backend.read().velocity, [-1.0, 2.0, 3.0])
    backend.advance(0.1)
    np.testing.assert_array_equal(backend.read().velocity, np.zeros(3))
    with pytest.raises(ConfigurationError, match="positive time"):
        backend.advance(0.0)
