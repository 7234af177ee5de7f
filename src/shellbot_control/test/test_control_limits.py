# SPDX-License-Identifier: MIT
"""Joint limits, clamp, rate limit, watchdog and the order of joints."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shellbot_control import (
    ConfigurationError,
    JointLimits,
    JointOrder,
    TargetsError,
    Watchdog,
    clamp_targets,
    rate_limit,
)

NAMES = ("lower_1_fan", "lower_1_coxa", "lower_1_femur")
LIMITS = JointLimits(NAMES, [-2.15, -1.9, -2.6], [0.05, 1.9, 2.6], [3.09, 6.18, 10.2], [0.5, 1.5, 1.8])
URDF = """<robot name="r"><link name="a"/>
<joint name="lower_1_femur" type="revolute"><limit lower="-2.6" upper="2.6" velocity="10.2" effort="1.8"/></joint>
<joint name="fixed" type="fixed"/>
<joint name="lower_1_coxa" type="revolute"><limit lower="-1.9" upper="1.9" velocity="6.18" effort="1.5"/></joint>
<joint name="lower_1_fan" type="revolute"><limit lower="-2.15" upper="0.05" velocity="3.09" effort="0.5"/></joint>
</robot>"""

positions = arrays(float, 3, elements=st.floats(-10, 10))


def test_limits_come_from_the_urdf_in_the_order_asked():
    limits = JointLimits.from_urdf(URDF, NAMES)
    for field in ("lower", "upper", "velocity", "effort"):
        np.testing.assert_array_equal(getattr(limits, field), getattr(LIMITS, field))
    assert not limits.lower.flags.writeable


def test_a_continuous_joint_has_no_position_limits():
    wheel = URDF.replace('type="revolute"><limit lower="-1.9" upper="1.9"', 'type="continuous"><limit')
    limits = JointLimits.from_urdf(wheel, NAMES)
    assert (limits.lower[1], limits.upper[1]) == (-math.inf, math.inf) and np.isfinite(limits.lower[[0, 2]]).all()
    assert clamp_targets(np.array([0.0, 1e4, 0.0]), limits)[1] == 1e4
    with pytest.raises(ConfigurationError, match="lower limits have shape .* or are not finite"):
        JointLimits.from_urdf(URDF.replace('lower="-1.9"', ""), NAMES)


@pytest.mark.parametrize(
    ("urdf", "names", "message"),
    [
        ("<robot>", NAMES, "not XML"),
        (URDF, ("lower_1_fan", "upper_1_shell"), "upper_1_shell.*same variant"),
        (URDF, ("fixed",), "no joint with a <limit> called fixed"),
        (URDF.replace('velocity="6.18"', 'velocity="quick"'), NAMES, "velocity limit in the URDF is not a number"),
        (URDF.replace('velocity="6.18"', ""), NAMES, "velocity limits"),
        (URDF.replace('velocity="6.18"', 'velocity="0"'), NAMES, "lower_1_coxa: a velocity limit that is not positive"),
        (URDF.replace('lower="-1.9"', 'lower="1.95"'), NAMES, "lower_1_coxa: lower limit above"),
        (URDF, (), "empty or repeat"),
    ],
)
def test_unusable_urdfs_are_refused_in_words(urdf, names, message):
    with pytest.raises(ConfigurationError, match=message):
        JointLimits.from_urdf(urdf, names)


@given(positions)
def test_clamp_is_idempotent_and_in_range(targets):
    once = clamp_targets(targets, LIMITS)
    assert np.all(once >= LIMITS.lower) and np.all(once <= LIMITS.upper)
    np.testing.assert_array_equal(clamp_targets(once, LIMITS), once)
    inside = (targets >= LIMITS.lower) & (targets <= LIMITS.upper)
    np.testing.assert_array_equal(once[inside], targets[inside])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_clamp_refuses_what_is_not_finite(bad):
    with pytest.raises(TargetsError, match="lower_1_coxa"):
        clamp_targets(np.array([0.0, bad, 0.0]), LIMITS)
    with pytest.raises(TargetsError, match=r"shape \(2,\)"):
        clamp_targets(np.zeros(2), LIMITS)


@given(positions, positions, st.floats(-1.0, 1.0))
def test_rate_limit_never_exceeds_the_speed_and_never_overshoots(targets, previous, dt):
    result = rate_limit(targets, previous, LIMITS.velocity, dt)
    step = LIMITS.velocity * max(dt, 0.0)
    assert np.all(np.abs(result - previous) <= step + 1e-12)
    assert np.all(np.abs(targets - result) <= np.abs(targets - previous) + 1e-12)
    reachable = np.abs(targets - previous) < step
    np.testing.assert_array_equal(result[reachable], targets[reachable])


@given(positions, positions)
def test_rate_limit_arrives_in_the_time_that_the_speed_allows(targets, previous):
    ticks = int(np.ceil((np.abs(targets - previous) / (LIMITS.velocity * 0.01)).max())) + 1
    position = previous
    for _ in range(ticks):
        position = rate_limit(targets, position, LIMITS.velocity, 0.01)
    np.testing.assert_array_equal(position, targets)


def test_watchdog_measures_age_in_the_time_passed_in():
    watchdog = Watchdog(0.5)
    assert watchdog.age(3.0) == math.inf and watchdog.expired(3.0)
    watchdog.feed(10.0)
    assert watchdog.age(10.5) == pytest.approx(0.5) and not watchdog.expired(10.5)
    assert watchdog.expired(10.51)
    assert watchdog.age(9.0) == 0.0
    watchdog.reset()
    assert watchdog.expired(10.0)


@pytest.mark.parametrize("timeout", [0.0, -1.0, math.nan, math.inf])
def test_watchdog_refuses_a_useless_timeout(timeout):
    with pytest.raises(ConfigurationError, match="timeout"):
        Watchdog(timeout)


@given(st.permutations(range(3)), positions)
def test_order_undoes_any_permutation(order, values):
    joints = JointOrder(NAMES)
    for _ in range(2):  # the second time comes from the remembered names
        picked = joints.pick([NAMES[i] for i in order], [values[i] for i in order])
        np.testing.assert_array_equal(picked, values)


def test_order_follows_names_that_change():
    joints = JointOrder(NAMES)
    np.testing.assert_array_equal(joints.pick(NAMES, [1, 2, 3]), [1, 2, 3])
    np.testing.assert_array_equal(joints.pick(NAMES[::-1], [1, 2, 3]), [3, 2, 1])
    np.testing.assert_array_equal(joints.pick(("tail", *NAMES), [9, 1, 2, 3], allow_extra=True), [1, 2, 3])
    with pytest.raises(TargetsError, match="unknown joints tail"):
        joints.pick(("tail", *NAMES), [9, 1, 2, 3])


@pytest.mark.parametrize(
    ("names", "values", "message"),
    [
        (NAMES, [0.0, 0.0], "3 names but 2 positions"),
        ((), [], "no joint names"),
        (NAMES[:2], [0.0, 0.0], "no value for lower_1_femur"),
        ((*NAMES[:2], "leg"), [0.0] * 3, "unknown joints leg.*no value for lower_1_femur.*same variant"),
        ((*NAMES, NAMES[0]), [0.0] * 4, "lower_1_fan more than once"),
        (NAMES, [0.0, math.nan, math.inf], "lower_1_coxa, lower_1_femur: not a finite number"),
    ],
)
def test_order_says_what_is_wrong(names, values, message):
    with pytest.raises(TargetsError, match=message):
        JointOrder(NAMES).pick(names, values)
