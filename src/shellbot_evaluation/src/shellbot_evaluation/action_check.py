# SPDX-License-Identifier: MIT
"""Whether an action can be performed: planned first, then played by the whole chain in the simulator, and measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Mapping, Sequence, Set, Tuple

import numpy as np

from shellbot_action_manager.actions.postures import stability
from shellbot_action_manager.errors import ActionError
from shellbot_chain.chain import Chain
from shellbot_chain.errors import MissionFailed
from shellbot_simulator.core.urdf_tree import link_bodies

EFFORT = 0.9  # of the servo's limit
FOLLOWED_DEG = 5.0  # by which a joint may be behind its command
DRIFT_MM = 5.0  # that the feet may slip; of one that walks, that its odometry may be wrong by, beside 1 %
MARGIN_MM = 30.0  # of the centre of mass of all parts from the edge of the feet that are to stand
COLUMNS = {
    "action": "action",
    "duration_s": "s",
    "effort": "effort of limit",
    "joint": "joint",
    "error_deg": "joint error / deg",
    "drift_mm": "drift / mm",
    "margin_mm": "margin / mm",
    "verdict": "verdict",
}


@dataclass(frozen=True)
class ActionCheck:
    """What an action did in the simulator."""

    action: str
    duration_s: float  #: Simulated, with walking home before it
    effort: float  #: Greatest torque of a servo as a fraction of its limit
    joint: str  #: Which one
    error_deg: float  #: Greatest error of a joint against its command
    drift_mm: float  #: How far the body is from where it began; of one that walks: what its odometry is wrong by
    margin_mm: float  #: Least distance of the whole robot's centre of mass inside the feet that are to stand
    reason: str  #: Why it is red; empty: green

    @property
    def verdict(self) -> str:
        """In a word, and why."""
        return f"RED: {self.reason}" if self.reason else "green"


def check_action(
    name: str,
    parameters: Mapping[str, float],
    folders: Sequence[str] = (),
    seed: int = 0,
    variant: str = "simulation",
) -> ActionCheck:
    """Perform an action in the simulator.

    Parameters
    ----------
    name : str
        Of the action.
    parameters : mapping of str to float
        Those that differ from their defaults.
    folders : sequence of str
        With actions of one's own.
    seed : int
        Of the simulator.
    variant : str
        Of the robot.

    Raises
    ------
    ActionError
        If the library cannot be read.
    """
    chain = Chain(seed=seed, variant=variant, record=False, action_folders=tuple(folders))
    chain.stand_up()
    limits, at_rest = chain.limits.effort, _collisions(chain)
    start, start_odom, travels = chain.state.p_world_base[:2], np.array(chain.odom[:2]), False
    worst, error, margin = np.zeros(len(limits)), 0.0, np.inf
    collided: List[Tuple[str, ...]] = []

    def watch(c: Chain) -> None:
        nonlocal worst, error, margin
        # at the end of the tick: what the motion needs, not what stiffness adds to each step of the command
        worst = np.maximum(worst, np.abs(c.state.effort) / limits)
        if c.robot.applied is not None:
            error = max(error, float(np.abs(c.robot.applied - c.state.q).max()))
        margin = min(margin, _margin(c))
        collided.extend(_collisions(c) - at_rest)

    begin, reason = chain.time, ""
    try:
        travels = chain.manager.plan_action(name, parameters).travels
        chain.perform(name, each_tick=watch, **parameters)
    except (MissionFailed, ActionError) as failed:
        reason = str(failed)
    walked = np.array(chain.odom[:2]) - start_odom if travels else np.zeros(2)
    drift = 1e3 * float(np.linalg.norm(chain.state.p_world_base[:2] - start - walked))
    joint, allowed = int(worst.argmax()), DRIFT_MM + 10.0 * float(np.linalg.norm(walked))
    if not reason and collided:
        reason = f"{' and '.join(collided[0])} touch"
    elif not reason and worst[joint] > EFFORT:
        reason = f"{chain.joint_names[joint]} needs {worst[joint]:.0%} of its torque, allowed are {EFFORT:.0%}"
    elif not reason and not travels and 1e3 * margin < MARGIN_MM:
        reason = (
            f"the centre of mass comes within {1e3 * margin:.0f} mm of the edge, {MARGIN_MM:g} at least are required"
        )
    elif not reason and np.degrees(error) > FOLLOWED_DEG:
        reason = f"a joint is {np.degrees(error):.1f} deg behind, allowed are {FOLLOWED_DEG:g}"
    elif not reason and drift > allowed:
        what = "the odometry is wrong by" if travels else "the feet slip by"
        reason = f"{what} {drift:.0f} mm, allowed are {allowed:.0f}"
    behind = float(np.degrees(error))
    return ActionCheck(
        name, chain.time - begin, float(worst[joint]), chain.joint_names[joint], behind, drift, 1e3 * margin, reason
    )


def _margin(chain: Chain) -> float:
    """Return how far the centre of mass is inside the feet that are to stand, m; infinite where that is not planned."""
    model, data = chain.simulator.model, chain.simulator.data
    if chain.output is None or chain.output.references is None:
        return np.inf
    legs = [limb for limb in chain.output.references.limbs if limb.limb.startswith("lower")]
    stands = np.array([limb.load_share > 0.0 for limb in legs])
    if not stands.any():
        return np.inf
    feet = np.array([data.xpos[model.body(f"{limb.limb}_foot").id] for limb in legs])
    centre = data.subtree_com[model.body("base_link").id]
    return float(stability(feet[None], stands[None], centre[None, :2])[0])


def _collisions(chain: Chain) -> Set[Tuple[str, ...]]:
    """Return the pairs of links of the robot that touch each other now."""
    model, data = chain.simulator.model, chain.simulator.data
    link, found = link_bodies(model), set()
    for geoms, distance in zip(data.contact.geom, data.contact.dist):
        names = tuple(sorted(model.body(link[geom]).name for geom in geoms))
        if distance < 0.0 and "world" not in names:
            found.add(names)
    return found
