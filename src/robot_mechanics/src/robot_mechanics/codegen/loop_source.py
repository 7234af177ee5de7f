# SPDX-License-Identifier: MIT
"""Source of a loop around a chain's inverse, so that a batch of poses runs without the interpreter."""

from __future__ import annotations

from robot_mechanics.codegen.inverse_source import Source

LOOP = """

from robot_mechanics.native.jit import kernel, lane_kernel

{name} = kernel({name})
fk = kernel(fk)
"""


def loop_source(name: str, inverse: str, forward: str) -> str:
    """Return the source of a module with `inverse_loop`.

    inverse_loop(targets (T, M, 4, 4), seeds (T, n), q (T, M, n), steps (T, M), residual, angle (T, M), first, last, w):
    as lanes_source's, for poses; angle is the rest of the orientation, rad.

    Parameters
    ----------
    name : str
        ik_pose or ik_pose_limited.
    inverse, forward : str
        Sources of that kernel and of `fk`.
    """
    source = Source(
        "@lane_kernel\ndef inverse_loop(targets, seeds, q, steps, residual, angle, first, last, w):", "See loop_source."
    )
    source.add("n = q.shape[2]", "T = w[:16].reshape(4, 4)", "x = w[16 : 16 + n]")
    source.enter("for t in range(first, last):")
    source.enter("for j in range(n):").add("x[j] = seeds[t, j]").leave()
    source.enter("for m in range(targets.shape[1]):")
    source.add("target = targets[t, m]", f"steps[t, m] = {name}(target, x)", "fk(x, T)", "away = 0.0")
    source.enter("for k in range(3):")
    source.enter("if not math.isnan(target[k, 3]):").add("away += (T[k, 3] - target[k, 3]) ** 2").leave(2)
    source.add("residual[t, m] = math.sqrt(away)")
    # |R - R*|^2 = 8 sin^2(angle / 2): exact for small angles, where the trace is not
    source.add("away = 0.0")
    source.enter("if not math.isnan(target[0, 0]):")
    source.enter("for r in range(3):").enter("for c in range(3):")
    source.add("away += (T[r, c] - target[r, c]) ** 2").leave(3)
    source.add("angle[t, m] = 2.0 * math.asin(min(1.0, math.sqrt(0.125 * away)))")
    source.enter("for j in range(n):").add("q[t, m, j] = x[j]").leave()
    return inverse + "\n\n" + forward.split("\n\n", 1)[1] + LOOP.format(name=name) + "\n\n" + source.text()
