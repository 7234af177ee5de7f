# SPDX-License-Identifier: MIT
"""The private parameters of the simulator node, checked once at start."""

from __future__ import annotations

import dataclasses
from typing import Any, Dict, Mapping, Optional, Sequence, Tuple

from shellbot_common import Settings, choice, number
from shellbot_simulator.core.config import ENGINES
from shellbot_simulator.core.errors import ConfigError
from shellbot_simulator.core.servo import PidGains


@dataclasses.dataclass(frozen=True)
class NodeParameters(Settings, error=ConfigError):
    """How the node runs the simulator."""

    variant: str = "auto"  #: auto, or the variant that robot_profile must be of
    #: Real-time factor; 0 is as fast as possible
    rtf: float = number(0.0, 1000.0, default=1.0, hint="0 is as fast as possible")
    viewer: str = choice(("auto", "true", "false"), default="auto")  #: auto, true or false
    #: Seeds start deviations and sensor noise; -1 for none
    seed: int = number(-1, 2**31 - 1, default=-1, hint="-1 is no deviation and no noise")
    #: Sliding friction; 0 for the one in the settings file
    friction: float = number(0.0, 5.0, default=0.0, hint="0 takes the one of the settings file")
    engine: str = choice(("", *ENGINES), default="")  #: mujoco or bullet; empty: the one of the settings file
    terrain: str = "flat"  #: A name of config/terrains.yaml; what is drawn of it follows from the seed
    paused: bool = False  #: Begin paused
    #: Longest wait for a stamped command, s of wall time
    lockstep_timeout: float = number(0.02, 60.0, "s of wall time", default=0.5)
    #: Pictures per second of simulated time, while there is a subscriber
    camera_rate: float = number(0.1, 100.0, "pictures per simulated second", default=10.0)
    camera_width: int = number(16, 2048, "pixels", default=640)  #: Pixels
    camera_height: int = number(16, 2048, "pixels", default=480)  #: Pixels
    camera_nice: bool = False  #: Draw shadows and smooth edges (several times the time)
    config: str = ""  #: Path of a settings file; empty for the package's own
    settings: str = ""  #: Path of a second one, whose keys take precedence

    @property
    def seed_or_none(self) -> Optional[int]:
        """The seed as `Simulator.reset` takes it."""
        return None if self.seed < 0 else self.seed


def joint_gains(
    name: str, controller: Mapping[str, Any], joints: Sequence[str], fallback: Sequence[PidGains]
) -> Tuple[Tuple[PidGains, ...], Tuple[str, ...]]:
    """Read the gains as ros_control does: `<joint>/pid/{p,i,d,i_clamp,i_clamp_min,i_clamp_max,antiwindup}`.

    Parameters
    ----------
    name : str
        Of the controller.
    controller : mapping
        The parameters below its name.
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
            raise ConfigError(f"{name}/{joint}/pid: {error}; correct controllers.yaml") from error
    return tuple(gains), tuple(missing)
