# SPDX-License-Identifier: MIT
"""Workspace tools against brute force: sampled joints, numerical Jacobians, geometry known by hand."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from robot_mechanics import SerialChain, joint_map, reach_cloud
from robot_mechanics.errors import InvalidChainError, InvalidConfigError, ShapeError, UnknownNameError
from robot_mechanics.workspace.cloud import sampling_limits
from shellbot_kinematics import (
    Frame,
    LegBranch,
    LegSet,
    LimbPlane,
    foot_branches,
    limb_reach,
    reach_slice,
    singularity_map,
    stroke_reach,
    walkspace,
)
from shellbot_kinematics.workspace_walk import TRIPODS, StrokeReach, Walkspace

MANY = 200_000 if not numba.config.DISABLE_JIT else 4_000
STEP = 0.003 if not numba.config.DISABLE_JIT else 0.012
TIPS = [("lower_1", Frame.FOOT), ("lower_4", Frame.SPHERE_CENTRE), ("upper_3", Frame.SPHERE_CENTRE)]


@pytest.fixture(scope="module")
def legs(model):
    return LegSet.from_model(model)


def rest_points(radius):
    azimuth = np.arange(6) * np.pi / 3.0
    return radius * np.stack((np.cos(azimuth), np.sin(azimuth)), axis=1)


def random_joints(rng, legs, count, fan=0.0):
    q = rng.uniform(legs.lower[:, None], legs.upper[:, None], (len(legs.names), count, 4))
    q[..., 0] = fan
    return q


# ------------------------------------------------------------------------------------------------ many legs at once
@pytest.mark.parametrize("frame", [Frame.FOOT, Frame.SPHERE_CENTRE])
def test_forward_is_that_of_the_chains(model, frame, rng):
    legs = LegSet.from_model(model, frame)
    q = random_joints(rng, legs, 20, -0.7)
    p = legs.forward(q)
    for i, name in enumerate(legs.names):
        for j in range(20):
            assert p[i, j] == pytest.approx(model.chain(name, frame).fk(q[i, j])[:3, 3], abs=1e-12)


@pytest.mark.parametrize("branch", list(LegBranch))
def test_solve_agrees_with_the_named_branch_and_undoes_forward(model, legs, branch, rng):
    p = legs.forward(random_joints(rng, legs, 200, -0.3))
    q = legs.solve(p, fan=-0.3, branch=branch)
    found = ~np.isnan(q).any(axis=-1)
    assert found.mean() > 0.5  # the links fold to 56 mm only, so a tip inside has no solution in front, and so on
    full = np.concatenate((np.full((6, 200, 1), -0.3), np.where(found[..., None], q, 0.0)), axis=-1)
    assert np.abs(legs.forward(full) - p)[found].max() < 1e-11
    for i in range(0, 200, 20):
        branches = foot_branches(model, "lower_2", p[1, i], -0.3)
        assert (branch in branches) == found[1, i]
        if found[1, i]:
            assert q[1, i] == pytest.approx(branches[branch][1:], abs=1e-12)


def test_out_of_reach_is_nan_and_says_which_joint(legs):
    far = np.broadcast_to([1.0, 0.0, -0.1], (6, 1, 3))
    q = legs.solve(far)
    assert np.isfinite(q[0, 0, 0]) and np.isnan(q[0, 0, 1:]).all()
    axis = np.zeros((6, 1, 3))
    axis[:, 0, :2] = 0.186 * rest_points(1.0) + 0.01  # nearer to the coxa axis than the lateral offset of 24.25 mm
    assert np.isnan(legs.solve(axis)).all()
    assert np.isnan(legs.solve(np.full((6, 1, 3), np.nan))).all()
    assert np.isneginf(legs.margin(q)[0, 0, 1:]).all() and legs.margin(q)[0, 0, 0] > 0.0
    assert not legs.reaches(far).any() and not legs.reaches(np.full((6, 1, 3), np.nan)).any()


def test_everything_within_the_limits_is_reached_and_its_image_fills_the_reach(legs, rng):
    """Both ways: no sampled pose is called unreachable; no point called reachable is far from every sampled pose."""
    leg = legs.pick("lower_1")
    p = leg.forward(random_joints(rng, leg, MANY))
    assert leg.reaches(p).all()
    cell = 0.02
    hit = {tuple(c) for c in np.floor(p[0] / cell).astype(int)}
    points = rng.uniform(p[0].min(axis=0), p[0].max(axis=0), (2000, 3))
    inside = leg.reaches(points[None])[0]
    assert 0.1 < inside.mean() < 0.9
    if numba.config.DISABLE_JIT:
        return  # too few samples to fill the cells
    around = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]
    for point in points[inside]:
        c = np.floor(point / cell).astype(int)
        assert any((c[0] + i, c[1] + j, c[2] + k) in hit for i, j, k in around), point


def test_reach_with_a_margin_is_smaller_and_matches_the_margin_of_the_joints(legs, rng):
    leg = legs.pick("lower_3")
    p = leg.forward(random_joints(rng, leg, 2000))
    near = leg.reaches(p, joint_margin=0.3)
    assert 0.0 < near.mean() < 1.0
    walking = (leg.margin(leg.solve(p)) >= 0.3).all(axis=-1)
    assert (near | ~walking).all()  # what the walking branch reaches with the margin, the leg does


def test_legs_are_in_six_fold_symmetry(legs, rng):
    p = rng.uniform([0.1, -0.2, -0.25], [0.4, 0.2, 0.1], (300, 3))
    turned = np.empty((6, 300, 3))
    for k in range(6):
        c, s = np.cos(k * np.pi / 3), np.sin(k * np.pi / 3)
        turned[k] = p @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T
    q, reached = legs.solve(turned), legs.reaches(turned)
    assert (reached == reached[0]).all()
    same = np.isclose(q, q[0], atol=1e-9, equal_nan=True) | (np.abs(np.abs(q - q[0]) - 2 * np.pi) < 1e-9)
    assert same.mean() > 0.999


def test_from_tables_and_from_the_urdf_are_the_same_legs(legs, rng):
    import shellbot_description as description

    variables = description.load_variables()
    chains = [SerialChain.from_dh(description.dh_table_lower(variables, k), name=f"lower_{k}") for k in range(1, 7)]
    built = LegSet.from_chains(chains)
    assert built.names == legs.names
    q = random_joints(rng, legs, 50, -1.1)
    assert built.forward(q) == pytest.approx(legs.forward(q), abs=1e-9)
    assert built.solve(legs.forward(q), -1.1) == pytest.approx(legs.solve(legs.forward(q), -1.1), abs=1e-6, nan_ok=True)
    assert np.isinf(built.lower).all()  # a table has no limits


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda legs: legs.solve(np.zeros((6, 3))), r"p_base has shape \(6, 3\); expected \(6, m, 3\)"),
        (lambda legs: legs.solve(np.zeros((2, 1, 3))), r"expected \(6, m, 3\)"),
        (lambda legs: legs.forward(np.zeros((6, 1, 3))), r"q has shape \(6, 1, 3\); expected \(6, m, 4\)"),
        (lambda legs: legs.margin(np.zeros((5, 3))), r"q has shape \(5, 3\); expected \(6, ..., 3\)"),
        (lambda legs: legs.solve(np.zeros((6, 1, 3)), fan=np.nan), "fan is nan; expected one finite angle"),
        (lambda legs: legs.pick("upper_1"), "no lower leg 'upper_1'; there are lower_1, "),
        (lambda legs: LegSet.from_chains([]), "at least one chain"),
    ],
)
def test_bad_input_to_legs_is_named(legs, call, words):
    with pytest.raises((ShapeError, UnknownNameError, InvalidChainError), match=words):
        call(legs)


# ------------------------------------------------------------------------------------------------ reach of one limb
@pytest.mark.parametrize("limb, frame", TIPS)
def test_plane_is_the_limb(model, limb, frame, rng):
    """A point of the plane is where the chain's tip is: distance from the axis, height, and the lateral offset."""
    plane, chain = LimbPlane.from_model(model, limb, frame), model.chain(limb, frame)
    for _ in range(20):
        q = rng.uniform(chain.lower, chain.upper)
        if plane.is_lower:
            q[:2] = 0.0
        s, z = plane.forward(q[-2:])
        T = chain.fk(q)  # noqa: N806
        assert z == pytest.approx(T[2, 3], abs=1e-12)
        origin = chain.frame(f"{limb}_{'fan' if plane.is_lower else 'shoulder'}_link", q)[:3, 3]
        if plane.is_lower:
            k = int(limb[-1]) - 1
            out = np.array([np.cos(k * np.pi / 3), np.sin(k * np.pi / 3)])
            assert out @ (T[:2, 3] - origin[:2]) - 0.120 == pytest.approx(s, abs=1e-9)
            assert out[0] * T[1, 3] - out[1] * T[0, 3] == pytest.approx(plane.offset, abs=1e-9)


@pytest.mark.parametrize("limb, frame", TIPS)
def test_reach_in_the_plane_holds_every_sampled_pose_and_nothing_else(model, limb, frame, rng):
    reach = limb_reach(model, limb, frame, STEP)
    plane = reach.plane
    points = plane.forward(rng.uniform(plane.lower, plane.upper, (MANY, 2)))
    assert np.isfinite(plane.solve(points)[0]).all(axis=-1).any(axis=0).all()
    columns = np.round((points[:, 0] - reach.s[0]) / STEP).astype(int)
    rows = np.round((points[:, 1] - reach.z[0]) / STEP).astype(int)
    hit = np.zeros_like(reach.branches, dtype=bool)
    hit[rows, columns] = True
    # one cell of slack on both sides of the border
    grown = hit.copy()
    shrunk = reach.branches > 0
    for axis in (0, 1):
        for way in (-1, 1):
            grown |= np.roll(hit, way, axis)
            shrunk &= np.roll(reach.branches > 0, way, axis)
    if not numba.config.DISABLE_JIT:
        assert grown[shrunk].mean() > 0.999
    assert reach.area == pytest.approx((reach.branches > 0).sum() * STEP**2)
    q, _ = plane.solve(points[:500])
    solutions = np.isfinite(q[..., 0]).sum(axis=0)
    assert ((solutions == 1) | (solutions == 2)).all()


def test_area_of_a_whole_ring_and_volume_by_throwing_points(model, legs, rng):
    reach = limb_reach(model, "lower_1", Frame.FOOT, STEP)
    leg = legs.pick("lower_1")
    p = leg.forward(random_joints(rng, leg, 20_000))[0]
    low, high = p.min(axis=0), p.max(axis=0)
    inside = leg.reaches(rng.uniform(low, high, (MANY, 3))[None])[0]
    thrown = inside.mean() * np.prod(high - low)
    error = 4.0 * np.prod(high - low) * np.sqrt(0.25 / MANY) + 0.01 * thrown
    assert reach.volume == pytest.approx(thrown, abs=error)
    ring = np.pi * ((0.066 + 0.122) ** 2 - (0.122 - 0.066) ** 2)  # the study: femur and tibia, no joint limits
    assert 0.5 * ring < reach.area < ring
    assert reach.plane.span()[1] - reach.plane.span()[0] == pytest.approx([0.376, 0.376])


def test_volume_is_the_same_for_every_leg_and_finer_grids_agree(model):
    coarse, other = limb_reach(model, "lower_1", step=0.004), limb_reach(model, "lower_5", step=0.004)
    assert other.volume == pytest.approx(coarse.volume, rel=2e-3)  # a grid point on the border falls in or out
    coarse, fine = limb_reach(model, "lower_1", step=0.004), limb_reach(model, "lower_1", step=0.0015)
    assert coarse.volume == pytest.approx(fine.volume, rel=0.01)
    assert limb_reach(model, "upper_1", Frame.SPHERE_CENTRE, 0.004).volume == 0.0


@pytest.mark.parametrize("limb, frame", TIPS)
def test_boundary_is_where_the_reach_ends_and_nowhere_else(model, limb, frame):
    reach = limb_reach(model, limb, frame, STEP)
    kept = 0
    for name, curve in reach.plane.curves().items():
        boundary = reach.boundary.get(name, np.full_like(curve, np.nan))
        at_end = np.isfinite(boundary[:, 0])
        assert (boundary[at_end] == curve[at_end]).all()
        count = []
        for angle in np.arange(8) * np.pi / 4:
            beside = curve + 1e-4 * np.array([np.cos(angle), np.sin(angle)])
            count.append(np.isfinite(reach.plane.solve(beside)[0][..., 0]).sum(axis=0))
        ends = (np.array(count) == 0).any(axis=0) & (np.array(count) > 0).any(axis=0)
        assert (ends == at_end).mean() > 0.97, name  # but where two curves cross
        kept += at_end.sum()
    assert 300 < kept < 361 * len(reach.plane.curves()) - 300


def test_outer_boundary_is_the_stretched_leg(model):
    stretched = limb_reach(model, "lower_1", step=0.005).boundary["stretched"]
    radius = np.linalg.norm(
        stretched[np.isfinite(stretched[:, 0])] - LimbPlane.from_model(model, "lower_1").origin, axis=1
    )
    assert radius == pytest.approx(0.188, abs=1e-9)


def test_slice_turns_with_the_fan(model, legs):
    still, turned = (reach_slice(legs, -0.1623, fan, 0.01) for fan in (0.0, -1.0))
    assert still.reached.any(axis=(1, 2)).all()
    x, y = np.meshgrid(still.x, still.y)
    coxa = [0.066 + 0.120 * np.cos(-1.0), 0.120 * np.sin(-1.0)]
    where = turned.reached[0]
    assert np.hypot(x[where] - coxa[0], y[where] - coxa[1]).max() < 0.226 + 0.01
    assert where.sum() == pytest.approx(still.reached[0].sum(), rel=0.03)
    # the nearest points hold: what the slice says is what the point itself says
    assert (legs.reaches(np.stack((x, y, np.full_like(x, -0.1623)), -1).reshape(1, -1, 3).repeat(6, 0)).reshape(still.reached.shape) == still.reached).all()  # fmt: skip  # noqa: E501


# ------------------------------------------------------------------------------------------------ stroke over ground
def brute_stroke(legs, rest, bearing, height, lift, pose, margin, shank_min):
    """Walk outwards in steps of 1 mm and ask every time."""
    from scipy.spatial.transform import Rotation

    R = Rotation.from_euler("xyz", pose[3:]).as_matrix()  # noqa: N806
    body = np.array(pose[:3]) + [0, 0, height]
    for radius in np.arange(0.0, 0.2, 0.001):
        p = np.array([*rest + radius * np.array([np.cos(bearing), np.sin(bearing)]), 0.0])
        for z in (0.0, lift):
            p[2] = z
            q = legs.solve((R.T @ (p - body))[None, None])
            good = (legs.margin(q) >= margin).all()
            if z == 0.0:
                good &= q[0, 0, 1] + q[0, 0, 2] - shank_min >= margin
            if not good:
                return max(radius - 0.001, 0.0)
    return 0.2


@pytest.mark.parametrize("pose", [np.zeros(6), np.array([0.01, -0.02, 0.02, 0.1, -0.05, 0.2])])
def test_stroke_against_a_walk_outwards(legs, pose):
    rest = rest_points(0.3)
    found = stroke_reach(
        legs, rest, 0.1623, 0.025, pose, 0.05, shank_min=0.9, bearings=12, radii=np.arange(0.0, 0.2, 0.001)
    )
    for leg in (0, 3):
        one = legs.pick(legs.names[leg])
        for i in (0, 1, 5, 8):
            brute = brute_stroke(one, rest[leg], found.bearing[i], 0.1623, 0.025, pose, 0.05, 0.9)
            assert found.radius[leg, i] == pytest.approx(brute, abs=0.0011)


def test_stroke_of_a_level_body_turns_with_the_leg(legs):
    found = stroke_reach(legs, rest_points(0.3), 0.1623, bearings=36)
    for k in range(6):
        assert np.roll(found.radius[k], -6 * k) == pytest.approx(found.radius[0], abs=0.0026)  # one step of the search
    assert found.circle == pytest.approx(np.full(6, found.circle[0]), abs=0.0026)


def test_margin_lift_and_flat_shanks_cost_stroke(legs):
    rest = rest_points(0.3)
    free = stroke_reach(legs, rest, 0.1623).radius
    for less in (
        stroke_reach(legs, rest, 0.1623, joint_margin=0.2),
        stroke_reach(legs, rest, 0.1623, lift=0.06),
        stroke_reach(legs, rest, 0.1623, shank_min=1.3),
    ):
        assert (less.radius <= free + 1e-12).all() and (less.radius < free).any()
    assert not stroke_reach(legs, rest_points(0.5), 0.1623).radius.any()


def test_ellipse_is_inside_and_not_smaller_than_the_circle(legs):
    pose = np.array([0.0, 0.0, 0.0, 0.15, 0.0, 0.0])
    found = stroke_reach(legs, rest_points(0.3), 0.17, 0.025, pose, 0.05, bearings=90)
    for rows in (*TRIPODS, (0,), None):
        ellipse, room = found.ellipse(rows), found.common(rows)
        assert (ellipse.radius(found.bearing) <= room + 1e-12).all()
        assert ellipse.major * ellipse.minor >= room.min() ** 2 - 1e-12
        assert (ellipse.radius(found.bearing) >= room - 1e-3).any()  # it touches


def test_ellipse_finds_a_known_one():
    bearing = np.arange(72) * np.pi / 36
    known = 0.06 * 0.03 / np.hypot(0.03 * np.cos(bearing - 0.5), 0.06 * np.sin(bearing - 0.5))
    found = StrokeReach(bearing, known[None], np.zeros((1, 2))).ellipse()
    assert (found.major, found.minor) == pytest.approx((0.06, 0.03), rel=0.04)
    assert found.direction == pytest.approx(0.5, abs=np.radians(1.0))
    assert not StrokeReach(bearing, np.zeros((1, 72)), np.zeros((1, 2))).ellipse().radius(0.3)


def test_walkspace_is_the_stroke_of_each_point_and_knows_the_best(legs):
    one = legs.pick("lower_2")
    space = walkspace(one, [0.14, 0.1623], [0.26, 0.30, 0.5], lift=0.025, joint_margin=0.05)
    azimuth = np.array([[np.cos(np.pi / 3), np.sin(np.pi / 3)]])
    single = stroke_reach(one, 0.30 * azimuth, 0.1623, 0.025, joint_margin=0.05, bearings=36)
    assert space.circle[1, 1] == pytest.approx(single.circle)
    assert space.common.shape == (2, 3) and not space.common[:, 2].any()
    stance, circle = space.best(0.17)
    assert stance == 0.30 and circle == space.common[1].max() > 0.05


def test_what_all_legs_reach_is_the_least_of_them():
    space = Walkspace(np.array([0.1, 0.2]), np.array([0.3, 0.4]), np.array([[[3, 1], [2, 2]], [[5, 4], [9, 1]]]) * 0.01)
    assert space.common.tolist() == [[0.01, 0.02], [0.04, 0.01]]
    assert space.best(0.19) == (0.3, 0.04) and space.best(0.0) == (0.4, 0.02)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"rest": np.zeros((5, 2))}, r"rest has shape \(5, 2\); expected \(6, 2\)"),
        ({"height": np.nan}, "height is nan; expected 0 or more"),
        ({"lift": -0.1}, "lift is -0.1; expected 0 or more"),
        ({"joint_margin": -1.0}, "joint_margin is -1.0"),
        ({"pose": np.zeros(5)}, "pose is .* 6 finite numbers"),
        ({"bearings": 2}, "bearings is 2; expected 3 or more"),
        ({"radii": [0.1, 0.2]}, "radii is .* growing distances from 0"),
        ({"radii": [0.0, 0.2, 0.1]}, "radii is .* growing distances from 0"),
    ],
)
def test_bad_input_to_the_stroke_is_named(legs, change, words):
    arguments = {"rest": rest_points(0.3), "height": 0.1623, **change}
    with pytest.raises((ShapeError, InvalidConfigError), match=words):
        stroke_reach(legs, **arguments)


def test_bad_input_to_the_walkspace_is_named(legs):
    for heights, stances in (([], [0.3]), ([0.16], [-0.3]), ([np.nan], [0.3])):
        with pytest.raises(ShapeError, match="expected one or more lengths above 0"):
            walkspace(legs, heights, stances)


# ------------------------------------------------------------------------------------------------ singularities
@pytest.mark.parametrize("limb, frame", TIPS)
def test_measures_are_those_of_the_numerical_jacobian(model, limb, frame, rng):
    found = singularity_map(model, limb, frame, 0.01)
    chain, plane = model.chain(limb, frame), found.plane
    q_plane, _ = plane.solve(np.stack(np.meshgrid(found.s, found.z), axis=-1).reshape(-1, 2))
    q_plane = q_plane.reshape(2, found.z.size, found.s.size, 2)
    spots = np.argwhere(np.isfinite(found.smallest))
    for branch, row, column in spots[rng.choice(len(spots), 25, replace=False)]:
        free = [-0.4, 0.7] if plane.is_lower else []  # fan and coxa do not matter
        q = np.array([*free, *q_plane[branch, row, column]])
        J = np.empty((3, chain.n))  # noqa: N806
        for i in range(chain.n):
            step = np.eye(chain.n)[i] * 1e-6
            J[:, i] = (chain.fk(q + step)[:3, 3] - chain.fk(q - step)[:3, 3]) / 2e-6
        J = J[:, 1:] if plane.is_lower else J  # noqa: N806
        values = np.linalg.svd(J, compute_uv=False)
        assert found.smallest[branch, row, column] == pytest.approx(values[-1], abs=1e-8)
        assert found.manipulability[branch, row, column] == pytest.approx(values.prod(), abs=1e-9)


def test_singular_curves_are_singular_and_the_inside_is_not(model):
    found = singularity_map(model, "lower_1", step=0.004)
    best = found.best()
    reached = np.isfinite(best)
    assert (best[reached] >= 0.0).all()
    s = np.abs(np.broadcast_to(found.s, best.shape))
    # the smallest singular value is at most the length of the coxa's column across, |s| / cos of its lean
    assert (best[reached] <= s[reached] + 1e-12).all()
    stretched = found.plane.curves()["stretched"]
    _, J = found.plane.solve(stretched - 1e-9 * (stretched - found.plane.origin))  # noqa: N806
    good = np.isfinite(J[..., 0, 0])
    assert good.any() and np.abs(np.linalg.det(J[good])).max() < 1e-4 * 0.066 * 0.122 * 10
    assert np.isnan(best[~(limb_reach(model, "lower_1", step=0.004).branches > 0)]).all()


@pytest.mark.parametrize("call", [limb_reach, singularity_map])
def test_bad_input_to_maps_is_named(model, call):
    with pytest.raises(UnknownNameError, match="unknown limb 'lower_7'"):
        call(model, "lower_7")
    with pytest.raises(UnknownNameError, match="upper_1 has no frame"):
        call(model, "upper_1", Frame.FOOT)
    for step in (0.0, np.nan, 1.0):
        with pytest.raises(InvalidConfigError, match="expected 0.0001 to 0.05 m"):
            call(model, "lower_1", step=step)


# ------------------------------------------------------------------------------------------------ any chain
PLANAR = [(0.0, 0.3, 0.0, 0.0), (0.0, 0.2, 0.0, 0.0)]


def test_cloud_of_a_planar_arm_fills_its_ring(rng):
    chain = SerialChain.from_dh(PLANAR, name="arm")
    cloud = reach_cloud(chain, 3000, rng)
    radius = np.linalg.norm(cloud.p, axis=1)
    assert radius.min() >= 0.1 - 1e-12 and radius.max() <= 0.5 + 1e-12
    assert radius.min() < 0.11 and radius.max() > 0.499
    assert np.allclose(cloud.p[:, 2], 0.0)
    assert cloud.manipulability == pytest.approx(0.06 * np.abs(np.sin(cloud.q[:, 1])), abs=1e-12)  # l1 l2 |sin q2|
    assert len(cloud.select(radius > 0.3)) == (radius > 0.3).sum()


def test_cloud_is_repeated_by_its_generator_and_measures_are_the_chains(model):
    chain = model.chain("lower_1", Frame.FOOT)
    first, second = (reach_cloud(chain, 200, np.random.default_rng(4)) for _ in range(2))
    assert (first.q == second.q).all() and (first.p == second.p).all()
    assert not (reach_cloud(chain, 200, np.random.default_rng(5)).q == first.q).all()
    assert (first.q >= chain.lower).all() and (first.q <= chain.upper).all()
    for i in range(0, 200, 40):
        J = chain.jacobian(first.q[i])[:3]  # noqa: N806
        assert first.p[i] == pytest.approx(chain.fk(first.q[i])[:3, 3])
        assert first.manipulability[i] == pytest.approx(np.sqrt(np.linalg.det(J @ J.T)), abs=1e-12)
        assert first.smallest[i] == pytest.approx(np.linalg.norm(J, -2), abs=1e-12)


def test_pose_rows_need_a_length_to_compare(model, rng):
    chain = SerialChain.from_dh([(np.pi / 2, 0.1, 0.0, 0.3)] * 6)
    q = rng.uniform(-1, 1, 6)
    for length in (1.0, 0.1):
        cloud = reach_cloud(chain, 5, np.random.default_rng(1), rows="pose", length=length)
        J = chain.jacobian(cloud.q[2])  # noqa: N806
        J[3:] *= length
        assert cloud.smallest[2] == pytest.approx(np.linalg.norm(J, -2), abs=1e-12)
    assert q.shape == (6,)


def test_joints_that_turn_more_than_once_are_drawn_for_one_turn():
    rows = [
        {"alpha": 0.0, "a": 0.1, "lower": -7.0, "upper": 7.0},
        {"alpha": 0.0, "a": 0.1, "lower": 0.0, "upper": 9.0},
        {"alpha": 0.0, "a": 0.1, "upper": 1.0},
        {"alpha": 0.0, "a": 0.1, "lower": -1.0, "upper": 0.5},
    ]
    low, high = sampling_limits(SerialChain.from_dh(rows))
    assert low == pytest.approx([-np.pi, 0.0, 1.0 - 2 * np.pi, -1.0])
    assert high == pytest.approx([np.pi, 2 * np.pi, 1.0, 0.5])


def test_slice_bounds_and_volume_of_a_box_of_prismatic_joints(rng):
    rows = [
        {"alpha": np.pi / 2, "a": 0.0, "kind": "prismatic", "lower": 0.0, "upper": 0.2},
        {"alpha": np.pi / 2, "a": 0.0, "theta": np.pi / 2, "kind": "prismatic", "lower": 0.0, "upper": 0.3},
        {"alpha": 0.0, "a": 0.0, "kind": "prismatic", "lower": 0.1, "upper": 0.2},
    ]
    cloud = reach_cloud(SerialChain.from_dh(rows), 20_000, rng)
    size = np.ptp(cloud.bounds, axis=0)
    assert sorted(size) == pytest.approx([0.1, 0.2, 0.3], abs=1e-3)
    assert cloud.volume(0.02) == pytest.approx(0.006, rel=0.35)  # cells that stick out at the border count whole
    middle = float(cloud.bounds[:, 1].mean())
    cut = cloud.slice("y", middle, 0.01)
    assert 0 < len(cut) < len(cloud) and np.abs(cut.p[:, 1] - middle).max() <= 0.005
    assert cloud.smallest == pytest.approx(1.0) and cloud.manipulability == pytest.approx(1.0)


def test_joint_map_finds_the_stretched_elbow():
    found = joint_map(SerialChain.from_dh(PLANAR), ("joint_0", "joint_1"), count=41)
    expected = np.broadcast_to(0.06 * np.abs(np.sin(found.second))[:, None], (41, 41))
    assert found.manipulability == pytest.approx(expected, abs=1e-12)
    assert found.smallest[20] == pytest.approx(0.0, abs=1e-12) and found.second[20] == 0.0


def test_joint_map_holds_the_other_joints(model):
    chain = model.chain("lower_1", Frame.FOOT)
    held = np.array([-0.5, 0.3, 0.0, 0.0])
    found = joint_map(chain, ("lower_1_femur", "lower_1_tibia"), held, count=11, rows="pose", length=0.1)
    q = np.array([*held[:2], found.first[7], found.second[3]])
    J = chain.jacobian(q)  # noqa: N806
    J[3:] *= 0.1
    assert found.smallest[3, 7] == pytest.approx(np.linalg.svd(J, compute_uv=False)[-1], abs=1e-12)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda c, r: reach_cloud(c, 0, r), "count is 0; expected 1 or more"),
        (lambda c, r: reach_cloud(c, 5, r, rows="all"), "rows is 'all'; expected one of position, pose"),
        (lambda c, r: reach_cloud(c, 5, r, rows="pose", length=0.0), "length is 0.0; expected a length above 0"),
        (
            lambda c, r: reach_cloud(SerialChain.from_dh([(0, 0, 0, 0, "prismatic", "slide")]), 5, r),
            "'slide' has no limits",
        ),
        (lambda c, r: reach_cloud(c, 5, r).slice("w", 0.0), "no axis 'w'; use one of x, y, z"),
        (lambda c, r: reach_cloud(c, 5, r).slice("x", 0.0, 0.0), "thickness is 0.0"),
        (lambda c, r: reach_cloud(c, 5, r).volume(-1.0), "edge is -1.0"),
        (lambda c, r: joint_map(c, ("joint_0", "elbow")), "has no joint 'elbow'; it has joint_0, joint_1"),
        (lambda c, r: joint_map(c, ("joint_0", "joint_0")), "expected two different names"),
        (lambda c, r: joint_map(c, ("joint_0", "joint_1"), count=1), "count is 1; expected 2 or more"),
        (lambda c, r: joint_map(c, ("joint_0", "joint_1"), [0.0]), "shape"),
    ],
)
def test_bad_input_to_clouds_is_named(rng, call, words):
    with pytest.raises((InvalidConfigError, UnknownNameError, ShapeError), match=words):
        call(SerialChain.from_dh(PLANAR), rng)
