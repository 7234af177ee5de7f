# SPDX-License-Identifier: MIT
"""The inverse that libraries without one of their own get: Levenberg-Marquardt in Python around their kinematics."""

from __future__ import annotations

from typing import Any, Callable, Dict, Tuple

import numpy as np

START, STEPS = 0.05, 100  # mu0, most iterations


def levenberg_marquardt(
    evaluate: Callable[[np.ndarray], Tuple[np.ndarray, np.ndarray]], start: np.ndarray, tolerance: float
) -> Callable[[np.ndarray], np.ndarray]:
    """Return solve(target) -> q; evaluate(q) gives position (3,) and linear Jacobian (3, n).

    dq = J'(JJ' + mu E I)^-1 e with E = |e|^2; accepted: mu/4, rejected: 8 mu.
    """
    eye = np.eye(3)

    def solve(target: np.ndarray) -> np.ndarray:
        q, mu = start.copy(), START
        p, J = evaluate(q)  # noqa: N806
        e = target - p
        E = e @ e  # noqa: N806
        for _ in range(STEPS):
            if tolerance * tolerance >= E:
                break
            trial = q + J.T @ np.linalg.solve(J @ J.T + mu * E * eye, e)
            p, J2 = evaluate(trial)  # noqa: N806
            e2 = target - p
            E2 = e2 @ e2  # noqa: N806
            if E2 < E:
                q, J, e, E, mu = trial, np.array(J2), e2, E2, 0.25 * mu  # noqa: N806
            else:
                mu *= 8.0
        return q

    return solve


def clik(
    evaluate: Callable[[np.ndarray], Any], feet: np.ndarray, rates: np.ndarray, start: np.ndarray
) -> Callable[[], None]:
    """Return tick(): one Euler step of six legs, q += dt J'(JJ' + 1e-8 I)^-1 (v + 50 e).

    evaluate(q): positions (6, 3) and Jacobians (6, 3, 4) of the legs' feet.
    """
    state: Dict[str, Any] = {"q": start.copy(), "k": 0}
    eye = 1e-8 * np.eye(3)

    def tick() -> None:
        k = state["k"]
        p, J = evaluate(state["q"])  # noqa: N806
        v = rates[k] + 50.0 * (feet[k] - p)
        Jt = J.transpose(0, 2, 1)  # noqa: N806
        dq = Jt @ np.linalg.solve(J @ Jt + eye, v[:, :, None])
        state["q"] = state["q"] + 0.01 * dq.reshape(-1)
        state["k"] = (k + 1) % len(feet)

    return tick
