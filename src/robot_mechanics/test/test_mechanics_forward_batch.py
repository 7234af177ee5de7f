# SPDX-License-Identifier: MIT
"""Poses and Jacobians at many coordinates are those at each of them, whatever the chain, the threads and the axes."""

from __future__ import annotations

import numpy as np
import pytest
from mechanics_chains import random_chain

from robot_mechanics import Joint, SerialChain, forward_batch, jacobian_batch
from robot_mechanics.errors import InvalidChainError, InvalidConfigError, ShapeError
from robot_mechanics.motion.rotations import transform


@pytest.mark.parametrize("seed", range(6))
def test_as_one_by_one(seed):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, 3 + seed, mimics=1)
    q = rng.uniform(-2.0, 2.0, (5, 4, chain.n))
    poses, jacobians = forward_batch(chain, q, threads=1), jacobian_batch(chain, q, threads=1)
    assert poses.shape == (5, 4, 4, 4) and jacobians.shape == (5, 4, 6, chain.n)
    for i, j in np.ndindex(5, 4):
        np.testing.assert_allclose(poses[i, j], chain.fk(q[i, j]), atol=1e-13)
        np.testing.assert_allclose(jacobians[i, j], chain.jacobian(q[i, j]), atol=1e-13)


@pytest.mark.jit
def test_threads_share_many_and_none_is_left_out():
    rng = np.random.default_rng(0)
    chain = random_chain(rng, 6)
    q = rng.uniform(-2.0, 2.0, (10_007, chain.n))
    np.testing.assert_array_equal(forward_batch(chain, q, threads=3), forward_batch(chain, q, threads=1))
    np.testing.assert_array_equal(jacobian_batch(chain, q, threads=3), jacobian_batch(chain, q, threads=1))
    assert forward_batch(chain, q[:0]).shape == (0, 4, 4)


def test_a_chain_without_a_joint_that_moves():
    chain = SerialChain([Joint("bolt", "fixed", origin=transform(np.eye(3), (0.1, 0.2, 0.3)))])
    np.testing.assert_array_equal(
        forward_batch(chain, np.zeros((2, 3, 0))), np.broadcast_to(chain.fk([]), (2, 3, 4, 4))
    )
    assert jacobian_batch(chain, np.zeros((2, 3, 0))).shape == (2, 3, 6, 0)


@pytest.mark.parametrize("batch", [forward_batch, jacobian_batch])
def test_nonsense_is_refused_in_words(batch):
    chain = random_chain(np.random.default_rng(1), 5)
    for wrong, words in (
        (np.zeros((3, chain.n + 1)), r"q has shape \(3, \d+\); expected \(\.\.\., \d+\)"),
        (0.5, "q has shape"),
        ("joints", "cannot be read as numbers"),
        (np.full((2, chain.n), np.nan), r"q\[0\] is .*expected finite"),
    ):
        with pytest.raises(ShapeError, match=words):
            batch(chain, wrong)
    for nothing in (None, "ur5", chain.compile()):
        with pytest.raises(InvalidChainError, match="chain is .*; expected a SerialChain, such as"):
            batch(nothing, np.zeros((3, chain.n)))
    with pytest.raises(InvalidConfigError, match="threads is 0"):
        batch(chain, np.zeros(chain.n), threads=0)
