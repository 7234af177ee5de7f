# SPDX-License-Identifier: MIT
"""Several serial limbs on one floating base, some joints driven together: no loop is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from robot_mechanics.arguments import vector
from robot_mechanics.errors import InvalidChainError, ShapeError, UnknownNameError
from robot_mechanics.models.chain import SerialChain
from robot_mechanics.models.dh import RowLike
from robot_mechanics.models.joint import Joint, Mimic, sequence
from robot_mechanics.models.urdf import load_urdf
from robot_mechanics.motion.se3 import as_pose

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# name, ratio and offset of what a joint follows
_Follower = Tuple[str, float, float]


class LimbSet:
    """Immutable set of limbs on a floating base.

    Two coordinate vectors are used: `q` has every coordinate of every limb (the order of `joint_names`), `u` has one
    coordinate per drive (the order of `drive_names`): joints of a common drive share one, and a joint that mimics one
    of another limb follows its drive. q = ratio * u[drive] + offset = expand(u).

    Parameters
    ----------
    limbs : mapping of str to SerialChain
        In the order of the result; no joint may belong to two limbs.
    common : mapping of str to sequence of str, optional
        Name of a drive -> joints that it turns together (six hips on one motor); this wins over mimic.

    Attributes
    ----------
    joint_names, drive_names : tuple of str
        Of q and of u.
    lower, upper, velocity : (drives,) arrays, read-only
        Limits of u that keep every joint it drives within its own.

    Raises
    ------
    InvalidChainError
        If there are no limbs, a joint is shared, a common joint does not exist or is named twice, joints mimic each
        other in a circle, or no position of a drive is within the limits of all its joints.
    """

    def __init__(self, limbs: Mapping[str, SerialChain], common: Optional[Mapping[str, Sequence[str]]] = None) -> None:
        if not isinstance(limbs, Mapping):
            raise InvalidChainError(f"limbs are {limbs!r}; expected a mapping of name -> SerialChain")
        self._limbs: Dict[str, SerialChain] = dict(limbs)
        if not self._limbs:
            raise InvalidChainError("a set of limbs has none; give at least one limb")
        joints: Dict[str, Joint] = {}
        inner: Dict[str, _Follower] = {}
        self._slices: Dict[str, slice] = {}
        for limb, chain in self._limbs.items():
            if not isinstance(chain, SerialChain):
                raise InvalidChainError(f"limb '{limb}' is {chain!r}; expected a SerialChain")
            shared = sorted(set(joints).intersection(chain.joint_names))
            if shared:
                raise InvalidChainError(f"joint '{shared[0]}' of limb '{limb}' belongs to another limb as well")
            self._slices[limb] = slice(len(joints), len(joints) + chain.n)
            of_name = {joint.name: joint for joint in chain.joints}
            joints.update({name: of_name[name] for name in chain.joint_names})
            inner.update(_followers(chain))
        self.joint_names: Tuple[str, ...] = tuple(joints)
        self.common = _common(common or {}, joints)
        drive_of = {joint: drive for drive, members in self.common.items() for joint in members}
        followed = [_drive(name, joints, inner, drive_of) for name in joints]
        self.drive_names: Tuple[str, ...] = tuple(dict.fromkeys(drive for drive, _, _ in followed))
        where = {drive: i for i, drive in enumerate(self.drive_names)}
        self._drive_index = np.array([where[drive] for drive, _, _ in followed], dtype=np.int64)
        self._ratio = np.array([ratio for _, ratio, _ in followed])
        self._offset = np.array([offset for _, _, offset in followed])
        self.lower, self.upper, self.velocity = self._limits()
        for array in (self._drive_index, self._ratio, self._offset, self.lower, self.upper, self.velocity):
            array.setflags(write=False)

    def __setattr__(self, name: str, value: object) -> None:
        """Set each attribute once."""
        if name in self.__dict__:
            raise AttributeError(f"a set of limbs cannot be changed ('{name}'); build another")
        object.__setattr__(self, name, value)

    @classmethod
    def from_urdf(
        cls, text: object, base: str, tips: Mapping[str, str], common: Optional[Mapping[str, Sequence[str]]] = None
    ) -> LimbSet:
        """Build from a URDF.

        Parameters
        ----------
        text : str or path
            As in `load_urdf`.
        base : str
            Link from which all limbs start.
        tips : mapping of str to str
            From the name of a limb to its tip link.
        common : mapping of str to sequence of str, optional
            As in the constructor.
        """
        tree = load_urdf(text)
        return cls({limb: tree.chain(base, tip, limb) for limb, tip in tips.items()}, common)

    @classmethod
    def from_dh(
        cls,
        tables: Mapping[str, Sequence[RowLike]],
        common: Optional[Mapping[str, Sequence[str]]] = None,
        convention: str = "standard",
    ) -> LimbSet:
        """Build from one Denavit-Hartenberg table per limb.

        Parameters
        ----------
        tables : mapping of str to sequence
            From the name of a limb to its rows, as of `SerialChain.from_dh`; rows without a name become <limb>_0,
            <limb>_1, ...
        common : mapping of str to sequence of str, optional
            As in the constructor.
        convention : str
            "standard" or "modified", of all tables.
        """
        limbs = {}
        for limb, rows in tables.items():
            names = [f"{limb}_{i}" for i in range(len(rows))]
            limbs[limb] = SerialChain.from_dh(rows, names, name=limb, convention=convention)
        return cls(limbs, common)

    @classmethod
    def from_yaml(cls, source: object) -> LimbSet:
        """Build from a YAML model with limbs, given as text or path; the schema is that of `yaml_model`.

        Parameters
        ----------
        source : str or path
            As in `yaml_model`.
        """
        from robot_mechanics.models.yaml_model import load_limbs  # noqa: PLC0415 - it imports this module

        return load_limbs(source)

    @property
    def limb_names(self) -> Tuple[str, ...]:
        """Names of the limbs, in order."""
        return tuple(self._limbs)

    def limb(self, name: str) -> SerialChain:
        """Return one limb.

        Parameters
        ----------
        name : str
            Of the limb.

        Raises
        ------
        UnknownNameError
            If it does not exist.
        """
        if name not in self._limbs:
            raise UnknownNameError(f"no limb '{name}'; there are {', '.join(self._limbs)}")
        return self._limbs[name]

    def columns(self, name: str) -> slice:
        """Return where the joints of a limb stand in q.

        Parameters
        ----------
        name : str
            Of the limb.
        """
        self.limb(name)
        return self._slices[name]

    def expand(self, u: ArrayLike) -> np.ndarray:
        """Return q (all joints) for the drives' coordinates u.

        Parameters
        ----------
        u : (drives,) array_like
            Coordinates of the drives, rad or m.
        """
        values = vector(u, len(self.drive_names), "u", "drive_names")
        return self._ratio * values[self._drive_index] + self._offset

    def reduce(self, q: ArrayLike, tolerance: float = 1e-9) -> np.ndarray:
        """Return u (all drives) for the joints q; the inverse of `expand`.

        Parameters
        ----------
        q : (n,) array_like
            All joints, rad or m.
        tolerance : float
            Of the joints of one drive, rad or m.

        Raises
        ------
        ShapeError
            If joints of one drive differ by more than `tolerance` (rad or m) from what it can do; the message names
            the worst.
        """
        values = self._check(q)
        u = np.zeros(len(self.drive_names))
        for i in reversed(range(len(values))):  # the first joint of a drive decides
            if self._ratio[i] != 0.0:
                u[self._drive_index[i]] = (values[i] - self._offset[i]) / self._ratio[i]
        off = np.abs(self.expand(u) - values)
        worst = int(off.argmax())
        if off[worst] > tolerance:
            raise ShapeError(
                f"q has joint '{self.joint_names[worst]}' at {values[worst]:.6g}, but drive "
                f"'{self.drive_names[self._drive_index[worst]]}' takes it to {self.expand(u)[worst]:.6g}; give joints "
                "that their drives can take, such as expand(u)"
            )
        return u

    def transmission(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return of each joint the index of its drive in `drive_names`, its ratio and its offset, (n,) each."""
        return self._drive_index.copy(), self._ratio.copy(), self._offset.copy()

    def fk(self, q: ArrayLike, T_world_base: Optional[np.ndarray] = None) -> np.ndarray:  # noqa: N803
        """Return the poses (limbs, 4, 4) of all tips in base, or in world where the pose of the base is given.

        Parameters
        ----------
        q : (n,) array_like
            All joints, rad or m.
        T_world_base : (4, 4) array, optional
            Pose of the base in the world, m.
        """
        values = self._check(q)
        poses = np.array([chain.fk(values[self._slices[limb]]) for limb, chain in self._limbs.items()])
        return poses if T_world_base is None else as_pose(T_world_base, "T_world_base") @ poses

    def jacobian(self, name: str, q: ArrayLike, T_world_base: Optional[np.ndarray] = None) -> np.ndarray:  # noqa: N803
        """Return d(tip twist)/d(base twist, u): (6, 6 + drives), linear rows and columns first.

        The base's twist is that of its origin: v_tip = v_base + w_base x p_base_tip + J u'. Both twists are in the axes
        of base, or in those of world where the pose of the base is given.

        Parameters
        ----------
        name : str
            Of the limb.
        q : (n,) array_like
            All joints, rad or m.
        T_world_base : (4, 4) array, optional
            Pose of the base in the world, m.
        """
        values = self._check(q)
        chain, where = self.limb(name), self._slices[name]
        p = chain.fk(values[where])[:3, 3]
        own = chain.jacobian(values[where])
        if T_world_base is not None:
            R = as_pose(T_world_base, "T_world_base")[:3, :3]  # noqa: N806
            p, own = R @ p, np.vstack([R @ own[:3], R @ own[3:]])
        J = np.zeros((6, 6 + len(self.drive_names)))  # noqa: N806
        J[:, :6] = np.eye(6)
        J[:3, 3:6] = [[0.0, p[2], -p[1]], [-p[2], 0.0, p[0]], [p[1], -p[0], 0.0]]  # - p x
        np.add.at(J.T, 6 + self._drive_index[where], (own * self._ratio[where]).T)
        return J

    def within_limits(self, u: ArrayLike, tolerance: float = 0.0) -> bool:
        """Return whether every drive lies in its limits, widened by `tolerance` (rad or m).

        Parameters
        ----------
        u : (drives,) array_like
            Coordinates of the drives, rad or m.
        tolerance : float
            rad or m.
        """
        values = vector(u, len(self.drive_names), "u", "drive_names")
        return bool(np.all(values >= self.lower - tolerance) and np.all(values <= self.upper + tolerance))

    def _check(self, q: ArrayLike) -> np.ndarray:
        return vector(q, len(self.joint_names), "q", "joint_names")

    def _limits(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        drives = len(self.drive_names)
        lower, upper, velocity = np.full(drives, -np.inf), np.full(drives, np.inf), np.full(drives, np.inf)
        low = np.concatenate([chain.lower for chain in self._limbs.values()])
        high = np.concatenate([chain.upper for chain in self._limbs.values()])
        speed = np.concatenate([chain.velocity for chain in self._limbs.values()])
        for i, d in enumerate(self._drive_index):
            ratio, offset = self._ratio[i], self._offset[i]
            if ratio == 0.0:
                ends = (-np.inf, np.inf) if low[i] <= offset <= high[i] else (np.inf, -np.inf)
            else:
                first, second = (low[i] - offset) / ratio, (high[i] - offset) / ratio
                ends = min(first, second), max(first, second)
                velocity[d] = min(velocity[d], speed[i] / abs(ratio))
            lower[d], upper[d] = max(lower[d], ends[0]), min(upper[d], ends[1])
            if not lower[d] <= upper[d]:
                raise InvalidChainError(
                    f"joint '{self.joint_names[i]}' (limits {low[i]} .. {high[i]}) follows drive "
                    f"'{self.drive_names[d]}', but no position of it is within the limits of all joints that it drives"
                )
        return lower, upper, velocity

    def __reduce__(self) -> Tuple[object, ...]:
        """Rebuild copies through the constructor, so that they are immutable, too."""
        return (LimbSet, (self._limbs, self.common))

    def __eq__(self, other: object) -> bool:
        """Equal if limbs (in order) and common drives are."""
        if not isinstance(other, LimbSet):
            return NotImplemented
        return list(self._limbs.items()) == list(other._limbs.items()) and self.common == other.common

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash((tuple(self._limbs.items()), tuple(sorted(self.common.items()))))

    def __repr__(self) -> str:
        """Return limbs and number of drives."""
        return f"LimbSet({', '.join(self._limbs)}; {len(self.drive_names)} drives)"

    def __str__(self) -> str:
        """Return the tables of all limbs."""
        head = f"{len(self._limbs)} limbs, {len(self.joint_names)} joints, {len(self.drive_names)} drives"
        return "\n\n".join([head] + [str(chain) for chain in self._limbs.values()])


def _common(common: Mapping[str, Sequence[str]], joints: Mapping[str, Joint]) -> Dict[str, Tuple[str, ...]]:
    if not isinstance(common, Mapping):
        raise InvalidChainError(f"common is {common!r}; expected a mapping of drive -> joints")
    drive_of: Dict[str, str] = {}
    lists = {drive: sequence(members, f"common drive '{drive}'", "joints") for drive, members in common.items()}
    for drive, members in lists.items():
        if drive in joints and drive not in members:
            raise InvalidChainError(f"common drive '{drive}' is named like a joint that it does not drive; rename it")
        for joint in members:
            if joint not in joints:
                raise InvalidChainError(f"common drive '{drive}' names joint '{joint}', which is in no limb")
            if joint in drive_of:
                raise InvalidChainError(f"joint '{joint}' is named twice in the common drives; once is enough")
            drive_of[joint] = drive
    return lists


def _followers(chain: SerialChain) -> Dict[str, _Follower]:
    """Return the joints of a limb that follow another of the same limb: their coordinate, ratio and offset."""
    p = chain.parameters()
    return {
        joint.name: (chain.joint_names[p.column[i]], float(p.ratio[i]), float(p.offset[i]))
        for i, joint in enumerate(chain.joints)
        if joint.moves and joint.name not in chain.joint_names
    }


def _drive(
    name: str, joints: Mapping[str, Joint], inner: Mapping[str, _Follower], drive_of: Mapping[str, str]
) -> _Follower:
    """Return the drive of a joint, with ratio and offset to it."""
    ratio, offset, at = 1.0, 0.0, name
    seen: List[str] = []
    while at not in drive_of:
        mimic: Optional[Mimic] = joints[at].mimic
        if mimic is None or not (mimic.joint in joints or mimic.joint in inner):
            return at, ratio, offset
        seen.append(at)
        ratio, offset, at = ratio * mimic.ratio, ratio * mimic.offset + offset, mimic.joint
        if at in inner:
            at, r, o = inner[at]
            ratio, offset = ratio * r, ratio * o + offset
        if at in seen:
            raise InvalidChainError(f"joint '{name}' mimics itself, through '{at}'")
    return drive_of[at], ratio, offset
