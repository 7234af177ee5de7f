# SPDX-License-Identifier: MIT
"""A tree of joints: any branching, many tips, poses of all links, Jacobians of any link."""

from __future__ import annotations

import heapq
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from robot_mechanics.errors import InvalidChainError, UnknownNameError
from robot_mechanics.models import derivatives
from robot_mechanics.models.joint import Joint, limits_text, sequence
from robot_mechanics.models.parameters import ChainParameters
from robot_mechanics.models.structure import JointStructure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robot_mechanics.models.chain import SerialChain


class KinematicTree:
    """Immutable tree: one root link, every other link the child of exactly one joint.

    Parameters
    ----------
    joints : sequence of Joint
        With parent and child links, in any order.
    name : str
        Of the robot.
    links : sequence of str, optional
        The order of the result; default: as the joints name them.

    Attributes
    ----------
    name, root : str
        Name of the robot and of its root link.
    links : tuple of str
        The order of `fk`.
    joints : mapping of str to Joint
        In the order given.
    tips : tuple of str
        Links without a child.
    n : int
        Number of coordinates q.
    joint_names : tuple of str
        Of the joints that own a coordinate, in the order of q: the order given, but parents before their children.
        Joints that mimic another have none.
    lower, upper, velocity : (n,) arrays, read-only
        Limits of q, rad or m, and of its rates; infinite where there are none.

    Raises
    ------
    InvalidChainError
        If the joints make no tree (no or several roots, a loop, a link with two parents, names twice), or a joint does
        not name its links.
    """

    def __init__(self, joints: Sequence[Joint], name: str = "robot", links: Optional[Sequence[str]] = None) -> None:
        by_name: Dict[str, Joint] = {}
        for i, joint in enumerate(sequence(joints, f"joints of robot '{name}'", "Joint")):
            if not isinstance(joint, Joint):
                raise InvalidChainError(f"joint {i} of robot '{name}' is {joint!r}; expected a Joint")
            if joint.name in by_name:
                raise InvalidChainError(f"joint '{joint.name}' of robot '{name}' is defined twice; names must differ")
            by_name[joint.name] = joint
        ends = [link for joint in by_name.values() for link in (joint.parent, joint.child)]
        self.name = name
        named = dict.fromkeys(ends) if links is None else sequence(links, f"links of robot '{name}'", "names")
        self.links: Tuple[str, ...] = tuple(named)
        for link in self.links:
            if not isinstance(link, str):
                raise InvalidChainError(f"a link of robot '{name}' is named {link!r}; expected a text")
        self.joints: Mapping[str, Joint] = MappingProxyType(by_name)
        above = _check(name, self.links, by_name)
        self.root = next(link for link in self.links if link not in above)
        parents = {joint.parent for joint in by_name.values()}
        self.tips: Tuple[str, ...] = tuple(link for link in self.links if link not in parents)
        order = _parents_first(name, self.root, list(by_name.values()))
        self._at: Dict[str, int] = {joint.child: i for i, joint in enumerate(order)}
        parent = [self._at.get(joint.parent, -1) for joint in order]
        self._structure = JointStructure(order, parent, f"robot '{name}'")
        self._links_at = np.array([self._at.get(link, -1) for link in self.links], dtype=np.int64)
        self.n, self.joint_names = self._structure.n, self._structure.joint_names
        self.lower, self.upper = self._structure.lower, self._structure.upper
        self.velocity = self._structure.velocity

    def __setattr__(self, name: str, value: object) -> None:
        """Set each attribute once."""
        if name in self.__dict__:
            raise AttributeError(f"robot '{self.name}' cannot be changed ('{name}'); build another")
        object.__setattr__(self, name, value)

    @classmethod
    def from_urdf(cls, source: object) -> KinematicTree:
        """Return the tree of a URDF given as text (as in robot_description) or path; see `load_urdf`.

        Parameters
        ----------
        source : str or path
            As in `load_urdf`.
        """
        from robot_mechanics.models.urdf import load_urdf  # noqa: PLC0415 - it imports this module

        return load_urdf(source)

    @classmethod
    def from_yaml(cls, source: object) -> KinematicTree:
        """Return the tree of a YAML model whose joints name their links; see `yaml_model`.

        Parameters
        ----------
        source : str or path
            As in `yaml_model`.
        """
        from robot_mechanics.models.yaml_model import load_tree  # noqa: PLC0415

        return load_tree(source)

    @classmethod
    def from_chain(cls, chain: SerialChain) -> KinematicTree:
        """Return a chain as a tree.

        Parameters
        ----------
        chain : SerialChain
            A link that its joints do not name, as in a Denavit-Hartenberg table, is named after the joint that moves
            it.
        """
        joints, link = [], chain.base
        for joint in chain.joints:
            joints.append(replace(joint, parent=link, child=joint.child or joint.name))
            link = joints[-1].child
        return cls(joints, chain.name)

    def parameters(self) -> ChainParameters:
        """Return the packed constant arrays, joints in evaluation order (parents first)."""
        return self._structure.parameters()

    @property
    def evaluation_order(self) -> Tuple[Joint, ...]:
        """Joints in the order of `parameters`: parents before their children."""
        return self._structure.joints

    def check(self, q: ArrayLike, name: str = "q") -> np.ndarray:
        """Return q as a float array of its own; ShapeError if it is not n finite numbers.

        Parameters
        ----------
        q : (n,) array_like
            Coordinates, rad or m.
        name : str
            How messages call it.
        """
        return self._structure.check(q, name)

    def within_limits(self, q: ArrayLike, tolerance: float = 0.0) -> bool:
        """Return whether every coordinate lies in its limits, widened by `tolerance` (rad or m).

        Parameters
        ----------
        q : (n,) array_like
            Coordinates, rad or m.
        tolerance : float
            rad or m.
        """
        return self._structure.within_limits(q, tolerance)

    def fk(self, q: ArrayLike) -> np.ndarray:
        """Return the poses (links, 4, 4) of all links in the root, in the order of `links`.

        Parameters
        ----------
        q : (n,) array_like
            Coordinates, rad or m.
        """
        frames = self._structure._evaluate(q)[0]
        poses = frames[self._links_at] if len(frames) else np.empty((len(self.links), 4, 4))
        poses[self._links_at < 0] = np.eye(4)
        return poses

    def frame(self, link: str, q: ArrayLike) -> np.ndarray:
        """Return the pose (4, 4) of one link in the root.

        Parameters
        ----------
        link : str
            Of the tree.
        q : (n,) array_like
            Coordinates, rad or m.
        """
        self._know(link)
        return self.fk(q)[self.links.index(link)]

    def jacobian(self, link: str, q: ArrayLike, reference: str = derivatives.ALIGNED) -> np.ndarray:
        """Return the geometric Jacobian (6, n) of a link; see SerialChain.jacobian. Joints not above it: zero.

        Parameters
        ----------
        link : str
            Of the tree.
        q : (n,) array_like
            Coordinates, rad or m.
        reference : str
            As of `SerialChain.jacobian`.
        """
        if self._is_root(link, q):
            return np.zeros((6, self.n))
        return derivatives.jacobian(self._structure, self._indices(link), q, reference)

    def jacobian_dot(self, link: str, q: ArrayLike, dq: ArrayLike, reference: str = derivatives.ALIGNED) -> np.ndarray:
        """Return the time derivative (6, n) of `jacobian(link, q, reference)` at the rates dq (n,).

        Parameters
        ----------
        link, q, reference
            As of `jacobian`.
        dq : (n,) array_like
            Rates, rad/s or m/s.
        """
        if self._is_root(link, q):
            return np.zeros((6, self.n))
        return derivatives.jacobian_dot(self._structure, self._indices(link), q, dq, reference)

    def hessian(self, link: str, q: ArrayLike, reference: str = derivatives.ALIGNED) -> np.ndarray:
        """Return H (6, n, n), H[r, c, k] = d J[r, c] / d q_k, of a link.

        Parameters
        ----------
        link, q, reference
            As of `jacobian`.
        """
        if self._is_root(link, q):
            return np.zeros((6, self.n, self.n))
        return derivatives.hessian(self._structure, self._indices(link), q, reference)

    def path(self, base: str, tip: str) -> Tuple[Joint, ...]:
        """Return the joints from link `base` down to link `tip`.

        Parameters
        ----------
        base, tip : str
            Links.

        Raises
        ------
        UnknownNameError
            If a link does not exist.
        InvalidChainError
            If `tip` is not below `base`.
        """
        self._know(base)
        self._know(tip)
        order = self._structure.joints
        path: List[Joint] = []
        link = tip
        while link != base:
            if link not in self._at:
                raise InvalidChainError(f"link '{tip}' is not below '{base}': its ancestors end at '{link}'")
            joint = order[self._at[link]]
            path.append(joint)
            link = joint.parent
        return tuple(reversed(path))

    def chain(self, base: str, tip: str, name: Optional[str] = None) -> SerialChain:
        """Return the serial chain between two links, `tip` below `base`; named after the tip if no name is given.

        Parameters
        ----------
        base, tip : str
            Links.
        name : str, optional
            Of the chain.
        """
        from robot_mechanics.models.chain import SerialChain  # noqa: PLC0415 - it reads URDF, which makes trees

        return SerialChain(self.path(base, tip), name=name or tip, base=base, tip=tip)

    def _know(self, link: str) -> None:
        if link != self.root and link not in self._at:
            raise UnknownNameError(f"robot '{self.name}' has no link '{link}'; it has {', '.join(self.links)}")

    def _is_root(self, link: str, q: ArrayLike) -> bool:
        self._know(link)
        if link == self.root:
            self.check(q)
        return link == self.root

    def _indices(self, link: str) -> np.ndarray:
        parent = self._structure.parameters().parent
        path, i = [], self._at[link]
        while i >= 0:
            path.append(i)
            i = int(parent[i])
        return np.array(path[::-1], dtype=np.int64)

    def __reduce__(self) -> Tuple[object, ...]:
        """Rebuild copies through the constructor, so that they are immutable, too."""
        return (KinematicTree, (tuple(self.joints.values()), self.name, self.links))

    def __eq__(self, other: object) -> bool:
        """Equal if root and joints are, in the same order."""
        if not isinstance(other, KinematicTree):
            return NotImplemented
        return self.links == other.links and tuple(self.joints.values()) == tuple(other.joints.values())

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((self.links, tuple(self.joints.values())))

    def __repr__(self) -> str:
        """Return name and sizes."""
        return f"KinematicTree('{self.name}', {len(self.links)} links, {self.n} coordinates)"

    def __str__(self) -> str:
        """Return the tree as a table: a line per link, indented below its parent, with its joint and limits."""
        depth = {self.root: 0}
        lines = [f"{self.name}: {len(self.links)} links, {self.n} coordinates, root {self.root}"]
        below: Dict[str, List[Joint]] = {}
        for joint in self.joints.values():
            below.setdefault(joint.parent, []).append(joint)
        stack = list(reversed(below.get(self.root, [])))
        while stack:
            joint = stack.pop()
            depth[joint.child] = depth[joint.parent] + 1
            link = "  " * depth[joint.child] + joint.child
            lines.append(f"{link:<40} {joint.name:<24} {joint.kind:<11}{limits_text(joint)}".rstrip())
            stack.extend(reversed(below.get(joint.child, [])))
        return "\n".join(lines)


def _check(name: str, links: Tuple[str, ...], joints: Mapping[str, Joint]) -> Dict[str, str]:
    """Return the parent of every link but the root."""
    if not links:
        raise InvalidChainError(f"robot '{name}' has no links; give at least one joint or link")
    known = set(links)
    if len(known) != len(links):
        seen: Dict[str, int] = {}
        for link in links:
            seen[link] = seen.get(link, 0) + 1
        raise InvalidChainError(
            f"link names of robot '{name}' must differ; twice: {sorted(n for n in seen if seen[n] > 1)}"
        )
    above: Dict[str, str] = {}
    for joint in joints.values():
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if not link or link not in known:
                raise InvalidChainError(
                    f"{end} link '{link}' of joint '{joint.name}' does not exist; expected one of {_some(links)}"
                )
        if joint.child in above:
            raise InvalidChainError(f"link '{joint.child}' is the child of several joints; a tree allows one")
        above[joint.child] = joint.parent
    roots = [link for link in links if link not in above]
    if len(roots) != 1:
        raise InvalidChainError(
            f"a tree has one root link; robot '{name}' has {len(roots)}: {_some(roots) or 'the joints form a loop'}"
        )
    return above


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")


def _parents_first(name: str, root: str, joints: Sequence[Joint]) -> List[Joint]:
    """Return the joints in the order given, but each after the one that carries its parent link."""
    below: Dict[str, List[int]] = {}
    for i, joint in enumerate(joints):
        below.setdefault(joint.parent, []).append(i)
    ready = list(below.get(root, []))
    heapq.heapify(ready)
    order: List[Joint] = []
    while ready:
        joint = joints[heapq.heappop(ready)]
        order.append(joint)
        for i in below.get(joint.child, []):
            heapq.heappush(ready, i)
    if len(order) != len(joints):
        reached = {joint.child for joint in order}
        lost = next(joint for joint in joints if joint.child not in reached)
        raise InvalidChainError(f"the joints above link '{lost.child}' of robot '{name}' form a loop")
    return order
