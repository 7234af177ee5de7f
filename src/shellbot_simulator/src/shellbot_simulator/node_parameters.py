# SPDX-License-Identifier: MIT
"""The private parameters of the simulator node, checked once at start."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

from .errors import ConfigError
from .servo import PidGains

VARIANTS = ("auto", "simulation", "full", "walker")
VIEWERS = ("auto", "true", "false")


@dataclasses.dataclass(frozen=True)
class NodeParameters:
    """How the node runs the simulator.

    Attributes
    ----------
    variant : str
        auto, or the variant that robot_description must be (`full` drives the joints of `simulation`).
    rtf : float
        Real-time factor; 0 is as fast as possible.
    viewer : str
        auto, true or false.
    seed : int
        Seeds start deviations and sensor noise; -1 for none.
    friction : float
        Sliding friction; 0 for the one in the settings file.
    paused : bool
        Begin paused.
    lockstep_timeout : float
        Longest wait for a stamped command, s of wall time.
    camera_rate : float
        Pictures per second of simulated time, while somebody listens.
    camera_width, camera_height : int
        Pixels.
    camera_nice : bool
        Draw shadows and smooth edges (several times the time).
    config : str
        Path of a settings file; empty for the package's own.
    """

    variant: str = "auto"
    rtf: float = 1.0
    viewer: str = "auto"
    seed: int = -1
    friction: float = 0.0
    paused: bool = False
    lockstep_timeout: float = 0.5
    camera_rate: float = 10.0
    camera_width: int = 640
    camera_height: int = 480
    camera_nice: bool = False
    config: str = ""

    def __post_init__(self) -> None:
        """Check ranges; raises ConfigError."""
        _range("rtf", self.rtf, 0.0, 1000.0, "0 is as fast as possible")
        _range("seed", self.seed, -1, 2**31 - 1, "-1 is no deviation and no noise")
        _range("friction", self.friction, 0.0, 5.0, "0 takes the one of the settings file")
        _range("lockstep_timeout", self.lockstep_timeout, 0.02, 60.0, "seconds of wall time")
        _range("camera_rate", self.camera_rate, 0.1, 100.0, "pictures per simulated second")
        _range("camera_width", self.camera_width, 16, 2048, "pixels")
        _range("camera_height", self.camera_height, 16, 2048, "pixels")
        if self.variant not in VARIANTS:
            raise ConfigError(f"~variant = {self.variant!r} is unknown; choose one of {', '.join(VARIANTS)}")
        if self.viewer not in VIEWERS:
            raise ConfigError(f"~viewer = {self.viewer!r} is unknown; choose one of {', '.join(VIEWERS)}")

    @property
    def seed_or_none(self) -> Optional[int]:
        """The seed as `Simulator.reset` takes it."""
        return None if self.seed < 0 else self.seed


def from_mapping(values: Mapping[str, Any]) -> NodeParameters:
    """Build the parameters from a parameter server's private names.

    Raises
    ------
    ConfigError
        For an unknown name, a wrong type or a value out of range.
    """
    fields = {field.name: field for field in dataclasses.fields(NodeParameters)}
    unknown = sorted(set(values) - set(fields))
    if unknown:
        raise ConfigError(f"unknown parameter ~{unknown[0]}; the parameters are {', '.join(fields)}")
    return NodeParameters(**{name: _convert(name, value, fields[name].default) for name, value in values.items()})


def joint_gains(
    controller: Mapping[str, Any], joints: Sequence[str], fallback: Sequence[PidGains]
) -> Tuple[Tuple[PidGains, ...], Tuple[str, ...]]:
    """Read the gains as ros_control does: `<joint>/pid/{p,i,d,i_clamp,i_clamp_min,i_clamp_max,antiwindup}`.

    Parameters
    ----------
    controller : mapping
        The parameters below `shellbot_legs_controller`.
    joints : sequence of str
        Driven joints.
    fallback : sequence of PidGains
        For joints without `pid/p`.

    Returns
    -------
    gains : tuple of PidGains
        For every joint.
    missing : tuple of str
        Joints that took the fallback.

    Raises
    ------
    ConfigError
        If a gain is no number; names the parameter.
    """
    gains, missing = [], []
    for joint, default in zip(joints, fallback):
        entry = controller.get(joint)
        pid: Dict[str, Any] = dict(entry.get("pid", {})) if isinstance(entry, Mapping) else {}
        if "p" not in pid:
            gains.append(default)
            missing.append(joint)
            continue
        try:
            clamp = abs(float(pid.get("i_clamp", 0.0)))  # one number for both bounds, as control_toolbox takes it
            gains.append(
                PidGains(
                    p=float(pid["p"]),
                    i=float(pid.get("i", 0.0)),
                    d=float(pid.get("d", 0.0)),
                    i_clamp_min=float(pid.get("i_clamp_min", -clamp)),
                    i_clamp_max=float(pid.get("i_clamp_max", clamp)),
                    antiwindup=bool(pid.get("antiwindup", False)),
                )
            )
        except (TypeError, ValueError) as error:
            raise ConfigError(f"shellbot_legs_controller/{joint}/pid: {error}; correct controllers.yaml") from error
    return tuple(gains), tuple(missing)


def _convert(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ConfigError(f"~{name} = {value!r} must be true or false")
        return value
    if isinstance(default, str):
        return str(value).lower() if name == "viewer" else str(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ConfigError(f"~{name} = {value!r} must be a finite number")
    if isinstance(default, int):
        if value != int(value):
            raise ConfigError(f"~{name} = {value!r} must be a whole number")
        return int(value)
    return float(value)


def _range(name: str, value: float, low: float, high: float, meaning: str) -> None:
    if not low <= value <= high:
        raise ConfigError(f"~{name} = {value} is outside {low} .. {high} ({meaning}); correct the parameter")
