# SPDX-License-Identifier: MIT
"""Generated dynamics give what the kernels for all robots give, whatever the tree; the arm's source is compiled."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from mechanics_trees import random_state, random_urdf

from robot_mechanics import model_path
from robot_mechanics.codegen.dynamics_source import LANES, LONGEST, dynamics_source, is_straight
from robot_mechanics.dynamics import DynamicModel, Inertia
from robot_mechanics.dynamics.bodies import JointFriction
from robot_mechanics.errors import DynamicsError, InvalidConfigError, ShapeError
from robot_mechanics.native.lanes import prefer_wide_vectors

FRICTION = JointFriction(viscous=0.2, coulomb=0.1, armature=0.03)


@pytest.fixture(scope="module")
def arm():
    return DynamicModel.from_urdf(model_path("arm4"), {"arm_joint_2": 0.01})


def check(model, kernels, q, v, a, name="robot"):
    """Compare the kernels, called by name, with the model's own methods."""
    tau = model.inverse(q, v, a)
    given = {"inverse": (q, v, a), "mass_matrix": (q,), "forward": (q, v, tau)}
    expected = {"inverse": tau, "mass_matrix": model.mass_matrix(q), "forward": model.forward(q, v, tau)}
    for kernel in given:
        block, *parts = model.compile().block(kernel)
        for part, values in zip(parts, given[kernel]):
            part[:] = values
        assert kernels(kernel)(block) == (-1 if kernel == "forward" else None), (name, kernel)
        size = np.abs(expected[kernel]).max()
        np.testing.assert_allclose(parts[-1], expected[kernel], 1e-9, 1e-11 * size, err_msg=f"{name}, {kernel}")


def test_source_of_random_trees(rng):
    """As plain Python: to compile each of them would show no more."""
    for k in range(24):
        text = random_urdf(rng, 1 + k % 7)
        tree = DynamicModel.from_urdf(text, floating=k % 2 == 1)
        model = DynamicModel(tree.tree, tree.inertias, {"j0": FRICTION}, tree.floating)
        assert is_straight(model.table.rows)

        def plain(kernel, model=model):
            names = {}
            exec(dynamics_source(model.table.rows, model.table.above, kernel), names)
            return names[kernel]

        check(model, plain, *random_state(model, rng), name=text)


def test_the_arm_is_compiled(arm, rng):
    for _ in range(5):
        check(arm, lambda name: getattr(arm.compile(), name), *random_state(arm, rng))
    assert arm.compile() is arm.compile()


def test_a_larger_robot_has_a_loop(rng):
    model = DynamicModel.from_urdf(random_urdf(rng, LONGEST + 12), {"j0": 0.03}, floating=True)
    assert not is_straight(model.table.rows)
    check(model, lambda name: getattr(model.compile(), name), *random_state(model, rng))
    check_batch(model, 3, rng)


def check_batch(model, count, rng):
    block, *parts = model.compile().block("inverse_batch", count)
    states = [random_state(model, rng) for _ in range(count)]
    for part, values in zip(parts, zip(*states)):
        part[:] = np.transpose(values)
    model.compile().inverse_batch(block)
    np.testing.assert_allclose(parts[3].T, [model.inverse(*state) for state in states], 1e-11, 1e-12)


@pytest.mark.parametrize("count", [1, LANES + 5])
def test_batch_is_the_same_one_by_one(arm, rng, count):
    check_batch(arm, count, rng)


def test_bad_input_is_named(arm):
    compiled = arm.compile()
    with pytest.raises(ShapeError, match="block of inverse has a wrong length; expected 16"):
        compiled.inverse(np.zeros(15))
    if not numba.config.DISABLE_JIT:
        with pytest.raises(TypeError, match="argument 1 of inverse is to be a 1-dimensional float64 array"):
            compiled.inverse([0.0] * 16)
    with pytest.raises(DynamicsError, match="no kernel 'aba'; there are inverse, mass_matrix, forward, inverse_batch"):
        compiled.block("aba")
    with pytest.raises(InvalidConfigError, match="count is -1; expected a whole number from 0"):
        compiled.block("inverse_batch", -1)
    with pytest.raises(InvalidConfigError, match="count is 2, but 'inverse' takes one state; 'inverse_batch' takes"):
        compiled.block("inverse", 2)
    with pytest.raises(AttributeError, match="there are inverse, mass_matrix, forward, inverse_batch"):
        compiled.aba(None)
    with pytest.raises(ShapeError, match="wrong number of rows; expected 16"):
        compiled.inverse_batch(np.zeros((15, 3)))


def test_forward_names_the_coordinate_without_inertia(arm):
    without = {link: inertia for link, inertia in arm.inertias.items() if link != "arm_link_4"}
    rods = {link: Inertia(x.mass, x.com, np.diag([1e-3, 1e-3, 0.0])) for link, x in arm.inertias.items()}
    for inertias, coordinate in ((without, 3), (rods, 0)):  # a link without mass; rods that all stand on one axis
        model, names = DynamicModel(arm.tree, inertias), {}
        exec(dynamics_source(model.table.rows, model.table.above, "forward"), names)
        assert names["forward"](np.zeros(16)) == coordinate


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_many_states_use_all_of_a_vector_register(arm):
    source = dynamics_source(arm.table.rows, arm.table.above, "inverse_batch")
    assert source.count("prefer_wide_vectors()") == 2

    @numba.njit("void()")
    def kernel():
        prefer_wide_vectors()

    assert '"prefer-vector-width"="512"' in kernel.inspect_llvm(kernel.signatures[0])
