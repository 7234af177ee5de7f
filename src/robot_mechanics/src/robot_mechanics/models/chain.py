# SPDX-License-Identifier: MIT
"""A serial chain: joints one behind the other, from a base frame to a tip frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional, Sequence, Tuple

import numpy as np

from robot_mechanics.errors import InvalidChainError, UnknownNameError
from robot_mechanics.models import derivatives
from robot_mechanics.models.dh import DHRow, RowLike, as_row, check_convention
from robot_mechanics.models.dh import table as table_lines
from robot_mechanics.models.joint import Joint, limits_text, sequence
from robot_mechanics.models.structure import JointStructure
from robot_mechanics.models.urdf import load_urdf
from robot_mechanics.motion.rotations import rpy_from_rotation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from robot_mechanics.codegen.compiled_chain import CompiledChain


class SerialChain(JointStructure):
    """Immutable chain of joints with forward kinematics and the geometric Jacobian.

    Parameters
    ----------
    joints : sequence of Joint
        From base to tip; fixed joints belong to the chain but have no coordinate.
    name, base, tip : str
        For printing and messages.

    Attributes
    ----------
    n : int
        Number of coordinates q (joints that move).
    joint_names : tuple of str
        Of the joints that move, in the order of q.
    lower, upper, velocity : (n,) arrays, read-only
        Limits of q (rad or m) and of its rates; infinite where there are none.

    Raises
    ------
    InvalidChainError
        If there are no joints, or two have the same name.
    """

    # the Denavit-Hartenberg table that the chain came from, if it did
    rows: Tuple[DHRow, ...] = ()
    convention: str = ""

    def __init__(self, joints: Sequence[Joint], name: str = "chain", base: str = "base", tip: str = "tip") -> None:
        joints = sequence(joints, f"joints of chain '{name}'", "Joint")
        if not joints:
            raise InvalidChainError(f"chain '{name}' has no joints; give at least one")
        super().__init__(joints, range(-1, len(joints) - 1), f"chain '{name}'")
        self.name, self.base, self.tip = name, base, tip
        self._path = np.arange(len(joints))

    def compile(self) -> CompiledChain:
        """Return this chain as generated, jitted kernels; the same object for the same chain."""
        from robot_mechanics.codegen.compiled_chain import compile_chain  # noqa: PLC0415 - it imports this module

        return compile_chain(self)

    @classmethod
    def from_dh(
        cls,
        rows: Sequence[RowLike],
        names: Optional[Sequence[str]] = None,
        name: str = "chain",
        convention: str = "standard",
        base: str = "base",
        tip: str = "tip",
    ) -> SerialChain:
        """Build a chain from the rows of a Denavit-Hartenberg table.

        Parameters
        ----------
        rows : sequence
            DHRow, mapping, or (alpha, a, theta, d[, kind[, name]]); rad and m; kind "revolute" (default), "prismatic"
            or "fixed".
        names : sequence of str, optional
            One per row; default: the row's own name, else joint_0, joint_1, ...
        name, base, tip : str
            Of the chain and of its first and last frame.
        convention : str
            "standard": T = Rz(theta) Tz(d) Tx(a) Rx(alpha); "modified" (Craig): T = Rx(alpha) Tx(a) Rz(theta) Tz(d).

        Raises
        ------
        InvalidChainError
            Naming the row that cannot be used.
        """
        check_convention(convention)
        given_rows = sequence(rows, f"rows of chain '{name}'", "rows (DHRow, mapping, or alpha, a, theta, d)")
        table = [as_row(row, i) for i, row in enumerate(given_rows)]
        given: Sequence[str] = [f"joint_{i}" for i in range(len(table))]
        if names is not None:
            given = sequence(names, f"names of chain '{name}'", "names, one per row")
        if len(given) != len(table):
            raise InvalidChainError(
                f"chain '{name}' has {len(table)} rows and {len(given)} names; give one name per row"
            )
        chain = cls([row.joint(label, convention) for row, label in zip(table, given)], name, base, tip)
        chain._note_table(table, convention)
        return chain

    def _note_table(self, rows: Sequence[DHRow], convention: str) -> None:
        """Keep the rows that the chain was built from, for printing."""
        object.__setattr__(self, "rows", tuple(rows))
        object.__setattr__(self, "convention", convention)

    @classmethod
    def from_urdf(cls, text: object, base: str, tip: str) -> SerialChain:
        """Build the chain between two links of a URDF given as text (as in robot_description) or path.

        Parameters
        ----------
        text : str or path
            As in `load_urdf`.
        base, tip : str
            Links.

        Raises
        ------
        InvalidUrdfError, InvalidChainError, UnknownNameError
            If the text is no URDF, `tip` is not below `base`, or a link does not exist.
        """
        return cls(load_urdf(text).path(base, tip), name=tip, base=base, tip=tip)

    @classmethod
    def from_yaml(cls, source: object) -> SerialChain:
        """Build the chain of a YAML model given as text or path; the schema is that of `yaml_model`.

        Parameters
        ----------
        source : str or path
            As in `yaml_model`.

        Raises
        ------
        InvalidYamlError
            Naming the key that cannot be used and what was expected, or saying that the model is no serial chain.
        """
        from robot_mechanics.models.yaml_model import load_chain  # noqa: PLC0415 - it imports this module

        return load_chain(source)

    def fk(self, q: ArrayLike) -> np.ndarray:
        """Return T_base_tip, (4, 4), for q (n,).

        Parameters
        ----------
        q : (n,) array_like
            Coordinates, rad or m.
        """
        return self._evaluate(q)[0][-1]

    def frames(self, q: ArrayLike) -> np.ndarray:
        """Return the poses (len(joints), 4, 4) in the base behind every joint, fixed ones included; the last is the
        tip.

        Parameters
        ----------
        q : (n,) array_like
            Coordinates, rad or m.
        """
        return self._evaluate(q)[0]

    def frame(self, link: str, q: ArrayLike) -> np.ndarray:
        """Return T_base_link, (4, 4), of a child link in the chain.

        Parameters
        ----------
        link : str
            Child link of one of the joints.
        q : (n,) array_like
            Coordinates, rad or m.

        Raises
        ------
        UnknownNameError
            If no joint of the chain carries that link.
        """
        links = [joint.child for joint in self.joints]
        if link not in links:
            raise UnknownNameError(f"chain '{self.name}' has no link '{link}'; it has {', '.join(links)}")
        return self.frames(q)[links.index(link)]

    def jacobian(self, q: ArrayLike, reference: str = derivatives.ALIGNED) -> np.ndarray:
        """Return the geometric Jacobian (6, n) of the tip: v (m/s) above w (rad/s).

        With the default reference, column i of a revolute joint is (z_i x (p_tip - p_i), z_i), of a prismatic one
        (z_i, 0), in the axes of the base.

        Parameters
        ----------
        q : (n,)
            Coordinates, rad or m.
        reference : str
            As Pinocchio's: "local_world_aligned" (velocity of the tip's origin, axes of the base), "world" (of the
            point that passes the base's origin, axes of the base), "local" (of the tip's origin, axes of the tip).
        """
        return derivatives.jacobian(self, self._path, q, reference)

    def jacobian_dot(self, q: ArrayLike, dq: ArrayLike, reference: str = derivatives.ALIGNED) -> np.ndarray:
        """Return the time derivative (6, n) of `jacobian(q, reference)` at the rates dq (n,).

        Parameters
        ----------
        q : (n,) array_like
            Coordinates, rad or m.
        dq : (n,) array_like
            Rates, rad/s or m/s.
        reference : str
            As of `jacobian`.
        """
        return derivatives.jacobian_dot(self, self._path, q, dq, reference)

    def hessian(self, q: ArrayLike, reference: str = derivatives.ALIGNED) -> np.ndarray:
        """Return H (6, n, n), H[r, c, k] = d J[r, c] / d q_k.

        Parameters
        ----------
        q : (n,) array_like
            Coordinates, rad or m.
        reference : str
            As of `jacobian`.
        """
        return derivatives.hessian(self, self._path, q, reference)

    def analytic_jacobian(self, q: ArrayLike, angles: str = "zyz") -> np.ndarray:
        """Return the Jacobian (6, n) of the tip's position (axes of the base) over its Euler angles.

        Parameters
        ----------
        q : (n,)
            Coordinates, rad or m.
        angles : str
            "zyz": (phi, theta, psi), R = Rz(phi) Ry(theta) Rz(psi); "rpy": (roll, pitch, yaw), R = Rz(yaw) Ry(pitch)
            Rx(roll).

        Raises
        ------
        SingularPoseError
            Within 1e-6 rad of theta = 0 or pi, or of pitch = +-pi/2.
        """
        return derivatives.analytic_jacobian(self, self._path, q, angles)

    def manipulability(self, q: ArrayLike, rows: str = "all") -> float:
        """Return Yoshikawa's measure of the rows "all", "translation" or "rotation": the product of the singular
        values of the Jacobian, zero where it is singular.

        Parameters
        ----------
        q : (n,) array_like
            Coordinates, rad or m.
        rows : str
            "all" mixes m and rad.
        """
        return derivatives.manipulability(self, self._path, q, rows)

    def manipulability_gradient(self, q: ArrayLike, rows: str = "all") -> np.ndarray:
        """Return d manipulability / d q (n,).

        Parameters
        ----------
        q : (n,) array_like
            Coordinates, rad or m.
        rows : str
            As of `manipulability`.

        Raises
        ------
        SingularPoseError
            At a singular pose, where the measure has a kink.
        """
        return derivatives.manipulability_gradient(self, self._path, q, rows)

    def __reduce__(self) -> Tuple[object, ...]:
        """Rebuild copies through the constructor, so that they are immutable, too."""
        return (_rebuild, (self.joints, self.name, self.base, self.tip, self.rows, self.convention))

    def __eq__(self, other: object) -> bool:
        """Equal if all joints are."""
        return self.joints == other.joints if isinstance(other, SerialChain) else NotImplemented

    def __hash__(self) -> int:
        """Consistent with equality."""
        return hash(self.joints)

    def __repr__(self) -> str:
        """Return name, ends and number of coordinates."""
        return f"SerialChain('{self.name}', {self.base} -> {self.tip}, {self.n} coordinates)"

    def __str__(self) -> str:
        """Return a table: one line per joint, lengths in mm and angles in degrees; the DH table if it came from one."""
        lines: List[str] = [f"{self.name}: {self.base} -> {self.tip}, {self.n} coordinates"]
        if self.rows:
            lines[0] += f", Denavit-Hartenberg ({self.convention})"
            names, limits = [joint.name for joint in self.joints], [limits_text(joint) for joint in self.joints]
            lines.extend(table_lines(self.rows, names, limits))
            return "\n".join(line.rstrip() for line in lines)
        lines.append(
            f"{'joint':<22}{'kind':<11}{'x mm':>10}{'y mm':>10}{'z mm':>10}"
            f"{'R deg':>9}{'P deg':>9}{'Y deg':>9}   {'axis':<21}{'limits':<24}"
        )
        for joint in self.joints:
            x, y, z = 1e3 * joint.origin[:3, 3]
            roll, pitch, yaw = np.degrees(rpy_from_rotation(joint.origin[:3, :3])) + 0.0
            axis = "" if not joint.moves else "({:.2f} {:.2f} {:.2f})".format(*joint.axis)
            lines.append(
                f"{joint.name:<22}{joint.kind:<11}{x:>10.2f}{y:>10.2f}{z:>10.2f}"
                f"{roll:>9.2f}{pitch:>9.2f}{yaw:>9.2f}   {axis:<21}{limits_text(joint):<24}"
            )
        return "\n".join(line.rstrip() for line in lines)


def _rebuild(
    joints: Sequence[Joint], name: str, base: str, tip: str, rows: Sequence[DHRow], convention: str
) -> SerialChain:
    chain = SerialChain(joints, name, base, tip)
    if rows:
        chain._note_table(rows, convention)
    return chain


def check_chain(chain: object) -> SerialChain:
    """Return the chain.

    Parameters
    ----------
    chain : object
        Anything; InvalidChainError if it is no SerialChain.
    """
    if not isinstance(chain, SerialChain):
        raise InvalidChainError(
            f"chain is {chain!r}; expected a SerialChain, such as SerialChain.from_yaml(model_path('ur5'))"
        )
    return chain
