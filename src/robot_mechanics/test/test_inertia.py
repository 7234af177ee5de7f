# SPDX-License-Identifier: MIT
"""Tensors moved between frames: against published pairs, against point masses, and against the slip of a sign."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest

from robot_mechanics.errors import InvalidChainError, InvalidUrdfError
from robot_mechanics.models.inertia import Inertia, inertias_of_urdf, steiner_term, tensor_components, tensor_matrix
from robot_mechanics.models.inertia_cli import inertia_table, main
from robot_mechanics.motion.rotations import rotation_from_rpy

# Head of the NAO V4: the maker's tensor is about the joint, that of the published URDF about the centre of mass.
MASS, COM = 0.60533, (-0.00112, 3e-05, 0.05258)
ABOUT_JOINT = (0.00263130, 0.00249112, 0.00098574, 8.7957e-06, 4.0985e-05, -2.9000e-05)
ABOUT_COM = {"ixx": 0.000957766, "iyy": 0.000816836, "izz": 0.000984976, "ixz": 5.33702e-06}


def test_the_published_pair_agrees():
    body = Inertia.about_point(MASS, COM, tensor_matrix(ABOUT_JOINT))
    found = dict(zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), tensor_components(body.tensor)))
    for key, value in ABOUT_COM.items():
        assert found[key] == pytest.approx(value, rel=1e-3), key
    assert body.problems() == []


def test_adding_instead_of_subtracting_is_the_slip_of_the_thesis():
    wrong = tensor_matrix(ABOUT_JOINT) + steiner_term(MASS, COM)
    assert wrong[0, 0] == pytest.approx(0.00430483, rel=1e-4)
    assert wrong[0, 0] / ABOUT_COM["ixx"] > 4.0


def test_a_cloud_of_points_has_the_same_tensor_by_sum_and_by_any_chain_of_frames():
    rng = np.random.default_rng(3)
    masses, points = rng.uniform(0.1, 1.0, 12), rng.normal(size=(12, 3))
    mass, com = masses.sum(), masses @ points / masses.sum()
    about = {name: sum(steiner_term(m, p - at) for m, p in zip(masses, points)) for name, at in
             (("com", com), ("origin", np.zeros(3)))}  # fmt: skip
    body = Inertia.about_point(mass, com, about["origin"])
    assert np.allclose(body.tensor, about["com"], atol=1e-12)
    rotation, place = rotation_from_rpy(0.3, -0.8, 2.0), np.array([0.4, -1.0, 2.0])
    moved = body.in_frame(place, rotation)
    by_sum = sum(steiner_term(m, place + rotation @ p) for m, p in zip(masses, points))
    assert np.allclose(moved.tensor_about((0, 0, 0)), by_sum, atol=1e-10)
    back = moved.in_frame(-rotation.T @ place, rotation.T)
    assert np.allclose(back.tensor, body.tensor, atol=1e-12)


@pytest.mark.parametrize(
    ("mass", "factor", "word"),
    [
        (0.0, 1.0, "no mass"),
        (0.5, 1e9, "radius of gyration is 1844 m"),
        (0.5, 1e6, "give the tensor in kg m^2"),
        (0.5, 1.0, ""),
    ],
)
def test_a_tensor_without_mass_or_in_other_units_is_told(mass, factor, word):
    problems = Inertia(mass, np.zeros(3), factor * np.diag([1.0e-3, 1.2e-3, 1.7e-3])).problems()
    assert len(problems) == bool(word) and word in "".join(problems)
    assert Inertia(0.0, np.zeros(3), np.zeros((3, 3))).problems() == []


@pytest.mark.parametrize(
    ("diagonal", "word"), [((1.0, 1.0, 3.0), "triangle"), ((1.0, -0.1, 1.0), "negative"), ((1.0, 1.0, 1.9), "")]
)
def test_impossible_tensors_are_told(diagonal, word):
    problems = Inertia(1.0, np.zeros(3), np.diag(diagonal)).problems()
    assert bool(problems) == bool(word)
    assert word in "".join(problems)


def test_bad_input_is_refused_in_words():
    with pytest.raises(InvalidChainError, match="mass is"):
        Inertia(float("nan"), np.zeros(3), np.eye(3))
    with pytest.raises(InvalidChainError, match="six finite numbers"):
        tensor_matrix([1.0, 2.0])
    with pytest.raises(InvalidUrdfError, match="link 'a'"):
        inertias_of_urdf("<robot><link name='a'><inertial><mass value='1'/></inertial></link></robot>")


def test_the_tool_converts_and_its_xacro_reads_back(capsys):
    arguments = ["--mass", str(MASS), "--com", *map(str, COM), "--tensor", *map(str, ABOUT_JOINT), "--given", "origin"]
    assert main([*arguments, "--format", "markdown"]) == 0
    assert "| 957.7" in capsys.readouterr().out
    assert main([*arguments, "--format", "xacro"]) == 0
    urdf = f"<robot><link name='head'>{capsys.readouterr().out}</link></robot>"
    body = inertias_of_urdf(urdf)["head"]
    assert body.tensor[1, 1] == pytest.approx(ABOUT_COM["iyy"], rel=1e-3)
    assert "0.60533" in inertia_table({"head": body}, "text")


def test_the_tool_tells_what_is_wrong(capsys, tmp_path):
    assert main(["--mass", "1"]) == 2
    assert "--tensor missing" in capsys.readouterr().err
    body = ["--mass", "1", "--tensor", *"111000"]
    assert main([*body, "--frame", "0", "0", "inf", "0", "0", "0"]) == 2
    assert "give six finite numbers, m and rad" in capsys.readouterr().err
    assert main([str(tmp_path / "none.urdf")]) == 2
    assert "cannot read" in capsys.readouterr().err
    assert main(["--mass", "1", "--tensor", "1", "1", "9", "0", "0", "0"]) == 1
    assert "triangle" in capsys.readouterr().err
    (tmp_path / "binary.urdf").write_bytes(b"\xd0\xff")
    assert main([str(tmp_path / "binary.urdf")]) == 2
    assert main([str(tmp_path / "none.urdf"), "--given", "origin", "--mass", "3"]) == 2
    assert main(["--mass", "1", "--tensor", *"111000", "--about", "origin", "--format", "xacro"]) == 2
    written = capsys.readouterr().err
    assert "always about the centre of mass; leave --about out" in written
    assert "can't decode" in written and "--mass and --given of one body beside a URDF file" in written


def test_the_tutorial_runs_and_prints_what_it_shows():
    page = Path(__file__).resolve().parents[3] / "docs" / "tutorials" / "inertia.md"
    results = doctest.testfile(str(page), module_relative=False)
    assert results.failed == 0
    assert results.attempted > 8
