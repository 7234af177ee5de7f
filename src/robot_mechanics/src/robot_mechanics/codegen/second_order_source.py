# SPDX-License-Identifier: MIT
"""Source of the second-order term of a chain: how far the tip of q + d is from where the Jacobian says.

Along q + t d the twist of the tip changes at the rate f''[d, d] = J'(t) d. With z_j the axis of joint j, v_j the linear
column of its Jacobian and w_j = sum over revolute i < j of z_i d_i,

    linear:  f''[d, d] = sum_j (2 w_j + z_j d_j) x v_j d_j   (prismatic: 2 w_j x z_j d_j)
    angular: f''[d, d] = sum_j w_j x z_j d_j                 (revolute)

Joints whose axes are parallel whatever q is form a group with axis z. Within it, with s_j the sum of its steps up to j,
what the group turns itself is z x (s_j^2 - s_{j-1}^2) v_j: summed by parts s_j^2 z x (v_j - v_{j+1}), the centripetal
accelerations of its links, in which only squares of sums are left to be computed once d is known. In the same way
sum_j v_j d_j is sum_j (v_j - v_{j+1}) s_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, List, Sequence, Tuple, Union

from robot_mechanics.codegen.chain_source import PRISMATIC, Motion, parallel
from robot_mechanics.codegen.expressions import Value, Vector, Writer, negative

Combination = Tuple[Tuple[int, float], ...]  # a sum of ratio * step of a coordinate
Steps = Union[Sequence[Value], Callable[[Combination], Value]]


@dataclass(frozen=True)
class _Group:
    """Joints in a row whose axes are parallel, each with the direction (1, -1) of its axis along the group's z, and how
    far the group has turned behind it, as sums of steps.
    """

    z: Vector
    members: List[Tuple[Motion, float, Combination]]


@dataclass(frozen=True)
class SecondOrder:
    """The parts of the term that do not depend on the step, written beforehand; see `write_second_order`."""

    groups: List[_Group]
    centripetal: List[List[Vector]]  # of each group, per joint: its half_swing; prismatic: z x v
    half_axes: List[Vector]  # half of each group's axis, if the angular rows are asked for
    combinations: List[Combination]  #: The sums of steps that it needs


def prepare_second_order(w: Writer, motions: Sequence[Motion], rows: int) -> SecondOrder:
    """Write what the term needs of the point alone, for variables of the step yet to be computed."""
    groups = _groups(motions)
    centripetal: List[List[Vector]] = []
    combinations: List[Combination] = []
    for group in groups:
        centripetal.append(
            [w.cross(group.z, m.v) if m.kind == PRISMATIC else m.half_swing for m, _, _ in group.members]
        )
        combinations += [_own(m) if m.kind == PRISMATIC else turned for m, _, turned in group.members]
    halves = [[w.dot([(0.5, x)]) for x in group.z] if rows == 6 and i else [] for i, group in enumerate(groups)]
    return SecondOrder(groups, centripetal, halves, [c for c in dict.fromkeys(combinations) if c])


def write_second_order(w: Writer, parts: SecondOrder, steps: Steps, rows: int) -> Vector:
    """Write half of f''[d, d], `rows` (3 or 6) values: what the tip is off by, to second order, after the step d.

    Parameters
    ----------
    parts : SecondOrder
        From `prepare_second_order`, of the point that the step starts from.
    steps : sequence of Value, or function
        d, the variables of the n coordinates; or what returns the variable of each of `parts.combinations`.

    Returns
    -------
    list of Value
        f(q + d) - f(q) - J d + O(d^3) for the position; for the rotation, whose axis times angle it is likewise.
    """
    linear: List[List[Tuple[Value, Value]]] = [[], [], []]
    angular: List[List[Tuple[Value, Value]]] = [[], [], []]
    turned: Vector = [0.0, 0.0, 0.0]  # w: the steps of all groups before

    def of(combination: Combination) -> Value:
        if callable(steps):
            return steps(combination) if combination else 0.0
        return w.dot([(ratio, steps[column]) for column, ratio in combination])

    for group, centripetal, half_axis in zip(parts.groups, parts.centripetal, parts.half_axes):
        moved: List[List[Tuple[Value, Value]]] = [[], [], []]
        total: Value = 0.0
        for (motion, direction, sums), arms in zip(group.members, centripetal):
            if motion.kind == PRISMATIC:
                step = of(_own(motion))
                factor, rate = w.dot([(total, step)]), [(x, step) for x in motion.v]
            else:
                total = of(sums)
                factor, rate = w.dot([(total, total)]), [(w.dot([(direction, x)]), total) for x in motion.swing]
            for k in range(3):
                linear[k].append((arms[k], factor))
                moved[k].append(rate[k])
        if any(x != 0.0 for x in turned):
            for k in range(3):
                a, b = (k + 1) % 3, (k + 2) % 3
                for x, y in ((turned[a], b), (negative(turned[b]), a)):
                    if x != 0.0:
                        linear[k].append((x, w.tree(moved[y])))
                        if rows == 6 and total != 0.0:
                            angular[k].append((x, w.dot([(half_axis[y], total)])))
        turned = [w.dot([(1.0, turned[k]), (group.z[k], total)]) for k in range(3)]
    return [w.tree(terms) for terms in [*linear, *angular][:rows]]


def _own(motion: Motion) -> Combination:
    return ((motion.column, motion.ratio),)


def _groups(motions: Sequence[Motion]) -> List[_Group]:
    """Return the groups of parallel axes, prismatic joints in the group that turns them."""
    groups: List[_Group] = []
    sums: Dict[int, float] = {}
    for motion in motions:
        direction = parallel(motion.z, groups[-1].z) if groups else 0.0
        if direction == 0.0 and not (groups and motion.kind == PRISMATIC):
            # one that begins with a prismatic joint has turned nothing yet: until then its axis does not matter
            groups.append(_Group(motion.z, []))
            direction, sums = 1.0, {}
        if motion.kind != PRISMATIC:
            sums[motion.column] = sums.get(motion.column, 0.0) + direction * motion.ratio
        turned = tuple((column, ratio) for column, ratio in sorted(sums.items()) if ratio != 0.0)
        groups[-1].members.append((motion, direction, turned))
    return groups
