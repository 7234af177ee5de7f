# SPDX-License-Identifier: MIT
"""Torque through angle, by the stiffness that the servos have."""

from __future__ import annotations

import numpy as np
import pytest

import humanoid_description
from humanoid_motion.whole_body import WholeBody


def test_half_the_stiffness_is_twice_the_angle_for_the_same_torque():
    profile = humanoid_description.profile()
    body = WholeBody(humanoid_description.urdf_text(), profile, 2.0)
    stiffness = np.array([profile.classes[kind].stiffness for kind in profile.joints.values()])
    held, posture, half = body.most_offset, body.model.posture(body.rest), np.array([0.0, 0.0, 25.0])
    load = posture, np.array([0.0, 0.0, -9.81]), np.array([half, half]), posture.sole_place

    def offset():
        return body.command(body.rest, *load) - body.rest

    stiff, most = offset(), body.most_offset.copy()
    body.set_stiffness(0.5 * stiffness)
    assert offset() == pytest.approx(2.0 * stiff) and np.abs(stiff).max() > 0.01
    assert held == pytest.approx(2.0 * most), "who holds the greatest offset has the new one"
    body.set_stiffness(np.zeros(len(stiffness)))
    assert offset() == pytest.approx(2.0 * stiff), "without any stiffness there is no angle for a torque"
