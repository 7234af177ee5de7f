# SPDX-License-Identifier: MIT
"""What Gazebo's own library makes of each robot's URDF: bodies, joints, contacts and colours, by Debian's libsdformat.

The library of Gazebo 11 is version 9, Debian 12's is 12. Both merge bodies that are fixed to each other, and find what
the description says of a merged one by the name of its collisions and visuals; version 12 also reads a URDF's colours.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import humanoid_description
import shellbot_description
import snake_description

PROGRAM = Path(__file__).with_name("urdf_to_sdf.cpp")
ROBOTS = {
    **{f"shellbot {v}": lambda v=v: shellbot_description.expand(v, "gazebo") for v in shellbot_description.VARIANTS},
    "snake": lambda: snake_description.expand(snake_description.load_variables(), "gazebo"),
    "humanoid": lambda: humanoid_description.urdf_text(simulator="gazebo", friction=0.65),
}

SURFACE = ("friction/ode/mu", "friction/ode/mu2", "contact/ode/kp", "contact/ode/kd", "contact/collide_bitmask")


class Description:
    """A URDF, with the bodies that remain when fixed joints are gone."""

    def __init__(self, text):
        self.root = ElementTree.fromstring(text)
        self.links = {link.get("name"): link for link in self.root.findall("link")}
        joints = self.root.findall("joint")
        self.joints = {joint.get("name"): joint for joint in joints if joint.get("type") != "fixed"}
        self._holder = {
            j.find("child").get("link"): j.find("parent").get("link") for j in joints if j.get("type") == "fixed"
        }

    def body(self, link):
        """Return the body that a link becomes a part of."""
        while link in self._holder:
            link = self._holder[link]
        return link

    def parts(self, kind):
        """Return body and link of every visual or collision, sorted."""
        return sorted((self.body(name), name) for name, link in self.links.items() for _ in link.findall(kind))

    def masses(self):
        """Return the mass of every body, of which some have none."""
        found = {}
        for name, link in self.links.items():
            mass = link.find("inertial/mass")
            found[self.body(name)] = found.get(self.body(name), 0.0) + (
                0.0 if mass is None else float(mass.get("value"))
            )
        return found

    def of_link(self, link, path):
        """Return the one text that the elements for Gazebo have of a link."""
        of_link = (e for e in self.root.findall("gazebo") if e.get("reference") == link)
        (text,) = (e.findtext(path) for e in of_link if e.find(path) is not None)
        return text

    def added_joints(self):
        """Return the names of joints that only Gazebo has."""
        return {joint.get("name") for joint in self.root.findall("gazebo/joint")}


@pytest.fixture(scope="module", params=sorted(ROBOTS))
def urdf(request):
    return ROBOTS[request.param]()


@pytest.fixture(scope="module")
def converter(tmp_path_factory):
    """Return the program that converts, compiled with the library that is installed."""
    if shutil.which("g++") is None or shutil.which("pkg-config") is None:
        pytest.skip("no C++ compiler")
    listed = subprocess.run(["pkg-config", "--list-all"], capture_output=True, text=True, check=True).stdout
    versions = re.findall(r"^(sdformat\d+) ", listed, re.MULTILINE)
    if not versions:
        pytest.skip("libsdformat-dev is not installed (scripts/setup --dev)")
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", versions[0]], capture_output=True, text=True, check=True
    )
    program = tmp_path_factory.mktemp("sdf") / "urdf_to_sdf"
    command = ["g++", "-std=c++17", str(PROGRAM), "-o", str(program), *shlex.split(flags.stdout)]
    subprocess.run(command, check=True)
    return program


@pytest.fixture(scope="module")
def model(urdf, converter, tmp_path_factory):
    """Return the description, and what Gazebo's library makes of it."""
    file = tmp_path_factory.mktemp("robot") / "robot.urdf"
    file.write_text(urdf, encoding="utf-8")
    done = subprocess.run([str(converter), str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Description(urdf), ElementTree.fromstring(done.stdout).find("model")


def parts_of(model, kind):
    """Return body, link and element of every visual or collision; a merged one is BODY_fixed_joint_lump__LINK."""
    found = []
    for link in model.findall("link"):
        for element in link.findall(kind):
            body, _, rest = element.get("name").partition("_fixed_joint_lump__")
            assert (body if rest else link.get("name")) == link.get("name")
            found.append((link.get("name"), re.sub(rf"_{kind}(_\d+)?$", "", rest or body), element))
    return found


def test_every_body_has_its_mass(model):
    description, converted = model
    masses = {link.get("name"): float(link.findtext("inertial/mass")) for link in converted.findall("link")}
    assert masses == pytest.approx(description.masses(), abs=1e-9)


def test_every_joint_has_its_limits_and_is_damped_implicitly(model):
    description, converted = model
    joints = {joint.get("name"): joint for joint in converted.findall("joint")}
    assert set(joints) == set(description.joints) | description.added_joints()
    for name, joint in description.joints.items():
        axis = joints[name].find("axis")
        for tag in ("effort", "velocity", "lower", "upper"):
            assert float(axis.findtext(f"limit/{tag}")) == pytest.approx(float(joint.find("limit").get(tag))), (
                name,
                tag,
            )
        for tag in ("damping", "friction"):
            assert float(axis.findtext(f"dynamics/{tag}")) == pytest.approx(float(joint.find("dynamics").get(tag)))
        assert joints[name].findtext("physics/ode/implicit_spring_damper") in ("true", "1"), name


def test_every_contact_has_the_friction_stiffness_and_bits_of_its_link(model):
    description, converted = model
    parts = parts_of(converted, "collision")
    assert sorted(part[:2] for part in parts) == description.parts("collision")
    for _, link, collision in parts:
        for path in SURFACE:
            value = collision.findtext(f"surface/{path}")
            stated = description.of_link(link, f"collision/surface/{path}")
            assert value is not None and float(value) == float(stated), (link, path)


def test_every_contact_sensor_has_the_shapes_of_its_link_and_none_fixed_to_it(model):
    description, converted = model
    links = {link.get("name"): link for link in converted.findall("link")}
    sensors = {name: link.findall("sensor[@type='contact']") for name, link in links.items()}
    for body, found in sensors.items():
        own = [c.get("name") for c in links[body].findall("collision") if "_fixed_joint_lump__" not in c.get("name")]
        for sensor in found:
            assert sorted(c.text for c in sensor.findall("contact/collision")) == sorted(own), body
    count = sum(len(found) for found in sensors.values())
    assert count == len(description.root.findall("gazebo/sensor[@type='contact']"))
    assert count == (6 if description.root.get("name") == "shellbot" else 0)


def test_every_visual_has_the_colour_of_its_link(model):
    description, converted = model
    parts = parts_of(converted, "visual")
    assert sorted(part[:2] for part in parts) == description.parts("visual")
    for _, link, visual in parts:
        for tag in ("ambient", "diffuse"):
            assert visual.findtext(f"material/{tag}") == description.of_link(link, f"visual/material/{tag}"), link


def test_a_links_colour_is_that_of_its_first_visual(urdf):
    """And each part of a link is named as Gazebo looks for it, also where its library is not installed."""
    description = Description(urdf)
    colours = {m.get("name"): m.find("color").get("rgba") for m in description.root.findall("material")}
    for name, link in description.links.items():
        for part in [*link.findall("visual"), *link.findall("collision")]:
            assert part.get("name") in (None, name)
        if link.find("visual") is not None:
            colour = colours[link.find("visual/material").get("name")]
            assert description.of_link(name, "visual/material/diffuse") == colour, name
