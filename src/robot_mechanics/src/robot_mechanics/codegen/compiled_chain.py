# SPDX-License-Identifier: MIT
"""A serial chain as machine code written for it alone."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Dict, Iterable, Optional, Tuple

import numpy as np

from robot_mechanics.codegen.kernel_source import SIGNATURES, kernel_source, straight_line
from robot_mechanics.codegen.options import KernelOptions
from robot_mechanics.codegen.store import load
from robot_mechanics.errors import InvalidChainError
from robot_mechanics.models.chain import SerialChain, check_chain
from robot_mechanics.native import jit

_MOST_CHAINS = 256  # cached, each with some hundred kB of machine code; the least recently used is dropped first
_lock = threading.RLock()
_chains: OrderedDict[Tuple[object, ...], CompiledChain] = OrderedDict()


class CompiledChain:
    """Kernels of one chain, generated from its constants; made by `SerialChain.compile` or `compile_chain`.

    The kernels are numba dispatchers, to be called from Python or from jitted code. Each is compiled when it is first
    asked for, or loaded from the cache. Arrays are float64, C-contiguous and writable; results are written in place;
    nothing is allocated. Another type raises TypeError, which says what to convert; a wrong shape or a value that is
    not finite ShapeError.

    Parameters
    ----------
    chain : SerialChain
        One joint that moves, or more.
    options : KernelOptions
        Constants of the generated inverse kinematics.

    Attributes
    ----------
    fk(q, T) : None
        Write the pose T_base_tip (4, 4) at q (n,).
    jacobian(q, J) : None
        Write the geometric Jacobian (6, n) of the tip in the axes of the base: linear rows above angular ones.
    fk_jacobian(q, T, J) : None
        Both, at little more than the price of one.
    ik(target, q) : int
        Levenberg-Marquardt from q (n,) to the position target (3,), m; NaN leaves a coordinate free. q becomes the
        solution, without whole turns that are not needed. Returns the number of steps; negative if the target was not
        reached, and then q is the nearest point found. Limits are not looked at.
    ik_limited(target, q) : int
        As ik, within the joint limits; q at the start is first moved into them.
    ik_pose(target, q) : int
        As ik for the pose target (4, 4); NaN in the position's rows, or in all of the rotation, leaves them free.
    ik_pose_limited(target, q) : int
        As ik_pose, within the joint limits.
    clik(task, q, dt) : float
        One step of closed-loop inverse kinematics over dt seconds: q += dt J'(JJ' + 1e-8 I)^-1 (v + gain (p - x)), with
        task (3, 3) holding p (m; NaN free), v (m/s) and gain (1/s) in its rows. Returns |p - x| before the step, m.
    chain : SerialChain
    options : KernelOptions
    """

    def __init__(self, chain: SerialChain, options: KernelOptions) -> None:
        self.chain, self.options = chain, options
        self.batch_kernels: Dict[Tuple[str, bool], Tuple[Any, int]] = {}  # those of `inverse_batch`

    def source(self, name: str) -> str:
        """Return the generated source of the kernel `name`.

        Parameters
        ----------
        name : str
            Kernel, as in the attributes, such as "fk".
        """
        return kernel_source(self.chain.parameters(), self.options, name)

    def warm_up(self, *names: str) -> None:
        """Compile the named kernels, or all, into the cache.

        Parameters
        ----------
        *names : str
            Kernels, as in the attributes; none: all.
        """
        for name in names or SIGNATURES:
            getattr(self, name)

    def __dir__(self) -> Iterable[str]:
        """Return the names of the kernels too, which are not there before they are asked for."""
        return sorted({*super().__dir__(), *SIGNATURES})

    def __getattr__(self, name: str) -> Any:
        """Compile a kernel when it is first asked for."""
        if name not in SIGNATURES:
            raise AttributeError(f"a compiled chain has no '{name}'; it has {', '.join(SIGNATURES)}")
        with _lock:
            if name not in self.__dict__:
                module = load(self.source(name), name)
                bare = straight_line(self.chain.parameters(), name)
                self.__dict__[name] = jit.typed_kernel(getattr(module, name), SIGNATURES[name], bare)
        return self.__dict__[name]

    def __reduce__(self) -> Tuple[Any, ...]:
        """Pickle as chain and options."""
        return compile_chain, (self.chain, self.options)

    def __repr__(self) -> str:
        return f"CompiledChain({self.chain.name!r}, n={self.chain.n})"


def compile_chain(chain: SerialChain, options: Optional[KernelOptions] = None) -> CompiledChain:
    """Return the chain as generated kernels: the same object for equal chain, names and options, while
    it is among the last 256.

    Parameters
    ----------
    chain : SerialChain
        One joint that moves, or more.
    options : KernelOptions, optional
        Constants of the generated inverse kinematics.

    Raises
    ------
    InvalidChainError
        If it is no SerialChain, or no joint moves.
    """
    check_chain(chain)
    chosen = KernelOptions() if options is None else options
    p = chain.parameters()
    if p.n == 0:
        raise InvalidChainError(f"chain '{chain.name}' has no joint that moves; there is nothing to compile")
    arrays = (p.pre, p.post, p.kind, p.column, p.ratio, p.offset, p.lower, p.upper)
    names = (chain.name, chain.base, chain.tip, chain.joint_names)
    key = (*(np.asarray(a).tobytes() for a in arrays), names, chosen)
    with _lock:
        if key not in _chains:
            _chains[key] = CompiledChain(chain, chosen)
            if len(_chains) > _MOST_CHAINS:
                _chains.popitem(last=False)
        _chains.move_to_end(key)
        return _chains[key]
