# SPDX-License-Identifier: MIT
"""Thousands of random twists and poses: feet stay within reach, but for a few; a scaled twist keeps its direction."""

from __future__ import annotations

import numpy as np
import pytest

from shellbot_action_manager.body.body_pose import feet_in_base
from shellbot_action_manager.body.pose_range import box, clamp_pose
from shellbot_action_manager.core import ActionManagerCore
from shellbot_action_manager.gait.planar_motion import ground_points_after
from shellbot_action_manager.gait.walking import neutral_feet
from shellbot_action_manager.gait.walkspace import find_reach, scale_twist, speed_limits

CORE = ActionManagerCore.from_description()
POSES, TWISTS = 50, 40


@pytest.mark.parametrize("name", sorted(CORE.config.gaits))
def test_feet_stay_within_reach_and_twists_keep_their_direction(name):
    config, legs, gait = CORE.config, CORE._robot.geometry.legs, CORE.config.gaits[name]
    rng = np.random.default_rng(sorted(config.gaits).index(name))
    low, high = box(config)
    rest, scaled, beyond = neutral_feet(gait.stance_radius), 0, []
    for _ in range(POSES):
        pose, _ = clamp_pose(1.5 * rng.uniform(low, high), config, legs, gait, walking=True)
        reach = find_reach(legs, gait, pose, config.joint_margin)
        limits = speed_limits(reach, gait)
        for twist in rng.normal(size=(TWISTS, 3)) * [0.3, 0.3, 1.0]:
            allowed, usage = scale_twist(twist, reach, gait, limits)
            assert 0.0 <= usage <= 1.0
            scaled += bool((allowed != twist).any())
            assert np.linalg.norm(np.cross(allowed, twist)) < 1e-9 and allowed @ twist >= 0.0
            half = 0.5 * gait.duty_factor * gait.period(usage)
            for way in (half, -half):
                feet = np.zeros((6, 3))
                feet[:, :2] = ground_points_after(rest, allowed * gait.slip_scale.array, way)
                q = legs.solve(feet_in_base(feet[:, None, :], pose, gait.stance_height))[:, 0]
                if not legs.is_free(q, np.ones(6, dtype=bool)):
                    beyond.append((pose, twist, legs.explain(q, stands=True)))
    # the reach is an ellipse: with other seeds up to three, at the corners of the range of poses, are beyond it
    assert len(beyond) <= 2e-3 * POSES * TWISTS, beyond
    assert scaled > 0.1 * POSES * TWISTS
