# SPDX-License-Identifier: MIT
"""Settings of the action manager, read from YAML once and checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Tuple, Union

from shellbot_action_manager.body.body_pose import PoseLimits
from shellbot_action_manager.errors import ConfigError
from shellbot_action_manager.gait.gait_table import Gait, find_gait, load_gaits
from shellbot_action_manager.gait.heading import HeadingConfig
from shellbot_action_manager.modes.mode_table import ModeTable, load_mode_table
from shellbot_action_manager.package_files import config_file
from shellbot_action_manager.settings import check_number, check_numbers, read_yaml, require_keys

START_MODES = ("hexapod", "stand", "sit")

Range = Tuple[float, float]


@dataclass(frozen=True)
class PostureConfig:
    """Standing up, sitting down and recovering; units and meaning in `config/action_manager.yaml`."""

    joint_rate: float
    follow_error: float
    rise_time: float
    settle_time: float
    plane_tolerance: float
    standing_height: float
    pushing_height: float
    standing_radius: Range
    upright: float


@dataclass(frozen=True)
class UpperConfig:
    """Speed and range of the upper shells: rad/s, m, rad."""

    joint_rate: float
    height: Range
    opening: Range


@dataclass(frozen=True)
class OdometryConfig:
    """Odometry from the feet.

    Attributes
    ----------
    distance_scale : tuple of 2 float
        Walked over measured way, forward and sideways (calibrated).
    slip_scale : float
        A foot that moves this much (m) against the others in a tick counts half.
    twist_time : float
        Time constant of the published twist, s.
    position_variance_rate : float
        Growth of the position's variance with the way, m^2/m.
    yaw_variance : float
        Of the IMU's heading, rad^2.
    """

    distance_scale: Tuple[float, float]
    slip_scale: float
    twist_time: float
    position_variance_rate: float
    yaw_variance: float


@dataclass(frozen=True)
class ActionManagerConfig:
    """Settings of the core, read once.

    Attributes
    ----------
    gaits : mapping of str to Gait
        The gait table.
    modes : ModeTable
        The mode machine's table.
    gait : str
        Name of the gait to begin with.
    start_mode : str
        hexapod, stand or sit: where to go after the first joint states.
    cmd_vel_timeout : float
        s of simulated time.
    joint_margin : float
        rad.
    shank_min : float
        Least femur plus tibia angle of a standing foot, rad.
    servo_lead : float
        Inertia over stiffness of a servo, s^2: how far swinging feet are led ahead per acceleration.
    acceleration_share : float
        Share of the acceleration that the legs allow.
    speed_cap : tuple of 3 float
        m/s, m/s, rad/s.
    heading, body, posture, upper, odometry
        See their classes.
    stride_kept : float
        Stride (m) that a body pose leaves to the feet.
    shift_range : tuple of 3 pairs, tilt_range : tuple of 3 float
        Box of body poses, m and rad.
    contact_height, contact_lag : float
        m above the lowest foot within which a foot may stand; s by which the joints are behind.
    """

    gaits: Mapping[str, Gait]
    modes: ModeTable
    gait: str
    start_mode: str
    cmd_vel_timeout: float
    joint_margin: float
    shank_min: float
    servo_lead: float
    acceleration_share: float
    speed_cap: Tuple[float, float, float]
    heading: HeadingConfig
    body: PoseLimits
    stride_kept: float
    shift_range: Tuple[Range, Range, Range]
    tilt_range: Tuple[float, float, float]
    posture: PostureConfig
    contact_height: float
    contact_lag: float
    upper: UpperConfig
    odometry: OdometryConfig

    def __post_init__(self) -> None:
        """Refuse a gait or a start mode that does not exist."""
        find_gait(self.gaits, self.gait)
        if self.start_mode not in START_MODES:
            raise ConfigError(f"start_mode is '{self.start_mode}'; use one of {', '.join(START_MODES)}")


# section: {key: (low, high, unit)}, or (count, low, high, unit) for lists
_SECTIONS: Dict[str, Dict[str, Tuple[Any, ...]]] = {
    "heading": {"gain": (0.0, 10.0, "1/s"), "max_rate": (0.0, 2.0, "rad/s"), "max_error": (0.01, 1.5, "rad")},
    "body": {
        "shift_rate": (0.005, 0.5, "m/s"),
        "tilt_rate": (0.05, 3.0, "rad/s"),
        "shift_acceleration": (0.05, 5.0, "m/s^2"),
        "tilt_acceleration": (0.2, 30.0, "rad/s^2"),
        "stride_kept": (0.0, 0.10, "m"),
        "x_range": (2, -0.15, 0.15, "m"),
        "y_range": (2, -0.15, 0.15, "m"),
        "z_range": (2, -0.10, 0.10, "m"),
        "tilt_range": (3, 0.0, 1.0, "rad"),
    },
    "posture": {
        "joint_rate": (0.1, 6.0, "rad/s"),
        "follow_error": (0.05, 1.5, "rad"),
        "rise_time": (0.3, 20.0, "s"),
        "settle_time": (0.1, 5.0, "s"),
        "plane_tolerance": (0.001, 0.05, "m"),
        "standing_height": (0.05, 0.2, "m"),
        "pushing_height": (0.03, 0.2, "m"),
        "standing_radius": (2, 0.05, 0.45, "m"),
        "upright": (0.1, 1.5, "rad"),
    },
    "contact": {"height": (0.001, 0.05, "m"), "lag": (0.0, 0.2, "s")},
    "upper": {"joint_rate": (0.05, 6.0, "rad/s"), "height": (2, -0.05, 0.2, "m"), "opening": (2, -1.5, 2.0, "rad")},
}
_SECTIONS["odometry"] = {
    "distance_scale": (2, 0.5, 2.0, ""),
    "slip_scale": (1e-5, 0.1, "m"),
    "twist_time": (0.01, 5.0, "s"),
    "position_variance_rate": (0.0, 1.0, "m^2/m"),
    "yaw_variance": (0.0, 1.0, "rad^2"),
}
_SCALARS = {"cmd_vel_timeout": (0.05, 10.0, "s"), "joint_margin": (0.0, 0.5, "rad"), "servo_lead": (0.0, 0.002, "s^2")}
_SCALARS["acceleration_share"] = (0.05, 1.0, "")
_SCALARS["shank_min"] = (-3.0, 1.5, "rad")

_RANGES = ("x_range", "y_range", "z_range", "standing_radius", "height", "opening")


def load_config(
    path: Optional[Union[str, Path]] = None,
    gaits_path: Optional[Union[str, Path]] = None,
    modes_path: Optional[Union[str, Path]] = None,
    gait: str = "tripod",
    start_mode: str = "hexapod",
) -> ActionManagerConfig:
    """Return the checked settings; each path is by default the package's own file.

    Raises
    ------
    ConfigError
        If a file cannot be read or a value is out of range.
    UnknownGaitError
        If `gait` is not in the gait table.
    """
    data = read_yaml(config_file("action_manager.yaml") if path is None else path)
    require_keys("the settings", data, [*_SCALARS, *_SECTIONS, "speed_cap"])
    scalars = {key: check_number(key, data[key], *limits) for key, limits in _SCALARS.items()}
    sections = {name: _section(name, data[name], keys) for name, keys in _SECTIONS.items()}
    body = sections["body"]
    speed_cap = check_numbers("speed_cap", data["speed_cap"], 3, 0.0, 5.0, "m/s, rad/s")
    return ActionManagerConfig(
        gaits=load_gaits(gaits_path),
        modes=load_mode_table(modes_path),
        gait=gait,
        start_mode=start_mode,
        cmd_vel_timeout=scalars["cmd_vel_timeout"],
        joint_margin=scalars["joint_margin"],
        shank_min=scalars["shank_min"],
        servo_lead=scalars["servo_lead"],
        acceleration_share=scalars["acceleration_share"],
        speed_cap=(speed_cap[0], speed_cap[1], speed_cap[2]),
        heading=HeadingConfig(**sections["heading"]),
        body=PoseLimits(**{k: body[k] for k in ("shift_rate", "tilt_rate", "shift_acceleration", "tilt_acceleration")}),
        stride_kept=body["stride_kept"],
        shift_range=(body["x_range"], body["y_range"], body["z_range"]),
        tilt_range=body["tilt_range"],
        posture=PostureConfig(**sections["posture"]),
        contact_height=sections["contact"]["height"],
        contact_lag=sections["contact"]["lag"],
        upper=UpperConfig(**sections["upper"]),
        odometry=OdometryConfig(**sections["odometry"]),
    )


def _section(name: str, values: Any, keys: Mapping[str, Tuple[Any, ...]]) -> Dict[str, Any]:
    if not isinstance(values, Mapping):
        raise ConfigError(f"{name} is {values!r}; expected the keys {', '.join(keys)}")
    require_keys(name, values, keys)
    checked: Dict[str, Any] = {}
    for key, limits in keys.items():
        where = f"{name}.{key}"
        if len(limits) == 4:
            checked[key] = check_numbers(where, values[key], *limits)
            if key in _RANGES and checked[key][0] > checked[key][1]:
                raise ConfigError(f"{where} is {values[key]!r}; the first number must not be the greater one")
        else:
            checked[key] = check_number(where, values[key], *limits)
    return checked
