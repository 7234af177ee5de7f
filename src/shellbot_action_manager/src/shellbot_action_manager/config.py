# SPDX-License-Identifier: MIT
"""Settings of the action manager, read from YAML once and checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Optional, Sequence, Tuple, Union

from shellbot_action_manager.actions.library import ActionLibrary
from shellbot_action_manager.actions.posture_check import ActionConfig
from shellbot_action_manager.body.body_pose import PoseLimits
from shellbot_action_manager.body.feed_forward import FeedForwardConfig
from shellbot_action_manager.body.rolling import RollingConfig, load_rolling
from shellbot_action_manager.body.transform_path import TransformConfig, load_transform
from shellbot_action_manager.errors import ConfigError
from shellbot_action_manager.estimation.attitude import AttitudeConfig
from shellbot_action_manager.estimation.feet_filter import FeetFilterConfig
from shellbot_action_manager.gait.gait_table import Gait, find_gait, load_gaits
from shellbot_action_manager.gait.heading import HeadingConfig
from shellbot_action_manager.gait.lost_legs import LimpConfig
from shellbot_action_manager.gait.terrain import TerrainConfig
from shellbot_action_manager.modes.mode_table import ModeTable, load_mode_table
from shellbot_common import Settings, number, package_file, required

Range = Tuple[float, float]


@dataclass(frozen=True)
class BodyConfig(PoseLimits):
    """How fast and how far the body may be posed; units and meaning in `config/action_manager.yaml`."""

    stride_reserve: float = number(0.0, 0.10, "m")
    x_range: Range = number(-0.15, 0.15, "m", ordered=True)
    y_range: Range = number(-0.15, 0.15, "m", ordered=True)
    z_range: Range = number(-0.10, 0.10, "m", ordered=True)
    tilt_range: Tuple[float, float, float] = number(0.0, 1.0, "rad")

    @property
    def shift_range(self) -> Tuple[Range, Range, Range]:
        """Least and greatest x, y, z, m."""
        return self.x_range, self.y_range, self.z_range


@dataclass(frozen=True)
class PostureConfig(Settings, error=ConfigError):
    """Standing up, sitting down and recovering; units and meaning in `config/action_manager.yaml`."""

    joint_rate: float = number(0.1, 6.0, "rad/s")
    follow_error: float = number(0.05, 1.5, "rad")
    rise_time: float = number(0.3, 20.0, "s")
    settle_time: float = number(0.1, 5.0, "s")
    plane_tolerance: float = number(0.001, 0.05, "m")
    standing_height: float = number(0.05, 0.2, "m")
    pushing_height: float = number(0.03, 0.2, "m")
    standing_radius: Range = number(0.05, 0.45, "m", ordered=True)
    upright: float = number(0.1, 1.5, "rad")


@dataclass(frozen=True)
class UpperConfig(Settings, error=ConfigError):
    """Speed and range of the upper shells: rad/s, m, rad."""

    joint_rate: float = number(0.05, 6.0, "rad/s")
    height: Range = number(-0.05, 0.2, "m", ordered=True)
    opening: Range = number(-1.5, 2.0, "rad", ordered=True)


@dataclass(frozen=True)
class OdometryConfig(Settings, error=ConfigError):
    """Odometry from whatever touches the ground."""

    feet: FeetFilterConfig = required()  #: Of standing and walking
    scale_error: float = number(0.0, 1.0)  #: Error of the distance walked that all steps share, as a fraction
    rolling_scale: float = number(0.5, 2.0)  #: Distance rolled over measured path length (calibrated)
    twist_time: float = number(0.01, 5.0, "s")  #: Time constant of the published twist, s
    #: Growth of the position's variance with the distance rolled, m^2/m
    rolling_variance_rate: float = number(0.0, 1.0, "m^2/m")
    #: The same with the distance that the feet move against the body while it is not known what touches the ground
    sliding_variance_rate: float = number(0.0, 1.0, "m^2/m")
    yaw_variance: float = number(0.0, 1.0, "rad^2")  #: Of the IMU's heading, rad^2
    #: Rate at which the heading, integrated from the gyroscope, follows that of the IMU's orientation, 1/s
    yaw_gain: float = number(0.01, 100.0, "1/s")


@dataclass(frozen=True)
class ContactConfig(Settings, error=ConfigError):
    """Contacts: m above the lowest foot or gore within which others may touch; s by which the joints are behind."""

    height: float = number(0.001, 0.05, "m")
    lag: float = number(0.0, 0.2, "s")


@dataclass(frozen=True)
class LapseConfig(Settings, error=ConfigError):
    """When a stream of commands has ended without a zero, and how hard the robot brakes then."""

    periods: float = number(1.5, 20.0)  #: Longest recent intervals between two commands
    shortest: float = number(0.02, 10.0, "s")  #: s of simulated time
    quickest: float = number(0.0, 0.5, "s")  #: Mean interval below which a stream has no rhythm to tell its end by, s
    braking: float = number(1.0, 5.0)  #: Times the acceleration and jerk of other changes of the twist


@dataclass(frozen=True)
class FileConfig(Settings, error=ConfigError):
    """What `config/action_manager.yaml` holds."""

    cmd_vel_timeout: float = number(0.05, 10.0, "s")  #: s of simulated time
    #: lapse: See its class
    lapse: LapseConfig = required()
    joint_margin: float = number(0.0, 0.5, "rad")  #: rad
    shank_min: float = number(-3.0, 1.5, "rad")  #: Least femur plus tibia angle of a standing foot, rad
    #: Inertia over stiffness of a servo, s^2: how far swinging feet are led ahead per acceleration
    servo_lead: float = number(0.0, 0.002, "s^2")
    acceleration_fraction: float = number(0.05, 1.0)  #: Fraction of the acceleration that the legs allow
    jerk_time: float = number(0.02, 1.0, "s")  #: From no acceleration of the body to the greatest
    feed_forward: FeedForwardConfig = required()  #: See its class
    #: heading, body, posture, contact, upper, limp, terrain, attitude, action, odometry: See their classes
    heading: HeadingConfig = required()
    body: BodyConfig = required()
    posture: PostureConfig = required()
    contact: ContactConfig = required()
    upper: UpperConfig = required()
    limp: LimpConfig = required()
    terrain: TerrainConfig = required()
    attitude: AttitudeConfig = required()
    action: ActionConfig = required()
    odometry: OdometryConfig = required()


@dataclass(frozen=True)
class ActionManagerConfig(FileConfig):
    """Everything that the core needs to know once."""

    gaits: Mapping[str, Gait] = required()  #: The gait table
    modes: ModeTable = required()  #: The mode machine's table
    transform: TransformConfig = required()  #: Closing to a ball and opening
    rolling: RollingConfig = required()  #: Rolling as a ball
    actions: ActionLibrary = required()  #: Motions by name
    gait: str = required()  #: Name of the gait to begin with
    start_mode: str = required()  #: Where to go after the first joint states, one of `modes.start_modes`

    def conflict(self) -> str:
        """Refuse a gait or a start mode that does not exist."""
        find_gait(self.gaits, self.gait)
        find_gait(self.gaits, self.limp.gait)
        modes = self.modes.start_modes
        return "" if self.start_mode in modes else f"start_mode is {self.start_mode!r}; choose from {', '.join(modes)}"


def load_config(
    path: Optional[Union[str, Path]] = None,
    gaits_path: Optional[Union[str, Path]] = None,
    modes_path: Optional[Union[str, Path]] = None,
    transform_path: Optional[Union[str, Path]] = None,
    rolling_path: Optional[Union[str, Path]] = None,
    action_folders: Sequence[Union[str, Path]] = (),
    gait: str = "tripod",
    start_mode: str = "hexapod",
) -> ActionManagerConfig:
    """Return the checked settings; each path is by default the package's own file.

    The actions of `action_folders` come in addition to the package's own.

    Raises
    ------
    ConfigError
        If a file cannot be read or a value is out of range.
    ActionError
        If an action cannot be read.
    UnknownGaitError
        If `gait` is not in the gait table.
    """
    file = FileConfig.load(path or package_file("shellbot_action_manager", "config/action_manager.yaml"))
    return ActionManagerConfig(
        **vars(file),
        gaits=load_gaits(gaits_path),
        modes=load_mode_table(modes_path),
        transform=load_transform(transform_path),
        rolling=load_rolling(rolling_path),
        actions=ActionLibrary(action_folders),
        gait=gait,
        start_mode=start_mode,
    )
