# SPDX-License-Identifier: MIT
"""The dynamics of a robot as machine code written for it alone."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, Tuple

import numpy as np

from robot_mechanics.codegen.dynamics_source import KERNELS, dynamics_source, lengths
from robot_mechanics.codegen.store import load
from robot_mechanics.errors import DynamicsError, InvalidConfigError
from robot_mechanics.native import jit

if TYPE_CHECKING:
    from robot_mechanics.dynamics.model import DynamicModel

_SIGNATURES = {
    "inverse": "void(float64[::1])",
    "mass_matrix": "void(float64[::1])",
    "forward": "int64(float64[::1])",
    "inverse_batch": "void(float64[:, ::1])",
}


class CompiledDynamics:
    """Kernels of one robot, generated from its constants; made by `DynamicModel.compile`.

    A kernel takes one block, a float64 array with arguments and result, because each array that crosses from Python
    costs as much as half of the arithmetic:

        block, q, v, a, tau = compiled.block("inverse")     # an array, and views into it
        q[:], v[:], a[:] = ...
        compiled.inverse(block)                             # tau holds the forces

    Nothing is allocated, and nothing checked but the shape of the block: NaN makes NaN. Constants below 1e-15 (kg, m,
    kg m^2) count as zero. Each kernel is compiled when it is first requested, or loaded from the cache; numba code may
    call it.

    Parameters
    ----------
    model : DynamicModel
        Whose numbers become constants of the kernels.

    Attributes
    ----------
    inverse(block) : None
        Block of q (nq), v (nv), a (nv), tau (nv): write the generalized forces tau, as `DynamicModel.inverse`.
    mass_matrix(block) : None
        Block of q (nq), M (nv, nv): write the mass matrix.
    forward(block) : int
        Block of q (nq), v (nv), tau (nv), a (nv): write the accelerations a. Returns -1, or the coordinate at which the
        mass matrix is not positive definite; then a means nothing.
    inverse_batch(block) : None
        As `inverse` for many states: block (nq + 3 nv, count), a state in each column.
    model : DynamicModel
    """

    def __init__(self, model: DynamicModel) -> None:
        if model.nv == 0:
            raise DynamicsError(f"nothing moves in robot '{model.tree.name}'; there is nothing to compile")
        self.model = model

    def block(self, kernel: str, count: int = 1) -> Tuple[np.ndarray, ...]:
        """Return a new block of zeros for a kernel, and views of its parts, in the order given above.

        Parameters
        ----------
        kernel : str
        count : int
            States of `inverse_batch`; 1 for the other kernels.
        """
        if kernel not in KERNELS:
            raise DynamicsError(f"no kernel '{kernel}'; there are {', '.join(KERNELS)}")
        if isinstance(count, bool) or not isinstance(count, numbers.Integral) or count < 0:
            raise InvalidConfigError(f"count is {count!r}; expected a whole number from 0")
        if count != 1 and kernel != "inverse_batch":
            raise InvalidConfigError(f"count is {count}, but '{kernel}' takes one state; 'inverse_batch' takes many")
        nq, nv = self.model.nq, self.model.nv
        size = sum(lengths(nq, nv, kernel))
        block = np.zeros((size, count) if kernel == "inverse_batch" else size)
        if kernel == "mass_matrix":
            return block, block[:nq], block[nq:].reshape(nv, nv)
        return (block, block[:nq], *np.split(block[nq:], 3))

    def __repr__(self) -> str:
        """One line: whose kernels, and which are compiled."""
        made = [name for name in KERNELS if name in self.__dict__]
        return f"CompiledDynamics({self.model!r}, compiled: {', '.join(made) or 'none yet'})"

    def __getattr__(self, name: str) -> Any:
        """Compile a kernel when it is first requested."""
        if name not in KERNELS:
            raise AttributeError(f"compiled dynamics have no '{name}'; there are {', '.join(KERNELS)}")
        module = load(dynamics_source(self.model.table.rows, self.model.table.above, name), name)
        made = jit.typed_kernel(getattr(module, name), _SIGNATURES[name], bare=True)
        self.__dict__[name] = made
        return made
